//! The figures of a place.

pub(crate) use crate::record::counters::PathSums;

impl PathSums {
    /// Times are divided by this before they are squared, so that the sum does not overflow.
    pub(crate) const UNIT: i64 = 1024;

    /// A tick that stands for this much time on the CPU, of which a part is certainly the function's.
    pub(crate) fn tick(on_cpu: i64, certain: i64) -> Self {
        let by_chance = on_cpu.unsigned_abs() - certain.clamp(0, on_cpu.max(0)).unsigned_abs();
        let units = by_chance.div_ceil(Self::UNIT.unsigned_abs());
        Self {
            ticks: 1,
            squares: units.saturating_mul(units),
            ..Self::time(on_cpu)
        }
    }

    /// Time on the CPU without a tick of its own.
    pub(super) fn time(on_cpu: i64) -> Self {
        Self {
            on_cpu,
            ..Self::default()
        }
    }
}
