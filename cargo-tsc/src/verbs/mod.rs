//! The verbs, most of them in a file or folder of the same name.

pub mod ab;
pub mod annotate;
pub mod diff;
pub mod doctor;
pub mod export;
pub mod list;
pub mod merge;
pub mod outcome;
pub mod report;
pub mod run;
pub mod shell;
pub mod top;
