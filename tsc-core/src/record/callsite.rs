//! The static that represents one `#[cycles]`: constant facts, and a number.

#[cfg(all(feature = "pmu", target_os = "linux", not(miri)))]
use crate::record::event_row::RowCell;
use crate::record::light::Row;
use crate::record::table::Position;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32};
use crate::tsc::Fence;

/// What the attribute knows about its function at compile time.
#[derive(Clone, Copy, Debug)]
pub struct Meta {
    /// `name = "…"`, if given.
    pub name: Option<&'static str>,
    /// The part of the function that is measured, which its name ends with, if it is not the whole.
    pub part: Option<&'static str>,
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
    /// Whether it is a section: `start!` … `stop!`.
    pub is_section: bool,
}

/// The facts that every function has. `_inside` is something defined in the function. The file is that of the caller.
#[must_use]
#[track_caller]
pub const fn meta<T>(_inside: &T, module: &'static str, line: u32) -> Meta {
    Meta {
        name: None,
        part: None,
        path: core::any::type_name::<T>,
        module,
        file: core::panic::Location::caller().file(),
        line,
        unit: None,
        returns_iterator: false,
        is_section: false,
    }
}

impl Meta {
    /// `name = "…"`.
    #[must_use]
    pub const fn named(mut self, name: &'static str) -> Self {
        self.name = Some(name);
        self
    }

    /// Only a part of the function is measured.
    #[must_use]
    pub const fn part(mut self, part: &'static str) -> Self {
        self.part = Some(part);
        self
    }

    /// `bytes = …`.
    #[must_use]
    pub const fn bytes(mut self) -> Self {
        self.unit = Some(Unit::Bytes);
        self
    }

    /// `items = …`.
    #[must_use]
    pub const fn items(mut self) -> Self {
        self.unit = Some(Unit::Items);
        self
    }

    /// The function returns an `impl Iterator` or a `dyn Iterator`.
    #[must_use]
    pub const fn returning_iterator(mut self) -> Self {
        self.returns_iterator = true;
        self
    }

    /// `start!` … `stop!`.
    #[must_use]
    pub const fn section(mut self) -> Self {
        self.is_section = true;
        self
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
///
/// What probes read comes first: the instructions that read it are shorter then.
#[repr(C)]
#[derive(Debug)]
pub struct Callsite {
    /// The place of its row in the rows of every thread, in bytes, if its probes are light; otherwise, and before the first call,
    /// [`NO_ROW`].
    row: AtomicU32,
    /// The position of the callsite's entry in the table of every thread: the segment, which is [`UNREGISTERED`] until the first call, and
    /// the offset in it.
    segment: AtomicU8,
    offset: AtomicU32,
    kind: Kind,
    meta: Meta,
    /// The callsite that was registered before this one.
    registered_before: AtomicPtr<Callsite>,
    /// The events counted in its calls.
    #[cfg(all(feature = "pmu", target_os = "linux", not(miri)))]
    pub(crate) events: RowCell,
}

/// What kind of probe a callsite has, and the functions with which the overhead of its probes is measured.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Each call is timed, with this fence policy.
    #[doc(hidden)]
    Timed(Fence, EmptyCalls),
    /// Each call is counted, and ticks of a clock tell where the time goes.
    #[doc(hidden)]
    Light(&'static EmptyLightCalls),
}

/// Functions with a loop over a call that does little, each with a light probe and without: the value of each step is in memory, or in a
/// register.
#[derive(Clone, Copy, Debug)]
pub struct EmptyLightCalls {
    pub(crate) in_memory: [fn(u32); 2],
    pub(crate) in_register: [fn(u32); 2],
}

/// Functions with a loop over an empty call: with a probe, with a probe in which the former is nested, and without a probe. They are
/// instantiated in the annotated crate, so they are compiled with the same options as the crate's own functions.
#[derive(Clone, Copy, Debug)]
pub struct EmptyCalls {
    pub(crate) annotated: fn(u32),
    pub(crate) nested: fn(u32),
    pub(crate) bare: fn(u32),
}

/// This is greater than the number of segments of any table. So one comparison detects both a new callsite and a table that is too short.
const UNREGISTERED: u8 = u8::MAX;
/// The segment of a callsite that is not measured. No table has it either.
const LEFT_OUT: u8 = u8::MAX - 1;
/// No thread has so many rows.
const NO_ROW: u32 = u32::MAX;

/// The callsite that was registered last, from which the list of all of them begins. In the child of a fork, it has those of the parent,
/// too.
pub(crate) static REGISTERED: AtomicPtr<Callsite> = AtomicPtr::new(core::ptr::null_mut());

/// All callsites that were registered or left out, the last one first.
pub(crate) fn registered() -> impl Iterator<Item = &'static Callsite> {
    let before = |callsite: &&'static Callsite| {
        // SAFETY: null, or written by `register`, from a reference to a static.
        unsafe { callsite.registered_before.load(Relaxed).as_ref() }
    };
    // SAFETY: as above.
    core::iter::successors(unsafe { REGISTERED.load(Acquire).as_ref() }, before)
}

