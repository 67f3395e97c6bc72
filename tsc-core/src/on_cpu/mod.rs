//! How long this thread was on the CPU, and where the rest of the time went.
//!
//! # When the kernel is asked
//!
//! If two checks of the [detector](crate::interruption) find it armed, the thread did not leave its CPU between them. So a clean call does
//! not ask the kernel. Only a check that finds the detector disarmed asks how long the thread has run and how long it waited for a CPU: at
//! a start, which arms the detector again, or at a stop of an interrupted call. The time that has passed since the last request, minus the
//! time that the thread has run, was off the CPU. It lies between this check and the previous one, and therefore in the innermost call that
//! was running.
//!
//! Off the CPU a thread is either *waiting* for a CPU that something else has, or *blocked*: asleep, in a lock, in I/O. The scheduler's
//! statistics contain the time waiting for another thread; the rest counts as blocked, unless the thread has not given up its CPU. Then
//! interrupts or a hypervisor have taken it, whose time some kernels count apart from the threads'. Where the statistics cannot be read, a
//! thread that has not given up its CPU since the last request has waited; one that has may have done both.
//!
//! # Where the loss goes
//!
//! The loss is added to the thread's running overhead, like the cost of asking for it. Every running call has saved that sum at its start.
//! So for each of them, the difference at the stop leaves the exact ticks on the CPU, however many losses there were. The thread's
//! [`losses`] know how much of the difference was loss, and in which call.

#![cfg(measuring)]
#![cfg_attr(not(feature = "on"), allow(dead_code))] // the rest is for the self-test

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use once_cell::race::OnceBox;

use crate::environment;
use crate::process::Errno;
use crate::tsc::{Ticks, elapsed};

#[cfg(all(linux_x86, not(miri)))]
mod kernel;
#[cfg(not(all(linux_x86, not(miri))))]
#[path = "absent.rs"]
mod kernel;
mod losses;
mod rate;
mod reading;
#[cfg(all(linux_x86, not(miri)))]
mod schedstat;
#[cfg(test)]
pub(crate) mod script;

pub(crate) use losses::{Inside, Loss};

use losses::Losses;
use reading::{Left, Reading};

// In a test, a script may stand for the counter and the kernel.
#[cfg(not(test))]
use {crate::process::cpu_time::blocks_of_thread, kernel::Kernel, rate::ticks_per_ns};
#[cfg(test)]
use {script::Kernel, script::blocks_of_thread, script::ticks_per_ns};

#[cfg(not(test))]
pub(crate) use rate::now;
#[cfg(test)]
pub(crate) use script::counter as now;

/// How much of a context switch the kernel counts as the thread's own time: a part of the switch itself, and the time for refilling cold
/// caches. `self_test` measures the switch on this machine; the caches depend on the work.
pub(crate) const SWITCH_NS: f64 = 2_000.0;

/// The scheduler's statistics are asked for once in this time, because reading them takes longer than the rest. Of losses that come more
/// often, as of two threads that pass each other a microsecond of work at a time, the sum of the time waiting is known, but not in which of
/// them it was.
const STATISTICS_NS: f64 = 50_000.0;

/// An interrupted call is a sample if it takes, on the CPU and blocked, at least this many times the uncertainty of its switches.
pub(crate) const CERTAIN: f64 = 100.0;

/// The reason why the time on the CPU is unknown, if it is. The first thread that measures determines it, or the first few at once. No
/// thread waits for another one, because in the child of a fork the other one may not exist.
static UNAVAILABLE: OnceBox<Result<(), &'static str>> = OnceBox::new();
/// Set when the kernel no longer answers, although it did before: the process has entered a sandbox.
static REFUSED: AtomicBool = AtomicBool::new(false);

/// A thread's state for finding its losses.
#[derive(Debug)]
pub(crate) struct OnCpu(RefCell<State>);

