//! The dump at the end of a process that has measured something and not reported it.

use std::panic::catch_unwind;

use super::Ended;
use super::output;
use super::snapshot::report_at_end;
use crate::environment::write_to_stderr;
use crate::record::thread;

/// When `main` has returned or `exit` was called, with the exit code if the C library tells it. Does not unwind into that.
pub(crate) fn dump_at_exit(code: Option<u32>) {
    let _ = catch_unwind(move || {
        // A signal handler that calls `exit` may have interrupted the registry's work, whose locks are then taken for good.
        // Or an allocation of it, so nothing may allocate here.
        if thread::this().is_busy() || thread::this().is_reporting() {
            return write_to_stderr(
                "tsc: no dump, because the process ended in the middle of a recording\n",
            );
        }
        report_at_end(Ended {
            reason: "exit".to_owned(),
            code,
            ..Ended::default()
        });
        output::end();
    });
}
