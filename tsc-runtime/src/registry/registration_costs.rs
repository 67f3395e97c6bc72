//! What a thread's registrations and reports have cost it, so that it can be kept apart from what probes cost.
//!
//! Both are in the thread's running sum of overhead, of which a call in flight has noted where it stood. A registration inside the
//! call has added to the sum beyond that mark, so it is enough to note where the sum stood at each.

/// Marks that stand for equally many additions. Of one more, the two oldest are joined: so memory stays small, and of a call that began
/// between two that were joined, at most this part is missing.
const ALIKE: usize = 32;

/// What the allocator is asked for at once.
const ROOM: usize = 8;

#[derive(Debug, Default)]
pub(crate) struct RegistrationCosts {
    /// The oldest first, which stand for the most additions.
    marks: Vec<Mark>,
    sum: u64,
}

#[derive(Debug)]
struct Mark {
    /// Where the thread's overhead stood, and the sum of costs, before the first addition.
    overhead: u64,
    sum: u64,
    /// How many additions.
    additions: u64,
}

impl RegistrationCosts {
    /// Makes room for what is added next. Whoever calls this may call the allocator.
    pub(crate) fn reserve(&mut self) {
        self.marks.reserve(ROOM);
    }

    /// `ticks` were spent when the overhead stood at `overhead`, and have moved it on by as much. Does not allocate: where there is no
    /// room, the two oldest marks are joined.
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

    /// What was spent since the overhead stood at `overhead`.
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
        // Nothing is too much, and no more than 1/32 too little.
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
