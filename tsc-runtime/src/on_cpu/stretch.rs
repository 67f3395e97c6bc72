//! Frequent interruptions, as of two threads that pass each other a microsecond of work at a time.
//!
//! Asking the kernel at each of them would cost more than they do. So a stop that is interrupted within [`LENGTH_NS`] after the last
//! request assumes the share that such calls have lost before. The next request finds the real loss, and the difference belongs to the call
//! that asks. So sums over such stretches are exact, and a loss that is longer than a stretch is always measured.

use super::losses::Loss;

/// Asking takes about a microsecond, so asking once in this time costs two percent.
pub(super) const LENGTH_NS: f64 = 50_000.0;

#[derive(Debug)]
pub(super) struct Stretch {
    /// The share of the ticks of interrupted calls that was lost in the last stretch, all of which ended with a stop. `None` if there was
    /// also a loss outside of calls, because it is unknown how the loss divides then.
    share: Option<Share>,
    /// The ticks of interrupted calls since the last request, and the loss that was assumed for them.
    room: i64,
    taken: Loss,
    /// The loss of the last stretch, until it is known whether all of it was in calls.
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

    /// The probable loss of an interrupted call that can have lost at most `room` ticks.
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

    /// Notes the kernel's figure for the loss since the last request, and returns the part that was not assumed yet.
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

    /// Notes that the request came from the stop of a call that can have lost at most `room` ticks, so the whole loss was in calls.
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
        // The real loss is smaller, so less is assumed for the next calls.
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
        // The request came from a start.
        stretch.end(loss(80, 0));
        assert_eq!(stretch.take(100), None);
    }
}
