//! A thread's perf counters: one group, which one system call reads.

use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::IntoRawFd as _;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use perf_event::events::Software;
use perf_event::{Builder, Counter, ReadFormat};

use super::kinds::{self, Kind, MOST};
use crate::environment;
use crate::process::OwnDescriptor;
use crate::tsc::{Ticks, clock, elapsed};

/// Incremented in the child of a fork. The groups of the parent count the parent's threads.
static PROCESS: AtomicU32 = AtomicU32::new(0);

pub(super) fn forget() {
    PROCESS.fetch_add(1, Relaxed);
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

struct Group {
    process: u32,
    /// The number of the group among those of this thread.
    number: u32,
    /// The leader, and the other counters, which count as long as they are open.
    descriptors: Vec<OwnDescriptor>,
    /// What is counted between two successive reads: the events that a read itself causes.
    own: [u64; MOST],
    /// The number of reads so far.
    reads: u64,
    /// The ticks of an undisturbed read: the smallest of the recent ones.
    usual: u64,
}

/// The values of a thread's counters at some moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    group: u32,
    reads: u64,
    values: [u64; MOST],
}

thread_local! {
    /// `Err` if the group could not be opened on this thread.
    static GROUP: RefCell<Option<Result<Group, ()>>> = const { RefCell::new(None) };
    /// The number of groups that this thread has opened.
    static GROUPS: Cell<u32> = const { Cell::new(0) };
}

/// The present values of the thread's counters, and the ticks that reading them took. `None` if they cannot be read: the thread is ending,
/// the process has no file descriptors to spare, a signal handler or an allocator calls this function while it is running, or the CPU cannot
/// count that many events at once.
pub(super) fn read() -> Option<(Reading, u64)> {
    let began = clock::now();
    let read = GROUP.try_with(|group| {
        let mut group = group.try_borrow_mut().ok()?;
        let process = PROCESS.load(Relaxed);
        let leader = match &mut *group {
            Some(Err(())) => return None,
            // The program may have closed it.
            Some(Ok(known)) if known.process == process => known.leader(),
            _ => None,
        };
        if leader.is_none() {
            // What is left of an earlier group, which may be a parent process's, is closed first.
            *group = None;
            let opened = Group::open(kinds::chosen(), process);
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

/// What was counted between two reads, minus what these two reads and the ones between them count themselves. `None` if the program has
/// closed the counters in between.
pub(super) fn difference(before: &Reading, after: &Reading) -> Option<[i64; MOST]> {
    if before.group != after.group {
        return None;
    }
    let own = GROUP.try_with(|group| match group.try_borrow().ok()?.as_ref()? {
        Ok(group) => Some(group.own),
        Err(()) => None,
    });
    let own = own.ok().flatten().unwrap_or([0; MOST]);
    let reads = after.reads - before.reads;
    Some(std::array::from_fn(|i| {
        let counted = after.values[i].wrapping_sub(before.values[i]);
        counted.cast_signed() - (own[i] * reads).cast_signed()
    }))
}

/// Tries to open a counter for the event on this thread.
pub(super) fn try_to_open(kind: &Kind) -> io::Result<()> {
    let mut leader = leader()?;
    open(kind, &mut leader).map(drop)
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

fn open(kind: &Kind, leader: &mut Counter) -> io::Result<Counter> {
    kind.builder().build_with_group(leader)
}

impl Group {
    fn open(kinds: &[Kind], process: u32) -> io::Result<Self> {
        let mut leader = leader()?;
        let members = kinds
            .iter()
            .map(|kind| open(kind, &mut leader))
            .collect::<io::Result<Vec<Counter>>>()?;
        let mut group = Self {
            process,
            number: GROUPS.get() + 1,
            descriptors: Vec::with_capacity(1 + members.len()),
            own: [0; MOST],
            reads: 0,
            usual: u64::MAX,
        };
        GROUPS.set(group.number);
        for counter in std::iter::once(leader).chain(members) {
            // If this one is not kept, the group is dropped, which closes the others.
            let kept = OwnDescriptor::keep(counter.into_raw_fd());
            let kept = kept.ok_or_else(|| io::Error::other(TOO_FEW))?;
            group.descriptors.push(kept);
        }
        if let Some(leader) = group.leader() {
            group.own = group.calibrate(leader);
        }
        Ok(group)
    }

    fn calibrate(&mut self, leader: libc::c_int) -> [u64; MOST] {
        let mut least = [u64::MAX; MOST];
        let mut before = self.read(leader);
        for _ in 0..CALIBRATION {
            let after = self.read(leader);
            if let (Some(before), Some(after)) = (before, after) {
                let pairs = before.values.iter().zip(after.values);
                for (least, (before, after)) in least.iter_mut().zip(pairs) {
                    *least = (*least).min(after.wrapping_sub(*before));
                }
            }
            before = after;
        }
        least.map(|least| if least == u64::MAX { 0 } else { least })
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
    fn read(&mut self, leader: libc::c_int) -> Option<Reading> {
        let mut words = [0_u64; WORDS];
        let size = size_of_val(&words);
        // SAFETY: the kernel writes at most as many bytes as the buffer has.
        let length = unsafe { libc::read(leader, words.as_mut_ptr().cast(), size) };
        let [counters, enabled, running] = [words[0], words[1], words[2]];
        let is_whole = length >= 0
            && length as usize / size_of::<u64>() >= HEADER + 2 * counters as usize
            && counters >= 1;
        if !is_whole || enabled != running {
            return None;
        }
        let mut values = [0; MOST];
        // The first value is the leader's.
        let counted = words[HEADER..].chunks_exact(2).skip(1);
        for (value, counted) in values.iter_mut().zip(counted).take(counters as usize - 1) {
            *value = counted[0];
        }
        self.reads += 1;
        Some(Reading {
            group: self.number,
            reads: self.reads,
            values,
        })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The members first: without its leader, a counter would become one of its own.
        for descriptor in self.descriptors.drain(..).rev() {
            descriptor.close();
        }
    }
}
