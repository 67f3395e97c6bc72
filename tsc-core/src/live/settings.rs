//! The settings for reports from the environment variables, read once at the first annotated call or report.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use once_cell::race::OnceBox;

use crate::environment;
use crate::record::slowest;
use crate::tsc::os_clock;
use tsc_report::{MetaMap, TextForm, TextSort, TextUnit};

/// The form in which a report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Text(TextForm),
    Json,
    /// Reports are not printed.
    Off,
}

#[cfg_attr(
    any(miri, not(unix)),
    allow(dead_code, reason = "no signals are watched there")
)]
pub(super) struct Settings {
    /// When the variables were read, in nanoseconds since 1970.
    pub(super) read_at: u64,
    pub(super) form: Form,
    /// The path of the file, before `%p` and the like are replaced.
    pub(super) file: Option<OsString>,
    /// The working folder when the process began to measure, which the path is relative to. Empty if it is unknown.
    pub(super) folder: PathBuf,
    pub(super) every: Option<Duration>,
    /// The signal at which a report is made while the program continues.
    pub(super) dump_signal: Option<i32>,
    /// Whether a report is made when a signal ends the process.
    pub(super) signals: bool,
    pub(super) unit: TextUnit,
    pub(super) sort: TextSort,
    pub(super) top: usize,
    pub(super) meta: MetaMap,
}

// There is no lock that the child of a fork might find held. If two threads read the settings at once, one result is dropped.
static SETTINGS: OnceBox<Settings> = OnceBox::new();

/// The settings of this process.
pub(super) fn settings() -> &'static Settings {
    SETTINGS.get_or_init(|| Box::new(Settings::read()))
}

/// Whether it is known that nothing is to be reported. Allocates nothing.
pub(super) fn is_off() -> bool {
    let settings = SETTINGS.get();
    settings.is_some_and(|settings| settings.form == Form::Off)
}

impl Settings {
    pub(super) fn read() -> Self {
        let file = environment::REPORT_FILE.get();
        let usual = form_of_file(file.as_deref().unwrap_or_default(), TextForm::Short);
        let report = match usual {
            Form::Json => environment::REPORT.with_default("json"),
            _ => environment::REPORT,
        };
        let form = report.parse(|value| form(value, usual));
        let folder = file.as_ref().and_then(|_| std::env::current_dir().ok());
        let every = environment::REPORT_EVERY.parse(period);
        let dump_signal = environment::DUMP_SIGNAL.parse(signal);
        let signals = environment::SIGNALS.parse(environment::switch);
        let unit = environment::UNIT.parse(|name| of_name(TextUnit::NAMES, name));
        let sort = environment::SORT.parse(|name| of_name(TextSort::NAMES, name));
        let top = environment::TOP.parse(|rows| rows.parse().ok());
        let meta = environment::META.parse(pairs);
        // Others read them, but not in every program: a wrong value is named anyway.
        let _ = (environment::tick(), slowest::wanted());
        Self {
            read_at: os_clock::unix_now(),
            form: form.unwrap_or(usual),
            folder: folder.unwrap_or_default(),
            file,
            every,
            dump_signal,
            signals: signals.unwrap_or(true),
            unit: unit.unwrap_or_default(),
            sort: sort.unwrap_or_default(),
            top: top.filter(|&rows| rows != 0).unwrap_or(usize::MAX),
            meta: meta.unwrap_or_default(),
        }
    }
}

/// The form of a report in this file: JSON if its name says so, otherwise text.
pub(super) fn form_of_file(path: &OsStr, text: TextForm) -> Form {
    match Path::new(path).extension() {
        Some(extension) if extension == "json" => Form::Json,
        _ => Form::Text(text),
    }
}

/// The form of this name, which may also be a switch: on is the usual form.
fn form(value: &str, usual: Form) -> Option<Form> {
    if value == "json" {
        return Some(Form::Json);
    }
    let switched = |is_on| if is_on { usual } else { Form::Off };
    let text = of_name(TextForm::NAMES, value).map(Form::Text);
    text.or_else(|| environment::switch(value).map(switched))
}

fn of_name<T: Copy>(names: &[(&str, T)], name: &str) -> Option<T> {
    let mut named = names.iter().filter(|(its, _)| *its == name);
    named.next().map(|&(_, it)| it)
}

/// A time between two reports.
fn period(value: &str) -> Option<Duration> {
    environment::duration(value).filter(|&time| time >= Duration::from_millis(10))
}

/// The signals that have names here, without `SIG`.
#[cfg(unix)]
pub(super) const SIGNALS: [(&str, i32); 7] = [
    ("INT", libc::SIGINT),
    ("TERM", libc::SIGTERM),
    ("HUP", libc::SIGHUP),
    ("USR1", libc::SIGUSR1),
    ("USR2", libc::SIGUSR2),
    ("QUIT", libc::SIGQUIT),
    ("WINCH", libc::SIGWINCH),
];

#[cfg(unix)]
fn signal(value: &str) -> Option<i32> {
    use libc::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGKILL, SIGSEGV, SIGSTOP, SIGTRAP};
    let name = value.strip_prefix("SIG").unwrap_or(value);
    let number = of_name(&SIGNALS, name).or_else(|| name.parse().ok())?;
    // Signals that cannot be caught, or that mean a fault of the program.
    let faults = [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP];
    let is_unfit = [SIGKILL, SIGSTOP].contains(&number) || faults.contains(&number);
    ((1..=31).contains(&number) && !is_unfit).then_some(number)
}

/// There are no signals here.
#[cfg(not(unix))]
fn signal(_: &str) -> Option<i32> {
    None
}

/// Parses `key=value,…`. An entry without `=` is a key with an empty value. `None` if one has no key.
fn pairs(value: &str) -> Option<MetaMap> {
    let mut pairs = MetaMap::new();
    for pair in value.split(',').filter(|pair| !pair.trim().is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        if key.trim().is_empty() {
            return None;
        }
        pairs.insert(key.trim().to_owned(), value.trim().to_owned());
    }
    Some(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meta_is_pairs() {
        assert_eq!(pairs("a=1, =b"), None);
        let of = pairs("commit=abc, input = a=b ,,dirty").expect("each has a key");
        let of: Vec<_> = of
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        assert_eq!(of, [("commit", "abc"), ("dirty", ""), ("input", "a=b")]);
    }

    #[test]
    fn durations_have_units() {
        let ms = |value| period(value).map(|time| time.as_millis());
        assert_eq!(
            ["10ms", "1.5s", "2 m", "1h"].map(ms),
            [Some(10), Some(1500), Some(120_000), Some(3_600_000)]
        );
        assert_eq!(
            ["", "10", "s", "-1s", "9ms", "infs", "nans", "1d", "1e30s"].map(ms),
            [None; 9]
        );
    }

    #[cfg(unix)]
    #[test]
    fn signals_are_named_and_can_be_caught() {
        let number = libc::SIGUSR1.to_string();
        assert_eq!(
            ["USR1", "SIGUSR1", &number].map(signal),
            [Some(libc::SIGUSR1); 3]
        );
        assert_eq!(
            ["KILL", "9", "11", "0", "99", "usr1", ""].map(signal),
            [None; 7]
        );
    }
}
