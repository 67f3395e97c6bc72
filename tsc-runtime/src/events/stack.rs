//! The calls that are running on this thread, and the values that its perf counters had at their starts.

use std::cell::Cell;
use std::ptr;

use super::group::{self, Reading};
use crate::process::memory;
use crate::record::callsite::Callsite;
use crate::record::event_row::Row;
use crate::record::thread;
use crate::registry;
use crate::tsc::clock;
use crate::tsc::elapsed;

/// The depth of the stack. Deeper calls are not counted, but their callers are.
const DEEPEST: usize = 64;

/// A reading was disturbed if it took more than this many times the usual ticks.
const DISTURBED: u64 = 4;
/// The usual ticks may rise by one part in this many from one reading to the next.
const DRIFT: u64 = 16;

/// What a callsite's first call on a thread may allocate, at most.
const ROOM: usize = 1 << 14;

#[derive(Clone, Copy)]
struct Frame {
    /// Null if this call is not counted.
    row: *const Row,
    /// Whether the runtime makes this call to calibrate its probes. Such a call reads no perf counters, so that its cost is that of the
    /// probe alone, and the ticks in [`Stack::owed`] are not charged to it.
    is_calibration: bool,
    /// Whether the callsite has an outer call on the stack. In a recursion, only the outermost call is recorded.
    is_inner: bool,
    /// The number of this thread's reads so far, including the one at the call's start.
    reads: u64,
    values: Reading,
}

impl Frame {
    const NOTHING: Self = Self {
        row: ptr::null(),
        is_calibration: false,
        is_inner: false,
        reads: 0,
        values: Reading::NOTHING,
    };
}

/// The cells contain plain data and have no destructor, because a thread may call annotated functions until its very end.
struct Stack {
    depth: Cell<usize>,
    frames: [Cell<Frame>; DEEPEST],
    /// The number of reads so far.
    reads: Cell<u64>,
    /// The ticks of the last stop's reading, until they are added to the running overhead. That is done after the call is recorded, because
    /// they must be subtracted from its callers, but not from the call itself.
    owed: Cell<u64>,
    /// The ticks of an undisturbed reading: the smallest of the recent ones.
    usual: Cell<u64>,
    /// Set during a reading, so that an annotated allocator does not begin another one.
    is_busy: Cell<bool>,
}

thread_local! {
    static STACK: Stack = const {
        Stack {
            depth: Cell::new(0),
            frames: [const { Cell::new(Frame::NOTHING) }; DEEPEST],
            reads: Cell::new(0),
            owed: Cell::new(0),
            usual: Cell::new(u64::MAX),
            is_busy: Cell::new(false),
        }
    };
}

/// Called when a call is about to start.
#[cold]
#[inline(never)]
pub(super) fn push(callsite: &'static Callsite) {
    STACK.with(|stack| {
        // This is done first, so that a signal handler uses the next frame.
        let depth = stack.depth.get();
        stack.depth.set(depth + 1);
        let Some(frame) = stack.frames.get(depth) else {
            return;
        };
        let is_calibration = callsite.number() == Some(0);
        frame.set(Frame {
            is_calibration,
            ..Frame::NOTHING
        });
        if is_calibration || registry::is_paused() || stack.is_busy.replace(true) {
            return;
        }
        let began = clock::now();
        let row: *const Row = match callsite.events().get() {
            None if !memory::is_left(ROOM) => ptr::null(),
            _ => callsite.events().get_or_make(),
        };
        if let Some(values) = group::read().filter(|_| !row.is_null()) {
            stack.reads.set(stack.reads.get() + 1);
            frame.set(Frame {
                row,
                is_calibration: false,
                is_inner: stack.frames[..depth]
                    .iter()
                    .any(|outer| outer.get().row == row),
                reads: stack.reads.get(),
                values,
            });
        }
        stack.is_busy.set(false);
        stack.add_overhead(stack.took(began));
    });
}

/// Called when a call has stopped and is about to be recorded.
#[cold]
#[inline(never)]
pub(super) fn pop() {
    STACK.with(|stack| {
        // There is no frame for a call that started before events were counted.
        let Some(depth) = stack.depth.get().checked_sub(1) else {
            return;
        };
        let frame = stack.frames.get(depth).map_or(Frame::NOTHING, Cell::get);
        if !frame.is_calibration {
            // What the readings of nested calls took is overhead for this call.
            stack.add_overhead(0);
        }
        // SAFETY: the pointer is null or points to a row, and rows are never freed.
        if let Some(row) = unsafe { frame.row.as_ref() }
            && !stack.is_busy.replace(true)
        {
            let began = clock::now();
            if let Some(values) = group::read() {
                let nested = stack.reads.get() - frame.reads;
                if !frame.is_inner
                    && let Some(counted) = group::difference(&frame.values, &values, nested)
                {
                    row.add(&counted);
                }
                stack.reads.set(stack.reads.get() + 1);
            }
            stack.is_busy.set(false);
            stack.owed.set(stack.took(began));
        }
        // This is done last, so that a signal handler uses the next frame until then.
        stack.depth.set(depth);
    });
}

impl Stack {
    /// Adds `ticks` and what is owed to the thread's running overhead, so that they are subtracted from the running calls only.
    fn add_overhead(&self, ticks: u64) {
        let thread = thread::this();
        let all = ticks.wrapping_add(self.owed.take());
        thread.overhead.set(thread.overhead.get().wrapping_add(all));
    }

    /// The ticks of a reading that began at `began`. If the thread was off the CPU meanwhile, that time is left out: the interruption
    /// detector finds it, and it must not be subtracted twice.
    fn took(&self, began: u64) -> u64 {
        let ticks = elapsed(began, clock::now()).max(0).cast_unsigned();
        let usual = self.usual.get();
        // The value falls at once, and rises slowly.
        self.usual
            .set(ticks.min(usual.saturating_add(usual / DRIFT + 1)));
        if ticks / DISTURBED <= usual {
            ticks
        } else {
            usual
        }
    }
}
