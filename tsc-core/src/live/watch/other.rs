//! Systems without Unix signals. Reports at regular intervals work here, too.

use super::{STACK, Settings, watch};
use crate::process::thread;

pub(super) fn begin(settings: &'static Settings) {
    if settings.every.is_none() {
        return;
    }
    // If the thread cannot be started, there are no reports at intervals.
    let _ = thread::spawn("tsc-report", STACK, move || {
        watch(settings, |time| {
            std::thread::sleep(time.unwrap_or_default())
        });
    });
}
