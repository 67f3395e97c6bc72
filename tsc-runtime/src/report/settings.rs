//! What the user's variables ask of reports: read once, at the first annotated call or report.

use std::ffi::OsString;

use once_cell::race::OnceBox;

use super::{MetaMap, TextForm, TextSort, TextUnit};
use crate::environment;

/// In what form a report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Text(TextForm),
    Json,
    /// Not at all.
    Off,
}

pub(super) struct Settings {
    pub(super) form: Form,
    /// Where to, before `%p` and the like are replaced.
    pub(super) file: Option<OsString>,
    pub(super) unit: TextUnit,
    pub(super) sort: TextSort,
    pub(super) top: Option<usize>,
    pub(super) meta: MetaMap,
}

/// The settings of this process.
pub(super) fn settings() -> &'static Settings {
    // No lock that the child of a fork might find taken: of two threads that read them at once, one forgets what it read.
    static SETTINGS: OnceBox<Settings> = OnceBox::new();
    SETTINGS.get_or_init(|| Box::new(Settings::read()))
}

impl Settings {
    fn read() -> Self {
        let file = environment::REPORT_FILE.get();
        let is_json = file
            .as_deref()
            .and_then(|file| std::path::Path::new(file).extension())
            .is_some_and(|extension| extension == "json");
        let usual = if is_json {
            Form::Json
        } else {
            Form::Text(TextForm::Short)
        };
        let form = environment::REPORT.parse(form).unwrap_or(usual);
        Self {
            form: if form == Form::Json { json() } else { form },
            file,
            unit: environment::UNIT
                .parse(TextUnit::from_name)
                .unwrap_or_default(),
            sort: environment::SORT
                .parse(TextSort::from_name)
                .unwrap_or_default(),
            top: environment::TOP
                .parse(|rows| rows.parse().ok())
                .filter(|&rows| rows != 0),
            meta: environment::META
                .get()
                .map_or_else(MetaMap::new, |value| pairs(&value.to_string_lossy())),
        }
    }
}

fn form(value: &str) -> Option<Form> {
    Some(match value {
        "text" => Form::Text(TextForm::Short),
        "full" => Form::Text(TextForm::Full),
        "histogram" => Form::Text(TextForm::Histogram),
        "json" => Form::Json,
        "off" => Form::Off,
        _ => return None,
    })
}

#[cfg(feature = "json")]
fn json() -> Form {
    Form::Json
}

#[cfg(not(feature = "json"))]
fn json() -> Form {
    environment::complain("JSON needs the feature `json` of tsc-runtime. Reports are text:");
    Form::Text(TextForm::Short)
}

/// `key=value,…`; what has no `=` is a key without a value.
fn pairs(value: &str) -> MetaMap {
    value
        .split(',')
        .filter(|pair| !pair.trim().is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meta_is_pairs() {
        let of = pairs("commit=abc, input = a=b ,,dirty");
        let of: Vec<_> = of
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        assert_eq!(of, [("commit", "abc"), ("dirty", ""), ("input", "a=b")]);
    }
}
