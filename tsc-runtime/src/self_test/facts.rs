//! What the CPU and the system say of themselves.

use super::Finding;
use crate::affinity::{self, Cpus};
use crate::interruption;
use crate::machine::{Emulator, Machine, clocksource, machine};
use crate::tsc::TscUnavailable;
use crate::tsc::clock;

pub(super) fn lines() -> Vec<Finding> {
    let machine = machine();
    let mut lines = vec![
        cpu(machine),
        microcode(machine),
        virtualization(machine),
        emulation(machine.emulator),
        counter(clock::availability()),
        invariance(machine.invariant_tsc),
        rdtscp(machine.rdtscp),
        kernel_clock(machine, clocksource()),
        interruptions(interruption::unavailable()),
        placement(affinity::cpus().ok()),
        governor(machine),
        boost(machine),
        smt(machine.smt),
    ];
    if let Some(flags) = &machine.tsc_flags {
        lines.insert(6, kernel_flags(flags));
    }
    lines
}

fn cpu(machine: &Machine) -> Finding {
    let mut value = machine.cpu.clone().unwrap_or_else(|| "unknown".into());
    if let (Some(family), Some(model), Some(stepping)) =
        (machine.family, machine.model, machine.stepping)
    {
        value += &format!(" (family {family:#x}, model {model:#x}, stepping {stepping})");
    }
    Finding::good("CPU", value, "the figures hold for this CPU only")
}

fn microcode(machine: &Machine) -> Finding {
    match &machine.microcode {
        Some(revision) if machine.virtualized == Some(true) => Finding::good(
            "microcode",
            format!("{revision}, as the hypervisor reports it"),
            "the real revision may be another",
        ),
        Some(revision) => Finding::good(
            "microcode",
            revision,
            "updates change the cost of fences and branches",
        ),
        None => Finding::good(
            "microcode",
            "unknown",
            "updates change the cost of fences and branches",
        ),
    }
}

fn virtualization(machine: &Machine) -> Finding {
    const NAME: &str = "hypervisor";
    match (machine.virtualized, &machine.hypervisor) {
        (Some(false), _) => Finding::good(NAME, "none", "no other guest takes time away unseen"),
        (Some(true), name) => Finding::doubtful(
            NAME,
            name.as_deref().unwrap_or("unnamed"),
            "other guests take the CPU, and its clock, without any sign but the time itself",
            "trust medians and quantiles, not means and maxima; repeat on bare metal what matters",
        ),
        (None, _) => Finding::good(NAME, "unknown", "this architecture does not report it"),
    }
}

fn emulation(emulator: Option<Emulator>) -> Finding {
    const NAME: &str = "emulation";
    match emulator {
        None => Finding::good(
            NAME,
            "none seen",
            "the CPU itself executes the instructions",
        ),
        Some(emulator) if emulator.distorts_times() => Finding::bad(
            NAME,
            emulator.to_string(),
            "the instructions are translated or trapped: ticks are the emulator's time, not the CPU's",
            "run on the CPU itself; use the counts, not the ticks",
        ),
        Some(emulator) => Finding::doubtful(
            NAME,
            emulator.to_string(),
            "system calls and clocks are another layer's",
            "compare ticks with ticks; don't trust conversions to seconds",
        ),
    }
}

fn counter(availability: Result<(), TscUnavailable>) -> Finding {
    const NAME: &str = "counter";
    match availability {
        Ok(()) => Finding::good(
            NAME,
            "readable, PR_SET_TSC allows it",
            "ticks are the CPU's own counter",
        ),
        Err(why @ TscUnavailable::ForbiddenByPrctl) => Finding::bad(
            NAME,
            why.to_string(),
            "ticks are nanoseconds of the system's clock, each read a system call of some 100 ns",
            "run outside the sandbox that called prctl(PR_SET_TSC)",
        ),
        Err(why) => Finding::bad(
            NAME,
            why.to_string(),
            "ticks are nanoseconds of the system's clock",
            "measure long functions only, or on another machine",
        ),
    }
}

