//! `cargo tsc doctor` and `top`.

#[cfg(target_os = "linux")]
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::project::{Ended, Project};
#[cfg(target_os = "linux")]
use crate::project::{skipped, terminal};

/// A program that works until its input ends.
const SERVICE: &str = "#[tsc_runtime::cycles]\nfn serve(rounds: u64) -> u64 {\n    (0..rounds).fold(1, |x, i| std::hint::black_box(x * (i | 1) % 1_000_003))\n}\n\n\
    fn main() {\n    let input = std::thread::spawn(|| std::io::read_to_string(std::io::stdin()));\n    serve(1000);\n    while !input.is_finished() {\n        serve(1000);\n    }\n}\n";

#[test]
fn the_doctor_says_what_the_machine_is_worth() {
    let project = Project::new(SERVICE);
    let ended = project.tsc("doctor");
    assert!(matches!(ended.status, 0 | 3), "{}{}", ended.out, ended.err);
    assert!(
        ended.out.contains(" good, ") && ended.out.contains(" bad\n"),
        "{}",
        ended.out
    );
    let json = project.tsc("doctor --json").json();
    assert!(json["findings"].as_array().unwrap().len() > 5, "{json}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_running_program_is_watched_by_its_reports() {
    let project = Project::new(SERVICE);
    let built = project
        .command("run -n 1 -- --release")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Ended::of(built, "run").ends(0);
    let mut service = tests::program(project.path("target/release/app"))
        .current_dir(project.path("."))
        .stdin(Stdio::piped())
        .envs([
            ("TSC_REPORT", "json"),
            ("TSC_REPORT_FILE", "live-%p.json"),
            ("TSC_REPORT_EVERY", "100ms"),
        ])
        .spawn()
        .unwrap();
    let words = format!("top {}", service.id());
    let file = project.path(&format!("live-{}.json", service.id()));
    let deadline = Instant::now() + Duration::from_secs(120);
    while !file.exists() {
        assert!(
            Instant::now() < deadline && service.try_wait().unwrap().is_none(),
            "no report yet"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    let page = project.tsc(&words).ends(0);
    assert!(!page.out.contains("q quits"), "{}", page.out);
    let mut rows = page.out.lines();
    let serve = rows.find(|line| line.contains("app::serve"));
    let has_unit = |row: &str| row.trim_end().ends_with('s');
    assert!(serve.is_some_and(has_unit), "{}", page.out);
    page.says("app::serve").says("calls now");
    let json = project.tsc(&format!("{words} --json")).ends(0).json();
    assert!(json["callsites"][0]["calls"].as_u64().unwrap() > 0);
    for colours in ["", "export NO_COLOR=1; "] {
        gives_the_terminal_back(&project, &words, colours);
    }
    drop(service.stdin.take());
    service.wait().unwrap();
    project.refuses(&words, "there is no process");
    let quiet = format!("top {}", std::process::id());
    project.refuses(&quiet, "TSC_REPORT_EVERY=1s");
}

/// Ends `cargo tsc` with these words by a signal, when it has shown a page in a terminal. `before` is done there first.
#[cfg(target_os = "linux")]
fn gives_the_terminal_back(project: &Project, words: &str, before: &str) {
    let mut script = terminal(project, words, &format!("{before}echo $$; exec TSC"));
    script.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut script = match script.spawn() {
        Ok(script) => script,
        Err(error) => return skipped(&format!("script: {error}")),
    };
    let mut shown = BufReader::new(script.stdout.take().unwrap());
    let (mut process, mut screen) = (String::new(), Vec::new());
    shown.read_line(&mut process).unwrap();
    while !screen.ends_with(b"(q quits)") {
        assert_ne!(shown.by_ref().take(1).read_to_end(&mut screen).unwrap(), 0);
    }
    let mut kill = Command::new("kill");
    assert!(kill.arg(process.trim()).status().unwrap().success());
    shown.read_to_end(&mut screen).unwrap();
    let screen = String::from_utf8_lossy(&screen);
    // Another screen without wrapped lines, its first place, the beginning of the next line, wrapped lines, and the user's screen.
    for command in ["[?1049h", "[?7l", "[1;1H", "[1E", "[?7h", "[?1049l"] {
        let command = format!("\u{1b}{command}");
        assert!(screen.contains(&command), "no {command:?} in {screen:?}");
    }
    assert_eq!(script.wait().unwrap().code(), Some(128 + 15));
}
