//! Ticks of which a report contains only the sum, not the calls.

/// A whole number of ticks, so that merging reports is exact. Getters return it as a floating-point number, like all other ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "json", serde(transparent))]
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
