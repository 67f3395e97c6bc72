//! The time that a thread has lost recently, kept so that each running call finds its part when it stops.
//!
//! Calls nest, so the losses form a stack. A call that stops removes all losses since its start from the stack and leaves their sum as a
//! single, claimed one. A loss that no call has claimed yet belongs to the innermost call that was running when it was found, which is the
//! next one to stop. The stack has a fixed size. When it is full, two neighbours are joined: those that matter least to a call that may
//! have started between them. Such a call gets a part of them in proportion to time, and the rest goes to the calls around it. So every loss
//! is one call's own, and own losses add up to those of the outermost calls.

use std::mem;

use crate::tsc::{Ticks, elapsed};

/// Time off the CPU, in ticks, which is never negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)] // without gaps, also with `-Z randomize-layout`
pub(crate) struct Loss {
    pub(crate) off: i64,
    /// The part in which the thread was ready while another one ran: at most all of it. In the rest it was blocked.
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

    /// The part in which the thread was blocked, as far as is known: all of it if `waiting` is not.
    pub(crate) fn blocked(&self) -> i64 {
        self.off.wrapping_sub(self.waiting)
    }

    fn minus(self, part: Self) -> Self {
        Self {
            off: self.off - part.off,
            waiting: self.waiting - part.waiting,
            switches: self.switches.saturating_sub(part.switches),
            ..self
        }
    }

    /// How often another thread took the CPU, instead of this one giving it up. One that blocks also waits when it wakes up.
    fn interruptions(&self) -> u32 {
        if self.waiting > self.blocked() {
            self.switches
        } else {
            0
        }
    }

    /// Divides the loss into two parts. The first is `ticks` long or, if the loss is shorter, all of it.
    pub(crate) fn split_at(self, ticks: i64) -> (Self, Self) {
        let ticks = ticks.max(0);
        if self.off <= ticks {
            return (self, Self::NONE);
        }
        let waiting = part(self.waiting, ticks, self.off);
        let first = Self {
            off: ticks,
            waiting,
            ..self
        };
        (first, self.minus(first))
    }
}

/// `share` of `of` in the same proportion as all of it to `whole`, rounded down.
fn part(whole: i64, share: i64, of: i64) -> i64 {
    (i128::from(whole) * i128::from(share) / i128::from(of)) as i64
}

/// The loss inside a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inside {
    /// Callees included.
    pub(crate) loss: Loss,
    /// The part of it that was not lost in annotated callees. Its switches are those by which another thread took the CPU.
    pub(crate) own: Loss,
}

impl Inside {
    pub(crate) const NOTHING: Self = Self {
        loss: Loss::NONE,
        own: Loss::NONE,
    };

    fn plus(self, other: Self) -> Self {
        let (loss, own) = (self.loss.plus(other.loss), self.own.plus(other.own));
        Self { loss, own }
    }

    /// The loss of a call that was at most `ticks`, and the rest. What its callees have claimed was lost in it.
    fn cut_at(self, ticks: i64) -> (Self, Self) {
        let (claimed, claimed_rest) = self.loss.minus(self.own).split_at(ticks);
        let (own, own_rest) = self.own.split_at(ticks - claimed.off);
        let inside = |claimed: Loss, own| Self {
            loss: claimed.plus(own),
            own,
        };
        (inside(claimed, own), inside(claimed_rest, own_rest))
    }

    /// Like [`Loss::split_at`].
    fn split_at(self, ticks: i64) -> (Self, Self) {
        let (loss, rest) = self.loss.split_at(ticks);
        let own_ticks = match rest.off {
            0 => self.own.off,
            _ => part(self.own.off, loss.off, self.loss.off),
        };
        let (own, own_rest) = self.own.split_at(own_ticks);
        let inside = |loss, own| Self { loss, own };
        (inside(loss, own), inside(rest, own_rest))
    }
}

