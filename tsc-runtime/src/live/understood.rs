//! What the variables of reports were understood as, written as a user would: for fuzzing.

use std::os::unix::ffi::OsStringExt as _;

use super::output::pattern::expand;
use super::settings::{FORMS, Settings};
use tsc_report::{TextSort, TextUnit};

pub(crate) fn understood() -> Vec<(&'static str, String)> {
    let settings = Settings::read();
    let mut all = vec![
        ("TSC_REPORT", name(&FORMS, settings.form)),
        ("TSC_UNIT", name(TextUnit::NAMES, settings.unit)),
        ("TSC_SORT", name(TextSort::NAMES, settings.sort)),
        ("TSC_TOP", settings.top.to_string()),
        (
            "TSC_SIGNALS",
            if settings.signals { "on" } else { "off" }.to_owned(),
        ),
    ];
    if let Some(time) = settings.every {
        let every = format!("{}.{:09}s", time.as_secs(), time.subsec_nanos());
        all.push(("TSC_REPORT_EVERY", every));
    }
    if let Some(signal) = settings.dump_signal {
        all.push(("TSC_DUMP_SIGNAL", signal.to_string()));
    }
    if let Some(file) = settings.file {
        let path = expand(&file).into_vec();
        assert!(!path.contains(&0));
        all.push(("TSC_REPORT_FILE", file.into_string().unwrap_or_default()));
    }
    let pairs: Vec<String> = settings
        .meta
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    all.push(("TSC_META", pairs.join(",")));
    all
}

/// The name of what was understood.
fn name<T: Copy + PartialEq>(names: &[(&'static str, T)], of: T) -> String {
    let name = names.iter().find(|(_, it)| *it == of);
    name.map_or("", |(name, _)| name).to_owned()
}
