//! Ticks of which a report contains only the sum, not the calls.

/// A whole number of ticks, so that merging reports is exact. Getters return it as a floating-point number, like all other ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "json", derive(serde::Serialize), serde(transparent))]
pub struct WholeTicks(pub i64);

impl WholeTicks {
    #[doc(hidden)]
    pub fn rounded(ticks: f64) -> Self {
        Self(ticks.round() as i64)
    }

    pub(crate) fn to_f64(self) -> f64 {
        self.0 as f64
    }
}

/// Reads `7` and `7.0`, which JSON does not distinguish.
#[cfg(feature = "json")]
impl<'de> serde::Deserialize<'de> for WholeTicks {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(untagged, expecting = "expected a whole number of 64 bits")]
        enum Number {
            Whole(i64),
            Float(f64),
        }
        match Number::deserialize(deserializer)? {
            Number::Whole(ticks) => Ok(Self(ticks)),
            Number::Float(ticks) if ticks.abs() >= i64::MAX as f64 => {
                Err(serde::de::Error::custom("too many ticks"))
            }
            Number::Float(ticks) if ticks == ticks.round() => Ok(Self::rounded(ticks)),
            Number::Float(ticks) => Err(serde::de::Error::custom(format_args!(
                "{ticks} ticks are not a whole number"
            ))),
        }
    }
}

#[cfg(all(test, feature = "json"))]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_read_in_either_form() {
        let read = |text: &str| serde_json::from_str::<WholeTicks>(text).ok();
        assert_eq!(
            [read("-7"), read("-7.0"), read("-7e0")],
            [Some(WholeTicks(-7)); 3]
        );
        assert_eq!(read("9007199254740993"), Some(WholeTicks((1 << 53) + 1)));
        for wrong in ["7.5", "1e40", "18446744073709551615", "\"7\"", "null"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