/// One loss, or neighbours that were joined.
#[derive(Clone, Copy, Debug)]
struct LostTicks {
    /// When the first and the last of them were found.
    from: Ticks,
    to: Ticks,
    /// `own` is what no call has claimed yet.
    inside: Inside,
}

impl LostTicks {
    const EMPTY: Self = Self::new(0, 0, Inside::NOTHING);

    const fn new(from: Ticks, to: Ticks, inside: Inside) -> Self {
        Self { from, to, inside }
    }

    fn join(self, later: Self) -> Self {
        Self::new(self.from, later.to, self.inside.plus(later.inside))
    }

    /// The losses until `start` and those after it, in proportion to the time.
    fn divide(self, start: Ticks) -> (Inside, Inside) {
        let earlier = elapsed(self.from, start);
        if earlier <= 0 {
            return (Inside::NOTHING, self.inside);
        }
        let loss = self.inside.loss;
        let share = part(loss.off, earlier, elapsed(self.from, self.to));
        let (mut before, mut after) = self.inside.split_at(share);
        after.loss.switches = mem::take(&mut before.loss.switches);
        (before, after)
    }
}

/// The number of losses in the stack, which takes 2 KiB for each thread.
const LEN: usize = 31;
const _: () = assert!(size_of::<Losses>() <= 2048);

#[derive(Clone, Debug)]
pub(super) struct Losses {
    /// The oldest first. They do not overlap.
    entries: [LostTicks; LEN],
    len: usize,
}

impl Losses {
    pub(super) const fn new() -> Self {
        Self {
            entries: [LostTicks::EMPTY; LEN],
            len: 0,
        }
    }

    /// Adds a loss that was found at `at` and belongs to the innermost running call. Where nothing was lost, there is no entry: joined with
    /// later ones, it would give a part of them to the time before the call.
    pub(super) fn add(&mut self, at: Ticks, loss: Loss) {
        if loss == Loss::NONE {
            return;
        }
        let own = Loss {
            switches: loss.interruptions(),
            ..loss
        };
        self.push(LostTicks::new(at, at, Inside { loss, own }));
    }

    /// The loss since `start`, which was at most `at_most` ticks.
    pub(super) fn since(&self, start: Ticks, at_most: i64) -> Inside {
        match self.last_after(start) {
            None => Inside::NOTHING,
            Some(_) => self.clone().claim_since(start, at_most),
        }
    }

    /// The same for a call that stops now: from here on the loss is claimed.
    pub(super) fn claim_since(&mut self, start: Ticks, at_most: i64) -> Inside {
        let Some(last) = self.last_after(start) else {
            return Inside::NOTHING;
        };
        let (mut before, mut inside, mut from) = (Inside::NOTHING, Inside::NOTHING, start);
        while let Some(entry) = self.last_after(start) {
            self.len -= 1;
            let after;
            (before, after) = entry.divide(start);
            inside = after.plus(inside);
            from = entry.from;
        }
        // Losses that were joined are divided by time, and so the part may be too large. What a hypervisor has taken disturbs no detector, and
        // so it is found later than it was lost.
        let (inside, rest) = inside.cut_at(at_most);
        let before = before.plus(rest);
        if before != Inside::NOTHING {
            self.push(LostTicks::new(from.min(start), start, before));
        }
        let own = Loss::NONE;
        let claimed = Inside { own, ..inside };
        self.push(LostTicks::new(from.max(start), last.to, claimed));
        inside
    }

    /// Forgets the losses since `start`.
    pub(super) fn forget_since(&mut self, start: Ticks) {
        if self.claim_since(start, i64::MAX) != Inside::NOTHING {
            self.len -= 1;
        }
    }

