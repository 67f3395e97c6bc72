//! The machine that was measured on. Two reports are comparable if their machines are.

use super::getters::data;

data! {
    /// What the process could find out about its machine. `None` is unknown.
    #[derive(Default)]
    pub struct MachineReport {
        /// The CPU's brand string.
        cpu: Option<String>,
        /// The CPU's maker: `GenuineIntel`, `AuthenticAMD`, …
        vendor: Option<String>,
        /// The CPU's family (x86).
        family: Option<u32>,
        /// The CPU's model (x86).
        model: Option<u32>,
        /// The CPU's stepping (x86).
        stepping: Option<u32>,
        /// The microcode's revision. Hypervisors often hide the real one.
        microcode: Option<String>,
        /// The core's design, by the short name that tables of instructions use for it.
        microarchitecture: Option<String>,
        /// The hypervisor, by name.
        hypervisor: Option<String>,
        /// The emulator that executes the instructions, if it is not the CPU itself.
        emulator: Option<String>,
        /// The operating system, as Rust names it.
        os: Option<String>,
        /// The architecture the program was compiled for, as Rust names it.
        arch: Option<String>,
        /// The kernel's release.
        kernel: Option<String>,
        /// The number of CPUs that the process may use.
        cpus: Option<u64>,
        /// The first CPU's frequency governor.
        governor: Option<String>,
        /// Whether the core clock may go above its base.
        boost: Option<bool>,
        /// Whether two threads share a core's execution units.
        smt: Option<bool>,
    }
}
