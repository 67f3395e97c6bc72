//! The design of the CPU's core.

use super::machine;

/// The core's design, by the short name that tables of instructions use for it; `None` if it is unknown here.
///
/// The name follows from CPUID's family and model. A hypervisor may report a model that is not the CPU's. So a core with features that the
/// reported model cannot have is named after these features: AMX together with PREFETCHITI was introduced with Redwood Cove, AMX alone
/// with Golden Cove.
#[must_use]
pub fn microarchitecture() -> Option<&'static str> {
    machine().microarchitecture()
}

/// The part of CPUID that determines the name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signature<'a> {
    pub(super) vendor: &'a str,
    pub(super) family: u32,
    pub(super) model: u32,
    pub(super) has_amx: bool,
    pub(super) has_prefetchiti: bool,
    pub(super) has_avx512f: bool,
}

pub(super) fn name(signature: Signature<'_>) -> Option<&'static str> {
    let Signature { family, model, .. } = signature;
    match signature.vendor {
        "GenuineIntel" if family == 6 => match model {
            _ if signature.has_amx && signature.has_prefetchiti => Some("RWC"),
            _ if signature.has_amx => Some("GLC"),
            0x8f | 0xcf | 0x97 | 0x9a | 0xb7 | 0xba | 0xbf => Some("GLC"),
            0xaa | 0xac | 0xad | 0xae => Some("RWC"),
            0x6a | 0x6c | 0x7d | 0x7e | 0xa7 => Some("ICX"),
            0x55 => Some("SKX"),
            0x4e | 0x5e | 0x8e | 0x9e | 0xa5 | 0xa6 => Some("SKL"),
            _ => None,
        },
        "AuthenticAMD" => match (family, model) {
            (0x17, 0x00..=0x2f) => Some("ZEN1"),
            (0x17, _) => Some("ZEN2"),
            (0x19, 0x10..=0x1f | 0x60..=0xaf) => Some("ZEN4"),
            (0x19, _) if !signature.has_avx512f => Some("ZEN3"),
            (0x1a, 0x00..=0x4f | 0x60..=0x7f) => Some("ZEN5"),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_overrule_a_model_that_cannot_have_them() {
        let rocket_lake = Signature {
            vendor: "GenuineIntel",
            family: 6,
            model: 0xa7,
            has_amx: false,
            has_prefetchiti: false,
            has_avx512f: true,
        };
        assert_eq!(name(rocket_lake), Some("ICX"));
        assert_eq!(
            name(Signature {
                has_amx: true,
                ..rocket_lake
            }),
            Some("GLC")
        );
        assert_eq!(
            name(Signature {
                has_amx: true,
                has_prefetchiti: true,
                ..rocket_lake
            }),
            Some("RWC")
        );
        assert_eq!(
            name(Signature {
                vendor: "AuthenticAMD",
                family: 0x19,
                model: 0x11,
                ..rocket_lake
            }),
            Some("ZEN4")
        );
        assert_eq!(
            name(Signature {
                vendor: "CentaurHauls",
                ..rocket_lake
            }),
            None
        );
    }
}
