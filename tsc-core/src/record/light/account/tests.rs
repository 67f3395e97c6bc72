//! Accounts whose checks are given by the tests.

use super::*;

const LENGTHS: Lengths = Lengths {
    us: 1000.0,
    blocking: 40_000.0,
    interval: 0,
};

impl Account {
    /// Begins on a simulated thread, which takes nothing that other threads have left behind.
    #[cfg(not(shuttle))]
    pub(crate) fn begin_simulated(&self, now: Ticks) {
        self.begin(now, 0);
        self.ticks.set(1);
    }
}

/// A check after `on` ticks on the CPU and then `blocked` and `waiting` off it. `tick` is how long ago the clock has ticked.
fn check(account: &Account, on: i64, blocked: i64, waiting: i64, tick: Option<i64>) -> PathSums {
    check_with(
        account,
        on,
        blocked,
        waiting,
        tick,
        &Usual::default(),
        false,
    )
}

/// The same, in a function of which this is known.
fn check_with(
    account: &Account,
    on: i64,
    blocked: i64,
    waiting: i64,
    tick: Option<i64>,
    usual: &Usual,
    is_outside: bool,
) -> PathSums {
    let off = blocked + waiting;
    let now = account.checked.get().wrapping_add_signed(on + off);
    account.settle(
        Passed {
            is_tick_after: false,
            now,
            loss: Loss {
                off,
                waiting,
                ..Loss::NONE
            },
            ticks: tick.map(|ago| NewTicks {
                forgotten: 0,
                first: now.wrapping_add_signed(-ago),
                last: now.wrapping_add_signed(-ago),
            }),
        },
        LENGTHS,
        usual,
        is_outside,
        Rest::default,
    )
}

#[test]
fn tick_on_the_cpu_takes_all_since_the_last_one() {
    let account = Account::new();
    account.begin(1 << 40, 0);
    assert_eq!(check(&account, 700, 0, 0, Some(3)), PathSums::tick(697, 0));
    assert_eq!(check(&account, 30, 0, 0, None), PathSums::default());
    assert_eq!(
        check(&account, 40, 0, 0, Some(1)),
        PathSums::tick(3 + 30 + 39, 0)
    );
}

#[test]
fn tick_in_a_block_leaves_the_cpu_time_to_the_next() {
    let account = Account::new();
    account.begin(1 << 40, 0);
    let in_block = check(&account, 50_000, 300_000, 0, Some(100_000));
    assert_eq!(
        (in_block.ticks, in_block.on_cpu, in_block.off),
        (0, 0, 300_000)
    );
    // The thread's first tick takes a part of what waits.
    assert_eq!(
        check(&account, 7_000, 0, 0, Some(10)),
        PathSums::tick(6_990 + 50_000 / PARTS, 0)
    );
    let left = 50_000 - 50_000 / PARTS;
    assert_eq!(account.pending.get(), left);
    // Before the block, the function was on the CPU.
    let before = check(&account, 900_000, 300_000, 0, Some(600_000));
    assert_eq!((before.ticks, before.off), (1, 300_000));
    assert_eq!(before.on_cpu, 10 + 600_000);
    // After the block, the time before the tick waits with the rest.
    let waits = left + 300_000 + 69_000;
    assert_eq!(
        check(&account, 70_000, 0, 0, Some(1_000)),
        PathSums::tick(waits / PARTS, 0)
    );
    assert_eq!(
        check(&account, 70_000, 0, 0, Some(0)),
        PathSums::tick(1_000 + 70_000, 0)
    );
    assert_eq!(account.pending.get(), waits - waits / PARTS);
}

#[test]
fn what_waits_is_divided_when_the_thread_does_not_block_any_more() {
    let account = Account::new();
    account.begin(1 << 40, 0);
    let takes = || check(&account, 1_000, 0, 0, Some(0)).on_cpu;
    // The thread's first tick.
    assert_eq!(takes(), 1_000);
    check(&account, 1_600_000, 300_000, 0, None);
    assert_eq!(takes(), 1_601_000 / PARTS);
    for _ in 1..=PARTS {
        assert_eq!(takes(), 1_000);
    }
    let waits = 1_601_000 - 1_601_000 / PARTS;
    assert_eq!(takes(), 1_000 + waits / PARTS);
}

