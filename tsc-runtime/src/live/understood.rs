//! What the variables of reports were understood as, written as a user would: for fuzzing.

use std::os::unix::ffi::OsStringExt as _;

use super::output::pattern::expand;
use super::settings::{Form, Settings};
use tsc_report::{TextForm, TextSort, TextUnit};

pub(crate) fn understood() -> Vec<(&'static str, String)> {
    let settings = Settings::read();
    let mut all = vec![
        ("TSC_REPORT", form(settings.form).to_owned()),
        ("TSC_UNIT", unit(settings.unit).to_owned()),
        ("TSC_SORT", sort(settings.sort).to_owned()),
        ("TSC_TOP", settings.top.unwrap_or(0).to_string()),
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

fn form(form: Form) -> &'static str {
    match form {
        Form::Text(TextForm::Short) => "text",
        Form::Text(TextForm::Full) => "full",
        Form::Text(TextForm::Histogram) => "histogram",
        Form::Json => "json",
        Form::Off => "off",
    }
}

fn unit(unit: TextUnit) -> &'static str {
    match unit {
        TextUnit::Ticks => "ticks",
        TextUnit::Ns => "ns",
        TextUnit::Cycles => "cycles",
    }
}

fn sort(sort: TextSort) -> &'static str {
    match sort {
        TextSort::SelfTicks => "self",
        TextSort::Total => "total",
        TextSort::Wall => "wall",
        TextSort::Calls => "calls",
        TextSort::Mean => "mean",
        TextSort::Name => "name",
    }
}
