//! Tests what the attribute must not change: the compiler's messages about the annotated code and, when it is off, the machine code.
//!
//! Cargo compiles each fixture twice: once with its attributes, and once with comments of the same length in their place.

#![forbid(unsafe_code)]

mod project;

use std::path::Path;

use project::{Form, Project};

const ON: &str = "\"release-builds\"";

/// The messages about the bare and the annotated form of a fixture.
fn messages(name: &str, source: &str, edition: &'static str, arguments: &[&str]) -> [String; 2] {
    [false, true].map(|annotated| {
        let form = Form {
            edition,
            features: ON,
            annotated,
        };
        Project::new(name, source, form).messages(arguments)
    })
}

#[test]
fn mistakes_are_reported_as_in_bare_code() {
    let [bare, annotated] = messages(
        "mistakes",
        include_str!("../../attribute/fixtures/mistakes.rs"),
        "2024",
        &["check"],
    );
    assert!(bare.matches("error[").count() > 25, "{bare}");
    assert_eq!(annotated, bare);
}

#[test]
fn mistakes_in_borrowing_are_reported_as_in_bare_code() {
    let [bare, annotated] = messages(
        "borrows",
        include_str!("../../attribute/fixtures/borrows.rs"),
        "2021",
        &["check"],
    );
    assert!(bare.matches("error").count() > 8, "{bare}");
    assert_eq!(annotated, bare);
}

/// The first line of each message, and the place to which it points.
fn primaries(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let pairs = lines.windows(2);
    let mut primaries: Vec<_> = pairs
        .filter(|pair| pair[1].trim_start().starts_with("-->"))
        .filter(|pair| pair[0].starts_with("error") || pair[0].starts_with("warning"))
        .map(|pair| format!("{}{}", pair[0], pair[1]))
        .collect();
    primaries.sort_unstable();
    primaries
}

/// Secondary labels differ, and so does the word where a message names the kind of body: the reasons are in `tsc-attr/src/asynchronous.rs`.
#[test]
fn mistakes_in_async_functions_are_worded_and_placed_as_in_bare_code() {
    for (name, source, least) in [
        (
            "async-mistakes",
            include_str!("../../attribute/fixtures/async_mistakes.rs"),
            24,
        ),
        (
            "async-borrows",
            include_str!("../../attribute/fixtures/async_borrows.rs"),
            10,
        ),
    ] {
        let [bare, annotated] = messages(name, source, "2024", &["check"]);
        let of_a_block = |text: String| {
            text.replace("`async` function", "`async` block")
                .replace("in an async function", "in an async block")
        };
        let (bare, annotated) = (primaries(&of_a_block(bare)), primaries(&annotated));
        assert!(bare.len() >= least, "{bare:#?}");
        assert_eq!(annotated, bare);
    }
}

/// The first lines of messages, but not cargo's count of them.
fn titles(text: &str) -> Vec<&str> {
    let is_title = |line: &&str| line.starts_with("warning: ") || line.starts_with("error");
    text.lines()
        .filter(is_title)
        .filter(|line| !line.starts_with("warning: `"))
        .collect()
}

#[test]
fn clippy_finds_nothing_that_bare_code_lacks() {
    for edition in ["2018", "2021", "2024"] {
        let lints = [
            "-Wclippy::pedantic",
            "-Wclippy::nursery",
            "-Wunreachable_pub",
            "-Wunused",
        ];
        let arguments = [&["clippy", "--"][..], &lints].concat();
        let [bare, annotated] = messages(
            "lints",
            include_str!("../../attribute/fixtures/lints.rs"),
            edition,
            &arguments,
        );
        let mut left = titles(&bare);
        assert!(left.len() > 20, "clippy did not run: {bare}");
        for title in titles(&annotated) {
            let known = left.iter().position(|bare| *bare == title);
            left.swap_remove(
                known.unwrap_or_else(|| panic!("edition {edition}: {title}\n{annotated}")),
            );
        }
    }
}

