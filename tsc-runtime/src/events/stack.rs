//! The calls that are running on this thread, and what its counters were at their starts.

use std::cell::Cell;
use std::ptr;

use super::group;
use super::kinds::MOST;
use crate::record::callsite::Callsite;
use crate::record::event_row::Row;
use crate::record::thread;
use crate::registry;
use crate::tsc::clock;
use crate::tsc::elapsed;

/// Calls that are deeper are not counted; their callers are.
const DEEPEST: usize = 64;

/// A reading that takes so many times what is usual was disturbed.
const DISTURBED: u64 = 4;
/// By such a part of it, what is usual may rise from one reading to the next.
const DRIFT: u64 = 16;

#[derive(Clone, Copy)]
struct Frame {
    /// Null: this call is not counted.
    row: *const Row,
    /// One of the probes with which the runtime calibrates the others: it is not to be dearer than those, nor to get what is owed.
    is_calibration: bool,
    /// Of a recursion, only the outermost call is recorded.
    is_inner: bool,
    /// Reads of this thread before the call's own.
    reads: u64,
    values: [u64; MOST],
}

impl Frame {
    const NOTHING: Self = Self {
        row: ptr::null(),
        is_calibration: false,
        is_inner: false,
        reads: 0,
        values: [0; MOST],
    };
}

/// Cells of plain data, without a destructor: a thread may call annotated functions until its very end.
struct Stack {
    depth: Cell<usize>,
    frames: [Cell<Frame>; DEEPEST],
    /// Reads so far.
    reads: Cell<u64>,
    /// What the last stop's reading took, which its callers have not yet been given as overhead: when it was read, its own call was
    /// still to be recorded.
    owed: Cell<u64>,
    /// What a reading takes if nothing comes in between: the least of late.
    usual: Cell<u64>,
    /// An annotated allocator must not come in here again.
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

/// A call is about to start.
#[cold]
#[inline(never)]
pub(super) fn push(callsite: &'static Callsite) {
    STACK.with(|stack| {
        // First, so that a signal handler takes the next place.
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
        let row: *const Row = callsite.events().get_or_make();
        if let Some(values) = group::read() {
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

/// A call has stopped, and is about to be recorded.
#[cold]
#[inline(never)]
pub(super) fn pop() {
    STACK.with(|stack| {
        // None is left of a call that started before it was decided to count.
        let Some(depth) = stack.depth.get().checked_sub(1) else {
            return;
        };
        let frame = stack.frames.get(depth).map_or(Frame::NOTHING, Cell::get);
        if !frame.is_calibration {
            // What calls inside of this one left is overhead to it.
            stack.add_overhead(0);
        }
        // SAFETY: null, or a row, none of which is freed.
        if let Some(row) = unsafe { frame.row.as_ref() }
            && !stack.is_busy.replace(true)
        {
            let began = clock::now();
            if let Some(values) = group::read() {
                if !frame.is_inner {
                    let nested = stack.reads.get() - frame.reads;
                    row.add(&group::difference(&frame.values, &values, nested));
                }
                stack.reads.set(stack.reads.get() + 1);
            }
            stack.is_busy.set(false);
            stack.owed.set(stack.took(began));
        }
        // Last, for the same reason.
        stack.depth.set(depth);
    });
}

impl Stack {
    /// Gives the calls that are running, and no other, the ticks and what is owed.
    fn add_overhead(&self, ticks: u64) {
        let thread = thread::this();
        let all = ticks.wrapping_add(self.owed.take());
        thread.overhead.set(thread.overhead.get().wrapping_add(all));
    }

    /// What a reading took that began then. Time that the thread was off the CPU meanwhile is not in it: that is found by who looks for
    /// interruptions, and would be taken out twice.
    fn took(&self, began: u64) -> u64 {
        let ticks = elapsed(began, clock::now()).max(0).cast_unsigned();
        let usual = self.usual.get();
        // Down at once, and up by and by.
        self.usual
            .set(ticks.min(usual.saturating_add(usual / DRIFT + 1)));
        if ticks / DISTURBED <= usual {
            ticks
        } else {
            usual
        }
    }
}
