//! The frames of a thread's running calls, each linked to the one around it.

use std::ptr;
use std::sync::atomic::compiler_fence;

use super::LightThread;
use crate::record::light::Frame;
use crate::record::light::frame::Who;
use crate::sync::atomic::Ordering::SeqCst;

impl LightThread {
    /// Links the frame of a call that starts. `in_register` is the same frame.
    #[inline(always)]
    pub(crate) fn enter(&self, frame: &Frame, in_register: &Frame) {
        self.calls.set(self.calls.get().wrapping_add(1));
        self.link(frame, in_register);
    }

    /// Links the frame of a timed call, which is not counted and in no register.
    pub(crate) fn link_timed(&self, frame: &Frame) {
        self.link(frame, frame);
        if self.timed.get().is_null() {
            self.timed.set(frame);
        }
    }

    /// Unlinks the frame of a timed call. Returns whether it was linked.
    pub(crate) fn unlink_timed(&self, frame: &Frame) -> bool {
        if ptr::eq(self.timed.get(), frame) {
            self.timed.set(ptr::null());
        }
        self.unlink(frame)
    }

    pub(crate) fn note_running_timed(&self) {
        self.began_in_timed.set(true);
    }

    /// Whether the innermost timed call, if one is running, has no frame.
    pub(crate) fn is_without_timed_frame(&self) -> bool {
        self.began_in_timed.get() && self.timed.get().is_null()
    }

    /// Links a frame. `in_register` is the same one.
    #[inline(always)]
    pub(crate) fn link(&self, frame: &Frame, in_register: &Frame) {
        frame.set_outer(self.innermost.get());
        // A signal handler that comes in between must find the frame complete.
        compiler_fence(SeqCst);
        self.innermost.set(in_register);
    }

    /// Unlinks the frame of a call that ends.
    ///
    /// # Safety
    ///
    /// The frame was given its `outer` on this thread.
    #[inline(always)]
    pub(crate) unsafe fn leave(&self, frame: &Frame) {
        // SAFETY: guaranteed by the caller.
        self.innermost.set(unsafe { frame.outer() });
    }

    /// Unlinks a frame wherever it is, or not at all if it is not linked any more: that of a block may lie in a suspended future, and end after
    /// the functions around it. Returns whether it was linked.
    pub(crate) fn unlink(&self, frame: &Frame) -> bool {
        let (mut inner, mut at): (Option<&Frame>, _) = (None, self.innermost());
        // SAFETY: linked frames belong to calls that have not ended, so they exist, and both of their fields are written.
        unsafe {
            while let Some(linked) = at.as_ref() {
                let outer = linked.outer();
                if ptr::eq(linked, frame) {
                    inner.map_or_else(|| self.innermost.set(outer), |inner| inner.set_outer(outer));
                    return true;
                }
                inner = Some(linked);
                at = outer;
            }
        }
        false
    }

    pub(crate) fn innermost(&self) -> *const Frame {
        self.innermost.get()
    }

    /// The numbers of the callsites of the running calls that have a frame, from the inside out. Not all of a deep recursion, in which each call
    /// asks for them, because each takes longer than those inside it.
    pub(crate) fn running(&self) -> impl Iterator<Item = u32> {
        const MOST: usize = 128;
        let mut at = self.innermost();
        let frames = std::iter::from_fn(move || {
            // SAFETY: linked frames belong to running functions, so they exist, and both of their fields are written.
            let (frame, who) = unsafe { at.as_ref().map(|frame| (frame, frame.who()))? };
            // SAFETY: as above.
            at = unsafe { frame.outer() };
            Some(match who {
                Who::Fresh(callsite) => callsite.number(),
                Who::Placed(place) => self.paths().and_then(|paths| paths.number_of(place)),
            })
        });
        frames.take(MOST).flatten()
    }
}
