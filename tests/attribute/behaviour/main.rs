//! An annotated function behaves like the bare one. A macro defines each behaviour twice, once with the attribute. `same` also runs this
//! in the other editions, so it only uses what all editions have in common.

#![forbid(unsafe_code)]
#![deny(warnings)]
#![allow(unreachable_pub)] // all items here are private to the test

// As a dependency of this name would be: `::core` is no longer the library.
extern crate tsc_runtime as core;

mod blocks;
mod drops;
mod futures;
mod panics;
mod renamed;
mod rows;
mod surroundings;
mod targets;

/// Defines the same items in the modules `bare` and `annotated`.
#[macro_export]
macro_rules! twice {
    ($($item:item)*) => {
        mod bare {
            #[allow(unused_imports)]
            use super::*;
            $($item)*
        }
        mod annotated {
            #[allow(unused_imports)]
            use super::*;
            $(#[tsc_runtime::cycles] $item)*
        }
    };
}
