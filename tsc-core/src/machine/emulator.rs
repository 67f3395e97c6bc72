//! Detects software that executes this program's instructions in place of the CPU, or its system calls in place of the kernel.

use once_cell::race::OnceBox;
use tsc_report::MachineReport;

use super::{machine, system};
use tsc_report::__private::named;

named! {
    /// Software between this program and the CPU or the kernel. [`distorts_times`](Self::distorts_times) tells whether times under it are those
    /// of the software, not of the CPU.
    #[cfg_attr(feature = "json", derive(serde::Serialize))]
    #[non_exhaustive]
    pub enum Emulator {
        /// Valgrind: every instruction is translated and observed.
        Valgrind = "Valgrind",
        /// rr: RDTSC traps and is recorded.
        Rr = "rr",
        /// QEMU without hardware virtualization.
        Qemu = "QEMU TCG",
        /// Rosetta 2: x86-64 on Apple's CPUs. The counter is a scaled timer of 24 MHz or 1 GHz.
        Rosetta = "Rosetta 2",
        /// gVisor: a kernel in user space, which may trap the counter.
        Gvisor = "gVisor",
        /// WSL 1: system calls are translated, and the clocks with them.
        Wsl1 = "WSL 1",
        /// WSL 2: a real kernel in a virtual machine. Its clocks have been up to 7 % fast.
        Wsl2 = "WSL 2",
        /// Miri, the interpreter.
        Miri = "Miri",
    }
}

impl Emulator {
    /// Whether instructions are translated or trap, so that their times are not the CPU's.
    #[must_use]
    pub fn distorts_times(self) -> bool {
        !matches!(self, Self::Gvisor | Self::Wsl1 | Self::Wsl2)
    }
}

/// What executes the instructions, if the CPU itself does not.
#[must_use]
pub fn emulator() -> Option<Emulator> {
    static EMULATOR: OnceBox<Option<Emulator>> = OnceBox::new();
    *EMULATOR.get_or_init(|| Box::new(detect(machine())))
}

pub(super) fn detect(machine: &MachineReport) -> Option<Emulator> {
    if cfg!(miri) {
        return Some(Emulator::Miri);
    }
    #[cfg(all(target_arch = "x86_64", not(miri), not(windows)))]
    if running_on_valgrind() {
        return Some(Emulator::Valgrind);
    }
    // rr sets this variable in the programs that it records and replays.
    if std::env::var_os("RUNNING_UNDER_RR").is_some() {
        return Some(Emulator::Rr);
    }
    let version = system::read("/proc/version").unwrap_or_default();
    let executing = system::executing().unwrap_or_default();
    by_names(machine, &version, &executing)
}

/// The build date that gVisor's kernel reports.
const GVISOR_BUILT: &str = "Sun Jan 10 15:06:54 PST 2016";

/// Detects the emulator by the names that the CPU, the kernel and the executed file report.
fn by_names(machine: &MachineReport, version: &str, executing: &str) -> Option<Emulator> {
    let kernel = machine.kernel.as_deref().unwrap_or_default();
    let brand = machine.cpu.as_deref().unwrap_or_default();
    let vendor = machine.vendor.as_deref().unwrap_or_default();
    let hypervisor = machine.hypervisor.as_deref().unwrap_or_default();
    let is_virtual = matches!(hypervisor, "KVM" | "Xen" | "Hyper-V");
    let signs = [
        // A user-mode emulator hides its own name in /proc/self from the program, but not everywhere in /proc.
        (executing.starts_with("qemu-"), Emulator::Qemu),
        (executing.contains("rosetta"), Emulator::Rosetta),
        (brand.contains("VirtualApple"), Emulator::Rosetta),
        (vendor == "VirtualApple", Emulator::Rosetta),
        (hypervisor == "QEMU TCG", Emulator::Qemu),
        // A guest of QEMU with KVM may have QEMU's brand string, too, but it has KVM's signature.
        (brand.starts_with("QEMU") && !is_virtual, Emulator::Qemu),
        (version.contains(GVISOR_BUILT), Emulator::Gvisor),
        // WSL 1 reports 4.4.0-19041-Microsoft, WSL 2 reports 5.15.90.1-microsoft-standard-WSL2.
        (kernel.ends_with("-Microsoft"), Emulator::Wsl1),
        (kernel.contains("microsoft"), Emulator::Wsl2),
    ];
    let sign = signs.into_iter().find(|(is_there, _)| *is_there);
    sign.map(|(_, emulator)| emulator)
}

/// Makes Valgrind's client request. A CPU executes it as rotations of a register by 128 bits in total, which change nothing.
#[cfg(all(target_arch = "x86_64", not(miri), not(windows)))]
fn running_on_valgrind() -> bool {
    const RUNNING_ON_VALGRIND: u64 = 0x1001;
    let request: [u64; 6] = [RUNNING_ON_VALGRIND, 0, 0, 0, 0, 0];
    let mut answer: u64 = 0;
    // SAFETY: the rotations of RDI cancel out, and exchanging RBX with itself changes nothing. Valgrind reads the six words of `request`,
    // and writes its result to RDX.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") &raw const request,
            inout("rdx") answer,
            options(nostack),
        );
    }
    answer != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu(brand: &str, hypervisor: Option<&str>) -> MachineReport {
        MachineReport {
            cpu: Some(brand.into()),
            hypervisor: hypervisor.map(Into::into),
            ..MachineReport::default()
        }
    }

    #[test]
    fn emulators_are_known_by_name() {
        let detect = |mut facts: MachineReport, kernel: &str| {
            facts.kernel = Some(kernel.into());
            by_names(&facts, kernel, "")
        };
        assert_eq!(detect(cpu("AMD EPYC", Some("KVM")), "6.18.44"), None);
        assert_eq!(
            detect(cpu("QEMU Virtual CPU version 2.5+", Some("KVM")), "6.1"),
            None
        );
        assert_eq!(
            detect(cpu("QEMU TCG CPU version 2.5+", None), "6.1"),
            Some(Emulator::Qemu)
        );
        assert_eq!(
            detect(cpu("AMD EPYC", Some("QEMU TCG")), "6.1"),
            Some(Emulator::Qemu)
        );
        assert_eq!(
            detect(cpu("VirtualApple @ 2.50GHz", None), "23.1.0"),
            Some(Emulator::Rosetta)
        );
        assert_eq!(
            detect(cpu("x", None), "4.4.0-19041-Microsoft"),
            Some(Emulator::Wsl1)
        );
        assert_eq!(
            detect(
                cpu("x", Some("Hyper-V")),
                "5.15.90.1-microsoft-standard-WSL2"
            ),
            Some(Emulator::Wsl2)
        );
        assert_eq!(by_names(&MachineReport::default(), "", ""), None);
        let executing = |name| by_names(&MachineReport::default(), "", name);
        assert_eq!(executing("qemu-aarch64-static"), Some(Emulator::Qemu));
        assert_eq!(executing("rosetta"), Some(Emulator::Rosetta));
        assert_eq!(executing("hotspots"), None);
    }
}
