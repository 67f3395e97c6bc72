//! Reads facts from CPUID: a pure function, which is given a reader of leaves.

use tsc_report::MachineReport;

use super::microarchitecture::{self, Signature};

const EAX: usize = 0;
const EBX: usize = 1;
const ECX: usize = 2;
const EDX: usize = 3;

const EXTENDED: u32 = 0x8000_0000;
const HYPERVISOR: u32 = 0x4000_0000;

/// What the CPU itself reports; the rest is unknown, and so is everything on a CPU without CPUID.
pub(super) fn from_leaves(read: impl Fn(u32, u32) -> [u32; 4]) -> MachineReport {
    let first = read(0, 0);
    let highest = first[EAX];
    if highest == 0 {
        return MachineReport::default();
    }
    let highest_extended = read(EXTENDED, 0)[EAX];
    // On Intel's CPUs, a leaf beyond the highest one returns the data of another leaf.
    let leaf = |leaf: u32| {
        let last = match leaf {
            EXTENDED.. => highest_extended,
            _ => highest,
        };
        (leaf <= last).then(|| read(leaf, 0))
    };
    let bit = |number, register: usize, bit: u32| Some(leaf(number)?[register] >> bit & 1 == 1);

    let signature = leaf(1).unwrap_or_default()[EAX];
    let (family, model) = family_and_model(signature);

    let vendor = text(&[first[EBX], first[EDX], first[ECX]]);
    let is_amd = matches!(vendor.as_deref(), Some("AuthenticAMD" | "HygonGenuine"));
    let virtualized = leaf(1).map(|leaf| leaf[ECX] >> 31 == 1);
    let hypervisor = (virtualized == Some(true)).then(|| read(HYPERVISOR, 0));
    let features = leaf(7).map(|features| [features, read(7, 1)]);
    let features = features.unwrap_or_default();
    let microarchitecture = microarchitecture::name(Signature {
        vendor: vendor.as_deref().unwrap_or_default(),
        family,
        model,
        has_amx: features[0][EDX] >> 24 & 1 == 1,
        has_prefetchiti: features[1][EDX] >> 14 & 1 == 1,
        has_avx512f: features[0][EBX] >> 16 & 1 == 1,
    });
    MachineReport {
        cpu: brand(&leaf),
        vendor,
        family: Some(family),
        model: Some(model),
        stepping: Some(signature & 0xf),
        hypervisor: hypervisor.map(|leaf| hypervisor_name(text(&leaf[EBX..]).as_deref())),
        virtualized,
        // This leaf is AMD's, and Intel's and Zhaoxin's CPUs have it, too. A CPU without it does not guarantee an invariant counter.
        invariant_tsc: bit(0x8000_0007, EDX, 8).or(Some(false)),
        rdtscp: bit(0x8000_0001, EDX, 27).or(Some(false)),
        lfence_serializing: is_amd.then(|| bit(0x8000_0021, EAX, 2).unwrap_or(false)),
        rdpru: bit(0x8000_0008, EBX, 4).or(Some(false)),
        stated_hz: stated_hz(leaf(0x15), hypervisor, &read),
        microarchitecture: microarchitecture.map(str::to_owned),
        ..MachineReport::default()
    }
}

/// The CPU's family and model, with their extensions, from EAX of leaf 1.
fn family_and_model(signature: u32) -> (u32, u32) {
    let (base_family, base_model) = (signature >> 8 & 0xf, signature >> 4 & 0xf);
    let model = (signature >> 16 & 0xf) << 4 | base_model;
    match base_family {
        0xf => (0xf + (signature >> 20 & 0xff), model),
        0x6 => (0x6, model),
        _ => (base_family, base_model),
    }
}

fn brand(leaf: &impl Fn(u32) -> Option<[u32; 4]>) -> Option<String> {
    let words = [leaf(0x8000_0002)?, leaf(0x8000_0003)?, leaf(0x8000_0004)?];
    text(words.as_flattened())
}

