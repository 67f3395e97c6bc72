//! The dump at the end of a process, if it has measured something that no report contains yet.

use std::panic::catch_unwind;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};

use super::output;
use super::settings::{Form, is_off, settings};
use super::snapshot::{printing, report_at_end};
use crate::environment::{complain, write_to_stderr};
use crate::process::memory;
use crate::record::thread;
use crate::registry;
use tsc_report::Ended;

/// Whether the dump has been made; then also the exit code, if it is known, and the calls after the ends of their threads so far.
pub(super) static IS_DUMPED: AtomicBool = AtomicBool::new(false);
static CODE: AtomicU64 = AtomicU64::new(UNKNOWN);
const UNKNOWN: u64 = u64::MAX;
static CALLS_BEFORE: AtomicU64 = AtomicU64::new(0);

/// Called when `main` has returned or `exit` was called, with the exit code if the C library passes it. It does not unwind into the C
/// library.
pub(crate) fn dump_at_exit(code: Option<u32>) {
    let _ = catch_unwind(move || {
        // A signal handler that calls `exit` may have interrupted the registry's work or an allocation. The locks may then be held for
        // ever, so nothing may lock or allocate here.
        if thread::this().is_busy() || thread::this().is_reporting() {
            if !is_off() {
                write_to_stderr(
                    "tsc: no dump, because the process ended in the middle of a recording or a report\n",
                );
            }
            return;
        }
        report_at_end(|| ended(code));
        output::set_ended(true);
        CODE.store(code.map_or(UNKNOWN, u64::from), Relaxed);
        CALLS_BEFORE.store(registry::calls_after_end(), Relaxed);
        IS_DUMPED.store(true, Release);
    });
}

fn ended(code: Option<u32>) -> Ended {
    Ended {
        reason: "exit".to_owned(),
        code,
        ..Ended::default()
    }
}

/// Called after everything else in the process. Handlers at exit may have called annotated functions after the dump. A file gets a report
/// that contains these calls, too; on standard error, their number is printed.
#[cfg_attr(
    any(miri, not(target_os = "linux")),
    allow(dead_code, reason = "nothing is called so late there")
)]
pub(crate) extern "C" fn report_late_calls() {
    let _ = catch_unwind(|| {
        if !IS_DUMPED.load(Acquire) || thread::this().is_busy() || thread::this().is_reporting() {
            return;
        }
        let late = registry::calls_after_end().saturating_sub(CALLS_BEFORE.load(Relaxed));
        if late == 0 || settings().form == Form::Off || !memory::is_left(LINE) {
            return;
        }
        if settings().file.is_none() {
            return printing(|| {
                complain(&format!("calls after the report: {late}"));
                Some(())
            });
        }
        output::set_ended(false);
        report_at_end(|| ended(u32::try_from(CODE.load(Relaxed)).ok()));
        output::set_ended(true);
    });
}

/// The memory that a line takes, with room to spare.
const LINE: usize = 1 << 12;
