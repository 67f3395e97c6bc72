//! The definition of a contestant.

/// A way of measuring functions.
pub trait Contestant: Sized {
    /// Once, before the first call.
    fn start() -> Self;

    /// Runs a thousand calls or so: what the contestant's own documentation calls a frame, a request or a trace, if it has such.
    fn stretch(calls: &mut dyn FnMut()) {
        calls();
    }

    /// Everything recorded is in the answer, once this returns.
    fn report(self) -> Readings;

    /// What the last call took, in ns, of a contestant that keeps nothing else.
    fn last() -> Option<f64> {
        None
    }
}

/// The three functions, annotated.
#[derive(Clone, Copy)]
pub struct Functions {
    pub empty: fn(u64) -> u64,
    pub chain: fn(u64) -> u64,
    pub fib: fn(u64) -> u64,
}

/// What a contestant reports of one function. `None` is what it does not tell.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    pub calls: Option<u64>,
    /// Its mean, in ns, as it reports it.
    pub mean_ns: Option<f64>,
    /// Its mean before corrections, where it makes any.
    pub raw_ns: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Readings {
    pub empty: Reading,
    pub chain: Reading,
    pub fib: Reading,
}

impl Readings {
    /// From a function that looks a name up.
    pub fn of(mut reading: impl FnMut(&str) -> Option<Reading>) -> Self {
        Self {
            empty: reading("empty").unwrap_or_default(),
            chain: reading("chain").unwrap_or_default(),
            fib: reading("fib").unwrap_or_default(),
        }
    }
}

impl Reading {
    /// Of a contestant that reports a count and a mean, or what they follow from.
    #[must_use]
    pub fn new(calls: u64, mean_ns: f64) -> Self {
        Self {
            calls: Some(calls),
            mean_ns: Some(mean_ns),
            raw_ns: None,
        }
    }
}
