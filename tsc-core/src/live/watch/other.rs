//! Systems without Unix signals. Reports at regular intervals work here, too.

use super::{STACK, Settings, complain_if_wanted, watch};
use crate::process::thread;

pub(super) fn begin(settings: &'static Settings) {
    if settings.every.is_none() {
        return;
    }
    let spawned = thread::spawn("tsc-report", STACK, move || {
        watch(settings, |time| {
            std::thread::sleep(time.unwrap_or_default())
        });
    });
    if let Err(why) = spawned {
        complain_if_wanted(settings, &why);
    }
}
