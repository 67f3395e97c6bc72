//! Tests every example's command line: `--help`, an unknown word, and a reader that closes the pipe.

use std::io::Read as _;
use std::process::{Command, Output, Stdio};

/// Each example and the options that its help must name.
const EXAMPLES: [(&str, &str, &[&str]); 9] = [
    (
        "double_loop",
        env!("CARGO_BIN_EXE_double_loop"),
        &["--threshold"],
    ),
    (
        "hotspots",
        env!("CARGO_BIN_EXE_hotspots"),
        &["--threads", "--pin", "--top"],
    ),
    (
        "http_service",
        env!("CARGO_BIN_EXE_http_service"),
        &["--demo"],
    ),
    (
        "instmeas",
        env!("CARGO_BIN_EXE_instmeas"),
        &["--all", "--csv"],
    ),
    ("on_cpu", env!("CARGO_BIN_EXE_on_cpu"), &[]),
    ("profile_table", env!("CARGO_BIN_EXE_profile_table"), &[]),
    ("rdtsc_ladder", env!("CARGO_BIN_EXE_rdtsc_ladder"), &[]),
    ("slow_request", env!("CARGO_BIN_EXE_slow_request"), &[]),
    ("strlen", env!("CARGO_BIN_EXE_strlen"), &[]),
];

fn run(program: &str, arguments: &[&str]) -> Output {
    Command::new(program)
        .args(arguments)
        .output()
        .expect("the example starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("an example prints UTF-8")
}

#[test]
fn help_says_what_it_is_and_which_options_there_are() {
    for (name, program, options) in EXAMPLES {
        for help in ["--help", "-h"] {
            let output = run(program, &[help]);
            assert_eq!(output.status.code(), Some(0), "{name} {help}");
            assert!(output.stderr.is_empty(), "{name} {help}: {output:?}");
            let help = text(&output.stdout);
            assert!(help.contains(&format!("usage: {name}")), "{help}");
            for option in options {
                assert!(help.contains(option), "{name}: {option} is not in\n{help}");
            }
        }
    }
}

#[test]
fn unknown_arguments_are_refused() {
    for (name, program, _) in EXAMPLES {
        for unknown in [&["--no-such-option"][..], &["-x"]] {
            let output = run(program, unknown);
            assert_eq!(output.status.code(), Some(2), "{name} {unknown:?}");
            assert!(output.stdout.is_empty(), "{name} {unknown:?}");
            let message = text(&output.stderr);
            assert!(
                message.starts_with(name)
                    && message.contains(unknown[0])
                    && message.contains("usage:"),
                "{name} {unknown:?}: {message}"
            );
        }
    }
}

#[test]
fn closed_pipe_ends_quietly() {
    for (name, program, _) in EXAMPLES {
        for arguments in [&["--help"][..], arguments_of_a_short_run(name)] {
            let mut child = Command::new(program)
                .args(arguments)
                .env("TSC_REPORT", "off")
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("the example starts");
            // Nobody reads: the first flush finds the pipe closed.
            drop(child.stdout.take());
            let mut errors = String::new();
            let mut stderr = child.stderr.take().expect("it is piped");
            stderr.read_to_string(&mut errors).expect("UTF-8");
            let status = child.wait().expect("it ends");
            assert!(status.success(), "{name} {arguments:?}: {status} {errors}");
            assert!(!errors.contains("panicked"), "{name}: {errors}");
        }
    }
}

fn arguments_of_a_short_run(name: &str) -> &'static [&'static str] {
    match name {
        "hotspots" => &[concat!(env!("CARGO_MANIFEST_DIR"), "/src/bin/hotspots")],
        "http_service" => &["--demo"],
        _ => &[],
    }
}
