//! The choice of callsites by `TSC_ONLY` and `TSC_SKIP`, made once for each callsite.

use std::cell::LazyCell;

use once_cell::race::OnceBox;
use regex_lite::Regex;

use crate::environment::{self, Variable};
use crate::record::callsite::Callsite;
use crate::record::name;

struct Filter {
    only: Option<Regex>,
    skip: Option<Regex>,
}

/// Whether the callsite is left out.
pub(super) fn leaves_out(callsite: &Callsite) -> bool {
    filter().leaves_out(|| full_name(callsite))
}

/// Whether names of callsites are looked at.
pub(super) fn is_set() -> bool {
    let Filter { only, skip } = filter();
    only.is_some() || skip.is_some()
}

fn filter() -> &'static Filter {
    static FILTER: OnceBox<Filter> = OnceBox::new();
    FILTER.get_or_init(|| {
        let [only, skip] = [&environment::ONLY, &environment::SKIP].map(expression);
        Box::new(Filter { only, skip })
    })
}

/// The name that the expressions are matched against.
pub(crate) fn full_name(callsite: &Callsite) -> String {
    format!("{}::{}", callsite.meta().module, name::of(callsite))
}

impl Filter {
    fn leaves_out(&self, name: impl FnOnce() -> String) -> bool {
        let name = LazyCell::new(name);
        let matches = |expression: &Option<Regex>| expression.as_ref().map(|of| of.is_match(&name));
        matches(&self.only) == Some(false) || matches(&self.skip) == Some(true)
    }
}

pub(super) fn expression(variable: &Variable) -> Option<Regex> {
    let value = variable.get()?;
    let Some(value) = value.to_str() else {
        variable.complain(&value.to_string_lossy(), "is not UTF-8");
        return None;
    };
    let regex = Regex::new(value);
    if let Err(error) = &regex {
        let place = |at| format!(", at byte {at}, before {:?}", &value[at..]);
        let place = beginning_of_error(value).map_or_else(String::new, place);
        let why = format!("is not a regular expression: {error}{place}");
        variable.complain(value, &why);
    }
    regex.ok()
}

/// In longer expressions, the place of an error is not looked for.
const LONG: usize = 1 << 10;

/// The byte at which the expression is wrong: the end of its longest valid beginning. The time for finding it grows with the square of the
/// expression's length.
fn beginning_of_error(expression: &str) -> Option<usize> {
    if expression.len() > LONG {
        return None;
    }
    let ends = expression.char_indices().map(|(index, _)| index);
    let is_valid = |&end: &usize| Regex::new(&expression[..end]).is_ok();
    ends.rev().find(is_valid).or(Some(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_and_skip_are_both_heard() {
        let filter = |only: &str, skip: &str| Filter {
            only: (!only.is_empty()).then(|| Regex::new(only).unwrap()),
            skip: (!skip.is_empty()).then(|| Regex::new(skip).unwrap()),
        };
        let left_out = |only, skip| {
            let filter = filter(only, skip);
            ["app::parse", "app::index::grow", "lib::parse"]
                .map(|name| filter.leaves_out(|| name.to_owned()))
        };
        assert_eq!(left_out("", ""), [false; 3]);
        assert_eq!(left_out("parse$", ""), [false, true, false]);
        assert_eq!(left_out("", "^lib::"), [false, false, true]);
        assert_eq!(left_out("parse", "^lib::"), [false, true, true]);
    }

    #[test]
    fn errors_are_found_where_they_are() {
        for (expression, at) in [
            ("foo(bar", 3),
            ("foo)", 3),
            ("a[z-a]", 1),
            ("*a", 0),
            ("(a(b)c", 0),
            ("ä(", 2),
        ] {
            assert!(Regex::new(expression).is_err());
            assert_eq!(beginning_of_error(expression), Some(at), "{expression}");
        }
        let long = "a".repeat(60_000) + "(";
        assert!(Regex::new(&long).is_err());
        assert_eq!(beginning_of_error(&long), None);
    }
}