/// Decodes four characters from each register, up to the first NUL. `None` if there are none.
fn text(registers: &[u32]) -> Option<String> {
    let bytes = registers.iter().flat_map(|register| register.to_le_bytes());
    let bytes: Vec<u8> = bytes.take_while(|&byte| byte != 0).collect();
    let text = String::from_utf8_lossy(&bytes);
    let words: Vec<&str> = text.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// The name of the hypervisor with this signature; an unknown one is named by its signature.
fn hypervisor_name(signature: Option<&str>) -> String {
    match signature {
        Some("KVMKVMKVM") => "KVM",
        Some("Linux KVM Hv") => "KVM (posing as Hyper-V)",
        Some("Microsoft Hv") => "Hyper-V",
        Some("VMwareVMware") => "VMware",
        Some("XenVMMXenVMM") => "Xen",
        Some("VBoxVBoxVBox") => "VirtualBox",
        Some("bhyve bhyve") => "bhyve",
        Some("ACRNACRNACRN") => "ACRN",
        Some("QNXQVMBSQG") => "QNX",
        // QEMU's instruction translator.
        Some("TCGTCGTCGTCG") => "QEMU TCG",
        Some(other) => other,
        None => "unnamed",
    }
    .to_owned()
}

/// The counter's rate. Intel's CPUs report the crystal's rate and a ratio (leaf 0x15); some hypervisors report the rate in kHz (leaf
/// 0x4000_0010).
fn stated_hz(
    crystal: Option<[u32; 4]>,
    hypervisor: Option<[u32; 4]>,
    read: &impl Fn(u32, u32) -> [u32; 4],
) -> Option<f64> {
    const RATE: u32 = 0x4000_0010;
    // Some hypervisors return an arbitrary signature, and 0 as their highest leaf.
    if hypervisor.is_some_and(|leaf| (RATE..RATE + 0x1000).contains(&leaf[EAX])) {
        let khz = read(RATE, 0)[EAX];
        if khz != 0 {
            return Some(f64::from(khz) * 1e3);
        }
    }
    let [denominator, numerator, hz, _] = crystal?;
    let stated = f64::from(hz) * f64::from(numerator) / f64::from(denominator);
    (denominator != 0 && stated > 0.0).then_some(stated)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> [u32; 4] {
        let mut bytes = [0; 16];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        [0, 4, 8, 12].map(|at| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()))
    }

    /// A guest of KVM on Zen 4.
    fn zen4(leaf: u32, _: u32) -> [u32; 4] {
        match leaf {
            0 => [0x10, 0x6874_7541, 0x444d_4163, 0x6974_6e65],
            1 => [0x00a1_0f11, 0, 1 << 31, 0],
            0x4000_0000 => {
                let [b, c, d, _] = words("KVMKVMKVM");
                [0x4000_0001, b, c, d]
            }
            0x8000_0000 => [0x8000_0021, 0, 0, 0],
            0x8000_0001 => [0, 0, 0, 1 << 27],
            0x8000_0002 => words("AMD EPYC"),
            0x8000_0007 => [0, 0, 0, 0x100],
            0x8000_0008 => [0, 0x5002_0005, 0, 0],
            0x8000_0021 => [0x204, 0, 0, 0],
            _ => [0; 4],
        }
    }

    #[test]
    fn zen4_guest_is_read() {
        let facts = from_leaves(zen4);
        let expected = MachineReport {
            cpu: Some("AMD EPYC".into()),
            vendor: Some("AuthenticAMD".into()),
            family: Some(0x19),
            model: Some(0x11),
            stepping: Some(1),
            hypervisor: Some("KVM".into()),
            virtualized: Some(true),
            invariant_tsc: Some(true),
            rdtscp: Some(true),
            lfence_serializing: Some(true),
            rdpru: Some(false),
            microarchitecture: Some("ZEN4".into()),
            ..MachineReport::default()
        };
        assert_eq!(facts, expected);
    }

    #[test]
    fn rates_are_taken_from_the_crystal_or_the_hypervisor() {
        let skylake = from_leaves(|leaf, _| match leaf {
            0 => [0x16, 0, 0, 0],
            1 => [0x0005_06e3, 0, 0, 0],
            0x15 => [2, 288, 24_000_000, 0],
            _ => [0; 4],
        });
        assert_eq!(skylake.stated_hz, Some(3.456e9));
        assert_eq!(
            (skylake.family, skylake.model, skylake.stepping),
            (Some(6), Some(0x5e), Some(3))
        );
        assert_eq!(
            (skylake.virtualized, skylake.hypervisor),
            (Some(false), None)
        );
        assert_eq!((skylake.invariant_tsc, skylake.cpu), (Some(false), None));

        let vmware = from_leaves(|leaf, _| match leaf {
            0 => [0x16, 0, 0, 0],
            1 => [0, 0, 1 << 31, 0],
            0x4000_0000 => [0x4000_0010, 0, 0, 0],
            0x4000_0010 => [2_596_130, 0, 0, 0],
            _ => [0; 4],
        });
        assert_eq!(vmware.stated_hz, Some(2.596_13e9));
        assert_eq!(vmware.hypervisor.as_deref(), Some("unnamed"));
    }

    #[test]
    fn hostile_leaves_do_no_harm() {
        for word in [0, 1, 0x7fff_ffff, u32::MAX] {
            let facts = from_leaves(|_, _| [word; 4]);
            assert!(facts.stated_hz.is_none_or(f64::is_finite));
        }
        assert_eq!(from_leaves(|_, _| [0; 4]), MachineReport::default());
    }
}
