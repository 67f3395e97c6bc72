//! The running calls of light functions on a thread, as a list from the innermost one outwards.

use core::cell::Cell;
use core::mem::MaybeUninit;
use core::ptr;

use crate::record::callsite::Callsite;

/// A running call. It lies on the stack of its function.
///
/// A start writes both fields before it links the frame, and nothing reads them before.
#[derive(Debug)]
#[repr(C)]
pub struct Frame {
    /// The callsite or, once a tick has looked for it, the call's place in the thread's [`Paths`](super::Paths), as an odd number.
    who: Cell<MaybeUninit<*const Callsite>>,
    /// The frame around this one; null for the outermost one.
    outer: Cell<MaybeUninit<*const Frame>>,
}

impl Frame {
    /// A frame that is not linked. It costs nothing.
    #[inline(always)]
    #[must_use]
    #[allow(clippy::new_without_default)] // made by expansions alone
    pub const fn new() -> Self {
        Self {
            who: Cell::new(MaybeUninit::uninit()),
            outer: Cell::new(MaybeUninit::uninit()),
        }
    }

    #[inline(always)]
    pub(crate) fn set_callsite(&self, callsite: &'static Callsite) {
        self.who.set(MaybeUninit::new(ptr::from_ref(callsite)));
    }

    #[inline(always)]
    pub(crate) fn set_outer(&self, outer: *const Self) {
        self.outer.set(MaybeUninit::new(outer));
    }

    /// # Safety
    ///
    /// [`set_outer`](Self::set_outer) was called.
    #[inline(always)]
    pub(crate) unsafe fn outer(&self) -> *const Self {
        // SAFETY: guaranteed by the caller.
        unsafe { self.outer.get().assume_init() }
    }

    /// # Safety
    ///
    /// [`set_callsite`](Self::set_callsite) was called.
    pub(crate) unsafe fn who(&self) -> Who {
        // SAFETY: guaranteed by the caller.
        let who = unsafe { self.who.get().assume_init() };
        if who.addr() & 1 == 1 {
            Who::Placed(Place((who.addr() >> 1) as u32))
        } else {
            // SAFETY: `set_callsite` has written the address of a static.
            Who::Fresh(unsafe { &*who })
        }
    }

    pub(crate) fn set_place(&self, place: Place) {
        let odd = place.index() << 1 | 1;
        self.who.set(MaybeUninit::new(ptr::without_provenance(odd)));
    }
}

/// What is known of a running call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Who {
    /// No tick has found it yet.
    Fresh(&'static Callsite),
    Placed(Place),
}

/// The place of a call in a thread's [`Paths`](super::Paths).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(pub(super) u32);

impl Place {
    /// Where no call is.
    pub(crate) const NOWHERE: Self = Self(u32::MAX);

    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

const _: () = assert!(
    align_of::<Callsite>() > 1,
    "addresses of callsites are even numbers"
);
