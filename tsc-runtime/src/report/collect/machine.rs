//! The machine's facts, as the report has them.

use crate::affinity;
use crate::machine::machine;
use crate::report::MachineReport;

impl MachineReport {
    pub(in crate::report) fn collect() -> Self {
        let machine = machine();
        Self {
            cpu: machine.cpu.clone(),
            vendor: machine.vendor.clone(),
            family: machine.family,
            model: machine.model,
            stepping: machine.stepping,
            microcode: machine.microcode.clone(),
            microarchitecture: microarchitecture(),
            hypervisor: machine.hypervisor.clone(),
            emulator: machine.emulator.as_ref().map(ToString::to_string),
            os: Some(machine.os.to_owned()),
            arch: Some(std::env::consts::ARCH.to_owned()),
            kernel: machine.kernel.clone(),
            cpus: affinity::cpus().ok().map(|cpus| cpus.len() as u64),
            governor: machine.governor.clone(),
            boost: machine.boost,
            smt: machine.smt,
        }
    }
}

#[cfg(feature = "instructions")]
fn microarchitecture() -> Option<String> {
    crate::instruction::microarchitecture().map(str::to_owned)
}

/// Its names come with the tables of instructions.
#[cfg(not(feature = "instructions"))]
fn microarchitecture() -> Option<String> {
    None
}
