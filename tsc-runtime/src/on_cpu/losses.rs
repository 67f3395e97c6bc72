//! The time that a thread has lost recently, kept so that each running call finds its part when it stops.
//!
//! Calls nest, so the losses form a stack. A call that stops removes all losses since its start from the stack and leaves their sum as a
//! single, claimed one. A loss that no call has claimed yet belongs to the innermost call that was running when it was found, which is the
//! next one to stop. The stack has a fixed size. When it is full, two neighbours are joined: those that matter least to a call that may
//! have started between them.

use crate::tsc::{Ticks, elapsed};

/// Time off the CPU, in ticks. It may be negative, because it is a difference of clocks that are read with an error of some tens of
/// nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    pub(crate) off: i64,
    /// The part in which the thread was ready while another one ran. In the rest it was blocked.
    pub(crate) waiting: i64,
    /// Whether `waiting` is known.
    pub(crate) is_split: bool,
    /// How often the thread came back to a CPU. A signal counts, too.
    pub(crate) switches: u32,
}

impl Loss {
    pub(crate) const NONE: Self = Self {
        off: 0,
        waiting: 0,
        is_split: true,
        switches: 0,
    };

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            off: self.off.wrapping_add(other.off),
            waiting: self.waiting.wrapping_add(other.waiting),
            is_split: self.is_split && other.is_split,
            switches: self.switches.saturating_add(other.switches),
        }
    }

    /// Divides the loss into two parts. The first is `ticks` long or, if the loss is shorter, all of it.
    pub(crate) fn split_at(self, ticks: i64) -> (Self, Self) {
        let ticks = ticks.max(0);
        if self.off <= ticks {
            return (self, Self::NONE);
        }
        let waiting = (self.waiting as f64 * (ticks as f64 / self.off as f64)) as i64;
        let first = Self {
            off: ticks,
            waiting,
            ..self
        };
        let rest = Self {
            off: self.off - ticks,
            waiting: self.waiting - waiting,
            switches: 0,
            ..self
        };
        (first, rest)
    }
}

/// The loss inside a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inside {
    /// Callees included.
    pub(crate) loss: Loss,
    /// The part of it that was not lost in annotated callees.
    pub(crate) own: i64,
}

impl Inside {
    pub(crate) const NOTHING: Self = Self {
        loss: Loss::NONE,
        own: 0,
    };
}

/// One loss, or neighbours that were joined.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// When the first and the last of them were found.
    from: Ticks,
    to: Ticks,
    loss: Loss,
    /// The ticks that no call has claimed yet.
    unclaimed: i64,
}

impl Entry {
    const EMPTY: Self = Self {
        from: 0,
        to: 0,
        loss: Loss::NONE,
        unclaimed: 0,
    };

    fn is_after(&self, start: Ticks) -> bool {
        elapsed(start, self.to) > 0
    }

    fn join(self, later: Self) -> Self {
        Self {
            from: self.from,
            to: later.to,
            loss: self.loss.plus(later.loss),
            unclaimed: self.unclaimed.wrapping_add(later.unclaimed),
        }
    }

    /// Divides an entry that contains `start` into the losses before and after, in proportion to the time.
    fn divide(self, start: Ticks) -> (Self, Self) {
        let share = elapsed(self.from, start) as f64 / elapsed(self.from, self.to) as f64;
        let (before, after) = self.loss.split_at((self.loss.off as f64 * share) as i64);
        let unclaimed = (self.unclaimed as f64 * share) as i64;
        (
            Self {
                to: start,
                loss: before,
                unclaimed,
                ..self
            },
            Self {
                from: start,
                loss: Loss {
                    switches: self.loss.switches,
                    ..after
                },
                unclaimed: self.unclaimed - unclaimed,
                ..self
            },
        )
    }
}

/// The number of losses in the stack, which takes 2 KiB for each thread.
const LEN: usize = 42;
const _: () = assert!(size_of::<Losses>() <= 2048);

