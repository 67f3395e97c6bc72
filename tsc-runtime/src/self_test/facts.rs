//! What the CPU and the operating system report about themselves.

use super::{Finding, lfence};
use crate::affinity::{self, Cpus};
use crate::interruption;
use crate::machine::{Emulator, available_clocksources, clocksource, emulator, machine};
use crate::tsc::{self, TscUnavailable, clock};
use tsc_report::MachineReport;

pub(super) fn lines() -> Vec<Finding> {
    let machine = machine();
    vec![
        cpu(machine).named("CPU"),
        microcode(machine).named("microcode"),
        virtualization(machine).named("hypervisor"),
        emulation(emulator()).named("emulation"),
        counter(clock::availability()).named("counter"),
        invariance(machine.invariant_tsc).named("invariant counter"),
        rdtscp(machine.rdtscp).named("RDTSCP"),
        lfence::line().named("LFENCE"),
        kernel_clock(machine, clocksource(), available_clocksources()).named("kernel's clock"),
        interruptions(interruption::unavailable()).named("interruptions"),
        placement(affinity::cpus().ok()).named("placement"),
        governor(machine).named("governor"),
        boost(machine).named("boost"),
        smt(machine.smt).named("SMT"),
    ]
}

fn cpu(machine: &MachineReport) -> Finding {
    let mut value = machine.cpu.clone().unwrap_or_else(|| "unknown".into());
    if let (Some(family), Some(model), Some(stepping)) =
        (machine.family, machine.model, machine.stepping)
    {
        value += &format!(" (family {family:#x}, model {model:#x}, stepping {stepping})");
    }
    Finding::good(value, "the figures hold for this CPU only")
}

fn microcode(machine: &MachineReport) -> Finding {
    match &machine.microcode {
        Some(revision) if machine.virtualized == Some(true) => Finding::good(
            format!("{revision}, as the hypervisor reports it"),
            "the real revision may be a different one",
        ),
        revision => Finding::good(
            revision.as_deref().unwrap_or("unknown"),
            "updates change the cost of fences and branches",
        ),
    }
}

fn virtualization(machine: &MachineReport) -> Finding {
    match (machine.virtualized, &machine.hypervisor) {
        (Some(false), _) => Finding::good("none", "no other guest can take CPU time"),
        (Some(true), name) => Finding::doubtful(
            name.as_deref().unwrap_or("unnamed"),
            "other guests may take CPU time and change the core's clock, which this guest cannot detect",
            "trust medians and quantiles rather than means and maxima; repeat important measurements on bare metal",
        ),
        (None, _) => Finding::good("unknown", "this architecture does not report it"),
    }
}

fn emulation(emulator: Option<Emulator>) -> Finding {
    match emulator {
        None => Finding::good("none detected", "the CPU itself executes the instructions"),
        Some(emulator) if emulator.distorts_times() => Finding::bad(
            emulator.to_string(),
            "instructions are translated or trapped, so ticks are the emulator's time, not the CPU's",
            "use the counts, not the ticks; measure without the emulator",
        ),
        Some(emulator) => Finding::doubtful(
            emulator.to_string(),
            "a layer between program and kernel provides system calls and clocks",
            "compare ticks with ticks; do not trust conversions to seconds",
        ),
    }
}

fn counter(availability: Result<(), TscUnavailable>) -> Finding {
    match availability {
        Ok(()) => Finding::good(tsc::reads(), "ticks are steps of the CPU's own counter"),
        Err(why @ TscUnavailable::ForbiddenByPrctl) => Finding::bad(
            why.to_string(),
            "ticks are nanoseconds of the system's clock, and each read is a system call of some 100 ns",
            "run outside the sandbox that called prctl(PR_SET_TSC)",
        ),
        Err(why) => Finding::bad(
            why.to_string(),
            "ticks are nanoseconds of the system's clock",
            "measure long functions only, or on another machine",
        ),
    }
}

fn invariance(invariant: Option<bool>) -> Finding {
    if cfg!(target_arch = "aarch64") {
        return Finding::good(
            "guaranteed by the architecture",
            "the counter's rate is constant whatever the core does",
        );
    }
    match invariant {
        Some(true) => Finding::good(
            "yes",
            "the counter's rate is constant through frequency changes and idle states",
        ),
        Some(false) => Finding::bad(
            "no",
            "the counter's rate may change with the core's clock, and the counter may stop when the core idles",
            "compare only measurements that ran in direct succession; do not convert to seconds",
        ),
        None => Finding::doubtful(
            "unknown",
            "the counter's rate may change",
            "do not convert ticks to seconds",
        ),
    }
}