#[test]
fn tick_in_a_wait_belongs_to_who_usually_runs_so_long() {
    let account = Account::new();
    account.begin(1 << 40, 0);
    let mut usual = Usual::default();
    let check = |on, waiting, ago| {
        let sums = check_with(&account, on, 0, waiting, Some(ago), &usual, false);
        (sums.ticks, sums.on_cpu, sums.off, sums.waiting)
    };
    // Nothing is known of the function. It may have run since the tick.
    let unknown = check(2_000_000, 4_000_000, 1_500_000);
    assert_eq!(unknown, (1, 500_000, 4_000_000, 4_000_000));
    // The tick came first.
    assert_eq!(
        check(10, 4_000_000, 4_000_009),
        (1, 1_500_001, 4_000_000, 4_000_000)
    );
    // So it usually runs for nanoseconds, and lost the CPU before the tick.
    assert_eq!(
        check(2_000_000, 4_000_000, 1_500_000),
        (0, 0, 4_000_000, 4_000_000)
    );
    // The clock has taken the CPU from it.
    assert_eq!(
        check(5, 4_000_000, 3_990_000),
        (1, 2_000_014, 4_000_000, 4_000_000)
    );
    usual = Usual::default();
    usual.add(2_000_000);
    let long = check_with(
        &account,
        3_000_000,
        0,
        4_000_000,
        Some(1_500_000),
        &usual,
        false,
    );
    assert_eq!((long.ticks, long.on_cpu), (1, 1_500_000));
    // It has blocked, and then waited to continue.
    let woken = check_with(
        &account,
        10_000,
        300_000,
        900_000,
        Some(800_000),
        &usual,
        false,
    );
    assert_eq!((woken.ticks, woken.on_cpu, woken.waiting), (0, 0, 900_000));
}

#[test]
fn tick_before_a_block_belongs_to_what_blocks_only_outside_of_all_functions() {
    for (is_outside, expected) in [(false, (0, 0)), (true, (1, 10_000))] {
        let account = Account::new();
        account.begin(1 << 40, 0);
        let (usual, tick) = (Usual::default(), Some(300_000 + 20_000));
        let sums = check_with(&account, 30_000, 300_000, 0, tick, &usual, is_outside);
        assert_eq!((sums.ticks, sums.on_cpu), expected);
    }
}

#[test]
fn tick_after_a_block_counts_if_it_is_known_to_have_come_then() {
    for (is_tick_after, expected) in [(false, (0, 0)), (true, (1, 20_000))] {
        let account = Account::new();
        account.begin(1 << 40, 0);
        let now = (1 << 40) + 330_000;
        let passed = Passed {
            is_tick_after,
            now,
            loss: Loss {
                off: 300_000,
                ..Loss::NONE
            },
            ticks: Some(NewTicks {
                forgotten: 0,
                first: now - 100_000,
                last: now - 10_000,
            }),
        };
        let sums = account.settle(passed, LENGTHS, &Usual::default(), false, Rest::default);
        assert_eq!((sums.ticks, sums.on_cpu), expected);
    }
}

#[test]
fn long_stretch_is_the_functions_own_whatever_the_clocks_err() {
    let account = Account::new();
    account.begin(1 << 40, 0);
    let long = check(&account, 95_000_000, 8_000, 20_000_000, Some(1_000_000));
    assert_eq!((long.ticks, long.on_cpu), (1, 94_000_000));
}

#[test]
fn time_between_ticks_in_one_call_is_no_matter_of_chance() {
    let account = Account::new();
    account.begin(1 << 40, 0);
    let now = (1_u64 << 40) + 1_000_000;
    let ticks = NewTicks {
        forgotten: 0,
        first: now - 900_000,
        last: now - 100_000,
    };
    let passed = Passed {
        is_tick_after: false,
        now,
        loss: Loss::NONE,
        ticks: Some(ticks),
    };
    let sums = account.settle(passed, LENGTHS, &Usual::default(), false, Rest::default);
    // Others may have run until the first tick.
    let units = 100_000_u64.div_ceil(PathSums::UNIT.unsigned_abs());
    assert_eq!((sums.on_cpu, sums.squares), (900_000, units * units));
}