/// Finishes what a thread of the parent was registering at a fork. For the child, which has no such thread: a callsite without a number is no
/// longer in the list, and a light one with a number has its row.
#[cfg(all(unix, any(all(test, shuttle), not(miri))))] // no process is forked elsewhere
pub(crate) fn finish_registering() {
    let Some(last) = registered().next() else {
        return;
    };
    match last.number() {
        None if last.is_left_out() => {}
        None => REGISTERED.store(last.registered_before.load(Relaxed), Relaxed),
        Some(number) if last.is_light() => last.row.store(Row::offset(number), Relaxed),
        Some(_) => {}
    }
}

impl Callsite {
    /// A callsite that has not been called yet.
    pub(crate) const fn with(kind: Kind, meta: Meta) -> Self {
        Self {
            segment: AtomicU8::new(UNREGISTERED),
            offset: AtomicU32::new(0),
            row: AtomicU32::new(NO_ROW),
            kind,
            meta,
            registered_before: AtomicPtr::new(core::ptr::null_mut()),
            #[cfg(all(feature = "pmu", target_os = "linux", not(miri)))]
            events: RowCell::new(),
        }
    }

    /// The same callsite with a fixed number.
    pub(crate) const fn numbered(mut self, number: u32) -> Self {
        let position = Position::of(number);
        self.segment = AtomicU8::new(position.segment);
        self.offset = AtomicU32::new(position.offset);
        if self.is_light() {
            self.row = AtomicU32::new(Row::offset(number));
        }
        self
    }

    /// The same, left out.
    #[cfg(all(test, not(shuttle)))] // whose tests leave out none
    pub(crate) const fn left_out(mut self) -> Self {
        self.segment = AtomicU8::new(LEFT_OUT);
        self.row = AtomicU32::new(Row::LEFT_OUT);
        self
    }

    /// Where the rows of a thread have this callsite's, in bytes, if they are long enough.
    #[inline(always)]
    pub(crate) fn row(&self) -> u32 {
        self.row.load(Relaxed)
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

    /// Excludes the callsite from measurement, because the user asked for that. Called once, under the registry's lock, in place of
    /// [`set_number`](Self::set_number).
    pub(crate) fn leave_out(&'static self) {
        self.register();
        self.segment.store(LEFT_OUT, Release);
        if self.is_light() {
            self.row.store(Row::LEFT_OUT, Release);
        }
    }

    #[inline(always)]
    pub(crate) fn is_left_out(&self) -> bool {
        self.segment.load(Relaxed) == LEFT_OUT
    }

    /// Sets the callsite's number. Called once, under the registry's lock.
    pub(crate) fn set_number(&'static self, number: u32) {
        // What has a number is in the list, also in the child of a fork.
        self.register();
        let position = Position::of(number);
        // The order matters: a thread that sees the segment must also see the offset.
        self.offset.store(position.offset, Relaxed);
        self.segment.store(position.segment, Release);
        if self.is_light() {
            self.row.store(Row::offset(number), Release);
        }
    }

    /// Adds it to the list of [`registered`] callsites.
    fn register(&'static self) {
        let this = core::ptr::from_ref(self).cast_mut();
        self.registered_before
            .store(REGISTERED.load(Relaxed), Relaxed);
        REGISTERED.store(this, Release);
    }

    /// Whether its probes are light.
    pub(crate) const fn is_light(&self) -> bool {
        matches!(self.kind, Kind::Light(_))
    }

    /// The fence policy of its probes, if they are timed.
    pub(crate) const fn fence(&self) -> Option<Fence> {
        match self.kind {
            Kind::Timed(fence, _) => Some(fence),
            Kind::Light(_) => None,
        }
    }

    pub(crate) const fn kind(&self) -> Kind {
        self.kind
    }

    /// The addresses that must stay mapped as long as the callsite is known: the callsite, its name, and the functions that measure its
    /// overhead. They may be in different libraries.
    pub(crate) fn addresses(&self) -> [*const (); 3] {
        [
            core::ptr::from_ref(self).cast(),
            self.meta.path as *const (),
            match self.kind {
                Kind::Timed(_, empty_calls) => empty_calls.annotated,
                Kind::Light(empty_calls) => empty_calls.in_memory[0],
            } as *const (),
        ]
    }

    pub(crate) fn meta(&self) -> &Meta {
        &self.meta
    }
}

/// A function that returns the type name of `_value`. It is called later, because `type_name` is not a const fn yet.
pub const fn path_of<T>(_value: &T) -> fn() -> &'static str {
    core::any::type_name::<T>
}
