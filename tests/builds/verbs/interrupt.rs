//! Signals, while `cargo tsc` waits for something.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::ab;
use crate::project::{Ended, Project};

/// Starts `cargo tsc` with a script in place of cargo, and waits until it asks for the dependencies. The script says so and does what `then`
/// says.
fn asking(project: &Project, words: &str, then: &str) -> Child {
    asking_through(None, project, words, then)
}

/// The same, with another program and its words before the command.
fn asking_through(
    through: Option<(&str, &[&str])>,
    project: &Project,
    words: &str,
    then: &str,
) -> Child {
    let (cargo, started) = (env!("CARGO"), project.path("started"));
    let text = format!(
        "#!/bin/sh\ncase $* in -vV | *--no-deps*) exec {cargo} \"$@\" ;; esac\necho $$ > {started:?}\n{then}\n"
    );
    project.write("cargo", &text);
    let script = project.path("cargo");
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = project.command(words);
    if let Some((program, before)) = through {
        let own = std::mem::replace(&mut command, Command::new(program));
        command
            .args(before)
            .arg(own.get_program())
            .args(own.get_args());
        command.current_dir(project.path("."));
        command.env("CARGO_TARGET_DIR", project.path("target"));
    }
    command
        .env("CARGO", script)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    until(|| project.path("started").exists() && !project.read("started").is_empty());
    child
}

#[track_caller]
fn until(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(300);
    while !condition() {
        assert!(Instant::now() < deadline, "it does not happen");
        sleep(Duration::from_millis(10));
    }
}

/// Sends a signal to a process, or to its group.
fn send(signal: &str, to: &str) {
    let mut kill = Command::new("kill");
    assert!(kill.args([signal, "--", to]).status().unwrap().success());
}

#[track_caller]
fn says_one_line(child: Child, status: i32) {
    let ended = Ended::of(child.wait_with_output().unwrap(), "run").ends(status);
    assert_eq!((&*ended.out, &*ended.err), ("", "tsc: interrupted\n"));
}

#[test]
fn ctrl_c_ends_the_work_at_once() {
    let project = Project::with_manifest("", "fn main() {}");
    let child = asking(&project, "run", "exec sleep 1000");
    send("-INT", &format!("-{}", child.id()));
    says_one_line(child, 128 + 2);
}

#[test]
fn ctrl_c_that_no_child_has_noticed_is_not_lost() {
    let project = Project::with_manifest("", "fn main() {}");
    let cargo = env!("CARGO");
    let then = format!("while [ ! -e sent ]; do sleep 0.01; done\nexec {cargo} \"$@\"");
    let child = asking(&project, "run", &then);
    send("-INT", &child.id().to_string());
    project.write("sent", "");
    says_one_line(child, 128 + 2);
}

