//! The variables: lines of `TSC_X=value`, as in a shell. What is understood is the same when it is written out and read again; of the
//! rest a line says what it may be. And the fences, which are the attribute's.

#![no_main]

use std::collections::BTreeMap;

use tsc_runtime::__fuzzing::{take_complaints, understood, variables};

libfuzzer_sys::fuzz_target!(|text: &str| {
    fence(text);
    let names = variables();
    let mut given = BTreeMap::new();
    for line in text.lines().filter(|line| !line.contains('\0')) {
        let (name, value) = line.split_once('=').unwrap_or(("", line));
        // Of a name that is none, some variable: so that every mutation does something.
        let known = names.iter().find(|known| **known == name);
        let name = known.unwrap_or(&names[line.len() % names.len()]);
        given.insert(*name, value.to_owned());
    }
    let first = read(&given);
    let again = read(&first.understood);
    assert!(
        again.complaints.is_empty(),
        "{given:?}: {:?}",
        again.complaints
    );
    assert_eq!(first.understood, again.understood, "{given:?}");

    for complaint in &first.complaints {
        assert!(!complaint.contains(char::is_control), "{complaint:?}");
        let name = complaint.split('=').next().unwrap_or_default();
        assert!(given.contains_key(name), "{complaint}");
        let is_whole =
            complaint.contains(": expected ") && complaint.contains("the default is used: ");
        assert!(is_whole, "{complaint}");
    }
    for (name, value) in given.iter().filter(|(_, value)| !value.is_empty()) {
        let is_understood = first.understood.contains_key(name);
        let is_refused = first
            .complaints
            .iter()
            .any(|complaint| complaint.starts_with(&format!("{name}=")));
        assert!(is_understood || is_refused, "not a word of {name}={value}");
    }
});

struct Read {
    understood: BTreeMap<&'static str, String>,
    complaints: Vec<String>,
}

fn read(values: &BTreeMap<&'static str, String>) -> Read {
    for name in variables() {
        match values.get(name) {
            // SAFETY: there is no other thread.
            Some(value) => unsafe { std::env::set_var(name, value) },
            // SAFETY: there is no other thread.
            None => unsafe { std::env::remove_var(name) },
        }
    }
    let understood = understood().into_iter().collect();
    Read {
        understood,
        complaints: take_complaints(),
    }
}

/// The attribute knows the runtime's fences and no others, and lists them where it refuses one.
fn fence(text: &str) {
    let literal = proc_macro2::Literal::string(text);
    let is_known = tsc_runtime::tsc::Fence::ALL
        .iter()
        .any(|fence| fence.name() == text);
    match tsc_fuzz::check_fence(proc_macro2::TokenTree::from(literal).into()) {
        Ok(()) => assert!(is_known, "{text:?}"),
        Err(error) => assert!(!is_known && error.contains("lfence"), "{text:?}: {error}"),
    }
}
