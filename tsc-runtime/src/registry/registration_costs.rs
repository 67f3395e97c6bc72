//! The cost of a thread's registrations and reports, kept apart from the cost of its probes.
//!
//! Both are part of the thread's running sum of overhead. A running call has saved the value of that sum at its start, and a registration
//! inside the call adds to the sum beyond that value. So it is enough to note the value of the sum at each registration.

/// Exponential histogram: at most this many marks for each number of additions. One more mark joins the two oldest, so memory stays small.
/// For a call that began between two joined marks, at most this part of the cost is missing.
const ALIKE: usize = 32;

/// The number of marks for which memory is allocated at once.
const ROOM: usize = 8;

#[derive(Debug, Default)]
pub(crate) struct RegistrationCosts {
    /// The oldest mark first, which stands for the most additions.
    marks: Vec<Mark>,
    sum: u64,
}

#[derive(Debug)]
struct Mark {
    /// The thread's overhead and the sum of costs before the first addition.
    overhead: u64,
    sum: u64,
    /// The number of additions.
    additions: u64,
}

impl RegistrationCosts {
    /// Makes room for the next addition, if there is memory. To be called where allocating is allowed.
    pub(crate) fn reserve(&mut self) {
        let _without_memory = self.marks.try_reserve(ROOM);
    }

    /// Adds `ticks`, which were spent when the overhead stood at `overhead` and have been added to it. Does not allocate: without room, it
    /// joins the two oldest marks.
    pub(crate) fn add(&mut self, overhead: u64, ticks: u64) {
        if self.marks.len() == self.marks.capacity() {
            if self.marks.len() < 2 {
                self.sum = self.sum.wrapping_add(ticks);
                return;
            }
            self.marks[0].additions += self.marks.remove(1).additions;
        }
        self.marks.push(Mark {
            overhead,
            sum: self.sum,
            additions: 1,
        });
        self.sum = self.sum.wrapping_add(ticks);
        let (mut end, mut alike) = (self.marks.len(), 1);
        loop {
            let begin = self.marks.partition_point(|mark| mark.additions > alike);
            if end - begin <= ALIKE {
                break;
            }
            self.marks.remove(begin + 1);
            alike *= 2;
            self.marks[begin].additions = alike;
            end = begin + 1;
        }
    }

    /// The cost since the overhead stood at `overhead`.
    pub(crate) fn since(&self, overhead: u64) -> u64 {
        let next = self.marks.partition_point(|mark| mark.overhead < overhead);
        self.marks
            .get(next)
            .map_or(0, |mark| self.sum.wrapping_sub(mark.sum))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_from_a_mark_on() {
        let mut costs = RegistrationCosts::default();
        costs.reserve();
        assert_eq!(costs.since(0), 0);
        costs.add(100, 7);
        costs.add(107, 5);
        costs.add(1000, 3);
        assert_eq!(
            [0, 100, 101, 107, 112, 1000, 1003].map(|at| costs.since(at)),
            [15, 15, 8, 8, 3, 3, 0]
        );
    }

    #[test]
    fn many_are_joined_and_nothing_is_lost() {
        let mut costs = RegistrationCosts::default();
        costs.reserve();
        let mut overhead = 50;
        for _ in 0..100_000 {
            costs.reserve();
            costs.add(overhead, 2);
            overhead += 10;
        }
        assert!(costs.marks.len() < 500, "{}", costs.marks.len());
        // The result is never too large, and at most 1/32 too small.
        for began in (0..100_000).step_by(997) {
            let (told, spent) = (costs.since(50 + 10 * began), 2 * (100_000 - began));
            assert!(
                told <= spent && told + told / 31 + 2 >= spent,
                "{told} of {spent}"
            );
        }
        assert_eq!(costs.since(0), 200_000);
        assert_eq!(costs.since(overhead - 10), 2);
        assert_eq!(costs.since(overhead), 0);
    }
}