#[derive(Debug)]
pub(super) struct Losses {
    /// The oldest first. They do not overlap.
    entries: [Entry; LEN],
    len: usize,
}

impl Losses {
    pub(super) const fn new() -> Self {
        Self {
            entries: [Entry::EMPTY; LEN],
            len: 0,
        }
    }

    /// Adds a loss that was found at `at` and belongs to the innermost running call.
    pub(super) fn add(&mut self, at: Ticks, loss: Loss) {
        self.push(Entry {
            from: at,
            to: at,
            loss,
            unclaimed: loss.off,
        });
    }

    /// The loss since `start`.
    pub(super) fn since(&self, start: Ticks) -> Inside {
        let mut inside = Inside::NOTHING;
        for entry in self.entries[..self.len]
            .iter()
            .rev()
            .take_while(|entry| entry.is_after(start))
        {
            let entry = if elapsed(entry.from, start) > 0 {
                entry.divide(start).1
            } else {
                *entry
            };
            inside.loss = entry.loss.plus(inside.loss);
            inside.own = inside.own.wrapping_add(entry.unclaimed);
        }
        inside
    }

    /// The loss since `start`, for a call that stops now: from here on it is claimed.
    pub(super) fn claim_since(&mut self, start: Ticks) -> Inside {
        let inside = self.since(start);
        let Some(last) = self.entries[..self.len]
            .last()
            .filter(|entry| entry.is_after(start))
        else {
            return inside;
        };
        let mut claimed = Entry {
            from: start,
            to: last.to,
            loss: inside.loss,
            unclaimed: 0,
        };
        while let Some(entry) = self.entries[..self.len]
            .last()
            .copied()
            .filter(|entry| entry.is_after(start))
        {
            self.len -= 1;
            if elapsed(entry.from, start) > 0 {
                self.push(entry.divide(start).0);
                break;
            }
            claimed.from = entry.from;
        }
        self.push(claimed);
        inside
    }

