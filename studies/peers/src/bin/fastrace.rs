//! fastrace: `#[fastrace::trace]`, a root span for each series of calls, and a reporter that counts and sums by name.

use std::collections::HashMap;
use std::sync::Mutex;

use fastrace::Span;
use fastrace::collector::{Config, Reporter, SpanContext, SpanRecord};
use peers::{Contestant, Reading, Readings};

peers::annotate!(#[fastrace::trace(short_name = true)]);

static SUMS: Mutex<Option<HashMap<String, (u64, u64)>>> = Mutex::new(None);

struct Summing;

impl Reporter for Summing {
    fn report(&mut self, spans: Vec<SpanRecord>) {
        let mut sums = SUMS.lock().expect("adding does not panic");
        let sums = sums.get_or_insert_default();
        for span in spans {
            match sums.get_mut(&*span.name) {
                Some(sum) => *sum = (sum.0 + 1, sum.1 + span.duration_ns),
                None => drop(sums.insert(span.name.into_owned(), (1, span.duration_ns))),
            }
        }
    }
}

struct Fastrace;

impl Contestant for Fastrace {
    fn start() -> Self {
        fastrace::set_reporter(Summing, Config::default());
        Self
    }

    fn stretch(calls: &mut dyn FnMut()) {
        let root = Span::root("stretch", SpanContext::random());
        let _parent = root.set_local_parent();
        calls();
    }

    fn report(self) -> Readings {
        fastrace::flush();
        let sums = SUMS.lock().expect("adding does not panic");
        Readings::of(|name| {
            let &(calls, ns) = sums.as_ref()?.get(name)?;
            Some(Reading::new(calls, ns as f64 / calls as f64))
        })
    }
}

fn main() {
    peers::run::<Fastrace>(&FUNCTIONS);
}