#[test]
fn long_call_is_no_matter_of_chance_though_its_first_ticks_are_forgotten() {
    let account = Account::new();
    account.begin(1 << 40, 0);
    let now = (1_u64 << 40) + 1_000_000_000;
    let passed = Passed {
        is_tick_after: false,
        now,
        loss: Loss::NONE,
        // One at each million.
        ticks: Some(NewTicks {
            forgotten: 899,
            first: now - 100_000_000,
            last: now,
        }),
    };
    let sums = account.settle(passed, LENGTHS, &Usual::default(), false, Rest::default);
    let units = 1_000_000_u64.div_ceil(PathSums::UNIT.unsigned_abs());
    assert_eq!((sums.on_cpu, sums.squares), (1_000_000_000, units * units));
}

#[test]
fn only_a_tick_that_counts_takes_over_what_others_left_behind() {
    let account = Account::new();
    account.begin(1 << 40, 0);
    let left_behind = || Rest {
        since_tick: 5_000_000,
        pending: 0,
    };
    // Every tick comes while the thread waits, as for a helper that wakes up for some microseconds.
    for _ in 0..100 {
        let blocked = 10_000_000;
        let now = account.checked.get() + blocked as u64 + 20_000;
        let passed = Passed {
            is_tick_after: false,
            now,
            loss: Loss {
                off: blocked,
                ..Loss::NONE
            },
            ticks: Some(NewTicks {
                forgotten: 0,
                first: now - 5_000_000,
                last: now - 5_000_000,
            }),
        };
        let not_yet = || -> Rest { panic!("this tick counts for nobody") };
        assert_eq!(
            account
                .settle(passed, LENGTHS, &Usual::default(), false, not_yet)
                .ticks,
            0
        );
    }
    let now = account.checked.get() + 1_000_000;
    let passed = Passed {
        is_tick_after: false,
        now,
        loss: Loss::NONE,
        ticks: Some(NewTicks {
            forgotten: 0,
            first: now - 1_000,
            last: now - 1_000,
        }),
    };
    let sums = account.settle(passed, LENGTHS, &Usual::default(), false, left_behind);
    assert_eq!(sums.ticks, 1);
    assert!(sums.on_cpu >= 5_000_000 + 999_000, "{}", sums.on_cpu);
}

#[test]
fn errors_of_the_clocks_make_nothing_negative() {
    let account = Account::new();
    account.begin(1 << 40, 0);
    assert_eq!(check(&account, 100, -40, 0, Some(1)).off, 0);
    let sums = check(&account, -50, 80, 0, Some(1));
    assert!(sums.on_cpu >= 0 && sums.off >= 0, "{sums:?}");
}

#[test]
fn time_of_a_pause_is_left_out() {
    let account = Account::new();
    account.begin(1000, 0);
    assert!(!account.is_paused(true) && account.is_paused(true));
    account.skip(5000);
    assert!(!account.is_paused(false));
    assert_eq!(check(&account, 10, 0, 0, Some(1)), PathSums::tick(9, 0));
}

/// A thread whose functions run, wait and block as a test says, while the clock ticks at random.
struct Simulated {
    account: Account,
    now: u64,
    random: u64,
    mean: u64,
    next_tick: u64,
    first_tick: u64,
    last_tick: u64,
    /// The time on the CPU, off it, and blocked since the last check.
    on: i64,
    off: i64,
    blocked: i64,
    ticked: u64,
    slice: u64,
    usual: [Usual; 4],
    /// How long the thread waits for a CPU after its slice.
    wait: u64,
    lengths: Lengths,
    /// This one is what runs outside of all functions.
    outside: Option<usize>,

    own: [i64; 4],
    true_own: [i64; 4],
}

/// So long is the time slice of a simulated thread.
const SLICE: u64 = 3_000_000;

impl Simulated {
    fn new(mean: u64, wait: u64) -> Self {
        let account = Account::new();
        account.begin(0, 0);
        Self {
            account,
            now: 0,
            random: 88_172_645_463_325_252,
            mean,
            next_tick: mean,
            first_tick: 0,
            last_tick: 0,
            on: 0,
            off: 0,
            blocked: 0,
            ticked: 0,
            slice: SLICE,
            usual: Default::default(),
            wait,
            lengths: Lengths {
                interval: mean as i64,
                ..LENGTHS
            },
            outside: None,

            own: [0; 4],
            true_own: [0; 4],
        }
    }

    /// From a half to three halves of `mean`.
    fn around(&mut self, mean: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        mean / 2 + self.random % mean
    }