    /// Forgets the losses since `start`, up to `at_most` ticks, and returns how many ticks these were.
    pub(super) fn forget_since(&mut self, start: Ticks, at_most: i64) -> i64 {
        let inside = self.claim_since(start);
        if inside == Inside::NOTHING {
            return 0;
        }
        let claimed = self.entries[self.len - 1];
        self.len -= 1;
        let (forgotten, rest) = inside.loss.split_at(at_most);
        if rest.off != 0 {
            self.push(Entry {
                loss: rest,
                unclaimed: inside.own.clamp(0, rest.off),
                ..claimed
            });
        }
        forgotten.off
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    fn push(&mut self, entry: Entry) {
        if self.len == LEN {
            self.make_room();
        }
        self.entries[self.len] = entry;
        self.len += 1;
    }

    /// Joins the two neighbours that are smallest in relation to everything lost after them. A call that started between them, and so
    /// counts a part of both as its own, has lost at least that.
    fn make_room(&mut self) {
        let (mut after, mut best, mut least) = (0.0, 0, f64::INFINITY);
        for older in (0..self.len - 1).rev() {
            let off = |entry: &Entry| entry.loss.off.unsigned_abs() as f64;
            let both = off(&self.entries[older]) + off(&self.entries[older + 1]);
            let share = both / (after + 1.0);
            if share < least {
                (best, least) = (older, share);
            }
            after += off(&self.entries[older + 1]);
        }
        self.entries[best] = self.entries[best].join(self.entries[best + 1]);
        self.entries.copy_within(best + 2..self.len, best + 1);
        self.len -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(off: i64) -> Loss {
        Loss {
            off,
            waiting: off / 4,
            is_split: true,
            switches: 1,
        }
    }

    fn inside(off: i64, own: i64, switches: u32) -> Inside {
        Inside {
            loss: Loss {
                switches,
                ..loss(off)
            },
            own,
        }
    }

    #[test]
    fn losses_are_those_since_the_start() {
        let mut losses = Losses::new();
        assert_eq!(losses.since(0), Inside::NOTHING);
        losses.add(100, loss(40));
        losses.add(200, loss(80));
        assert_eq!(losses.since(50), inside(120, 120, 2));
        assert_eq!(losses.since(100), inside(80, 80, 1));
        assert_eq!(losses.since(200), Inside::NOTHING);
    }

    #[test]
    fn loss_is_the_innermost_calls_own_and_inclusive_in_the_others() {
        let mut losses = Losses::new();
        // outer(10) { inner(20) { lost; } lost; inner(60) { lost; } }
        losses.add(30, loss(400));
        assert_eq!(losses.claim_since(20), inside(400, 400, 1));
        losses.add(50, loss(40));
        losses.add(70, loss(800));
        assert_eq!(losses.claim_since(60), inside(800, 800, 1));
        assert_eq!(losses.claim_since(10), inside(1240, 40, 3));
        // The caller of outer.
        assert_eq!(losses.claim_since(5), inside(1240, 0, 3));
        assert_eq!(losses.len, 1);
    }

    #[test]
    fn long_call_finds_all_that_many_short_ones_lost() {
        let mut losses = Losses::new();
        // A call that ended before the others; its loss must not be included.
        losses.add(5, loss(1_000_000));
        let (calls, each) = (100_000, 400);
        for call in 0..calls {
            let start = 10 + call * 10;
            losses.add(start + 5, loss(each));
            assert_eq!(losses.claim_since(start), inside(each, each, 1));
        }
        // All of these losses. Whatever is included of the loss before them is small in comparison.
        let all = losses.since(10);
        let extra = all.loss.off - each * calls as i64;
        assert!((0..each * calls as i64 / 20).contains(&extra), "{extra}");
        assert_eq!(losses.since(0).loss.off, 1_000_000 + each * calls as i64);
        // A call that started in the middle has its part, although losses were joined.
        let half = losses.since(10 + calls / 2 * 10).loss.off;
        let expected = each * calls as i64 / 2;
        assert!((half - expected).abs() < expected / 5, "{half} {expected}");
        let last = losses.since(10 + (calls - 5) * 10).loss.off;
        assert_eq!(last, 5 * each);
    }

    #[test]
    fn forgotten_loss_is_nobodys() {
        let mut losses = Losses::new();
        losses.add(100, loss(40));
        losses.add(200, loss(80));
        losses.add(300, loss(400));
        assert_eq!(losses.forget_since(150, 1000), 480);
        assert_eq!(losses.forget_since(150, 1000), 0);
        assert_eq!(losses.since(0), inside(40, 40, 1));
        // There was only time for this much; the rest was lost before.
        losses.add(500, loss(100));
        assert_eq!(losses.forget_since(450, 60), 60);
        assert_eq!(losses.since(450).loss.off, 40);
    }

    #[test]
    fn loss_is_divided_and_nothing_of_it_is_lost() {
        let whole = loss(1000);
        let (first, rest) = whole.split_at(300);
        assert_eq!((first.off, first.waiting, first.switches), (300, 75, 1));
        assert_eq!((rest.off, rest.waiting, rest.switches), (700, 175, 0));
        assert_eq!(whole.split_at(1000), (whole, Loss::NONE));
        assert_eq!(whole.split_at(-5).0.off, 0);
        let below = loss(-8);
        assert_eq!(below.split_at(0), (below, Loss::NONE));
    }

    #[test]
    fn joined_entries_are_divided_by_time() {
        let joined = Entry {
            from: 100,
            to: 200,
            loss: loss(1000),
            unclaimed: 500,
        };
        let (before, after) = joined.divide(150);
        assert_eq!(
            (before.loss.off, before.unclaimed, before.to),
            (500, 250, 150)
        );
        assert_eq!(
            (after.loss.off, after.unclaimed, after.from),
            (500, 250, 150)
        );
    }
}
