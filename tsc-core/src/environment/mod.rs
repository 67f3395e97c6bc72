//! The environment variables that a user may set. A wrong value is reported, and the default is used.
//!
//! If the process has more rights than its user (set-uid, file capabilities: `AT_SECURE`), all variables are ignored.

#![cfg(measuring)]

mod misspelt;
pub(crate) mod patience;
mod secure;
mod stderr;
#[cfg(all(unix, not(miri)))]
mod stream;
mod write_signals;

use std::ffi::OsString;
use std::time::Duration;

#[cfg(all(fuzzing, feature = "__fuzzing"))]
pub(crate) use crate::__fuzzing::complain;
pub(crate) use crate::switch::switch;
pub(crate) use misspelt::complain_of_misspelt;
#[cfg(not(all(fuzzing, feature = "__fuzzing")))]
pub(crate) use stderr::complain;
pub(crate) use stderr::{remember as remember_stderr, write as write_to_stderr};
#[cfg(all(unix, not(miri)))]
pub(crate) use stream::write_all as write_to_stream;
#[cfg(all(unix, not(miri)))]
pub(crate) use write_signals::without_write_signals;

/// The signals that a write may raise do not exist here.
#[cfg(not(all(unix, not(miri))))]
pub(crate) fn without_write_signals<T>(write: impl FnOnce() -> T) -> T {
    write()
}

/// A variable, as `docs/variables.md` lists it.
#[derive(Debug)]
pub(crate) struct Variable {
    name: &'static str,
    /// The permitted values, for people.
    values: &'static str,
    /// The behaviour if the variable is not set, or has a wrong value.
    default: &'static str,
}

// Input:  variables! { REPORT: "TSC_REPORT", "text, full", "text"; … }
// Output: pub(crate) const REPORT: Variable = …; … and VARIABLES, which lists all of them.
macro_rules! variables {
    ($($ident:ident: $name:literal, $values:expr, $default:literal;)*) => {
        $(pub(crate) const $ident: Variable = Variable { name: $name, values: $values, default: $default };)*

        /// All variables.
        const VARIABLES: &[Variable] = &[$($ident),*];
    };
}

/// The values that [`switch`] understands.
const SWITCH: &str = "on (1, true, yes) or off (0, false, no)";

variables! {
    REPORT: "TSC_REPORT", "text, full, histogram, json or off", "text";
    REPORT_FILE: "TSC_REPORT_FILE", "a path, in which %p is the process's number, %h the host, %t the time of the start and %% a %", "standard error";
    REPORT_EVERY: "TSC_REPORT_EVERY", "a time of at least 10ms, such as 500ms, 10s, 5m or 1h", "no reports in between";
    DUMP_SIGNAL: "TSC_DUMP_SIGNAL", "USR1, USR2, HUP, QUIT, WINCH or the number of a signal that can be caught and means no fault", "no such signal";
    SIGNALS: "TSC_SIGNALS", SWITCH, "on";
    UNIT: "TSC_UNIT", "time, ticks or cycles", "time";
    SORT: "TSC_SORT", "self, total, wall, blocked, calls, mean, p99, max or name", "self";
    TOP: "TSC_TOP", "a number of rows; 0 for all", "all";
    THREADS: "TSC_THREADS", SWITCH, "off";
    ONLY: "TSC_ONLY", "a regular expression over module::name", "all functions";
    SKIP: "TSC_SKIP", "a regular expression over module::name", "no function";
    EVENTS: "TSC_EVENTS", "a list of events, comma-separated", "none";
    TREE: "TSC_TREE", SWITCH, "off";
    SLOWEST: "TSC_SLOWEST", "a number of calls from 0 to 64", "5";
    TICK: "TSC_TICK", "a time of 20us to 1s, such as 200us or 1ms", "from 200us to 4ms, growing with the run";
    META: "TSC_META", "key=value,…", "nothing";
    ON_CPU: "TSC_ON_CPU", SWITCH, "on";
}

