//! Each verb of `cargo tsc`, on small projects that are made for it.

mod ab;
mod all;
mod annotate;
mod browser;
mod copies;
mod diff;
mod errors;
mod export;
mod fleet;
mod git;
mod hints;
#[cfg(unix)]
mod interrupt;
mod npm;
mod options;
mod page;
mod page_figures;
mod project;
mod readers;
mod run;
mod sessions;
mod slow_page;
mod top;
mod turns;
mod with;
mod workflow;
#[cfg(unix)]
mod wrappers;