#[derive(Debug)]
struct State {
    kernel: Kernel,
    /// The figures of the last request. `None` on a thread that does not ask the kernel.
    last: Option<Reading>,
    losses: Losses,
    /// The losses since the account of light probes has looked.
    since_look: Loss,
    /// What is left of the figures of the last request.
    left: Left,
    /// When the scheduler's statistics were read.
    statistics_at: Ticks,
    /// How often the thread had given up its CPU when that was last asked for.
    blocks: Option<u64>,
    /// The least known cost of asking.
    cost: Option<i64>,
}

/// The kernel's answer to a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    /// When the request began.
    pub(crate) began: Ticks,
    /// When the kernel answered.
    pub(crate) at: Ticks,
    pub(crate) loss: Loss,
}

impl OnCpu {
    pub(crate) const fn new() -> Self {
        Self(RefCell::new(State {
            kernel: Kernel::new(),
            last: None,
            losses: Losses::new(),
            since_look: Loss::NONE,
            left: Left::NOTHING,
            statistics_at: 0,
            blocks: None,
            cost: None,
        }))
    }

    /// Prepares the calling thread for asking.
    pub(crate) fn attach(&self) {
        let is_wanted = || environment::ON_CPU.parse(environment::switch);
        let is_available = *UNAVAILABLE.get_or_init(|| match is_wanted() {
            Some(false) => Box::new(Err("TSC_ON_CPU=off")),
            _ => Box::new(kernel::clock_is_fine()),
        });
        self.with(|state| {
            state.clear();
            if is_available.is_ok() {
                rate::first_reading();
                state.kernel.attach();
                state.last = state.read(true);
                state.blocks = blocks_of_thread();
            }
        });
    }

    /// The same for light probes, which ask on all systems, unless the thread is prepared.
    pub(crate) fn attach_for_light(&self) {
        if !self.asks() {
            self.attach();
        }
        self.look();
    }

    /// What `f` makes of the state. `None` if a signal handler has interrupted the use of it.
    fn with<T>(&self, f: impl FnOnce(&mut State) -> T) -> Option<T> {
        self.0.try_borrow_mut().ok().map(|mut state| f(&mut state))
    }

    /// Stops asking, and closes the file descriptor, because the thread ends, or because it is in the child of a fork and the descriptor
    /// belongs to the parent.
    pub(crate) fn detach(&self) {
        self.with(|state| {
            state.kernel.detach();
            state.clear();
        });
    }

    /// Asks the kernel what was lost since the last request, `with_statistics` even if they were read a moment ago. `None` if the kernel does
    /// not answer, or if a signal handler has interrupted a request.
    pub(crate) fn ask(&self, with_statistics: bool) -> Option<Answer> {
        let mut state = self.0.try_borrow_mut().ok()?;
        let last = state.last?;
        let _errno = Errno::save();
        let began = now();
        let ticks_per_ns = ticks_per_ns()?;
        let length = (STATISTICS_NS * ticks_per_ns) as i64;
        let with_statistics =
            with_statistics || !(0..length).contains(&elapsed(state.statistics_at, began));
        state.last = state.read(with_statistics);
        let reading = state.last?;
        let mut loss = last.loss_until(&reading, ticks_per_ns, &mut state.left);
        // Shorter times without statistics of their own may still turn out to be time waiting.
        if (!loss.is_split || loss.blocked() > length) && state.has_not_blocked() {
            (loss.waiting, loss.is_split) = (loss.off, true);
        }
        state.since_look = state.since_look.plus(loss);
        Some(Answer {
            began,
            at: reading.at,
            loss,
        })
    }

    /// The losses since the last look.
    pub(crate) fn look(&self) -> Loss {
        let look = |state: &mut State| std::mem::replace(&mut state.since_look, Loss::NONE);
        self.with(look).unwrap_or(Loss::NONE)
    }

    /// The cost of asking, from `began` until now. If the thread was interrupted meanwhile, the least known cost, which is 0 before the first.
    /// The last one may have been longer by what a hypervisor took, and that unnoticed.
    pub(crate) fn cost_since(&self, began: Ticks, is_clean: bool) -> i64 {
        let cost = elapsed(began, now());
        let known = |state: &mut State| {
            if is_clean {
                state.cost = Some(state.cost.map_or(cost, |least| least.min(cost)));
            }
            state.cost
        };
        let least = self.with(known).flatten();
        if is_clean { cost } else { least.unwrap_or(0) }
    }

