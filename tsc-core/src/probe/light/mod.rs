//! The hot path of a light probe. Read it from top to bottom; there is no more to it.
//!
//! A light probe counts its call and links a frame, which lies on the function's stack, to those of the running calls around it. It executes
//! no fence and does not read the counter, so that the call overlaps with its surroundings as it does without the probe. Where the time
//! goes, the clock's ticks tell: `record/light/account.rs` says how.
//!
//! All of it is inlined. What is unusual is one call, out of line: the first call of a callsite on a thread, and a probe that finds that the
//! clock has ticked or that the thread was off the CPU.

use core::mem::ManuallyDrop;
use core::ptr;

use crate::count::Count;
use crate::record::callsite::Callsite;
use crate::record::light::{self, Frame, LightThread, Row};

mod cold;
pub(crate) mod future;
#[cfg_attr(
    not(all(
        target_arch = "x86_64",
        target_pointer_width = "64",
        unix,
        not(any(miri, shuttle, apx))
    )),
    path = "usual.rs"
)]
mod keeping;
#[cfg(all(test, not(shuttle)))]
mod tests;

use cold::stop_out_of_order;

/// A running call of a light function. It ends when this is dropped, whichever way the function is left.
///
/// Not `Send`, because the frame belongs to this thread, whose state is not `Sync`.
#[derive(Debug)]
#[must_use]
pub struct LightProbe<'a> {
    frame: &'a Frame,
    thread: &'static LightThread,
}

impl<'a> LightProbe<'a> {
    /// A call starts. The frame must stay where it is until the probe is dropped, which the borrow ensures.
    #[inline(always)]
    pub fn start(callsite: &'static Callsite, frame: &'a Frame) -> Self {
        Self::start_as::<{ Row::CALLS }>(callsite, frame)
    }

    /// The same for a call or a poll, which `COUNTER` counts.
    #[inline(always)]
    fn start_as<const COUNTER: usize>(callsite: &'static Callsite, frame: &'a Frame) -> Self {
        let thread = light::this();
        // The end of the call finds the frame on the stack, so that no register is kept for it.
        let (callsite, in_register) = (light::in_register(callsite), light::in_register(frame));
        in_register.set_callsite(callsite);
        let row = callsite.row();
        if thread.is_current() && thread.has(row) {
            // SAFETY: `has` has returned true.
            unsafe { thread.row(row) }.count::<COUNTER>();
            // Written by the address by which the end reads it, relative to the stack pointer. A program with light probes alone was
            // slightly faster for it on Zen 4, probably because that core recognises such a pair and passes the value on without the cache.
            thread.enter(frame, in_register);
        } else {
            // SAFETY: the frame has its callsite.
            unsafe { keeping::start::<COUNTER>(in_register) };
        }
        Self { frame, thread }
    }
}

impl Drop for LightProbe<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: every start has given the frame its `outer`, on this thread.
        unsafe { stop(self.thread, self.frame) };
    }
}

/// A running light block. Another macro can hide an `.await` in it; then its frame lies in a future, and this may be dropped after the calls
/// around it have ended.
#[derive(Debug)]
#[must_use]
pub struct LightBlock<'a>(ManuallyDrop<LightProbe<'a>>);

impl<'a> LightBlock<'a> {
    /// As [`LightProbe::start`].
    #[inline(always)]
    pub fn start(callsite: &'static Callsite, frame: &'a Frame) -> Self {
        Self(ManuallyDrop::new(LightProbe::start(callsite, frame)))
    }
}

impl Drop for LightBlock<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        let LightProbe { frame, thread } = *self.0;
        if ptr::eq(frame, thread.innermost()) {
            // SAFETY: as for `LightProbe`.
            unsafe { stop(thread, frame) };
        } else {
            stop_out_of_order(frame);
        }
    }
}

/// The compiler inlines this where a function returns. Where it unwinds, a call takes less code, and because that is unlikely, the compiler
/// inlines there only what seems short to it.
///
/// # Safety
///
/// The frame has its `outer`, and the call that it belongs to ends on this thread.
#[inline]
unsafe fn stop(thread: &LightThread, frame: &Frame) {
    // Two of them are longer than what the compiler inlines where code unwinds. With one, it still inlined the stop into the landing pads of
    // large functions, such as an interpreter's.
    seem_long(thread);
    seem_long(thread);
    if !thread.is_current() {
        keeping::stop();
    }
    // SAFETY: the frame has its `outer`, and its call ends on this thread.
    unsafe { thread.leave(frame) };
}

/// No instruction, but to the compiler as long as some, by the number of its operands. It also makes the compiler inline short light functions
/// into fewer places.
#[inline(always)]
#[allow(clippy::pointers_in_nomem_asm_block)] // the template reads no memory
fn seem_long(thread: &LightThread) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the template is a comment, so no instruction is executed.
    unsafe {
        core::arch::asm!(
            "/* {0} {1} {2} {3} {4} {5} {6} {7} */",
            in(reg) thread, in(reg) thread, in(reg) thread, in(reg) thread,
            in(reg) thread, in(reg) thread, in(reg) thread, in(reg) thread,
            options(nomem, nostack, preserves_flags),
        );
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = thread;
}

/// `bytes = count` or `items = count` of a call that has started.
#[inline]
pub fn add_light_units(callsite: &'static Callsite, count: impl Count) {
    let (thread, row, count) = (light::this(), callsite.row(), count.count());
    if thread.has_valid(row) {
        // SAFETY: `has_valid` has returned true.
        unsafe { thread.row(row) }.add(Row::UNITS, count);
    } else {
        cold::count(callsite, Row::UNITS, count);
    }
}
