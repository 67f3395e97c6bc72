//! What the variables of reports were understood as, written as a user would: for fuzzing.

use std::os::unix::ffi::OsStringExt as _;

use super::output::pattern::expand;
use super::settings::{Form, Settings};

pub(crate) fn understood() -> Vec<(&'static str, String)> {
    let settings = Settings::read();
    let form = match settings.form {
        Form::Text(form) => form.to_string(),
        Form::Json => "json".to_owned(),
        Form::Off => "off".to_owned(),
    };
    let mut all = vec![
        ("TSC_REPORT", form),
        ("TSC_UNIT", settings.unit.to_string()),
        ("TSC_SORT", settings.sort.to_string()),
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
