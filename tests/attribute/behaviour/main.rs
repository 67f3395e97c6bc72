//! An annotated function behaves as the bare one. Each behaviour is defined twice by one macro, once under the attribute.
//! `same` runs this in the other editions too, so it is written in what they have in common.

#![forbid(unsafe_code)]
#![deny(warnings)]
#![allow(unreachable_pub)] // everything here is

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
