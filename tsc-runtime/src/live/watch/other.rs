//! Systems without Unix signals. Reports at regular intervals work here, too.

use super::{Settings, watch};

pub(super) fn begin(settings: &'static Settings) {
    if settings.every.is_none() {
        return;
    }
    // If the thread cannot be started, there are no reports at intervals.
    let _ = std::thread::Builder::new()
        .name("tsc-report".to_owned())
        .spawn(move || {
            watch(settings, |time| {
                std::thread::sleep(time.unwrap_or_default());
                Vec::new()
            });
        });
}

pub(super) fn name(_: i32) -> &'static str {
    "none"
}

pub(super) fn end_by(_: i32) {}
