//! Panics and the call tree: a call that unwinds has returned.

use std::panic::{catch_unwind, resume_unwind};

use tsc_runtime::cycles;

use super::{ALONE, chains, check, expect, leaf};

/// Defines functions of which each calls the next one. The last one panics, so no function returns normally.
macro_rules! levels {
    ($name:ident) => {
        #[cycles]
        fn $name() {
            leaf();
            resume_unwind(Box::new("on purpose"));
        }
    };
    ($name:ident $next:ident $($rest:ident)*) => {
        #[cycles]
        fn $name() {
            $next();
            leaf();
        }
        levels!($next $($rest)*);
    };
}

levels!(first second third fourth fifth);

#[cycles]
fn catches() {
    for _ in 0..10 {
        assert!(catch_unwind(first).is_err());
        leaf();
    }
}

#[test]
fn panic_through_five_levels_leaves_the_tree_as_it_found_it() {
    let _alone = ALONE.lock();
    let (chains, report) = chains(catches);
    let five = "catches > first > second > third > fourth > fifth";
    let mut expected = vec![("catches", 1), ("catches > leaf", 10)];
    expected.extend(
        five.match_indices(" > ")
            .skip(1)
            .map(|(end, _)| (&five[..end], 10)),
    );
    let innermost = format!("{five} > leaf");
    expected.extend([(five, 10), (&innermost, 10)]);
    expect(&chains, &expected);
    check(&report);
}

#[cycles]
fn panics(levels: u64) {
    match levels {
        0 => resume_unwind(Box::new("on purpose")),
        1 => first_level(levels - 1),
        _ => second_level(levels - 1),
    }
}

#[cycles]
fn first_level(levels: u64) {
    panics(levels);
}

#[cycles]
fn second_level(levels: u64) {
    panics(levels);
    leaf();
}

#[test]
fn panic_through_a_recursion_leaves_the_tree_as_it_found_it() {
    let _alone = ALONE.lock();
    let (chains, report) = chains(|| {
        assert!(catch_unwind(|| panics(3)).is_err());
        leaf();
    });
    expect(
        &chains,
        &[
            ("leaf", 1),
            ("panics", 4),
            ("panics > first_level", 1),
            ("panics > second_level", 2),
        ],
    );
    check(&report);
}
