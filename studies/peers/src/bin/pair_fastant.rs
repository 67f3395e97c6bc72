//! `fastant::Instant`, twice.

peers::instants!(fastant::Instant);