    /// Whether this thread asks the kernel.
    pub(crate) fn asks(&self) -> bool {
        self.with(|state| state.last.is_some()).unwrap_or(false)
    }

    /// Adds a loss that was found at `at`.
    pub(crate) fn add(&self, at: Ticks, loss: Loss) {
        self.with(|state| state.losses.add(at, loss));
    }

    /// The loss since `start`, which was at most `at_most` ticks.
    pub(crate) fn lost_since(&self, start: Ticks, at_most: i64) -> Inside {
        let since = |state: &mut State| state.losses.since(start, at_most);
        self.with(since).unwrap_or(Inside::NOTHING)
    }

    /// The same for a call that started at `start` and stops now.
    pub(crate) fn claim_since(&self, start: Ticks, at_most: i64) -> Inside {
        let claim = |state: &mut State| state.losses.claim_since(start, at_most);
        self.with(claim).unwrap_or(Inside::NOTHING)
    }

    /// Forgets the losses since `start`, which lie in time that is no call's.
    pub(crate) fn forget_since(&self, start: Ticks) {
        self.with(|state| state.losses.forget_since(start));
    }
}

impl State {
    /// Forgets all requests.
    fn clear(&mut self) {
        self.losses.clear();
        self.since_look = Loss::NONE;
        self.left = Left::NOTHING;
        self.last = None;
    }

    /// Whether the thread has not given up its CPU since this was last asked for.
    fn has_not_blocked(&mut self) -> bool {
        let blocks = blocks_of_thread();
        blocks.is_some() && std::mem::replace(&mut self.blocks, blocks) == blocks
    }

    fn read(&mut self, with_statistics: bool) -> Option<Reading> {
        let Some((at, cpu_ns)) = self.kernel.read_clock() else {
            REFUSED.store(true, Relaxed);
            return None;
        };
        let statistics = if with_statistics {
            self.statistics_at = at;
            self.kernel.read_statistics(cpu_ns)
        } else {
            self.last?.statistics
        };
        Some(Reading {
            at,
            cpu_ns,
            statistics,
        })
    }
}

/// The ticks of the counter in a microsecond.
pub(crate) fn ticks_per_us() -> Option<f64> {
    Some(ticks_per_ns()? * 1000.0)
}

/// Whether a call of `net` ticks is certain enough for a sample, after this many switches: `net` is long in comparison with them, or the
/// call was `blocked` for longer than they take, so that they are its own doing.
pub(crate) fn is_certain(net: i64, blocked: i64, switches: u32) -> bool {
    ticks_per_ns().is_some_and(|ticks_per_ns| {
        let uncertain = SWITCH_NS * ticks_per_ns * f64::from(switches);
        net as f64 >= CERTAIN * uncertain || blocked as f64 >= uncertain
    })
}

/// Why the time of interrupted calls on the CPU is not known, although interruptions are detected.
pub(crate) fn unavailable() -> Option<&'static str> {
    const SILENT: &str = "the kernel no longer answers clock_gettime(CLOCK_THREAD_CPUTIME_ID)";
    let refused = REFUSED.load(Relaxed).then_some(SILENT);
    UNAVAILABLE.get().copied().and_then(Result::err).or(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupted_request_costs_what_the_shortest_one_did() {
        let on_cpu = OnCpu::new();
        script::begin();
        let cost = |ticks, is_clean| {
            let began = now();
            script::run(ticks);
            on_cpu.cost_since(began, is_clean)
        };
        assert_eq!(cost(900, false), 0);
        // While a hypervisor has the CPU, the thread has not left it as far as the kernel can tell.
        let costs = [(80, true), (70_000, true), (90_000, false)];
        assert_eq!(
            costs.map(|(ticks, is_clean)| cost(ticks, is_clean)),
            [80, 70_000, 80]
        );
    }
}
