//! The cost of reading the counter: whether the read traps, and what an empty pair of reads costs with each fence policy.

use std::hint::black_box;

use super::Finding;
use crate::calibration::overhead;
use crate::calibration::resolution;
use crate::calibration::statistics::median;
use crate::tsc::clock;
use crate::tsc::{
    self, Cpuid, CpuidStart, Fence, FencePolicy, Lfence, Mfence, Rdtscp, Serialize, Ticks,
    Unfenced, elapsed,
};

/// A read that takes longer than this is not done by the CPU itself: RDTSC takes 15 to 50 ticks, a trap thousands.
const TRAPPED_TICKS: i64 = 500;
const READS: usize = 301;

/// Pairs in a round, and rounds for each policy; fewer rounds if the pairs are slow because they leave the virtual machine.
const PAIRS: usize = 64;
const ROUNDS: usize = 101;
const ENOUGH_TICKS: i64 = 10_000_000;

pub(super) fn lines() -> Vec<Finding> {
    let mut lines = vec![step(), trap()];
    if clock::availability().is_ok() {
        lines.extend(Fence::ALL.map(fence));
    }
    lines
}

/// Whether software emulates RDTSC.
pub(super) fn trap() -> Finding {
    let mut reads = [(); READS].map(|()| {
        let start = clock::now();
        elapsed(start, clock::now())
    });
    reads.sort_unstable();
    trap_line(reads[READS / 2], clock::availability().is_ok())
}

fn trap_line(median: i64, counter_is_read: bool) -> Finding {
    const NAME: &str = "read of the counter";
    let value = format!("{median} ticks (median of {READS} back to back)");
    if !counter_is_read {
        return Finding::doubtful(
            NAME,
            value,
            "a read costs about as much as a system call",
            "only measure functions of many microseconds",
        );
    }
    if median > TRAPPED_TICKS {
        return Finding::bad(
            NAME,
            value,
            "the read traps, and software answers it (a hypervisor, rr, an enclave), which takes longer than a short function",
            "let the hypervisor pass the counter through (RDTSC exiting off, TSC scaling), or only measure long functions",
        );
    }
    Finding::good(NAME, value, "the CPU itself executes the read")
}

fn step() -> Finding {
    const NAME: &str = "resolution";
    /// More than the step of any x86 counter. A 24 MHz timer has a step of 42 ns.
    const COARSE_NS: f64 = 20.0;
    let step = resolution::ticks();
    let unit = if step == 1 { "tick" } else { "ticks" };
    match crate::calibration::rate() {
        Ok(rate) => {
            let ns = rate.ns(step as f64);
            let value = format!("{step} {unit} = {ns:.1} ns");
            if ns > COARSE_NS {
                Finding::doubtful(
                    NAME,
                    value,
                    "a single reading is uncertain by one step, which is as long as many instructions",
                    "for short functions, trust measure() or the mean of many calls rather than min and quantiles",
                )
            } else {
                Finding::good(
                    NAME,
                    value,
                    "a single reading is uncertain by one step; the mean of many calls is more exact",
                )
            }
        }
        Err(_) => Finding::good(
            NAME,
            format!("{step} {unit}"),
            "a single reading is uncertain by one step",
        ),
    }
}

fn fence(fence: Fence) -> Finding {
    let name = match fence {
        Fence::Lfence => "fence lfence",
        Fence::Unfenced => "fence none",
        Fence::Rdtscp => "fence rdtscp",
        Fence::Mfence => "fence mfence",
        Fence::Serialize => "fence serialize",
        Fence::Cpuid => "fence cpuid",
        Fence::CpuidStart => "fence cpuid-start",
    };
    if !fence.is_supported() {
        return Finding::good(
            name,
            "not available on this CPU",
            "functions with this policy are measured with the default, lfence",
        );
    }
    let (visible, total) = match fence {
        Fence::Lfence => cost::<Lfence>(),
        Fence::Unfenced => cost::<Unfenced>(),
        Fence::Rdtscp => cost::<Rdtscp>(),
        Fence::Mfence => cost::<Mfence>(),
        Fence::Serialize => cost::<Serialize>(),
        Fence::Cpuid => cost::<Cpuid>(),
        Fence::CpuidStart => cost::<CpuidStart>(),
    };
    let mut value = format!("{visible:.0} ticks inside, {total:.0} in all (bare pair of reads)");
    let probe = overhead::of(fence);
    if probe.total > 0.0 {
        value += &format!(
            "; {:.0} inside, {:.0} in all (whole probe)",
            probe.visible, probe.total
        );
    }
    if total > TRAPPED_TICKS as f64 {
        return Finding::doubtful(
            name,
            value,
            "the fence leaves the virtual machine or is emulated",
            "use the default fence, or use this one only for functions that take a hundred times as long",
        );
    }
    Finding::good(
        name,
        value,
        "this overhead is subtracted from every call and its callers",
    )
}

/// The ticks between the two reads of an empty pair, and the ticks that the pair takes in all: medians over the rounds.
fn cost<P: FencePolicy>() -> (f64, f64) {
    let mut visible = Vec::with_capacity(ROUNDS);
    let mut total = Vec::with_capacity(ROUNDS);
    let began = clock::now();
    while visible.len() < ROUNDS
        && (visible.len() < 3 || elapsed(began, clock::now()) < ENOUGH_TICKS)
    {
        let mut seen: i64 = 0;
        let start: Ticks = Lfence::start();
        for _ in 0..PAIRS {
            let inside = P::start();
            tsc::escape(&inside);
            seen = seen.wrapping_add(elapsed(inside, P::stop()));
        }
        let whole = elapsed(start, Lfence::stop());
        visible.push(black_box(seen) as f64 / PAIRS as f64);
        total.push(whole as f64 / PAIRS as f64);
    }
    let median = |costs| median(costs).unwrap_or(f64::NAN);
    (median(visible), median(total))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::self_test::Verdict;

    #[test]
    fn trapped_read_is_bad() {
        assert_eq!(trap_line(20, true).verdict, Verdict::Good);
        assert_eq!(trap_line(500, true).verdict, Verdict::Good);
        assert_eq!(trap_line(501, true).verdict, Verdict::Bad);
        assert_eq!(trap_line(9_000, false).verdict, Verdict::Doubtful);
    }

    #[test]
    fn fenced_pair_costs_more_than_a_bare_one() {
        if clock::availability().is_err() || cfg!(not(target_arch = "x86_64")) {
            return;
        }
        let ((bare_visible, bare), (visible, total)) = (cost::<Unfenced>(), cost::<Lfence>());
        assert!(bare > 0.0 && bare_visible > 0.0 && visible > 0.0);
        // Everything visible is part of the total. But the medians are of different rounds, and the machine may be busy.
        assert!(total > visible * 0.3, "{visible} {total}");
    }
}