#[test]
fn a_crate_without_std_builds() {
    for edition in ["2018", "2021", "2024"] {
        let form = Form {
            edition,
            features: ON,
            annotated: true,
        };
        let project = Project::new(
            "bare-metal",
            include_str!("../../attribute/fixtures/no_std.rs"),
            form,
        );
        let output = project.cargo(&["build", "--release"]);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// Runs the tests of `behaviour` in the other editions. As a test of this workspace, they have the workspace's edition.
#[test]
fn behaviour_is_unchanged_in_the_other_editions() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../attribute/behaviour/main.rs");
    for edition in ["2018", "2021"] {
        let form = Form {
            edition,
            features: ON,
            annotated: true,
        };
        let project = Project::new("editions", "", form).with_tests("behaviour", &tests);
        let output = project.cargo(&["test", "--test", "behaviour"]);
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        assert!(output.status.success(), "edition {edition}: {text}");
        assert!(!text.contains(" 0 passed"), "{text}");
    }
}

#[test]
fn mistakes_with_the_attribute_are_errors_in_every_build() {
    let source = "#[tsc_runtime::cycles(fense = \"none\")]\npub fn f() {}\n\
                  #[tsc_runtime::cycles(bytes = text)]\npub fn g(text: &str) {}\n\
                  pub struct T;\n#[tsc_runtime::cycles]\nimpl T {\n#[cycles(size = 3)]\npub fn f() {}\n\
                  #[cycles(items = 1.5)]\npub async fn g() {}\n}\n\
                  #[tsc_runtime::cycles]\npub const fn h() {}\n\
                  #[tsc_runtime::cycles]\npub enum E {}\n\
                  pub trait U {\n#[tsc_runtime::cycles]\nfn f();\n}\n";
    for features in ["", "\"debug-builds\"", ON] {
        for profile in [&["check"][..], &["check", "--release"]] {
            let form = Form {
                edition: "2024",
                features,
                annotated: true,
            };
            let messages = Project::new("arguments", source, form).messages(profile);
            for message in [
                "error: unknown argument `fense`",
                "error: unknown argument `size`",
                "count with an integer, not with `&str`",
                "count with an integer, not with `{float}`",
                "error: a `const fn` cannot be measured",
                "measures functions: put it on a `fn`",
                "error: a function without a body has nothing to measure",
            ] {
                assert!(
                    messages.contains(message),
                    "[{features}] {profile:?}: {messages}"
                );
            }
        }
    }
}

/// The object file of the crate, built with this profile and these features.
fn object(features: &'static str, profile: &[&str], annotated: bool) -> Vec<u8> {
    let form = Form {
        edition: "2024",
        features,
        annotated,
    };
    let project = Project::new(
        "machine-code",
        include_str!("../../attribute/fixtures/machine_code.rs"),
        form,
    );
    let object = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("same")
        .join("machine-code.o");
    let _ = std::fs::remove_file(&object);
    let emit = format!("--emit=obj={}", object.display());
    let arguments = [
        &["rustc", "--lib"],
        profile,
        &["--", &emit, "-Ccodegen-units=1"],
    ]
    .concat();
    let output = project.cargo(&arguments);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    std::fs::read(object).unwrap()
}

#[test]
fn off_means_the_machine_code_of_the_bare_function() {
    let release = ["--release"];
    assert!(
        object("", &release, true) == object("", &release, false),
        "no feature"
    );
    assert!(
        object("", &[], true) == object("", &[], false),
        "no feature, debug build"
    );
    let debug_builds = "\"debug-builds\"";
    assert!(
        object(debug_builds, &release, true) == object(debug_builds, &release, false),
        "release build"
    );
    assert!(
        object(debug_builds, &[], true) != object(debug_builds, &[], false),
        "the test sees a difference"
    );
    assert!(
        object(ON, &release, true) != object(ON, &release, false),
        "the test sees a difference"
    );
}
