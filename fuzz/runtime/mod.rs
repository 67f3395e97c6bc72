//! What the targets call beside what is public: a module of tsc-core in their builds, which tsc-runtime exports.

use crate::environment::{self, Variable};

static COMPLAINTS: parking_lot::Mutex<Vec<String>> = parking_lot::Mutex::new(Vec::new());

/// Keeps a line that would be written on stderr.
pub(crate) fn complain(what: &str) {
    COMPLAINTS.lock().push(what.to_owned());
}

/// What was said since the last time, without `tsc: `.
#[must_use]
pub fn take_complaints() -> Vec<String> {
    std::mem::take(&mut *COMPLAINTS.lock())
}

/// The name of a callsite whose attribute has none, from a path of what its expansion defines.
#[must_use]
pub fn within(path: &str, module: &str) -> String {
    crate::record::name::within(path, module)
}

/// The names of all variables but two, each a number that is read once, by what is in no target.
#[must_use]
pub fn variables() -> Vec<&'static str> {
    let names = crate::environment::names();
    names
        .filter(|name| !["TSC_SLOWEST", "TSC_TICK"].contains(name))
        .collect()
}

/// Reads all variables anew, and writes what was understood as a user would write it, by variable; what was not set or not understood
/// is left out, or is the default.
#[must_use]
pub fn understood() -> Vec<(&'static str, String)> {
    let mut all = crate::live::understood();
    all.extend(crate::registry::understood());
    all.extend(switch(&environment::ON_CPU).map(|it| ("TSC_ON_CPU", it)));
    all.push(("TSC_EVENTS", crate::events::understood()));
    all
}

/// What a variable that is on or off was understood as.
pub(crate) fn switch(of: &Variable) -> Option<String> {
    let is_on = of.parse(environment::switch)?;
    Some(if is_on { "on" } else { "off" }.to_owned())
}