/// Parses a time such as `200us`, `500ms`, `10s`, `5m` or `1h`.
pub(crate) fn duration(value: &str) -> Option<Duration> {
    let unit_at = value.find(|character: char| character.is_ascii_alphabetic())?;
    let (number, unit) = value.split_at(unit_at);
    let seconds = match unit {
        "us" => 1e-6,
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let number: f64 = number.trim_end().parse().ok()?;
    Duration::try_from_secs_f64(number * seconds).ok()
}

/// The interval of the clock of light probes that the user has chosen.
pub(crate) fn tick() -> Option<Duration> {
    let allowed = Duration::from_micros(20)..=Duration::from_secs(1);
    TICK.parse(|value| duration(value).filter(|time| allowed.contains(time)))
}

/// The names of all variables.
#[cfg(fuzzing)]
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    VARIABLES.iter().map(|variable| variable.name)
}

impl Variable {
    /// The same variable where another value is the default.
    pub(crate) const fn with_default(self, default: &'static str) -> Self {
        Self { default, ..self }
    }

    /// The value. `None` if the variable is not set, empty or ignored.
    pub(crate) fn get(&self) -> Option<OsString> {
        let is_trusted = !secure::has_more_rights_than_its_user();
        std::env::var_os(self.name).filter(|value| is_trusted && !value.is_empty())
    }

    /// Parses the value with `parse`. If that returns `None`, a line on standard error lists the permitted values.
    pub(crate) fn parse<T>(&self, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let value = self.get()?;
        let parsed = value.to_str().and_then(parse);
        if parsed.is_none() {
            self.complain(&value.to_string_lossy(), "is invalid");
        }
        parsed
    }

    /// Prints what is wrong with a value, the permitted values, and the default.
    pub(crate) fn complain(&self, value: &str, wrong: &str) {
        complain_once(&format!(
            "{}={} {wrong}: expected {}; the default is used: {}.",
            self.name,
            value.escape_debug(),
            self.values,
            self.default
        ));
    }
}

/// Complains, unless this was said before: threads that begin at the same time read the same variables.
fn complain_once(what: &str) {
    if stderr::is_new(what) {
        complain(what);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/variables.md");

    /// The names, values and defaults on the page are written by `TSC_DOCS=overwrite cargo test -p tsc-core --lib page_has`; the
    /// meanings there are written by hand.
    #[test]
    fn page_has_a_row_of_every_variable_and_no_other() {
        let page = std::fs::read_to_string(PAGE).expect("the page is there");
        let (mut new, mut rows) = (String::new(), 0);
        for line in page.split_inclusive('\n') {
            let cells: Vec<&str> = line.splitn(5, " | ").collect();
            let variable = VARIABLES
                .iter()
                .find(|of| line.starts_with(&format!("| `{}` |", of.name)));
            match (variable, &cells[..]) {
                (
                    Some(Variable {
                        name,
                        values,
                        default,
                    }),
                    [_, _, _, meaning @ ..],
                ) => {
                    rows += 1;
                    new += &format!(
                        "| `{name}` | {values} | {default} | {}",
                        meaning.join(" | ")
                    );
                }
                _ => new += line,
            }
        }
        if std::env::var_os("TSC_DOCS").is_some_and(|value| value == "overwrite") {
            std::fs::write(PAGE, &new).expect("the page can be written");
        } else {
            assert!(
                page == new,
                "a row is not as the code has it: {}",
                differing(&page, &new)
            );
        }
        let named = page
            .lines()
            .filter(|line| line.starts_with("| `TSC_"))
            .count();
        assert_eq!((rows, named), (VARIABLES.len(), VARIABLES.len()));
    }

    fn differing<'a>(one: &'a str, other: &str) -> &'a str {
        let mut lines = one.lines().zip(other.lines());
        lines
            .find(|(one, other)| one != other)
            .map_or("", |(one, _)| one)
    }
}