    /// The last entry, if a part of it was found after `start`.
    fn last_after(&self, start: Ticks) -> Option<LostTicks> {
        let last = self.entries[..self.len].last();
        last.filter(|entry| elapsed(start, entry.to) > 0).copied()
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    fn push(&mut self, entry: LostTicks) {
        if self.len == LEN {
            self.make_room();
        }
        self.entries[self.len] = entry;
        self.len += 1;
    }

    /// Joins the two neighbours that matter least to a call that started between them and so counts a part of both as its own: in relation to
    /// the time that this call has taken at least. What it waited is no part of its ticks and hardly counts.
    fn make_room(&mut self) {
        const WAITING: f64 = 1e-3;
        let end = self.entries[self.len - 1].to;
        let (mut after, mut best, mut least) = (Loss::NONE, 0, f64::INFINITY);
        for older in (0..self.len - 1).rev() {
            let (first, second) = (&self.entries[older], &self.entries[older + 1]);
            let both = first.inside.loss.plus(second.inside.loss);
            let wall = elapsed(second.from, end).max(after.off) + 1;
            let share = both.blocked() as f64 / (wall - after.waiting) as f64
                + WAITING * both.waiting as f64 / wall as f64;
            if share < least {
                (best, least) = (older, share);
            }
            after = after.plus(second.inside.loss);
        }
        self.entries[best] = self.entries[best].join(self.entries[best + 1]);
        self.entries.copy_within(best + 2..self.len, best + 1);
        self.len -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than any loss in these tests.
    const ALL: i64 = i64::MAX;

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
            own: Loss {
                switches: 0,
                ..loss(own)
            },
        }
    }

    #[test]
    fn losses_are_those_since_the_start() {
        let mut losses = Losses::new();
        assert_eq!(losses.since(0, ALL), Inside::NOTHING);
        losses.add(100, loss(40));
        losses.add(200, loss(80));
        assert_eq!(losses.since(50, ALL), inside(120, 120, 2));
        assert_eq!(losses.since(100, ALL), inside(80, 80, 1));
        assert_eq!(losses.since(200, ALL), Inside::NOTHING);
    }

