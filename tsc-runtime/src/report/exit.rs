//! The dump at the end of a process that has measured something and not reported it.

use std::panic::catch_unwind;

use super::Ended;
use super::output;
use super::snapshot::report_at_end;
use crate::environment::write_to_stderr;
use crate::record::thread;

/// Called by the C library when `main` has returned or `exit` was called. Must not unwind into it.
pub(crate) extern "C" fn dump_at_exit() {
    let _ = catch_unwind(|| {
        // A signal handler that calls `exit` may have interrupted the registry's work, whose locks are then taken for good.
        // Or an allocation of it, so nothing may allocate here.
        if thread::this().is_busy() || thread::this().is_reporting() {
            return write_to_stderr(
                "tsc: no dump: the process ended inside the recording itself\n",
            );
        }
        report_at_end(Ended {
            reason: "exit".to_owned(),
            ..Ended::default()
        });
        output::end();
    });
}
