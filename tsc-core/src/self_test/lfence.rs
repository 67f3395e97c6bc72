//! Whether LFENCE waits for earlier instructions, on which the default fence depends.

use super::{Finding, bad, good, unknown};
use crate::calibration::reference_chain::{self, short_additions, short_multiplications};
use crate::calibration::statistics::median;
use crate::machine::machine;
use crate::tsc::clock;

const ROUNDS: usize = 101;
/// A hundred multiplications between two LFENCE take over twice as long as a hundred additions if the second LFENCE waits for them, and
/// about as long if it does not.
const WAITS: f64 = 1.6;

pub(super) fn line() -> Finding {
    match machine().lfence_serializing {
        None => good("not a setting of this CPU")
            .means("the default fence keeps reads of the counter and measured work apart"),
        Some(true) => good("always waits (CPUID 8000_0021)")
            .means("the default fence keeps reads of the counter and measured work apart"),
        Some(false) => measured(ratio()),
    }
}

/// How many times as long multiplications take as additions. `None` if this cannot be measured here.
fn ratio() -> Option<f64> {
    if !reference_chain::AVAILABLE || clock::availability().is_err() {
        return None;
    }
    let typical = |chain: fn(u64) -> i64| median((0..ROUNDS).map(|_| chain(1) as f64).collect());
    Some(typical(short_multiplications)? / typical(short_additions)?)
}

/// The finding on an AMD CPU whose LFENCE waits only if the system has set a bit for that.
fn measured(ratio: Option<f64>) -> Finding {
    match ratio {
        Some(ratio) if ratio >= WAITS => good("waits, as measured (MSR C001_1029, bit 1)")
            .means("the default fence keeps reads of the counter and measured work apart"),
        Some(_) => bad("does not wait, as measured (MSR C001_1029, bit 1)")
            .means("measured work may run outside of the measured span, and other work inside")
            .advise("let the system set the bit, as Linux does, or use fence = \"rdtscp\" or \"mfence\""),
        None => unknown("it depends on MSR C001_1029, bit 1, which only the system can read")
            .means("if it is not set, measured work may run outside of the measured span")
            .advise("Linux sets it at boot; on other systems, compare with fence = \"rdtscp\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::self_test::Verdict::{Bad, Good, Unknown};

    #[test]
    fn fence_that_does_not_wait_is_bad() {
        assert_eq!(measured(Some(2.2)).verdict, Good);
        assert_eq!(measured(Some(1.1)).verdict, Bad);
        assert_eq!(measured(Some(f64::NAN)).verdict, Bad);
        assert_eq!(measured(None).verdict, Unknown);
    }

    #[test]
    fn fence_of_this_machine_waits() {
        // In an emulator, both chains may take equally long. For a guest on AMD, the hypervisor decides whether the bit is set.
        let is_amd = machine().vendor.as_deref() == Some("AuthenticAMD");
        let is_decided_outside = is_amd && machine().virtualized == Some(true);
        if machine().emulator.is_none()
            && !is_decided_outside
            && let Some(ratio) = ratio()
        {
            assert!(ratio > 1.2, "{ratio}");
        }
    }
}