#[test]
fn what_the_system_ends_ends_what_it_has_started() {
    for (signal, number) in [("-TERM", 15), ("-HUP", 1)] {
        let project = Project::with_manifest("", "fn main() {}");
        let child = asking(&project, "run", "exec sleep 1000");
        let script = project.read("started");
        send(signal, &child.id().to_string());
        says_one_line(child, 128 + number);
        let mut kill = Command::new("kill");
        let kill = kill.args(["-0", script.trim()]).stderr(Stdio::null());
        assert!(!kill.status().unwrap().success(), "{signal}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn signals_that_are_ignored_stay_so() {
    let project = Project::with_manifest("", "fn main() {}");
    let cargo = env!("CARGO");
    let then = format!("while [ ! -e sent ]; do sleep 0.01; done\nexec {cargo} \"$@\"");
    // As nohup does.
    let words = ["-c", "trap '' HUP; exec \"$@\"", "sh"];
    let child = asking_through(Some(("sh", &words)), &project, "run", &then);
    send("-HUP", &child.id().to_string());
    project.write("sent", "");
    let ended = Ended::of(child.wait_with_output().unwrap(), "run");
    ended
        .ends(2)
        .complains("app does not depend on tsc-runtime");
}

#[test]
fn a_comparison_that_is_ended_leaves_no_worktree() {
    let project = ab::repository();
    project.write(".gitignore", "target\ncargo\nstarted\n");
    let before = ab::state(&project);
    let child = asking(&project, "ab one two -n 1", "exec sleep 1000");
    assert_ne!(ab::state(&project), before, "there are worktrees");
    send("-TERM", &child.id().to_string());
    says_one_line(child, 128 + 15);
    assert_eq!(ab::state(&project), before);
}

#[test]
fn a_comparison_that_waits_for_a_session_leaves_the_older_ones() {
    let project = ab::repository();
    let words = "ab two two -n 1 --links 1 --metric calls";
    project.tsc(words).ends(0);
    let list = project.tsc("list").ends(0).out;
    let about = project.path("target/tsc/ab-before/session.json");
    let older = std::fs::read(&about).unwrap();
    let lock = project.path("target/tsc/.locks/session-ab-after");
    let lock = File::options().write(true).open(lock).unwrap();
    lock.lock().unwrap();
    let mut command = project.command(words);
    command.stderr(Stdio::piped()).stdout(Stdio::piped());
    let child = command.spawn().unwrap();
    until(|| std::fs::read(&about).is_ok_and(|about| about != older));
    send("-TERM", &child.id().to_string());
    Ended::of(child.wait_with_output().unwrap(), words).ends(128 + 15);
    assert_eq!(project.tsc("list").ends(0).out, list);
}

#[test]
fn input_without_an_end_is_said_and_can_be_interrupted() {
    let project = Project::with_manifest("", "fn main() {}");
    let mut command = project.command("run -n 2 -- /bin/true");
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut err = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    err.read_line(&mut line).unwrap();
    assert!(line.starts_with("tsc: reading standard input"), "{line}");
    send("-INT", &child.id().to_string());
    line.clear();
    err.read_line(&mut line).unwrap();
    assert_eq!(line, "tsc: interrupted\n");
    let _input = child.stdin.take();
    assert_eq!(child.wait().unwrap().code(), Some(128 + 2));
}

#[test]
fn a_file_is_read_again_from_where_it_was() {
    let project = Project::with_manifest("", "fn main() {}");
    project.write("input", "one\ntwo\n");
    project.write("save", "#!/bin/sh\ncat >> saved\n");
    std::fs::set_permissions(project.path("save"), PermissionsExt::from_mode(0o755)).unwrap();
    let mut input = File::open(project.path("input")).unwrap();
    std::io::Seek::seek(&mut input, std::io::SeekFrom::Start(4)).unwrap();
    let mut command = project.command("run -n 3 -- ./save");
    let output = command.stdin(input).output().unwrap();
    Ended::of(output, "run")
        .ends(2)
        .complains("nothing was measured");
    assert_eq!(project.read("saved"), "two\n".repeat(3));
}

#[test]
fn what_has_ended_before_ctrl_c_is_kept() {
    let project = Project::new("fn main() {}");
    let library = "#[tsc_runtime::cycles]\npub fn work() {}\n";
    project.write("src/lib.rs", library);
    // The second program that is started waits, if it is to.
    let test = r#"#[test]
fn test() {
    app::work();
    let number = std::fs::read("number").map_or(0, |read| read.len());
    std::fs::write("number", vec![b'x'; number + 1]).unwrap();
    if number == 1 && std::path::Path::new("wait").exists() {
        std::fs::write("waits", "").unwrap();
        std::thread::sleep(std::time::Duration::from_secs(1000));
    }
}
"#;
    for name in ["one", "two", "three"] {
        project.write(&format!("tests/{name}.rs"), test);
    }
    let words = "run --name keep -- test --test one --test two --test three";
    project.tsc(words).ends(0);
    std::fs::remove_file(project.path("number")).unwrap();
    project.write("wait", "");
    let mut command = project.command(words);
    command.process_group(0);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    until(|| project.path("waits").exists());
    send("-INT", &format!("-{}", child.id()));
    Ended::of(child.wait_with_output().unwrap(), words)
        .ends(128 + 2)
        .remarks("the session that was named keep is now keep.1\n")
        .remarks("kept in target/tsc/keep\n");
    assert_eq!(project.read("number").len(), 2, "the third is not started");
    project.tsc("report keep").ends(0).says("app::work");
}
