//! A thread's perf counters: one group, which one system call reads.

use std::cell::RefCell;
use std::io;
use std::os::fd::IntoRawFd as _;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use perf_event::events::Software;
use perf_event::{Builder, Counter, ReadFormat};

use super::kinds::{self, EventKind, MOST};
use crate::environment;
use crate::process::{Errno, NotCancelled, OwnDescriptor};
use crate::tsc::{Ticks, clock, elapsed};

/// The number of groups that have been opened.
static OPENED: AtomicU32 = AtomicU32::new(0);
/// The number of those that a parent process has opened: they count its threads.
static OF_PARENT: AtomicU32 = AtomicU32::new(0);

/// Called in the child of a fork.
pub(super) fn forget() {
    OF_PARENT.store(OPENED.load(Relaxed), Relaxed);
}

/// What `read` on the group's leader returns: the number of counters, the time for which they were enabled, the time for which they ran,
/// and a value and an ID for each counter.
const HEADER: usize = 3;
const WORDS: usize = HEADER + 2 * (1 + MOST);

/// A reading was disturbed if it took more than this many times the usual ticks.
const DISTURBED: u64 = 4;
/// The usual ticks may rise by one part in this many from one reading to the next.
const DRIFT: u64 = 16;

/// The number of empty pairs of reads that are made. The smallest difference is what the reads themselves count.
const CALIBRATION: usize = 32;

const TOO_FEW: &str = "the process has too few file descriptors (ulimit -n)";

struct CounterGroup {
    /// How many groups were opened before this one.
    number: u32,
    /// The leader, and the other counters, which count as long as they are open.
    descriptors: Vec<OwnDescriptor>,
    /// What each read adds to the values: the events that it causes itself.
    own: [i64; MOST],
    /// The number of reads so far.
    reads: i64,
    /// The ticks of an undisturbed read: the smallest of the recent ones.
    usual: u64,
}

/// The values of a thread's counters at some moment, without what the reads so far have added to them.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupReading {
    group: u32,
    values: [u64; MOST],
}

thread_local! {
    /// `Err` if the group could not be opened on this thread.
    static GROUP: RefCell<Option<Result<CounterGroup, ()>>> = const { RefCell::new(None) };
}

/// The present values of the thread's counters, and the ticks that reading them took. `None` if they cannot be read: the thread is ending,
/// the process has no file descriptors to spare, a signal handler or an allocator calls this function while it is running, or the CPU cannot
/// count that many events at once.
pub(super) fn read() -> Option<(GroupReading, u64)> {
    let began = clock::now();
    // The annotated function may have set it for its caller.
    let _errno = Errno::save();
    let read = GROUP.try_with(|group| {
        let mut group = group.try_borrow_mut().ok()?;
        let leader = match &*group {
            Some(Err(())) => return None,
            // The program may have closed it.
            Some(Ok(known)) if known.number >= OF_PARENT.load(Relaxed) => known.leader(),
            _ => None,
        };
        if leader.is_none() {
            // What is left of an earlier group, which may be a parent process's, is closed first.
            *group = None;
            let opened = CounterGroup::open(kinds::chosen());
            *group = Some(opened.map_err(|error| complain_once(&error)));
        }
        let known = group.as_mut()?.as_mut().ok()?;
        let reading = known.read(leader.or_else(|| known.leader())?)?;
        Some((reading, known.took(began)))
    });
    read.ok().flatten()
}

fn complain_once(why: &io::Error) {
    static HAS_COMPLAINED: AtomicBool = AtomicBool::new(false);
    if !HAS_COMPLAINED.swap(true, Relaxed) {
        environment::complain(&format!("events of some threads are not counted: {why}"));
    }
}

/// What was counted between two readings. `None` if the program has closed the counters in between.
pub(super) fn difference(before: &GroupReading, after: &GroupReading) -> Option<[i64; MOST]> {
    let counted = |i: usize| after.values[i].wrapping_sub(before.values[i]).cast_signed();
    (before.group == after.group).then(|| std::array::from_fn(counted))
}

