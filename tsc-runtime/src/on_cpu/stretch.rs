//! Interruptions that come thick: two threads that hand each other every microsecond of work.
//!
//! To ask at each of them would cost more than they do. So a stop that is interrupted within [`LENGTH_NS`] of the last asking takes the
//! share for lost that was lost of such calls before, and the next asking finds what all of that was really: the difference falls
//! to the call that asks. So sums are exact over such stretches, and no loss that is longer than one is ever taken for anything but what
//! the kernel says.

use super::losses::Loss;

/// Asking for a microsecond once in so long costs two percent.
pub(super) const LENGTH_NS: f64 = 50_000.0;

#[derive(Debug)]
pub(super) struct Stretch {
    /// What was lost of the ticks that interrupted calls had room for in the last stretch, all of which ended with a stop. `None` if
    /// there was a loss outside of calls as well: then nobody knows how it divides.
    share: Option<Share>,
    /// The ticks that interrupted calls since the last asking have had room for, and what was taken for lost of them.
    room: i64,
    taken: Loss,
    /// What the last stretch lost, until it is known whether that was in calls alone.
    lost: Loss,
    lost_room: i64,
}

#[derive(Clone, Copy, Debug)]
struct Share {
    off: f64,
    waiting: f64,
    is_split: bool,
}

impl Stretch {
    pub(super) const fn new() -> Self {
        Self {
            share: None,
            room: 0,
            taken: Loss::NONE,
            lost: Loss::NONE,
            lost_room: 0,
        }
    }

    /// What a call that had room for so many ticks has probably lost.
    pub(super) fn take(&mut self, room: i64) -> Option<Loss> {
        let share = self.share?;
        let part = |share: f64| (room as f64 * share) as i64;
        let loss = Loss {
            off: part(share.off),
            waiting: part(share.waiting),
            is_split: share.is_split,
            switches: 1,
        };
        self.room += room;
        self.taken = self.taken.plus(loss);
        Some(loss)
    }

    /// The kernel says what was lost since it was last asked; returns what of it was not taken for lost yet.
    pub(super) fn end(&mut self, lost: Loss) -> Loss {
        let rest = Loss {
            off: lost.off - self.taken.off,
            waiting: lost.waiting - self.taken.waiting,
            ..lost
        };
        *self = Self {
            lost,
            lost_room: self.room,
            ..Self::new()
        };
        rest
    }

    /// It was asked by the stop of a call that had room for so many ticks: all of the loss was in calls.
    pub(super) fn ended_in_call(&mut self, room: i64) {
        let room = (self.lost_room + room) as f64;
        let share = |ticks: i64| (ticks as f64 / room).clamp(0.0, 1.0);
        self.share = (room > 0.0).then(|| Share {
            off: share(self.lost.off),
            waiting: share(self.lost.waiting),
            is_split: self.lost.is_split,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(off: i64, waiting: i64) -> Loss {
        Loss {
            off,
            waiting,
            is_split: true,
            switches: 1,
        }
    }

    #[test]
    fn sums_are_what_the_kernel_says() {
        let mut stretch = Stretch::new();
        assert_eq!(stretch.take(100), None);
        assert_eq!(stretch.end(loss(80, 20)), loss(80, 20));
        stretch.ended_in_call(100);
        let taken: Vec<_> = (0..5).map(|_| stretch.take(100).unwrap()).collect();
        assert_eq!(taken, [loss(80, 20); 5]);
        // It was less in truth, and the next ones take less.
        let rest = stretch.end(loss(300, 60));
        assert_eq!((rest.off, rest.waiting), (300 - 400, 60 - 100));
        stretch.ended_in_call(100);
        assert_eq!(stretch.take(100).unwrap(), loss(50, 10));
    }

    #[test]
    fn loss_outside_of_calls_teaches_nothing() {
        let mut stretch = Stretch::new();
        stretch.end(loss(80, 0));
        assert_eq!(stretch.take(100), None);
        stretch.end(loss(80, 0));
        stretch.ended_in_call(100);
        assert!(stretch.take(100).is_some());
        // A start has asked.
        stretch.end(loss(80, 0));
        assert_eq!(stretch.take(100), None);
    }
}
