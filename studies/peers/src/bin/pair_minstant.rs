//! `minstant::Instant`, twice.

peers::instants!(minstant::Instant);