    #[test]
    fn loss_is_the_innermost_calls_own_and_inclusive_in_the_others() {
        let mut losses = Losses::new();
        // outer(10) { inner(20) { lost; } lost; inner(60) { lost; } }
        losses.add(30, loss(400));
        assert_eq!(losses.claim_since(20, ALL), inside(400, 400, 1));
        losses.add(50, loss(40));
        losses.add(70, loss(800));
        assert_eq!(losses.claim_since(60, ALL), inside(800, 800, 1));
        assert_eq!(losses.claim_since(10, ALL), inside(1240, 40, 3));
        // The caller of outer.
        assert_eq!(losses.claim_since(5, ALL), inside(1240, 0, 3));
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
            assert_eq!(losses.claim_since(start, ALL), inside(each, each, 1));
        }
        // All of these losses. Whatever is included of the loss before them is small in comparison.
        let all = losses.since(10, ALL);
        let extra = all.loss.off - each * calls as i64;
        assert!((0..each * calls as i64 / 20).contains(&extra), "{extra}");
        assert_eq!(
            losses.since(0, ALL).loss.off,
            1_000_000 + each * calls as i64
        );
        // A call that started in the middle has its part, although losses were joined.
        let half = losses.since(10 + calls / 2 * 10, ALL).loss.off;
        let expected = each * calls as i64 / 2;
        assert!((half - expected).abs() < expected / 5, "{half} {expected}");
        let last = losses.since(10 + (calls - 5) * 10, ALL).loss.off;
        assert_eq!(last, 5 * each);
    }

    #[test]
    fn registration_that_lost_nothing_takes_no_part_of_what_its_call_lost() {
        let mut losses = Losses::new();
        losses.add(0, Loss::NONE);
        // It took as long as the call, which starts at 1 000.
        for callee in 0..100_u64 {
            let start = 1_000 + callee * 10;
            losses.add(start + 5, loss(40));
            losses.claim_since(start, ALL);
        }
        assert_eq!(losses.claim_since(1_000, ALL), inside(4_000, 0, 100));
    }

    #[test]
    fn long_wait_does_not_move_what_was_blocked_to_a_caller() {
        let mut random = 88_172_645_463_325_252_u64;
        let mut is_one_of = |n: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 20).is_multiple_of(n)
        };
        let mut losses = Losses::new();
        let (mut now, mut own, mut total, mut net) = (0_u64, 0, 0, 0);
        for _ in 0..20_000 {
            let start = now;
            for _ in 0..4 {
                let blocked = if is_one_of(4_000) { 40_000 } else { 60 };
                let waiting = if is_one_of(100) { 8_000_000 } else { 10 };
                let off: i64 = blocked + waiting;
                now += 10_000 + off.cast_unsigned();
                net += 20_000 + blocked;
                let lost = Loss {
                    waiting,
                    ..loss(off)
                };
                losses.add(now, lost);
                own += losses.claim_since(now - 5_000, ALL).own.blocked();
                now += 10_000;
            }
            let inside = losses.claim_since(start, ALL);
            own += inside.own.blocked();
            total += inside.loss.blocked();
        }
        assert!((own - total).abs() < net / 1_000_000, "{own} {total} {net}");
    }

    #[test]
    fn call_that_can_have_lost_less_leaves_the_rest_to_its_callers() {
        let mut losses = Losses::new();
        losses.add(100, loss(40));
        losses.add(200, loss(80));
        assert_eq!(losses.since(50, 100), inside(100, 100, 2));
        assert_eq!(losses.claim_since(150, 60), inside(60, 60, 1));
        assert_eq!(losses.claim_since(50, 1_000), inside(120, 60, 2));
    }

    #[test]
    fn what_callees_have_claimed_is_in_their_caller() {
        let mut losses = Losses::new();
        losses.add(100, loss(1_000));
        assert_eq!(losses.claim_since(40, 600), inside(600, 600, 1));
        assert_eq!(losses.claim_since(30, 620), inside(620, 20, 1));
        assert_eq!(losses.claim_since(20, 640), inside(640, 20, 1));
        assert_eq!(losses.claim_since(10, ALL), inside(1_000, 360, 1));
    }

    #[test]
    fn forgotten_losses_are_in_no_call() {
        let mut losses = Losses::new();
        losses.add(100, loss(40));
        losses.forget_since(100);
        losses.add(200, loss(80));
        losses.claim_since(150, ALL);
        losses.add(300, loss(800));
        losses.forget_since(120);
        losses.forget_since(120);
        assert_eq!(losses.since(50, ALL), inside(40, 40, 1));
    }

    #[test]
    fn loss_is_divided_and_nothing_of_it_is_lost() {
        let whole = loss(1000);
        let (first, rest) = whole.split_at(300);
        assert_eq!((first.off, first.waiting, first.switches), (300, 75, 1));
        assert_eq!((rest.off, rest.waiting, rest.switches), (700, 175, 0));
        assert_eq!(whole.split_at(1000), (whole, Loss::NONE));
        assert_eq!(whole.split_at(-5).0.off, 0);
        // Nobody waits for longer than was lost, also after rounding.
        let all = Loss {
            waiting: 1000,
            ..whole
        };
        for ticks in 0..1000 {
            let (first, rest) = all.split_at(ticks);
            assert_eq!((first.waiting, rest.waiting), (first.off, rest.off));
        }
    }

    #[test]
    fn joined_entries_are_divided_by_time() {
        let joined = LostTicks {
            from: 100,
            to: 200,
            inside: inside(1000, 500, 1),
        };
        let (before, after) = joined.divide(150);
        assert_eq!((before.loss.off, before.own.off), (500, 250));
        assert_eq!((after.loss.off, after.own.off), (500, 250));
        assert_eq!(joined.divide(100), (Inside::NOTHING, joined.inside));
    }
}