    /// The clock ticks until `until`.
    fn advance(&mut self, until: u64) {
        while self.next_tick <= until {
            self.last_tick = self.next_tick;
            if self.ticked == 0 {
                self.first_tick = self.next_tick;
            }
            self.ticked += 1;
            self.next_tick += self.around(self.mean);
        }
        self.now = until;
    }

    /// The function passes a probe.
    fn probe(&mut self, function: usize) {
        if self.ticked == 0 && self.off == 0 {
            return;
        }
        let passed = Passed {
            is_tick_after: false,
            now: self.now,
            loss: Loss {
                off: self.off,
                waiting: self.off - self.blocked,
                ..Loss::NONE
            },
            ticks: (self.ticked != 0).then_some(NewTicks {
                forgotten: 0,
                first: self.first_tick,
                last: self.last_tick,
            }),
        };
        let (usual, is_outside) = (&self.usual[function], self.outside == Some(function));
        let sums = self
            .account
            .settle(passed, self.lengths, usual, is_outside, Rest::default);
        self.account.leave(self.now);
        self.own[function] += sums.on_cpu;
        self.ticked = 0;
        (self.on, self.off, self.blocked) = (0, 0, 0);
    }

    /// The function runs from one probe to the next, and is preempted when its slice ends.
    fn run(&mut self, function: usize, ticks: u64) {
        self.true_own[function] += ticks as i64;
        self.on += ticks as i64;
        let mut left = ticks;
        while left != 0 {
            let part = left.min(self.slice).min((self.next_tick - self.now).max(1));
            left -= part;
            self.slice -= part;
            let end = self.now + part;
            if end >= self.next_tick && self.random >> 40 & 1 == 1 && self.wait != 0 {
                // The clock takes the CPU from the thread, and ticks a little later. Then it is another thread's turn.
                self.now = end;
                self.next_tick = end + 10_000;
                self.preempt();
            } else {
                self.advance(end);
            }
            if self.slice == 0 {
                self.preempt();
            }
        }
        self.probe(function);
    }

    fn preempt(&mut self) {
        let wait = self.around(self.wait.max(1));
        self.off += wait as i64;
        self.advance(self.now + wait);
        self.slice = self.around(SLICE);
    }

    /// The function runs and then blocks, before its probe.
    fn run_and_block(&mut self, function: usize, ticks: u64, blocked: u64) {
        self.on += ticks as i64;
        self.advance(self.now + ticks);
        self.block(function, blocked);
    }

    fn block(&mut self, function: usize, ticks: u64) {
        self.off += ticks as i64;
        self.blocked += ticks as i64;
        self.advance(self.now + ticks);
        self.slice = self.around(SLICE);
        self.probe(function);
    }

    /// The share of each function ÷ the true one.
    fn errors(&self) -> [f64; 4] {
        let [own, true_own] = [self.own, self.true_own].map(|of| {
            let sum: i64 = of.iter().sum();
            of.map(|one| one as f64 / sum as f64)
        });
        std::array::from_fn(|function| own[function] / true_own[function])
    }
}

/// A function of milliseconds, then two that are called often, each by another one, which gives the CPU away now and then.
fn mixed(mean: u64, wait: u64) -> [f64; 4] {
    let mut thread = Simulated::new(mean, wait);
    for round in 0..12_000 {
        thread.run(0, 3_000_000);
        for (function, length) in [(1, 10_000), (2, 30_000)] {
            for _ in 0..60 {
                thread.run(function, length);
                thread.run(3, 3_000);
            }
            if thread.slice < SLICE / 2 && wait != 0 {
                // A system call in which the kernel notices that the slice is over.
                thread.preempt();
                thread.run(3, 300);
            }
        }
        if round % 4 == 0 {
            thread.block(3, 2_000_000);
        }
    }
    thread.errors()
}

#[test]
fn each_function_has_its_share_however_long_the_interval() {
    for mean in [200_000, 1_000_000, 4_000_000] {
        let errors = mixed(mean, 0);
        let is_right = |error: &f64| (0.9..1.1).contains(error);
        assert!(errors.iter().all(is_right), "{mean}: {errors:?}");
    }
}

#[test]
fn each_function_has_its_share_among_threads_that_wait() {
    for (mean, wait) in [
        (200_000, 3_000_000),
        (200_000, 30_000_000),
        (500_000, 300_000),
        (1_000_000, 1_000_000),
        (1_000_000, 9_000_000),
        (2_000_000, 30_000_000),
        (4_000_000, 9_000_000),
    ] {
        let errors = mixed(mean, wait);
        let is_right = |error: &f64| (0.8..1.25).contains(error);
        assert!(errors.iter().all(is_right), "{mean} {wait}: {errors:?}");
    }
}

