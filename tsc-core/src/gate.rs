//! Whether annotated functions are measured, as far as this crate's features and a profile decide it.

use core::marker::PhantomData;

/// Why the annotated functions of a crate that was built like this one are not measured. `None` if they are measured.
#[cfg(not(target_os = "none"))]
pub(crate) const fn reason_against() -> Option<&'static str> {
    if cfg!(feature = "release-builds") {
        None
    } else if cfg!(not(feature = "debug-builds")) {
        Some("tsc-runtime was built with neither `debug-builds` nor `release-builds`")
    } else if cfg!(all(measuring, debug_assertions)) {
        None
    } else {
        Some(
            "release builds are measured with the feature `release-builds` of tsc-runtime, which this one was built without",
        )
    }
}

#[cfg(feature = "release-builds")]
#[doc(hidden)]
#[macro_export]
macro_rules! __gate {
    ($measured:block else $bare:block) => {
        $measured
    };
}

#[cfg(all(feature = "debug-builds", not(feature = "release-builds")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __gate {
    ($measured:block else $bare:block) => {{
        #[cfg(debug_assertions)]
        $crate::__require_runtime! {}
        #[cfg(debug_assertions)]
        $measured
        #[cfg(not(debug_assertions))]
        $bare
    }};
}

#[cfg(not(any(feature = "debug-builds", feature = "release-builds")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __gate {
    ($measured:block else $bare:block) => {
        $bare
    };
}

/// Stands before what needs a runtime that measures.
#[cfg(measuring)]
#[doc(hidden)]
#[macro_export]
macro_rules! __require_runtime {
    () => {};
}

#[cfg(not(measuring))]
#[doc(hidden)]
#[macro_export]
macro_rules! __require_runtime {
    () => {
        $crate::__private::compile_error!(
            "tsc-runtime was built without debug assertions, and so without what measures, but this crate has them: enable its \
             feature `on`, or set `debug-assertions` for all packages alike"
        );
    };
}

/// The value of `start!` in builds in which nothing is measured. It stays on its thread, as one that measures must.
///
/// ```compile_fail,E0277
/// let section = tsc_core::__private::Unmeasured::start();
/// std::thread::spawn(move || section.stop());
/// ```
#[derive(Debug)]
#[must_use = "a section is measured up to its `stop!`"]
pub struct Unmeasured(PhantomData<*const ()>);

impl Unmeasured {
    /// Does nothing.
    #[inline(always)]
    pub const fn start() -> Self {
        Self(PhantomData)
    }

    /// Does nothing; no ticks were measured.
    #[inline(always)]
    pub const fn stop(self) -> Option<f64> {
        None
    }
}
