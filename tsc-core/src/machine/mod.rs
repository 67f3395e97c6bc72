//! Facts about the CPU and the system on which the accuracy of the figures depends.
//!
//! Any of them may be unknown. An `Option<bool>` that is `None` means unknown, never "no". Nothing in this module fails.

#![cfg(measuring)]
#![cfg_attr(not(feature = "on"), doc(hidden))]

use once_cell::race::OnceBox;

use crate::tsc;
use tsc_report::MachineReport;

mod cpuid;
mod emulator;
mod microarchitecture;
mod system;

pub use emulator::{Emulator, emulator};
pub use microarchitecture::microarchitecture;

/// The facts about this machine. The first call reads them, which takes about 0.2 ms; later calls return the same ones.
///
/// ```
/// # #[cfg(feature = "on")] // the module is private otherwise
/// # {
/// let machine = tsc_runtime::machine::machine();
/// println!("{}", machine.cpu().unwrap_or("an unknown CPU"));
/// # }
/// ```
#[must_use]
pub fn machine() -> &'static MachineReport {
    static MACHINE: OnceBox<MachineReport> = OnceBox::new();
    MACHINE.get_or_init(|| {
        let mut machine = cpuid::from_leaves(tsc::cpuid);
        if cfg!(target_arch = "aarch64") {
            // The architecture guarantees this for the generic timer.
            machine.invariant_tsc = Some(true);
        }
        machine.kernel = system::read("/proc/sys/kernel/osrelease");
        machine.emulator = emulator::detect(&machine).map(|emulator| emulator.to_string());
        machine.cpu = machine.cpu.or_else(system::cpu_model);
        Box::new(MachineReport {
            os: Some(std::env::consts::OS.to_owned()),
            arch: Some(std::env::consts::ARCH.to_owned()),
            microcode: system::cpuinfo("microcode"),
            governor: system::read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            boost: system::is("/sys/devices/system/cpu/intel_pstate/no_turbo", "0")
                .or_else(|| system::is("/sys/devices/system/cpu/cpufreq/boost", "1")),
            smt: system::is("/sys/devices/system/cpu/smt/active", "1"),
            ..machine
        })
    })
}

/// The kernel's present clocksource. The kernel may change it while the program runs.
#[must_use]
pub fn clocksource() -> Option<String> {
    system::read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
}

/// The clocksources that the kernel could use. A counter that it found unstable is not among them.
pub(crate) fn available_clocksources() -> Option<String> {
    system::read("/sys/devices/system/clocksource/clocksource0/available_clocksource")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_there_or_absent_but_never_empty() {
        let machine = machine();
        for fact in [
            &machine.cpu,
            &machine.vendor,
            &machine.microcode,
            &machine.hypervisor,
            &clocksource(),
            &available_clocksources(),
            &machine.kernel,
            &machine.governor,
        ] {
            assert!(
                fact.as_ref().is_none_or(|fact| !fact.trim().is_empty()),
                "{machine:?}"
            );
        }
        assert!(machine.hypervisor.is_none() || machine.virtualized == Some(true));
        assert_eq!(machine, super::machine());
        assert_eq!(machine.emulator.is_some(), emulator().is_some());
    }

    #[test]
    fn core_is_named_without_the_feature_of_its_tables() {
        let machine = machine();
        assert_eq!(machine.microarchitecture.as_deref(), microarchitecture());
        // The first CPUs of this family are Zen 5.
        let is_amd = machine.vendor.as_deref() == Some("AuthenticAMD");
        let is_first = machine.model.is_some_and(|model| model < 0x50);
        let is_zen_5 = is_amd && machine.family == Some(0x1a) && is_first;
        if is_zen_5 && cfg!(all(target_arch = "x86_64", not(miri))) {
            assert_eq!(machine.microarchitecture.as_deref(), Some("ZEN5"));
        }
    }

    #[cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
    #[test]
    fn facts_agree_with_the_kernel() {
        let Ok(cpuinfo) = std::fs::read_to_string("/proc/cpuinfo") else {
            return;
        };
        let machine = machine();
        let field = |name| {
            let line = cpuinfo
                .lines()
                .find(|line| line.split(':').next().unwrap().trim() == name)?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        assert_eq!(machine.vendor, field("vendor_id"));
        assert_eq!(machine.family.map(|n| n.to_string()), field("cpu family"));
        assert_eq!(machine.model.map(|n| n.to_string()), field("model"));
        assert_eq!(machine.stepping.map(|n| n.to_string()), field("stepping"));
        let flags = field("flags").unwrap();
        let has = |flag| flags.split(' ').any(|word| word == flag);
        assert_eq!(machine.rdtscp, Some(has("rdtscp")));
        assert_eq!(machine.virtualized, Some(has("hypervisor")));
        let version = machine.kernel.as_deref().unwrap().split(['.', '-']);
        let version: Vec<u32> = version.map_while(|part| part.parse().ok()).collect();
        // Before, the kernel has no name for this one.
        if version >= vec![5, 5] {
            assert_eq!(machine.rdpru, Some(has("rdpru")));
        }
    }
}
