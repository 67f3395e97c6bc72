//! Whether the read of the counter traps.

use super::{Finding, bad, doubtful, good};
use crate::calibration::statistics::median;
use crate::tsc::{clock, elapsed};

/// A read that takes longer than this is not done by the CPU itself: RDTSC takes 15 to 50 ticks, a trap thousands.
pub(super) const TRAPPED_TICKS: i64 = 500;
const READS: usize = 301;

/// Whether software emulates RDTSC.
pub(super) fn trap() -> Finding {
    let reads = (0..READS).map(|_| {
        let start = clock::now();
        elapsed(start, clock::now()) as f64
    });
    let median = median(reads.collect()).unwrap_or(0.0) as i64;
    trap_line(median, clock::availability().is_ok()).named("read of the counter")
}

fn trap_line(median: i64, counter_is_read: bool) -> Finding {
    let value = format!("{median} ticks (median of {READS} back to back)");
    if !counter_is_read {
        return doubtful(value)
            .means("a read costs about as much as a system call")
            .advise("only measure functions of many microseconds");
    }
    if median > TRAPPED_TICKS {
        return bad(value)
            .means("the read traps, and software answers it (a hypervisor, rr, an enclave), which takes longer than a short function")
            .advise("let the hypervisor pass the counter through (RDTSC exiting off, TSC scaling), or only measure long functions");
    }
    good(value).means("the CPU itself executes the read")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::self_test::Verdict::{Bad, Doubtful, Good};

    #[test]
    fn trapped_read_is_bad() {
        assert_eq!(trap_line(20, true).verdict, Good);
        assert_eq!(trap_line(500, true).verdict, Good);
        assert_eq!(trap_line(501, true).verdict, Bad);
        assert_eq!(trap_line(9_000, false).verdict, Doubtful);
    }
}
