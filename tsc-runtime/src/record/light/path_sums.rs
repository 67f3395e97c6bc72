//! The figures of a place.

use crate::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// What the ticks in one place add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PathSums {
    /// Ticks of the clock that found the thread on the CPU.
    pub(crate) ticks: u64,
    /// Time on the CPU, in ticks of the counter.
    pub(crate) on_cpu: i64,
    /// Time off the CPU, likewise.
    pub(crate) off: i64,
    /// The part of it in which the thread was ready to run.
    pub(crate) waiting: i64,
    /// The sum of the squares of the times that single ticks stand for by chance, in units of [`UNIT`](Self::UNIT) ticks squared.
    pub(crate) squares: u64,
}

impl PathSums {
    /// Times are divided by this before they are squared, so that the sum does not overflow.
    pub(crate) const UNIT: i64 = 1024;

    pub(crate) fn add(&mut self, other: &Self) {
        self.ticks = self.ticks.wrapping_add(other.ticks);
        self.on_cpu = self.on_cpu.wrapping_add(other.on_cpu);
        self.off = self.off.wrapping_add(other.off);
        self.waiting = self.waiting.wrapping_add(other.waiting);
        self.squares = self.squares.wrapping_add(other.squares);
    }

    pub(crate) fn since(&self, earlier: &Self) -> Self {
        Self {
            ticks: self.ticks.wrapping_sub(earlier.ticks),
            on_cpu: self.on_cpu.wrapping_sub(earlier.on_cpu),
            off: self.off.wrapping_sub(earlier.off),
            waiting: self.waiting.wrapping_sub(earlier.waiting),
            squares: self.squares.wrapping_sub(earlier.squares),
        }
    }

    /// A tick that stands for this much time on the CPU, of which a part is certainly the function's.
    pub(crate) fn tick(on_cpu: i64, certain: i64) -> Self {
        let by_chance = on_cpu.unsigned_abs() - certain.clamp(0, on_cpu.max(0)).unsigned_abs();
        let units = by_chance.div_ceil(Self::UNIT.unsigned_abs());
        Self {
            ticks: 1,
            on_cpu,
            squares: units.saturating_mul(units),
            ..Self::default()
        }
    }

    /// Time on the CPU without a tick of its own.
    pub(super) fn time(on_cpu: i64) -> Self {
        Self {
            on_cpu,
            ..Self::default()
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The figures of a place, which only the thread itself writes.
#[derive(Debug)]
pub(super) struct Sums {
    ticks: AtomicU64,
    on_cpu: AtomicI64,
    off: AtomicI64,
    waiting: AtomicI64,
    squares: AtomicU64,
}

impl Sums {
    pub(super) fn add(&self, part: &PathSums) {
        let mut sums = self.read();
        sums.add(part);
        self.ticks.store(sums.ticks, Relaxed);
        self.on_cpu.store(sums.on_cpu, Relaxed);
        self.off.store(sums.off, Relaxed);
        self.waiting.store(sums.waiting, Relaxed);
        self.squares.store(sums.squares, Relaxed);
    }

    pub(super) fn read(&self) -> PathSums {
        PathSums {
            ticks: self.ticks.load(Relaxed),
            on_cpu: self.on_cpu.load(Relaxed),
            off: self.off.load(Relaxed),
            waiting: self.waiting.load(Relaxed),
            squares: self.squares.load(Relaxed),
        }
    }
}
