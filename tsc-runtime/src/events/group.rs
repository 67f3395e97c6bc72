//! A thread's perf counters: one group, which one system call reads.

use std::cell::RefCell;
use std::io;
use std::os::fd::AsRawFd as _;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use perf_event::events::Software;
use perf_event::{Builder, Counter, ReadFormat};

use super::kinds::{self, Kind, MOST};

/// Incremented in the child of a fork. The groups of the parent count the parent's threads.
static PROCESS: AtomicU32 = AtomicU32::new(0);

pub(super) fn forget() {
    PROCESS.fetch_add(1, Relaxed);
}

/// What `read` on the group's leader returns: the number of counters, the time for which they were enabled, the time for which they ran,
/// and a value and an ID for each counter.
const HEADER: usize = 3;
const WORDS: usize = HEADER + 2 * (1 + MOST);

/// The number of empty pairs of reads that are made. The smallest difference is what the reads themselves count.
const CALIBRATION: usize = 32;

struct Group {
    process: u32,
    leader: Counter,
    /// The counters count as long as they are open.
    _members: Vec<Counter>,
    /// What is counted between two successive reads: the events that a read itself causes.
    own: [u64; MOST],
}

thread_local! {
    /// `Err` if the group could not be opened on this thread.
    static GROUP: RefCell<Option<Result<Group, ()>>> = const { RefCell::new(None) };
}

/// The present values of the thread's counters. `None` if they cannot be read: the thread is ending, the process has no free file
/// descriptor, a signal handler calls this function while it is running, or the CPU cannot count that many events at once.
pub(super) fn read() -> Option<[u64; MOST]> {
    let read = GROUP.try_with(|group| {
        let mut group = group.try_borrow_mut().ok()?;
        let process = PROCESS.load(Relaxed);
        if !matches!(&*group, Some(Ok(group)) if group.process == process) && !is_failed(&group) {
            *group = Some(Group::open(kinds::chosen(), process).map_err(|_| ()));
        }
        group.as_ref()?.as_ref().ok()?.values()
    });
    read.ok().flatten()
}

fn is_failed(group: &Option<Result<Group, ()>>) -> bool {
    matches!(group, Some(Err(())))
}

/// What was counted between two reads, minus what these two reads and the `nested` ones between them count themselves.
pub(super) fn difference(before: &[u64; MOST], after: &[u64; MOST], nested: u64) -> [i64; MOST] {
    let own = GROUP.try_with(|group| match group.try_borrow().ok()?.as_ref()? {
        Ok(group) => Some(group.own),
        Err(()) => None,
    });
    let own = own.ok().flatten().unwrap_or([0; MOST]);
    std::array::from_fn(|i| {
        let counted = after[i].wrapping_sub(before[i]).cast_signed();
        counted - (own[i] * (1 + nested)).cast_signed()
    })
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
    let mut builder = kind.builder();
    builder.enabled(true);
    if kind.is_the_kernels {
        builder.include_kernel();
    }
    builder.build_with_group(leader)
}

impl Group {
    fn open(kinds: &[Kind], process: u32) -> io::Result<Self> {
        let mut leader = leader()?;
        let members = kinds
            .iter()
            .map(|kind| open(kind, &mut leader))
            .collect::<io::Result<_>>()?;
        let mut group = Self {
            process,
            leader,
            _members: members,
            own: [0; MOST],
        };
        group.own = group.calibrate();
        Ok(group)
    }

    fn calibrate(&self) -> [u64; MOST] {
        let mut least = [u64::MAX; MOST];
        let mut before = self.values();
        for _ in 0..CALIBRATION {
            let after = self.values();
            if let (Some(before), Some(after)) = (before, after) {
                for (least, (before, after)) in least.iter_mut().zip(before.iter().zip(after)) {
                    *least = (*least).min(after.wrapping_sub(*before));
                }
            }
            before = after;
        }
        least.map(|least| if least == u64::MAX { 0 } else { least })
    }

    /// Reads the values by `libc::read`, because the function of the crate `perf_event` allocates.
    fn values(&self) -> Option<[u64; MOST]> {
        let mut words = [0_u64; WORDS];
        // SAFETY: the kernel writes at most as many bytes as the buffer has.
        let length = unsafe {
            libc::read(
                self.leader.as_raw_fd(),
                words.as_mut_ptr().cast(),
                size_of_val(&words),
            )
        };
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
        Some(values)
    }
}