fn invariance(invariant: Option<bool>) -> Finding {
    const NAME: &str = "invariant counter";
    if cfg!(target_arch = "aarch64") {
        return Finding::good(
            NAME,
            "by the architecture",
            "ticks keep one rate whatever the core does",
        );
    }
    match invariant {
        Some(true) => Finding::good(
            NAME,
            "yes",
            "ticks keep one rate through frequency changes and idle states",
        ),
        Some(false) => Finding::bad(
            NAME,
            "no",
            "the counter may change its rate with the core's clock and stop when the core idles",
            "compare only what ran back to back; don't convert to seconds",
        ),
        None => Finding::doubtful(
            NAME,
            "unknown",
            "the counter may change its rate",
            "don't convert ticks to seconds",
        ),
    }
}

fn kernel_flags(flags: &str) -> Finding {
    const NAME: &str = "kernel's flags";
    let has = |flag| flags.split(' ').any(|word| word == flag);
    if has("constant_tsc") && (has("nonstop_tsc") || has("tsc_reliable")) {
        Finding::good(
            NAME,
            flags,
            "the kernel expects the counter to tick evenly and not to stop",
        )
    } else {
        Finding::doubtful(
            NAME,
            flags,
            "the kernel does not expect the counter to tick evenly through idle states",
            "compare only what ran back to back",
        )
    }
}

fn rdtscp(rdtscp: Option<bool>) -> Finding {
    const NAME: &str = "RDTSCP";
    match rdtscp {
        Some(true) => Finding::good(NAME, "yes", "fence = \"rdtscp\" is what it says"),
        Some(false) => Finding::doubtful(
            NAME,
            "no",
            "fence = \"rdtscp\" falls back to the default, lfence",
            "nothing, unless that policy is asked for; some hypervisors hide the instruction",
        ),
        None => Finding::good(
            NAME,
            "not on this architecture",
            "fence = \"rdtscp\" falls back to the default",
        ),
    }
}

fn kernel_clock(machine: &Machine, current: Option<String>) -> Finding {
    const NAME: &str = "kernel's clock";
    let Some(current) = current else {
        return Finding::good(
            NAME,
            "not known on this system",
            "whether the kernel trusts the counter is not known",
        );
    };
    if current == "tsc" || current == "arch_sys_counter" {
        return Finding::good(
            NAME,
            current,
            "the kernel keeps time by this very counter and watches it",
        );
    }
    let available = machine
        .available_clocksources
        .as_deref()
        .unwrap_or_default();
    let value = format!("{current} (it could use: {available})");
    if available.split(' ').any(|source| source == "tsc") {
        Finding::doubtful(
            NAME,
            value,
            "the kernel keeps time by another clock, though it has not found the counter unstable",
            "look at the rate line: a bound of a few ppm says that the two clocks agree",
        )
    } else if machine.virtualized == Some(true) {
        Finding::doubtful(
            NAME,
            value,
            "the guest's kernel does not use the counter; it may be rescaled or offset when the guest moves",
            "look at the skew and rate lines, and watch the report's anomalies",
        )
    } else {
        Finding::bad(
            NAME,
            value,
            "the kernel has found the counter unstable: it drifts, stops, or differs between CPUs",
            "see the kernel's log for why; update the firmware; pin every thread to one CPU meanwhile",
        )
    }
}

fn interruptions(unavailable: Option<&'static str>) -> Finding {
    const NAME: &str = "interruptions";
    match unavailable {
        None => Finding::good(
            NAME,
            "detected (rseq)",
            "preempted, migrated and signalled calls count with their time on the CPU, or in no mean and quantile",
        ),
        Some(why) => Finding::doubtful(
            NAME,
            format!("not detected: {why}"),
            "an interrupted call counts like any other",
            "trust medians; keep other work off the machine",
        ),
    }
}

fn placement(cpus: Option<Vec<usize>>) -> Finding {
    const NAME: &str = "placement";
    match cpus.as_deref() {
        None => Finding::doubtful(
            NAME,
            "unknown",
            "threads cannot be pinned here",
            "expect migrations in the quantiles",
        ),
        Some([cpu]) => Finding::good(
            NAME,
            format!("pinned to CPU {cpu}"),
            "this thread does not migrate",
        ),
        Some(cpus) => Finding::doubtful(
            NAME,
            format!("{}, not pinned", Cpus(cpus)),
            "this thread may migrate, which costs cold caches",
            "affinity::pin, or taskset -c N",
        ),
    }
}

