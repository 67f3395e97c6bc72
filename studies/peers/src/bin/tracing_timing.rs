//! tracing: `#[tracing::instrument]`, with the layer of tracing-timing, which has a histogram for each span. Span recursion is off;
//! otherwise it would record the time since the last nested span.

use peers::{Contestant, Reading, Readings};
use tracing::Dispatch;
use tracing_subscriber::{Layer, Registry};
use tracing_timing::{Builder, Histogram, TimingLayer};

peers::annotate!(#[tracing::instrument(skip_all)]);

struct Tracing(Dispatch);

impl Contestant for Tracing {
    fn start() -> Self {
        let layer = Builder::default()
            .span_close_events()
            .no_span_recursion()
            .layer(|| Histogram::new_with_max(1_000_000, 2).expect("the bounds hold"));
        let dispatch = Dispatch::new(layer.with_subscriber(Registry::default()));
        tracing::dispatcher::set_global_default(dispatch.clone()).expect("no other is set");
        Self(dispatch)
    }

    fn report(self) -> Readings {
        let layer: &TimingLayer = self.0.downcast_ref().expect("the layer is there");
        layer.force_synchronize();
        layer.with_histograms(|spans| {
            Readings::of(|name| {
                let (_, events) = spans.iter_mut().find(|(span, _)| **span == name)?;
                let histogram = events.values_mut().next()?;
                histogram.refresh();
                Some(Reading::new(histogram.len(), histogram.mean()))
            })
        })
    }
}

fn main() {
    peers::run::<Tracing>(&FUNCTIONS);
}
