//! Parts of `docs` that are made of the code. With `TSC_DOCS=overwrite` the tests that use this write them anew.

use std::fs;

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/");

/// Asserts that a page has this text between the lines `<!-- generated: by -->` and `<!-- end -->`, or writes it there. `by` is the command
/// that generates it.
#[track_caller]
pub(crate) fn check_part(page: &str, by: &str, text: &str) {
    let path = format!("{DOCS}{page}");
    let old = fs::read_to_string(&path).expect("the page is there");
    let begin = format!("<!-- generated: {by} -->\n");
    let (before, rest) = old.split_once(&begin).expect("the part begins");
    let (_, after) = rest.split_once("<!-- end -->").expect("the part ends");
    let new = format!("{before}{begin}\n{}\n\n<!-- end -->{after}", text.trim());
    check(&path, by, &old, &new);
}

/// Asserts that a file consists of this text, or writes it there.
#[allow(dead_code)] // not every test that has this module makes a whole file
#[track_caller]
pub(crate) fn check_file(name: &str, by: &str, text: &str) {
    let path = format!("{DOCS}{name}");
    let old = fs::read_to_string(&path).expect("the file is there");
    check(&path, by, &old, &format!("{text}\n"));
}

#[track_caller]
fn check(path: &str, by: &str, old: &str, new: &str) {
    if std::env::var_os("TSC_DOCS").is_some_and(|value| value == "overwrite") {
        fs::write(path, new).expect("it can be written");
    } else {
        assert!(
            old == new,
            "{path} is out of date: TSC_DOCS=overwrite {by} writes it anew"
        );
    }
}
