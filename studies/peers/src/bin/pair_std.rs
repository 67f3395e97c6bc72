//! The standard library's `Instant`, twice.

peers::instants!(std::time::Instant);
