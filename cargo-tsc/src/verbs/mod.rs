//! The verbs, one in each file or folder.

pub mod ab;
pub mod annotate;
pub mod diff;
pub mod doctor;
pub mod export;
pub mod list;
pub mod merge;
pub mod report;
pub mod run;
pub mod shell;
pub mod top;
