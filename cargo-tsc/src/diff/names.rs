//! The names of functions in a comparison: `module::name` and, where several have the same, such as blocks, a number in the order of their
//! lines. In one run or on one side, some of them may not have been called, which must not give their names to others.

use std::collections::{BTreeMap, BTreeSet};

use tsc_report::CallsiteReport;

use crate::rows::path;
use crate::session::Session;

/// Where a function is, and what tells it from others of the same name there.
type Place<'a> = (&'a str, u32, [&'a str; 2], Option<&'a str>);

/// The names of a session's functions, by `module::name` and place.
pub struct Names<'a>(BTreeMap<String, BTreeMap<Place<'a>, String>>);

impl<'a> Names<'a> {
    /// Those of one session.
    pub fn of(session: &'a Session) -> Self {
        named(&places(session), &BTreeMap::new())
    }

    /// Those of two sessions that are compared.
    pub fn of_both(sessions: [&'a Session; 2]) -> [Self; 2] {
        let [before, after] = sessions.map(places);
        [named(&before, &after), named(&after, &before)]
    }

    /// The name of one of the session's functions.
    pub fn name(&self, row: &'a CallsiteReport) -> String {
        let path = path(row);
        let known = self.0.get(&path).and_then(|names| names.get(&place(row)));
        known.cloned().unwrap_or(path)
    }
}

/// The places of each `module::name`, in the order of their lines.
type Places<'a> = BTreeMap<String, BTreeSet<Place<'a>>>;

fn places(session: &Session) -> Places<'_> {
    let mut places = Places::new();
    for row in session.runs.iter().flat_map(|run| run.callsites()) {
        places.entry(path(row)).or_default().insert(place(row));
    }
    places
}

fn place(row: &CallsiteReport) -> Place<'_> {
    let probe = [row.probe(), row.fence()];
    (row.file(), row.line(), probe, row.unit())
}

/// Where both sides have as many functions of a name, these are the same in this order, though lines may have moved. Otherwise only those in the
/// same place are.
fn named<'a>(own: &Places<'a>, others: &Places<'a>) -> Names<'a> {
    let names = own.iter().map(|(path, own)| {
        let others = others.get(path).filter(|others| others.len() != own.len());
        let all: BTreeSet<Place<'a>> = own
            .iter()
            .chain(others.into_iter().flatten())
            .copied()
            .collect();
        let numbered = all
            .into_iter()
            .zip(1..)
            .filter(|(place, _)| own.contains(place));
        let name = |number| match number {
            1 => path.clone(),
            number => format!("{path} ({number})"),
        };
        let names = numbered.map(|(place, number)| (place, name(number)));
        (path.clone(), names.collect())
    });
    Names(names.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tsc_report::Report;

    use super::*;

    /// Runs in which the blocks `x` in these lines were called.
    fn session(runs: &[&[u32]]) -> Session {
        let block =
            |line: &u32| json!({ "module": "m", "name": "x", "file": "m.rs", "line": line });
        let run = |lines: &&[u32]| {
            let mut report = serde_json::to_value(Report::default()).unwrap();
            report["callsites"] = lines.iter().map(block).collect::<Vec<Value>>().into();
            Report::from_json(&report.to_string()).unwrap()
        };
        Session {
            label: String::new(),
            path: "session".into(),
            about: None,
            folders: vec![String::new(); runs.len()],
            runs: runs.iter().map(run).collect(),
        }
    }

    fn lines<'a>(session: &'a Session, names: &Names<'a>) -> Vec<(String, u32)> {
        let rows = session.runs.iter().flat_map(|run| run.callsites());
        rows.map(|row| (names.name(row), row.line())).collect()
    }

    fn named_lines(of: &[(&str, u32)]) -> Vec<(String, u32)> {
        of.iter()
            .map(|(name, line)| ((*name).to_owned(), *line))
            .collect()
    }

    #[test]
    fn block_that_was_not_called_in_a_run_gives_its_name_to_no_other() {
        let session = session(&[&[10, 20], &[20]]);
        let expected = [("m::x", 10), ("m::x (2)", 20), ("m::x (2)", 20)];
        assert_eq!(
            lines(&session, &Names::of(&session)),
            named_lines(&expected)
        );
    }

    #[test]
    fn blocks_of_two_sides_are_the_same_if_they_are_as_many_or_in_one_place() {
        let names = |before: &[u32], after: &[u32]| {
            let both = [session(&[before]), session(&[after])];
            let [old, new] = Names::of_both([&both[0], &both[1]]);
            [lines(&both[0], &old), lines(&both[1], &new)]
        };
        let two = named_lines(&[("m::x", 10), ("m::x (2)", 20)]);
        let moved = named_lines(&[("m::x", 13), ("m::x (2)", 23)]);
        assert_eq!(names(&[10, 20], &[13, 23]), [two.clone(), moved]);
        let second = named_lines(&[("m::x (2)", 20)]);
        assert_eq!(names(&[10, 20], &[20]), [two.clone(), second]);
        let unknown = named_lines(&[("m::x (3)", 23)]);
        assert_eq!(names(&[10, 20], &[23]), [two, unknown]);
        let only = named_lines(&[("m::x", 10)]);
        assert_eq!(names(&[10], &[]), [only, Vec::new()]);
    }
}
