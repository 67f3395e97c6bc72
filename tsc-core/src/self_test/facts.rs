//! What the CPU and the operating system report about themselves.

use super::{Finding, bad, doubtful, good, lfence};
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
    good(value).means("the figures hold for this CPU only")
}

fn microcode(machine: &MachineReport) -> Finding {
    match &machine.microcode {
        Some(revision) if machine.virtualized == Some(true) => {
            good(format!("{revision}, as the hypervisor reports it"))
                .means("the real revision may be a different one")
        }
        revision => good(revision.as_deref().unwrap_or("unknown"))
            .means("updates change the cost of fences and branches"),
    }
}

fn virtualization(machine: &MachineReport) -> Finding {
    match (machine.virtualized, &machine.hypervisor) {
        (Some(false), _) => good("none").means("no other guest can take CPU time"),
        (Some(true), name) => doubtful(name.as_deref().unwrap_or("unnamed"))
            .means("other guests may take CPU time and change the core's clock, which this guest cannot detect")
            .advise("trust medians and quantiles rather than means and maxima; repeat important measurements on bare metal"),
        (None, _) => good("unknown").means("this architecture does not report it"),
    }
}

fn emulation(emulator: Option<Emulator>) -> Finding {
    match emulator {
        None => good("none detected").means("the CPU itself executes the instructions"),
        Some(emulator) if emulator.distorts_times() => bad(emulator.to_string())
            .means("instructions are translated or trapped, so ticks are the emulator's time, not the CPU's")
            .advise("use the counts, not the ticks; measure without the emulator"),
        Some(emulator) => doubtful(emulator.to_string())
            .means("a layer between program and kernel provides system calls and clocks")
            .advise("compare ticks with ticks; do not trust conversions to seconds"),
    }
}

fn counter(availability: Result<(), TscUnavailable>) -> Finding {
    match availability {
        Ok(()) => good(tsc::reads()).means("ticks are steps of the CPU's own counter"),
        Err(why @ TscUnavailable::ForbiddenByPrctl) => bad(why.to_string())
            .means("ticks are nanoseconds of the system's clock, and each read is a system call of some 100 ns")
            .advise("run outside the sandbox that called prctl(PR_SET_TSC)"),
        Err(why) => bad(why.to_string())
            .means("ticks are nanoseconds of the system's clock")
            .advise("measure long functions only, or on another machine"),
    }
}

fn invariance(invariant: Option<bool>) -> Finding {
    match invariant {
        Some(true) => good("yes")
            .means("the counter's rate is constant through frequency changes and idle states"),
        Some(false) => bad("no")
            .means("the counter's rate may change with the core's clock, and the counter may stop when the core idles")
            .advise("compare only measurements that ran in direct succession; do not convert to seconds"),
        None => doubtful("unknown")
            .means("the counter's rate may change")
            .advise("do not convert ticks to seconds"),
    }
}

fn rdtscp(rdtscp: Option<bool>) -> Finding {
    match rdtscp {
        Some(true) => good("yes").means("fence = \"rdtscp\" uses it"),
        Some(false) => doubtful("no")
            .means("fence = \"rdtscp\" is measured as the default, lfence")
            .advise("nothing, unless you need that policy; some hypervisors hide the instruction"),
        None => {
            good("not on this architecture").means("fence = \"rdtscp\" is measured as the default")
        }
    }
}

fn kernel_clock(
    machine: &MachineReport,
    current: Option<String>,
    available: Option<String>,
) -> Finding {
    let Some(current) = current else {
        return good("unknown on this system")
            .means("it is unknown whether the kernel trusts the counter");
    };
    if current == "tsc" || current == "arch_sys_counter" {
        return good(current)
            .means("the kernel itself keeps time with this counter, and monitors it");
    }
    let available = available.unwrap_or_default();
    let value = format!("{current} (it could use: {available})");
    if available.split(' ').any(|source| source == "tsc") {
        doubtful(value)
            .means("the kernel keeps time with another clock, although it has not found the counter unstable")
            .advise("see the finding `rate`: if its bound is a few ppm, the two clocks agree")
    } else if machine.virtualized == Some(true) {
        doubtful(value)
            .means("the guest's kernel does not use the counter, which may jump or change its rate when the guest migrates")
            .advise("see the findings `rate` and `skew between CPUs`, and the anomalies in reports")
    } else {
        bad(value)
            .means("the kernel has found the counter unstable: it drifts, stops, or differs between CPUs")
            .advise("look for the reason in the kernel's log; update the firmware; until then pin all threads to one CPU")
    }
}

fn interruptions(unavailable: Option<&'static str>) -> Finding {
    match unavailable {
        None => good("detected (rseq)")
            .means("of preempted, migrated and signalled calls, only the time on the CPU enters mean and quantiles, if it is certain enough"),
        Some(why) => doubtful(format!("not detected: {why}"))
            .means("interrupted calls count like all others")
            .advise("trust medians; stop other work on the machine"),
    }
}

fn placement(cpus: Option<Vec<usize>>) -> Finding {
    match cpus.as_deref() {
        None => doubtful("unknown")
            .means("threads cannot be pinned here")
            .advise("expect the quantiles to include migrations"),
        Some([cpu]) => good(format!("pinned to CPU {cpu}")).means("this thread does not migrate"),
        Some(cpus) => doubtful(format!("{}, not pinned", Cpus(cpus)))
            .means("this thread may migrate to another CPU, whose caches are cold")
            .advise("pin it with affinity::pin or taskset -c N"),
    }
}

fn governor(machine: &MachineReport) -> Finding {
    match machine.governor.as_deref() {
        Some("performance") => {
            good("performance").means("the core's clock does not depend on the load")
        }
        Some(other) => doubtful(other)
            .means(
                "the core's clock depends on the load, and so do the ticks that a function takes",
            )
            .advise("run cpupower frequency-set -g performance"),
        None => unreadable(machine),
    }
}

fn boost(machine: &MachineReport) -> Finding {
    match machine.boost {
        Some(false) => good("off").means("the core's clock stays at its base"),
        Some(true) => doubtful("on")
            .means("the core's clock depends on temperature and on the other cores' load, and so do the ticks that a function takes")
            .advise("write 0 to /sys/devices/system/cpu/cpufreq/boost, or 1 to intel_pstate/no_turbo"),
        None => unreadable(machine),
    }
}

fn unreadable(machine: &MachineReport) -> Finding {
    let value = match machine.virtualized {
        Some(true) => "set by the host, not readable",
        _ => "not readable",
    };
    doubtful(value)
        .means("the core's clock may change unnoticed, and with it the ticks that a function takes")
        .advise("see the finding `core clock`: its range shows how much the clock changes")
}

fn smt(smt: Option<bool>) -> Finding {
    match smt {
        Some(false) => good("off, or hidden by a hypervisor")
            .means("no other hardware thread is known to share the core"),
        Some(true) => doubtful("on")
            .means("another hardware thread may use up to half of the core's units, which cannot be detected")
            .advise("keep the sibling of the CPU to which you pin idle, or write off to /sys/devices/system/cpu/smt/control"),
        None => doubtful("unknown")
            .means("another hardware thread may share the core's units")
            .advise("stop other work on the machine"),
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
