//! The macros' errors: one file for each, with the message that rustc prints.

#[test]
fn refusals_are_told_at_the_offending_token() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("ui/fail/*.rs");
}
