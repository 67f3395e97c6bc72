//! time-graph: `#[time_graph::instrument]`.

use peers::{Contestant, Reading, Readings};

peers::annotate!(#[time_graph::instrument]);

struct TimeGraph;

impl Contestant for TimeGraph {
    fn start() -> Self {
        time_graph::enable_data_collection(true);
        Self
    }

    fn report(self) -> Readings {
        let graph = time_graph::get_full_graph();
        Readings::of(|name| {
            let span = graph
                .spans()
                .find(|span| span.callsite.name().ends_with(name))?;
            Some(Reading::new(
                span.called.into(),
                span.elapsed.as_nanos() as f64 / f64::from(span.called),
            ))
        })
    }
}

fn main() {
    peers::run::<TimeGraph>(&FUNCTIONS);
}
