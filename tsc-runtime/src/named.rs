//! Enums with their names, and errors with their texts, each of them beside its variant.

#![cfg(not(target_os = "none"))]

#[cfg(measuring)]
pub(crate) use tsc_report::__private::named;
pub(crate) use tsc_report::__private::reasons;
