//! Ten million calls: does anything grow?

use crate::subjects::{annotated, ticks_per_call};
use overhead::table::{heading, row};

const CALLS: u32 = 10_000_000;

/// Resident memory in bytes, and the number of threads. `None` if there is no /proc of Linux.
fn status() -> Option<(u64, u64)> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let field = |name: &str| -> Option<u64> {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    Some((field("VmRSS:")? * 1024, field("Threads:")?))
}

pub(crate) fn run() {
    ticks_per_call(annotated, 100_000);
    let before = status();
    let ticks = ticks_per_call(annotated, CALLS);
    let after = status();
    heading("10 million calls", &["what", "value"]);
    row(&["ticks/call".to_owned(), format!("{ticks:.1}")]);
    if let (Some((before, _)), Some((after, threads))) = (before, after) {
        row(&[
            "resident memory grown by, bytes".to_owned(),
            after.saturating_sub(before).to_string(),
        ]);
        row(&["threads in the process".to_owned(), threads.to_string()]);
    }
}
