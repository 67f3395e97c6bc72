//! Finds variables whose names are almost those of this library's.
//!
//! Other programs have variables with the same prefix, such as TypeScript's `TSC_WATCHFILE`. So a name counts as misspelt only if a letter
//! or two make it one of the known names.

use super::{VARIABLES, complain_once, secure};

const PREFIX: &str = "TSC_";

/// Prints which variable may be meant by each misspelt one. For a report: this copies the environment, which would change the program's heap
/// if the first call did it (see [`Arena`](crate::record::arena::Arena)).
pub(crate) fn complain_of_misspelt() {
    // Elsewhere, as on WebAssembly without a system, std panics.
    let has_names = cfg!(any(unix, windows, target_os = "wasi"));
    if !has_names || secure::has_more_rights_than_its_user() {
        return;
    }
    for (name, _) in std::env::vars_os() {
        if let Some(name) = name.to_str()
            && let Some(meant) = meant(name)
        {
            complain_once(&format!("{name} has no effect: is {meant} meant?"));
        }
    }
}

/// The variable that is meant by a name which is almost that of one.
fn meant(name: &str) -> Option<&'static str> {
    let letters = name.strip_prefix(PREFIX)?;
    let known = VARIABLES.iter().map(|variable| variable.name);
    let near = known.map(|known| (distance(letters, &known[PREFIX.len()..]), known));
    let (wrong, nearest) = near.min()?;
    let most = if nearest.len() - PREFIX.len() < 6 {
        1
    } else {
        2
    };
    (1..=most).contains(&wrong).then_some(nearest)
}

/// How many bytes must be added, removed, replaced or exchanged with the next one to make one word of the other.
fn distance(one: &str, other: &str) -> usize {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    // The distances of the beginnings of both words: those with one byte less of `one`, and with two less.
    let mut last: Vec<usize> = (0..=other.len()).collect();
    let mut last_but_one = last.clone();
    for i in 1..=one.len() {
        let mut row = vec![i];
        for j in 1..=other.len() {
            let replaced = last[j - 1] + usize::from(one[i - 1] != other[j - 1]);
            let mut least = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1] {
                least = least.min(last_but_one[j - 2] + 1);
            }
            row.push(least);
        }
        last_but_one = std::mem::replace(&mut last, row);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names_are_near_and_others_are_not() {
        for (misspelt, variable) in [
            ("TSC_REPORTS", "TSC_REPORT"),
            ("TSC_REPROT", "TSC_REPORT"),
            ("TSC_REPORT_FIL", "TSC_REPORT_FILE"),
            ("TSC_REPORTFILE", "TSC_REPORT_FILE"),
            ("TSC_SROT", "TSC_SORT"),
            ("TSC_UNITS", "TSC_UNIT"),
        ] {
            assert_eq!(meant(misspelt), Some(variable));
        }
        for other in ["TSC_WATCHFILE", "TSC_DOCS", "TSC_", "TSC_TIMES", "PATH"] {
            assert_eq!(meant(other), None, "{other}");
        }
        for variable in VARIABLES {
            assert_eq!(meant(variable.name), None);
        }
    }
}