fn rdtscp(rdtscp: Option<bool>) -> Finding {
    match rdtscp {
        Some(true) => Finding::good("yes", "fence = \"rdtscp\" uses it"),
        Some(false) => Finding::doubtful(
            "no",
            "fence = \"rdtscp\" is measured as the default, lfence",
            "nothing, unless you need that policy; some hypervisors hide the instruction",
        ),
        None => Finding::good(
            "not on this architecture",
            "fence = \"rdtscp\" is measured as the default",
        ),
    }
}

fn kernel_clock(
    machine: &MachineReport,
    current: Option<String>,
    available: Option<String>,
) -> Finding {
    let Some(current) = current else {
        return Finding::good(
            "unknown on this system",
            "it is unknown whether the kernel trusts the counter",
        );
    };
    if current == "tsc" || current == "arch_sys_counter" {
        return Finding::good(
            current,
            "the kernel itself keeps time with this counter, and monitors it",
        );
    }
    let available = available.unwrap_or_default();
    let value = format!("{current} (it could use: {available})");
    if available.split(' ').any(|source| source == "tsc") {
        Finding::doubtful(
            value,
            "the kernel keeps time with another clock, although it has not found the counter unstable",
            "see the finding `rate`: if its bound is a few ppm, the two clocks agree",
        )
    } else if machine.virtualized == Some(true) {
        Finding::doubtful(
            value,
            "the guest's kernel does not use the counter, which may jump or change its rate when the guest migrates",
            "see the findings `rate` and `skew between CPUs`, and the anomalies in reports",
        )
    } else {
        Finding::bad(
            value,
            "the kernel has found the counter unstable: it drifts, stops, or differs between CPUs",
            "look for the reason in the kernel's log; update the firmware; until then pin all threads to one CPU",
        )
    }
}

fn interruptions(unavailable: Option<&'static str>) -> Finding {
    match unavailable {
        None => Finding::good(
            "detected (rseq)",
            "of preempted, migrated and signalled calls, only the time on the CPU enters mean and quantiles, if it is certain enough",
        ),
        Some(why) => Finding::doubtful(
            format!("not detected: {why}"),
            "interrupted calls count like all others",
            "trust medians; stop other work on the machine",
        ),
    }
}

fn placement(cpus: Option<Vec<usize>>) -> Finding {
    match cpus.as_deref() {
        None => Finding::doubtful(
            "unknown",
            "threads cannot be pinned here",
            "expect the quantiles to include migrations",
        ),
        Some([cpu]) => Finding::good(
            format!("pinned to CPU {cpu}"),
            "this thread does not migrate",
        ),
        Some(cpus) => Finding::doubtful(
            format!("{}, not pinned", Cpus(cpus)),
            "this thread may migrate to another CPU, whose caches are cold",
            "pin it with affinity::pin or taskset -c N",
        ),
    }
}

fn governor(machine: &MachineReport) -> Finding {
    match machine.governor.as_deref() {
        Some("performance") => Finding::good(
            "performance",
            "the core's clock does not depend on the load",
        ),
        Some(other) => Finding::doubtful(
            other,
            "the core's clock depends on the load, and so do the ticks that a function takes",
            "run cpupower frequency-set -g performance",
        ),
        None => unreadable(machine),
    }
}

fn boost(machine: &MachineReport) -> Finding {
    match machine.boost {
        Some(false) => Finding::good("off", "the core's clock stays at its base"),
        Some(true) => Finding::doubtful(
            "on",
            "the core's clock depends on temperature and on the other cores' load, and so do the ticks that a function takes",
            "write 0 to /sys/devices/system/cpu/cpufreq/boost, or 1 to intel_pstate/no_turbo",
        ),
        None => unreadable(machine),
    }
}

fn unreadable(machine: &MachineReport) -> Finding {
    const MEANING: &str =
        "the core's clock may change unnoticed, and with it the ticks that a function takes";
    const ADVICE: &str = "see the finding `core clock`: its range shows how much the clock changes";
    if machine.virtualized == Some(true) {
        Finding::doubtful("set by the host, not readable", MEANING, ADVICE)
    } else {
        Finding::doubtful("not readable", MEANING, ADVICE)
    }
}

fn smt(smt: Option<bool>) -> Finding {
    match smt {
        Some(false) => Finding::good(
            "off, or hidden by a hypervisor",
            "no other hardware thread is known to share the core",
        ),
        Some(true) => Finding::doubtful(
            "on",
            "another hardware thread may use up to half of the core's units, which cannot be detected",
            "keep the sibling of the CPU to which you pin idle, or write off to /sys/devices/system/cpu/smt/control",
        ),
        None => Finding::doubtful(
            "unknown",
            "another hardware thread may share the core's units",
            "stop other work on the machine",
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
            let machine = MachineReport {
                virtualized: Some(virtualized),
                ..machine().clone()
            };
            kernel_clock(&machine, current.map(Into::into), Some(available.into())).verdict
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