/// Tries to open a counter for the event on this thread.
pub(super) fn try_to_open(kind: &EventKind) -> io::Result<()> {
    kind.builder().build_with_group(&mut leader()?).map(drop)
}

/// A counter that counts nothing, which every kernel has.
fn leader() -> io::Result<Counter> {
    Builder::new(Software::DUMMY)
        .read_format(
            ReadFormat::GROUP | ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING,
        )
        .enabled(true)
        .build()
}

impl CounterGroup {
    fn open(kinds: &[EventKind]) -> io::Result<Self> {
        let mut leader = leader()?;
        let member = |kind: &EventKind| kind.builder().build_with_group(&mut leader);
        let members: Vec<Counter> = kinds.iter().map(member).collect::<io::Result<_>>()?;
        let mut group = Self {
            number: OPENED.fetch_add(1, Relaxed),
            descriptors: Vec::with_capacity(1 + members.len()),
            own: [0; MOST],
            reads: 0,
            usual: u64::MAX,
        };
        for counter in std::iter::once(leader).chain(members) {
            // If this one is not kept, the group is dropped, which closes the others.
            let kept = OwnDescriptor::keep(counter.into_raw_fd());
            let kept = kept.ok_or_else(|| io::Error::other(TOO_FEW))?;
            group.descriptors.push(kept);
        }
        if let Some(leader) = group.leader() {
            group.calibrate(leader);
        }
        Ok(group)
    }

    fn calibrate(&mut self, leader: libc::c_int) {
        let readings = (0..=CALIBRATION).filter_map(|_| self.read(leader));
        let readings: Vec<GroupReading> = readings.collect();
        let added = readings.windows(2);
        let added = added.filter_map(|pair| difference(&pair[0], &pair[1]));
        let least = |a: [i64; MOST], b: [i64; MOST]| std::array::from_fn(|i| a[i].min(b[i]));
        self.own = added.reduce(least).unwrap_or_default();
    }

    /// The leader's descriptor. `None` if the program has closed it. Reading would then take data away from whatever file has its number.
    fn leader(&self) -> Option<libc::c_int> {
        self.descriptors.first()?.proven()
    }

    /// The ticks of a reading that began at `began`. If the thread was off the CPU meanwhile, that time is left out: the interruption
    /// detector finds it, and it must not be subtracted twice.
    fn took(&mut self, began: Ticks) -> u64 {
        let ticks = elapsed(began, clock::now()).max(0).cast_unsigned();
        let usual = self.usual;
        // The value falls at once, and rises slowly.
        self.usual = ticks.min(usual.saturating_add(usual / DRIFT + 1));
        if ticks / DISTURBED <= usual {
            ticks
        } else {
            usual
        }
    }

    /// Reads the values by `libc::read`, because the function of the crate `perf_event` allocates.
    fn read(&mut self, leader: libc::c_int) -> Option<GroupReading> {
        let mut words = [0_u64; WORDS];
        let size = size_of_val(&words);
        let _not_cancelled = NotCancelled::begin();
        // SAFETY: the kernel writes at most as many bytes as the buffer has.
        let length = unsafe { libc::read(leader, words.as_mut_ptr().cast(), size) };
        let [counters, enabled, running] = [words[0], words[1], words[2]];
        let read = usize::try_from(length).unwrap_or(0) / size_of::<u64>();
        let is_whole = read >= HEADER + 2 * counters as usize && counters >= 1;
        if !is_whole || enabled != running {
            return None;
        }
        self.reads += 1;
        // The first value is the leader's. What is behind the last one is 0, and stays so.
        let values = std::array::from_fn(|i| {
            words[HEADER + 2 * (1 + i)].wrapping_sub((self.own[i] * self.reads).cast_unsigned())
        });
        Some(GroupReading {
            group: self.number,
            values,
        })
    }
}

impl Drop for CounterGroup {
    fn drop(&mut self) {
        // The members first: without its leader, a counter would become one of its own.
        for descriptor in self.descriptors.drain(..).rev() {
            descriptor.close();
        }
    }
}