fn governor(machine: &Machine) -> Finding {
    const NAME: &str = "governor";
    match machine.governor.as_deref() {
        Some("performance") => Finding::good(
            NAME,
            "performance",
            "the core's clock does not wait for load",
        ),
        Some(other) => Finding::doubtful(
            NAME,
            other,
            "the core's clock follows the load, and with it the ticks a function takes",
            "cpupower frequency-set -g performance",
        ),
        None => unreadable(NAME, machine),
    }
}

fn boost(machine: &Machine) -> Finding {
    const NAME: &str = "boost";
    match machine.boost {
        Some(false) => Finding::good(NAME, "off", "the core's clock stays at its base"),
        Some(true) => Finding::doubtful(
            NAME,
            "on",
            "the core's clock follows heat and the neighbours' load, and with it the ticks a function takes",
            "write 0 to /sys/devices/system/cpu/cpufreq/boost, or 1 to intel_pstate/no_turbo",
        ),
        None => unreadable(NAME, machine),
    }
}

fn unreadable(name: &'static str, machine: &Machine) -> Finding {
    const MEANING: &str = "the core's clock may change without a sign; ticks don't";
    const ADVICE: &str = "look at the core clock line's range";
    if machine.virtualized == Some(true) {
        Finding::doubtful(name, "the host's, not readable", MEANING, ADVICE)
    } else {
        Finding::doubtful(name, "not readable", MEANING, ADVICE)
    }
}

fn smt(smt: Option<bool>) -> Finding {
    const NAME: &str = "SMT";
    match smt {
        Some(false) => Finding::good(
            NAME,
            "off, or hidden by the hypervisor",
            "no sibling thread is seen to share the core",
        ),
        Some(true) => Finding::doubtful(
            NAME,
            "on",
            "a sibling thread on the core takes up to half of its units, without any sign",
            "leave the siblings of the CPU you pin to idle, or write off to /sys/devices/system/cpu/smt/control",
        ),
        None => Finding::doubtful(
            NAME,
            "unknown",
            "a sibling thread may share the core's units",
            "keep other work off the machine",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::self_test::Verdict::{self, Bad, Doubtful, Good};

    #[test]
    fn kernel_that_found_the_counter_unstable_is_believed() {
        let verdict = |current: Option<&str>, available: &str, virtualized| -> Verdict {
            let machine = Machine {
                available_clocksources: Some(available.into()),
                virtualized: Some(virtualized),
                ..machine().clone()
            };
            kernel_clock(&machine, current.map(Into::into)).verdict
        };
        assert_eq!(verdict(Some("tsc"), "tsc hpet acpi_pm", false), Good);
        assert_eq!(verdict(Some("hpet"), "hpet acpi_pm", false), Bad);
        assert_eq!(verdict(Some("hpet"), "tsc hpet acpi_pm", false), Doubtful);
        assert_eq!(verdict(Some("kvm-clock"), "kvm-clock", true), Doubtful);
        assert_eq!(
            verdict(Some("arch_sys_counter"), "arch_sys_counter", true),
            Good
        );
        assert_eq!(verdict(None, "", false), Good);
    }

    #[test]
    fn counter_that_is_not_read_is_bad() {
        assert_eq!(counter(Ok(())).verdict, Good);
        for why in [
            TscUnavailable::ForbiddenByPrctl,
            TscUnavailable::MissingInstruction,
            TscUnavailable::NotOnThisPlatform,
        ] {
            assert_eq!(counter(Err(why)).verdict, Bad);
        }
    }

    #[test]
    fn emulators_are_bad_and_mere_layers_doubtful() {
        assert_eq!(emulation(None).verdict, Good);
        assert_eq!(emulation(Some(Emulator::Valgrind)).verdict, Bad);
        assert_eq!(emulation(Some(Emulator::Qemu)).verdict, Bad);
        assert_eq!(emulation(Some(Emulator::Wsl2)).verdict, Doubtful);
    }

    #[test]
    fn unknown_is_not_taken_for_no() {
        assert_eq!(kernel_flags("constant_tsc nonstop_tsc").verdict, Good);
        assert_eq!(kernel_flags("constant_tsc").verdict, Doubtful);
        assert_eq!(
            (
                smt(Some(false)).verdict,
                smt(Some(true)).verdict,
                smt(None).verdict
            ),
            (Good, Doubtful, Doubtful)
        );
        assert_eq!(placement(Some(vec![3])).verdict, Good);
        assert_eq!(placement(Some(vec![0, 1])).verdict, Doubtful);
        assert_eq!(placement(None).verdict, Doubtful);
    }
}
