//! The machine that was measured on. Two reports are comparable if their machines are.

use super::getters::data;

data! {
    /// What the process could find out about its machine. `None` is unknown.
    pub struct MachineReport {
        /// The CPU's brand string.
        cpu: Option<String> by Alike => Option<&str> = as_deref(),
        /// The CPU's maker: `GenuineIntel`, `AuthenticAMD`, …
        vendor: Option<String> by Alike => Option<&str> = as_deref(),
        /// The CPU's family, including the extended family (x86).
        family: Option<u32> by Alike,
        /// The CPU's model, including the extended model (x86). A hypervisor may report another one.
        model: Option<u32> by Alike,
        /// The CPU's stepping (x86).
        stepping: Option<u32> by Alike,
        /// The microcode's revision. Hypervisors often hide the real one.
        microcode: Option<String> by Alike => Option<&str> = as_deref(),
        /// The core's design, by the short name that tables of instructions use for it.
        microarchitecture: Option<String> by Alike => Option<&str> = as_deref(),
        /// The hypervisor, by name. `None` also on bare metal: see [`virtualized`](Self::virtualized).
        hypervisor: Option<String> by Alike => Option<&str> = as_deref(),
        /// Whether CPUID reports a hypervisor.
        virtualized: Option<bool> by Alike,
        /// The emulator that executes the instructions, if it is not the CPU itself.
        emulator: Option<String> by Alike => Option<&str> = as_deref(),
        /// The operating system, as Rust names it.
        os: Option<String> by Alike => Option<&str> = as_deref(),
        /// The architecture the program was compiled for, as Rust names it.
        arch: Option<String> by Alike => Option<&str> = as_deref(),
        /// The kernel's release.
        kernel: Option<String> by Alike => Option<&str> = as_deref(),
        /// The number of CPUs that the process may use.
        cpus: Option<u64> by Alike,
        /// The first CPU's frequency governor.
        governor: Option<String> by Alike => Option<&str> = as_deref(),
        /// Whether the core clock may go above its base.
        boost: Option<bool> by Alike,
        /// Whether two threads share a core's execution units.
        smt: Option<bool> by Alike,
        /// Whether the CPU guarantees that the counter's rate does not change with the core clock and in idle states.
        invariant_tsc: Option<bool> by Alike,
        /// The counter's rate in Hz, as the CPU or the hypervisor reports it.
        stated_hz: Option<f64> by Alike,
        /// Whether the CPU has RDTSCP. Some hypervisors hide it.
        rdtscp: Option<bool> by Alike,
        /// Whether LFENCE always waits for earlier instructions. False if it does so only where the system has set bit 1 of the MSR
        /// C001_1029; unknown if the CPU is not AMD's, and has no such setting.
        lfence_serializing: Option<bool> by Alike,
        /// Whether the CPU has RDPRU, which reads core cycles without privileges (AMD Zen 2 and later).
        rdpru: Option<bool> by Alike,
    }
}
