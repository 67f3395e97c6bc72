//! Facts about the CPU and the system on which the accuracy of the figures depends.
//!
//! Any of them may be unknown. An `Option<bool>` that is `None` means unknown, never "no". Nothing in this module fails.

#![cfg(measuring)]
#![cfg_attr(not(feature = "on"), doc(hidden))]

use once_cell::race::OnceBox;

mod cpuid;
mod emulator;
mod microarchitecture;
mod system;

pub use emulator::Emulator;
pub use microarchitecture::microarchitecture;

/// What this process can find out about the machine that it runs on.
///
/// ```
/// # #[cfg(feature = "on")] // the module is private otherwise
/// # {
/// let machine = tsc_runtime::machine::machine();
/// println!("{}", machine.cpu.as_deref().unwrap_or("an unknown CPU"));
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Machine {
    /// The CPU's brand string.
    pub cpu: Option<String>,
    /// The CPU's maker: `GenuineIntel`, `AuthenticAMD`, …
    pub vendor: Option<String>,
    /// The CPU's family, including the extended family (x86).
    pub family: Option<u32>,
    /// The CPU's model, including the extended model (x86). A hypervisor may report another one.
    pub model: Option<u32>,
    /// The CPU's stepping (x86).
    pub stepping: Option<u32>,
    /// The microcode's revision, as the kernel reports it. Hypervisors often hide the real one.
    pub microcode: Option<String>,
    /// The name of the hypervisor. `None` also on bare metal: see [`virtualized`](Self::virtualized).
    pub hypervisor: Option<String>,
    /// Whether CPUID reports a hypervisor.
    pub virtualized: Option<bool>,
    /// The software that executes the instructions, if the CPU itself does not.
    pub emulator: Option<Emulator>,
    /// Whether the CPU guarantees that the counter's rate does not change with the core clock and in idle states.
    pub invariant_tsc: Option<bool>,
    /// Whether the CPU has RDTSCP. Some hypervisors hide it.
    pub rdtscp: Option<bool>,
    /// Whether LFENCE always waits for earlier instructions. `Some(false)` if it does so only where the system has set bit 1 of the MSR
    /// C001_1029. `None` if the CPU is not AMD's, and has no such setting.
    pub lfence_serializing: Option<bool>,
    /// Whether the CPU has RDPRU, which reads core cycles without privileges (AMD Zen 2 and later).
    pub rdpru: Option<bool>,
    /// The counter's rate in Hz, as the CPU or the hypervisor reports it.
    pub stated_hz: Option<f64>,
    /// The kernel's clocksource: `tsc` if the kernel trusts the counter. It may change after it was read.
    pub clocksource: Option<String>,
    /// The clocksources that the kernel could use. A counter that it found unstable is not among them.
    pub available_clocksources: Option<String>,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// The operating system, by Rust's name for it.
    pub os: &'static str,
    /// The first CPU's frequency governor.
    pub governor: Option<String>,
    /// Whether the core clock may exceed its base.
    pub boost: Option<bool>,
    /// Whether two hardware threads share a core's execution units.
    pub smt: Option<bool>,
}

/// The facts about this machine. The first call reads them, which takes about 0.2 ms; later calls return the same ones.
///
/// ```
/// let machine = tsc_runtime::machine::machine();
/// if machine.hypervisor.is_some() {
///     println!("time that the hypervisor gives to others counts as the program's");
/// }
/// ```
#[must_use]
pub fn machine() -> &'static Machine {
    static MACHINE: OnceBox<Machine> = OnceBox::new();
    MACHINE.get_or_init(|| {
        let mut machine = cpuid::facts();
        if cfg!(target_arch = "aarch64") {
            // The architecture guarantees this for the generic timer.
            machine.invariant_tsc = Some(true);
        }
        machine.kernel = system::read("/proc/sys/kernel/osrelease");
        machine.emulator = emulator::detect(&machine);
        machine.cpu = machine.cpu.or_else(system::cpu_model);
        Box::new(Machine {
            os: std::env::consts::OS,
            microcode: system::cpuinfo("microcode"),
            clocksource: clocksource(),
            available_clocksources: read_clocksource("available_clocksource"),
            governor: system::read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            boost: system::boost(),
            smt: system::smt(),
            ..machine
        })
    })
}

/// The kernel's present clocksource. The kernel may change it while the program runs.
#[must_use]
pub fn clocksource() -> Option<String> {
    read_clocksource("current_clocksource")
}

fn read_clocksource(file: &str) -> Option<String> {
    system::read(&format!(
        "/sys/devices/system/clocksource/clocksource0/{file}"
    ))
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
            &machine.clocksource,
            &machine.available_clocksources,
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
        assert_eq!(machine.rdpru, Some(has("rdpru")));
        assert_eq!(machine.virtualized, Some(has("hypervisor")));
        assert!(machine.kernel.is_some());
    }
}
