//! The dump at the end of a process, if it has measured something that no report contains yet.

use std::panic::catch_unwind;

use super::output;
use super::snapshot::report_at_end;
use crate::environment::write_to_stderr;
use crate::record::thread;
use tsc_report::Ended;

/// Called when `main` has returned or `exit` was called, with the exit code if the C library passes it. It does not unwind into the C
/// library.
pub(crate) fn dump_at_exit(code: Option<u32>) {
    let _ = catch_unwind(move || {
        // A signal handler that calls `exit` may have interrupted the registry's work or an allocation. The locks may then be held for
        // ever, so nothing may lock or allocate here.
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
