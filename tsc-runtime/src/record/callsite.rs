//! The static that represents one `#[cycles]`: constant facts, and a number.

#[cfg(all(feature = "pmu", target_os = "linux", not(miri)))]
use crate::record::event_row::RowCell;
use crate::record::table::Position;
use crate::sync::atomic::{
    AtomicU8, AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};
use crate::tsc::Fence;

/// What the attribute knows about its function at compile time.
#[derive(Clone, Copy, Debug)]
pub struct Meta {
    /// `name = "…"`, if given.
    pub name: Option<&'static str>,
    /// Returns the type name of something that is defined inside the function. It contains the function's path with the type and the trait
    /// of its `impl`.
    pub path: fn() -> &'static str,
    /// `module_path!()`.
    pub module: &'static str,
    /// `file!()`.
    pub file: &'static str,
    /// The line of the function's name.
    pub line: u32,
    /// What `bytes = …` or `items = …` counts, if given.
    pub unit: Option<Unit>,
    /// Whether the function returns an iterator, whose work is done where it is consumed.
    pub returns_iterator: bool,
}

/// The facts that every function has. `_inside` is something defined in the function. The file is that of the caller.
#[must_use]
#[track_caller]
pub const fn meta<T>(_inside: &T, module: &'static str, line: u32) -> Meta {
    Meta {
        name: None,
        path: core::any::type_name::<T>,
        module,
        file: core::panic::Location::caller().file(),
        line,
        unit: None,
        returns_iterator: false,
    }
}

impl Meta {
    /// `name = "…"`.
    #[must_use]
    pub const fn named(self, name: &'static str) -> Self {
        Self {
            name: Some(name),
            ..self
        }
    }

    /// `bytes = …`.
    #[must_use]
    pub const fn bytes(self) -> Self {
        Self {
            unit: Some(Unit::Bytes),
            ..self
        }
    }

    /// `items = …`.
    #[must_use]
    pub const fn items(self) -> Self {
        Self {
            unit: Some(Unit::Items),
            ..self
        }
    }

    /// The function returns an `impl Iterator` or a `dyn Iterator`.
    #[must_use]
    pub const fn returning_iterator(self) -> Self {
        Self {
            returns_iterator: true,
            ..self
        }
    }
}

/// The unit of a call's work, in addition to ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// `bytes = …`.
    Bytes,
    /// `items = …`.
    Items,
}

/// One annotated function. All instantiations of a generic function share one callsite.
#[derive(Debug)]
pub struct Callsite {
    /// The position of the callsite's entry in the table of every thread: the segment, which is [`UNREGISTERED`] until the first call, and
    /// the offset in it.
    segment: AtomicU8,
    offset: AtomicU32,
    fence: Fence,
    /// The functions with which the overhead of its probes is measured.
    empty_calls: EmptyCalls,
    meta: Meta,
    /// The events counted in its calls.
    #[cfg(all(feature = "pmu", target_os = "linux", not(miri)))]
    events: RowCell,
}

/// Functions with a loop over an empty call: with a probe, with a probe in which the former is nested, and without a probe. They are
/// instantiated in the annotated crate, so they are compiled with the same options as the crate's own functions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EmptyCalls {
    pub(crate) annotated: fn(u32),
    pub(crate) nested: fn(u32),
    pub(crate) bare: fn(u32),
}

/// This is greater than the number of segments of any table. So one comparison detects both a new callsite and a table that is too short.
const UNREGISTERED: u8 = u8::MAX;
/// The segment of a callsite that is not measured. No table has it either.
const LEFT_OUT: u8 = u8::MAX - 1;

impl Callsite {
    /// A callsite that has not been called yet. `empty_calls` measures the overhead of its fence policy.
    pub(crate) const fn with(fence: Fence, empty_calls: EmptyCalls, meta: Meta) -> Self {
        Self {
            segment: AtomicU8::new(UNREGISTERED),
            offset: AtomicU32::new(0),
            fence,
            empty_calls,
            meta,
            #[cfg(all(feature = "pmu", target_os = "linux", not(miri)))]
            events: RowCell::new(),
        }
    }

    /// The same callsite with a fixed number.
    pub(crate) const fn numbered(mut self, number: u32) -> Self {
        let position = Position::of(number);
        self.segment = AtomicU8::new(position.segment);
        self.offset = AtomicU32::new(position.offset);
        self
    }

    /// The callsite's position. No table has it before the callsite is registered.
    #[inline(always)]
    pub(crate) fn position(&self) -> Position {
        Position {
            segment: self.segment.load(Acquire),
            offset: self.offset.load(Relaxed),
        }
    }

    /// The callsite's number, if it is registered.
    pub(crate) fn number(&self) -> Option<u32> {
        let position = self.position();
        (position.segment < LEFT_OUT).then(|| position.number())
    }

    /// Excludes the callsite from measurement, because the user asked for that. Called under the registry's lock, in place of
    /// [`set_number`](Self::set_number).
    pub(crate) fn leave_out(&self) {
        self.segment.store(LEFT_OUT, Release);
    }

    #[inline(always)]
    pub(crate) fn is_left_out(&self) -> bool {
        self.segment.load(Relaxed) == LEFT_OUT
    }

    /// Sets the callsite's number. Called once, under the registry's lock.
    pub(crate) fn set_number(&self, number: u32) {
        let position = Position::of(number);
        // The order matters: a thread that sees the segment must also see the offset.
        self.offset.store(position.offset, Relaxed);
        self.segment.store(position.segment, Release);
    }

    pub(crate) fn fence(&self) -> Fence {
        self.fence
    }

    pub(crate) fn empty_calls(&self) -> EmptyCalls {
        self.empty_calls
    }

    /// The addresses that must stay mapped as long as the callsite is known: the callsite, its name, and the functions that measure its
    /// overhead. They may be in different libraries.
    pub(crate) fn addresses(&self) -> [*const (); 3] {
        [
            core::ptr::from_ref(self).cast(),
            self.meta.path as *const (),
            self.empty_calls.annotated as *const (),
        ]
    }

    #[cfg(all(feature = "pmu", target_os = "linux", not(miri)))]
    pub(crate) fn events(&self) -> &RowCell {
        &self.events
    }

    pub(crate) fn meta(&self) -> &Meta {
        &self.meta
    }
}

/// A function that returns the type name of `_value`. It is called later, because `type_name` is not a const fn yet.
pub const fn path_of<T>(_value: &T) -> fn() -> &'static str {
    core::any::type_name::<T>
}
