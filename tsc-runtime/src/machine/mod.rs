//! Facts about the CPU and the system that decide what the figures are worth.
//!
//! All of it is knowledge that may be missing: `None` means unknown, never "no". Nothing here fails.

#![cfg(feature = "on")]

use once_cell::race::OnceBox;

pub(crate) mod cpuid;
mod emulator;
mod microarchitecture;
#[cfg_attr(
    not(all(any(target_os = "linux", target_os = "android"), not(miri))),
    path = "other.rs"
)]
#[cfg_attr(
    all(any(target_os = "linux", target_os = "android"), not(miri)),
    path = "linux.rs"
)]
mod system;

pub use emulator::Emulator;
pub use microarchitecture::microarchitecture;

/// What this process can learn of the machine it runs on.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Machine {
    /// The CPU's brand string, as it names itself.
    pub cpu: Option<String>,
    /// The CPU's maker: `GenuineIntel`, `AuthenticAMD`, …
    pub vendor: Option<String>,
    /// The CPU's family, the extended one added (x86).
    pub family: Option<u32>,
    /// The CPU's model, the extended one included (x86). Hypervisors may make it up.
    pub model: Option<u32>,
    /// The CPU's stepping (x86).
    pub stepping: Option<u32>,
    /// The microcode's revision, as the kernel reports it; hypervisors often hide the real one.
    pub microcode: Option<String>,
    /// The hypervisor this runs under, by name; `None` also on bare metal: see [`virtualized`](Self::virtualized).
    pub hypervisor: Option<String>,
    /// Whether a hypervisor says that it is there.
    pub virtualized: Option<bool>,
    /// What executes the instructions, if it is not the CPU itself.
    pub emulator: Option<Emulator>,
    /// Whether the CPU promises a counter that ticks evenly through frequency changes and idle states.
    pub invariant_tsc: Option<bool>,
    /// Whether the CPU has RDTSCP; some hypervisors hide it.
    pub rdtscp: Option<bool>,
    /// Whether the CPU has RDPRU, which reads real core cycles without privileges (AMD Zen 2 and later).
    pub rdpru: Option<bool>,
    /// The counter's rate in Hz as the CPU or the hypervisor states it.
    pub stated_hz: Option<f64>,
    /// The kernel's flags for the counter: `constant_tsc nonstop_tsc tsc_known_freq …`.
    pub tsc_flags: Option<String>,
    /// The kernel's own clock: `tsc` if the kernel trusts the counter. As it was when this was read; it may change.
    pub clocksource: Option<String>,
    /// The clocks the kernel could use. A counter it found unstable is not among them.
    pub available_clocksources: Option<String>,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// The operating system, as Rust names it.
    pub os: &'static str,
    /// The first CPU's frequency governor.
    pub governor: Option<String>,
    /// Whether the core clock may go above its base.
    pub boost: Option<bool>,
    /// Whether two threads share a core's execution units.
    pub smt: Option<bool>,
}

/// The facts, read by the first caller in some 0.2 ms (or by the first few at once) and kept.
pub fn machine() -> &'static Machine {
    static MACHINE: OnceBox<Machine> = OnceBox::new();
    MACHINE.get_or_init(|| {
        let cpu = cpuid::facts();
        let kernel = system::kernel();
        Box::new(Machine {
            emulator: emulator::detect(&cpu, kernel.as_deref()),
            cpu: cpu.brand.or_else(system::cpu_model),
            vendor: cpu.vendor,
            family: cpu.family,
            model: cpu.model,
            stepping: cpu.stepping,
            microcode: system::microcode(),
            hypervisor: cpu.hypervisor,
            virtualized: cpu.virtualized,
            // The architecture promises it of the generic timer.
            invariant_tsc: cpu
                .invariant_tsc
                .or(cfg!(target_arch = "aarch64").then_some(true)),
            rdtscp: cpu.rdtscp,
            rdpru: cpu.rdpru,
            stated_hz: cpu.stated_hz,
            tsc_flags: system::tsc_flags(),
            clocksource: clocksource(),
            available_clocksources: system::available_clocksources(),
            kernel,
            os: std::env::consts::OS,
            governor: system::governor(),
            boost: system::boost(),
            smt: system::smt(),
        })
    })
}

/// The kernel's present clock, which it may abandon while the program runs.
pub fn clocksource() -> Option<String> {
    system::clocksource()
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
            &machine.tsc_flags,
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
