//! `quanta::Instant`, twice.

peers::instants!(quanta::Instant);
