//! What the targets call beside what is public: a module of tsc-runtime in their builds.

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

/// The names of all variables.
#[must_use]
pub fn variables() -> Vec<&'static str> {
    crate::environment::names().collect()
}

/// Reads all variables anew, and writes what was understood as a user would write it, by variable; what was not set or not understood
/// is left out, or is the default.
#[must_use]
pub fn understood() -> Vec<(&'static str, String)> {
    let mut all = crate::live::understood();
    all.extend(crate::registry::understood());
    let switch = |is_on: bool| if is_on { "on" } else { "off" }.to_owned();
    all.extend(crate::on_cpu::is_wanted().map(|it| ("TSC_ON_CPU", switch(it))));
    all.push(("TSC_EVENTS", crate::events::understood()));
    all
}
