//! Results as data: each figure is declared once, with its documentation.

#![cfg(measuring)]

pub(crate) use tsc_report::__private::data;
