//! The static that stands for one `#[cycles]`: plain facts and a number.

#[cfg(all(feature = "pmu", target_os = "linux", not(miri)))]
use crate::record::event_row::RowCell;
use crate::record::table::Position;
use crate::sync::atomic::{
    AtomicU8, AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};
use crate::tsc::Fence;

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
    /// Whether the function returns an iterator, whose work is its consumer's.
    pub returns_iterator: bool,
    /// `sample = N`, if given: one call in N is timed.
    pub sample: Option<u32>,
}

/// What every function has. `_inside` is something defined in it; the file is the caller's.
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
        sample: None,
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

    /// `sample = N`.
    #[must_use]
    pub const fn sampled(self, every: u32) -> Self {
        Self {
            sample: Some(every),
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
    /// Where every thread's table has its entry, in two parts: segment, [`UNREGISTERED`] until its first call, and offset.
    segment: AtomicU8,
    offset: AtomicU32,
    fence: Fence,
    /// What its probes' overhead is measured with.
    empty_calls: EmptyCalls,
    meta: Meta,
    /// What was counted in its calls beside ticks.
    #[cfg(all(feature = "pmu", target_os = "linux", not(miri)))]
    events: RowCell,
}

/// Loops over a function that does nothing: with a probe in it, with a probe and a call of the former, and without. They are instantiated in the annotated crate, and so
/// compiled as its own functions are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EmptyCalls {
    pub(crate) annotated: fn(u32),
    pub(crate) nested: fn(u32),
    pub(crate) bare: fn(u32),
    /// Without a call.
    pub(crate) inlined: fn(u32),
}

/// More segments than any table has, so that one comparison finds both a new callsite and a table that is too short.
const UNREGISTERED: u8 = u8::MAX;
/// The segment of a callsite that is not measured. No table has it either.
const LEFT_OUT: u8 = u8::MAX - 1;

impl Callsite {
    /// A callsite that was never called, of the fence policy that `empty_calls` measures the overhead of.
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

    /// The same callsite with a number from the beginning.
    pub(crate) const fn numbered(mut self, number: u32) -> Self {
        let position = Position::of(number);
        self.segment = AtomicU8::new(position.segment);
        self.offset = AtomicU32::new(position.offset);
        self
    }

    /// In no table, if there is none yet.
    #[inline(always)]
    pub(crate) fn position(&self) -> Position {
        Position {
            segment: self.segment.load(Acquire),
            offset: self.offset.load(Relaxed),
        }
    }

    /// The callsite's number, if it has one.
    pub(crate) fn number(&self) -> Option<u32> {
        let position = self.position();
        (position.segment < LEFT_OUT).then(|| position.number())
    }

    /// It is not measured from now on, as its user asks. Called under the registry's lock, instead of [`set_number`](Self::set_number).
    pub(crate) fn leave_out(&self) {
        self.segment.store(LEFT_OUT, Release);
    }

    #[inline(always)]
    pub(crate) fn is_left_out(&self) -> bool {
        self.segment.load(Relaxed) == LEFT_OUT
    }

    /// Called once, under the registry's lock.
    pub(crate) fn set_number(&self, number: u32) {
        let position = Position::of(number);
        // In this order: who sees the segment must see the offset.
        self.offset.store(position.offset, Relaxed);
        self.segment.store(position.segment, Release);
    }

    pub(crate) fn fence(&self) -> Fence {
        self.fence
    }

    pub(crate) fn empty_calls(&self) -> EmptyCalls {
        self.empty_calls
    }

    /// What must stay mapped while the callsite is known: itself, its name, and the code that its overhead is measured with. They may
    /// be in as many libraries.
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

/// The type name of what `_value` is, to be asked for later: `type_name` is no const fn yet.
pub const fn path_of<T>(_value: &T) -> fn() -> &'static str {
    core::any::type_name::<T>
}
