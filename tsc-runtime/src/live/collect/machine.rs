//! Makes the report's part about the machine.

use crate::affinity;
use crate::machine::{machine, microarchitecture};
use tsc_report::MachineReport;

pub(in crate::live) fn collect_machine() -> MachineReport {
    let machine = machine();
    MachineReport {
        cpu: machine.cpu.clone(),
        vendor: machine.vendor.clone(),
        family: machine.family,
        model: machine.model,
        stepping: machine.stepping,
        microcode: machine.microcode.clone(),
        microarchitecture: microarchitecture().map(str::to_owned),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_is_named_without_the_feature_of_its_tables() {
        let machine = collect_machine();
        assert_eq!(machine.microarchitecture.as_deref(), microarchitecture());
        // All CPUs of this family are Zen 5.
        let is_zen_5 =
            machine.vendor.as_deref() == Some("AuthenticAMD") && machine.family == Some(0x1a);
        if is_zen_5 && cfg!(all(target_arch = "x86_64", not(miri))) {
            assert_eq!(machine.microarchitecture.as_deref(), Some("ZEN5"));
        }
    }
}
