//! The static that stands for one `#[cycles]`: plain facts and a number.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::tsc::{Fence, Pair};

/// What the attribute knows at compile time of the function it stands on.
#[derive(Clone, Copy, Debug)]
pub struct Meta {
    /// `name = "…"`, if given.
    pub name: Option<&'static str>,
    /// Gives the type name of something defined inside the function, so the function's path with its impl's type and trait.
    pub path: fn() -> &'static str,
    /// `module_path!()`.
    pub module: &'static str,
    /// `file!()`.
    pub file: &'static str,
    /// The line of the function's name.
    pub line: u32,
    /// What `bytes = …` or `items = …` counts, if given.
    pub unit: Option<Unit>,
}

/// What a call's work is counted in, beside ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// `bytes = …`.
    Bytes,
    /// `items = …`.
    Items,
}

/// One annotated function (of all instantiations, where it is generic).
#[derive(Debug)]
pub struct Callsite {
    /// The place of its records in every thread's table; [`UNREGISTERED`] until its first call.
    id: AtomicU32,
    fence: Fence,
    /// What its probes' overhead is measured with.
    empty_calls: EmptyCalls,
    meta: Meta,
}

/// Loops over a function that does nothing: with a probe in it, with a probe and a call of the former, and without. They are instantiated in the annotated crate, and so
/// compiled as its own functions are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EmptyCalls {
    pub(crate) annotated: fn(u32),
    pub(crate) nested: fn(u32),
    pub(crate) bare: fn(u32),
}

/// Beyond the end of every table, so that one comparison finds both a new callsite and a table that is too short.
const UNREGISTERED: u32 = u32::MAX;

impl Callsite {
    /// A callsite that was never called.
    #[must_use]
    pub const fn new<P: Pair>(meta: Meta) -> Self {
        Self {
            id: AtomicU32::new(UNREGISTERED),
            fence: P::FENCE,
            empty_calls: crate::overhead::empty_calls::<P>(),
            meta,
        }
    }

    /// A callsite that has its number from the beginning.
    pub(crate) const fn numbered<P: Pair>(id: u32, meta: Meta) -> Self {
        let mut callsite = Self::new::<P>(meta);
        callsite.id = AtomicU32::new(id);
        callsite
    }

    #[inline(always)]
    pub(crate) fn id(&self) -> u32 {
        self.id.load(Relaxed)
    }

    pub(crate) fn is_registered(&self) -> bool {
        self.id() != UNREGISTERED
    }

    /// Called once, under the registry's lock.
    pub(crate) fn set_id(&self, id: u32) {
        self.id.store(id, Relaxed);
    }

    pub(crate) fn fence(&self) -> Fence {
        self.fence
    }

    pub(crate) fn empty_calls(&self) -> EmptyCalls {
        self.empty_calls
    }

    pub(crate) fn meta(&self) -> &Meta {
        &self.meta
    }
}

/// The type name of what `_value` is, to be asked for later: `type_name` is no const fn yet.
pub const fn path_of<T>(_value: &T) -> fn() -> &'static str {
    core::any::type_name::<T>
}
