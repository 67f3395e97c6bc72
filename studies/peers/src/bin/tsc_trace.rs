//! tsc-trace: `trace_span!`, and reading back its ring of a million raw traces.

use peers::{Contestant, Reading, Readings};
use tsc_trace::TraceSpan;

macro_rules! scope {
    ($name:literal) => {
        tsc_trace::trace_span!(tag($name));
    };
}

/// It has numbers for names.
const fn tag(name: &str) -> u64 {
    name.as_bytes()[0] as u64
}

peers::annotate!(scope);

struct TscTrace;

impl Contestant for TscTrace {
    fn start() -> Self {
        Self
    }

    fn report(self) -> Readings {
        let mut bytes = Vec::new();
        tsc_trace::write_traces_binary(&mut bytes).expect("a Vec can be written to");
        let ns_per_tick = peers::clock::ns_per_tick();
        let mut sums = [(0_u64, 0_u64); 256];
        for trace in bytes.chunks_exact(24) {
            let number =
                |at: usize| u64::from_le_bytes(trace[at..at + 8].try_into().expect("8 bytes"));
            let sum = &mut sums[number(0) as usize % 256];
            *sum = (sum.0 + 1, sum.1 + number(16).wrapping_sub(number(8)));
        }
        Readings::of(|name| {
            let (calls, ticks) = sums[tag(name) as usize];
            (calls != 0).then(|| Reading::new(calls, ticks as f64 / calls as f64 * ns_per_tick))
        })
    }
}

fn main() {
    peers::run::<TscTrace>(&FUNCTIONS);
}