/// The time of a function that works, and of one that works and then sleeps, which takes 14 µs.
fn sleeping(works: u64, sleeper_works: u64) -> [i64; 2] {
    const SLEEPING: u64 = 14_000;
    let mut thread = Simulated::new(200_000, 0);
    thread.lengths.blocking = SLEEPING as f64;
    for _ in 0..50_000 {
        thread.run(0, works);
        thread.run_and_block(1, sleeper_works + SLEEPING, 300_000);
    }
    [thread.own[0], thread.own[1]]
}

#[test]
fn function_that_blocks_has_its_work_however_little() {
    for works in [(17_000, 17_000), (40_000, 10_000)] {
        let [work, sleeper] = sleeping(works.0, works.1).map(|own| own as f64);
        let ratio = sleeper / work * works.0 as f64 / works.1 as f64;
        assert!((0.85..1.15).contains(&ratio), "{works:?}: {ratio}");
    }
    let [_, sleeper] = sleeping(50_000, 0);
    assert_eq!(sleeper, 0);
}

#[test]
fn longest_of_short_requests_does_not_have_the_time_of_the_others() {
    const OUTSIDE: usize = 3;
    let mut thread = Simulated::new(200_000, 0);
    thread.outside = Some(OUTSIDE);
    for _ in 0..20_000 {
        thread.run(OUTSIDE, 20_000);
        thread.run(0, 150_000);
        thread.run_and_block(OUTSIDE, 50_000, 500_000);
        thread.run(1, 10_000);
        thread.run_and_block(OUTSIDE, 50_000, 500_000);
    }
    let all: i64 = thread.own.iter().sum();
    let share = thread.own[0] as f64 / all as f64;
    let expected = 150.0 / 280.0;
    assert!((0.9..1.1).contains(&(share / expected)), "{share}");
}

/// The errors of the functions of a game's frame, the first of which runs after the wait for the frame.
fn frames(mean: u64) -> [f64; 3] {
    let mut thread = Simulated::new(mean, 0);
    for _ in 0..60_000 {
        thread.run(0, 2_000_000);
        thread.run(1, 600_000);
        thread.run(2, 400_000);
        thread.block(3, 13_000_000);
    }
    let [first, second, last, _] = thread.errors();
    [first, second, last]
}

#[test]
fn functions_after_and_before_a_block_get_what_they_used() {
    // An interval between two ticks is rarely as long as the longest if all of it lies in a frame.
    for (mean, most) in [(200_000, 0.02), (1_000_000, 0.04), (4_000_000, 0.1)] {
        let errors = frames(mean);
        let is_right = |error: &f64| (error - 1.0).abs() < most;
        assert!(errors.iter().all(is_right), "{mean}: {errors:?}");
    }
}

#[test]
fn functions_on_short_lived_threads_get_what_they_used() {
    const CALLS: [u64; 2] = [300_000, 100_000];
    let mut random = crate::random::Random::new(1);
    let (mut now, mut next) = (1 << 40, 1 << 40);
    let mut left = Rest::default();
    let mut got = [0; 2];
    for _ in 0..5_000 {
        let account = Account::new();
        account.begin(now, 0);
        for (got, length) in got.iter_mut().zip(CALLS) {
            now += length;
            let mut ticks: Option<NewTicks> = None;
            while next < now {
                let first = ticks.map_or(next, |ticks| ticks.first);
                ticks = Some(NewTicks {
                    forgotten: 0,
                    first,
                    last: next,
                });
                next += 175_000 + random.next() % 350_000;
            }
            let loss = Loss::NONE;
            let passed = Passed {
                now,
                loss,
                ticks,
                is_tick_after: false,
            };
            let take = || std::mem::take(&mut left);
            *got += account
                .settle(passed, LENGTHS, &Usual::default(), false, take)
                .on_cpu;
        }
        let rest = account.rest();
        left.since_tick += rest.since_tick;
        left.pending += rest.pending;
    }
    let share = got[0] as f64 / (got[0] + got[1]) as f64;
    assert!((0.73..0.77).contains(&share), "{share}");
}
