//! `TSC_REPORT_FILE`: no report is lost, no file is ever incomplete, and no other file is overwritten.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tests::folder::Folder;
use tsc_runtime::Report;

fn program(way: &str, file: &Path) -> Command {
    let mut program = tests::program(env!("CARGO_BIN_EXE_reporting"));
    program.arg(way).env("TSC_REPORT_FILE", file);
    program
}

fn run(way: &str, file: &Path) -> Output {
    program(way, file)
        .output()
        .expect("the test's own program starts")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("the output is UTF-8")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The number of calls of `work` in each JSON line.
fn calls(text: &str) -> Vec<u64> {
    text.lines()
        .map(|line| {
            let report: serde_json::Value = serde_json::from_str(line).expect("a line is a report");
            let callsites = report["callsites"].as_array().expect("callsites");
            let work = callsites.iter().find(|callsite| callsite["name"] == "work");
            work.and_then(|work| work["calls"].as_u64())
                .expect("work was called")
        })
        .collect()
}

fn write_an_hour_ago(file: &Path) {
    fs::write(file, "from an earlier run, a while ago").expect("the file can be written");
    let hour_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    let old = fs::File::options()
        .write(true)
        .open(file)
        .expect("the path exists");
    old.set_modified(hour_ago)
        .expect("the time of the file can be set");
}

#[test]
fn file_has_the_latest_report_and_is_json_by_its_name() {
    let folder = Folder::new("latest");
    let file = folder.path("run.json");
    write_an_hour_ago(&file);
    let output = run("report-then-more", &file);
    assert_eq!(stderr(&output), "");
    assert_eq!(calls(&read(&file)), [11]);
    assert_eq!(folder.files(), ["run.json"]);
}

#[test]
fn reports_before_a_reset_stay_in_the_file() {
    let folder = Folder::new("reset");
    let file = folder.path("run.json");
    let output = run("report-reset-report", &file);
    assert_eq!(stderr(&output), "");
    assert_eq!(calls(&read(&file)), [10, 1]);
    let reports: Vec<Report> = read(&file)
        .lines()
        .map(|line| Report::from_json(line).expect("a line is a report"))
        .collect();
    let [first, second] = &reports[..] else {
        panic!("two reports")
    };
    assert_eq!(first.process().since_ns(), None);
    assert!(second.process().since_ns() >= Some(first.process().duration_ns()));
    let mut both = second.clone();
    both.append(first).expect("the ticks are comparable");
    assert_eq!((both.processes(), both.callsites()[0].calls()), (1, 11));
    let (begin, end) = (second.process().since_ns(), second.process().duration_ns());
    assert_eq!(
        (both.process().since_ns(), both.process().duration_ns()),
        (None, begin.expect("it begins later") + end)
    );
}

#[test]
fn every_session_stays_in_the_file() {
    let folder = Folder::new("sessions");
    let file = folder.path("run.json");
    let output = run("sessions", &file);
    assert_eq!(stderr(&output), "");
    let reports: Vec<serde_json::Value> = read(&file)
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is a report"))
        .collect();
    let calls = |report: &serde_json::Value| report["callsites"][0]["calls"].as_u64();
    let calls: Vec<_> = reports.iter().map(calls).collect();
    assert_eq!(calls, [Some(1), Some(1), Some(4), None, Some(4), Some(19)]);
    // Sessions may overlap, so as data there is always one more report, which contains all of them.
    let file = folder.path("all.json");
    assert_eq!(stderr(&run("session-of-all", &file)), "");
    assert_eq!(self::calls(&read(&file)), [10, 10]);
    // Nobody adds text.
    let file = folder.path("all.txt");
    assert_eq!(stderr(&run("session-of-all", &file)), "");
    assert_eq!(read(&file).matches(":CLK: work ").count(), 1);
}

#[test]
fn default_form_is_that_of_the_file() {
    let folder = Folder::new("default");
    let file = folder.path("run.json");
    let output = program("return", &file).env("TSC_REPORT", "xml").output();
    let said = stderr(&output.expect("the test's own program starts"));
    assert!(said.ends_with("; the default is used: json.\n"), "{said}");
    assert_eq!(calls(&read(&file)), [10]);
}

#[test]
fn report_before_anything_is_measured_replaces_an_old_file() {
    let folder = Folder::new("nothing");
    let file = folder.path("run.json");
    write_an_hour_ago(&file);
    assert_eq!(stderr(&run("report-nothing", &file)), "");
    assert_eq!(folder.files(), ["run.json"]);
    run("report-nothing", &folder.path("%t"));
    assert!(!folder.files().iter().any(|name| name.starts_with("1970")));
}

#[test]
fn a_report_before_a_session_stays_in_the_file() {
    let folder = Folder::new("report-then-session");
    let file = folder.path("run.txt");
    assert_eq!(stderr(&run("report-then-session", &file)), "");
    assert_eq!(read(&file).matches(":CLK: work ").count(), 2);
    let file = folder.path("run.json");
    assert_eq!(stderr(&run("report-then-session", &file)), "");
    assert_eq!(calls(&read(&file)), [1, 11]);
}

#[test]
fn patterns_give_every_process_a_file() {
    let folder = Folder::new("patterns");
    let file = folder.path("%p-%h-%t-%%.json");
    run("fork", &file);
    let files = folder.files();
    assert_eq!(files.len(), 2, "{files:?}");
    for name in &files {
        assert!(
            name.ends_with("Z-%.json") && !name.contains("%p") && !name.contains("%h"),
            "{name}"
        );
        assert_eq!(calls(&read(&folder.path(name))).len(), 1);
    }
}

#[cfg(unix)]
#[test]
fn parent_and_child_do_not_overwrite_each_other() {
    let folder = Folder::new("fork");
    let file = folder.path("run.json");
    let output = run("fork", &file);
    let files = folder.files();
    assert_eq!(files.len(), 2, "{files:?}");
    let mut all: Vec<u64> = files
        .iter()
        .flat_map(|name| calls(&read(&folder.path(name))))
        .collect();
    all.sort_unstable();
    assert_eq!(all, [1, 10]);
    assert!(
        stderr(&output).contains(
            "run.json was written by another process or another library's runtime, so this report is in"
        ),
        "{}",
        stderr(&output)
    );
}

#[cfg(unix)]
#[test]
fn children_that_follow_each_other_do_not_overwrite_each_other() {
    let folder = Folder::new("forks");
    run("forks", &folder.path("run.json"));
    let reports = folder.files().into_iter();
    let reports = reports.map(|name| calls(&read(&folder.path(&name))));
    let mut all: Vec<u64> = reports.flatten().collect();
    all.sort_unstable();
    assert_eq!(all, [1, 1, 1, 10]);
}

#[cfg(unix)] // the program needs it
#[test]
fn many_processes_at_once_lose_nothing() {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::Stdio;
    const PROCESSES: usize = 12;
    let folder = Folder::new("many");
    let start = |_| {
        tests::program(env!("CARGO_BIN_EXE_watched"))
            .arg("wait")
            .env("TSC_REPORT_FILE", folder.path("run.json"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts")
    };
    let mut children: Vec<_> = (0..PROCESSES).map(start).collect();
    // A process that begins to measure after another one has written may replace that one's file, as any later run does. So all of them
    // begin first.
    for child in &mut children {
        let output = child.stdout.as_mut().expect("the stream is piped");
        let mut line = String::new();
        let read = BufReader::new(output).read_line(&mut line);
        read.expect("the program writes UTF-8");
        assert_eq!(line, "ready\n");
    }
    assert!(folder.files().is_empty(), "{:?}", folder.files());
    for child in &mut children {
        let input = child.stdin.as_mut().expect("the stream is piped");
        input.write_all(b"\n").expect("the program reads");
    }
    let mut names = vec!["run.json".to_owned()];
    for child in &mut children {
        assert!(child.wait().expect("the program ends").success());
        names.push(format!("run.{}.json", child.id()));
    }
    let files = folder.files();
    assert_eq!(files.len(), PROCESSES, "{files:?}");
    assert!(files.contains(&names[0]), "{files:?}");
    for name in &files {
        assert!(names.contains(name), "{files:?}");
        assert_eq!(calls(&read(&folder.path(name))), [10], "{name}");
    }
}

#[cfg(unix)] // the program needs it
#[test]
fn advice_about_a_file_of_two_is_none_that_the_user_follows() {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::Stdio;
    for (pattern, name, is_advised) in [
        ("run.json", "run.json", true),
        ("%%p.json", "%p.json", true),
        ("%p.json", "NUMBER.json", false),
    ] {
        let folder = Folder::new("advice");
        let mut child = tests::program(env!("CARGO_BIN_EXE_watched"))
            .arg("wait")
            .env("TSC_REPORT_FILE", folder.path(pattern))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let output = child.stdout.take().expect("the stream is piped");
        let mut line = String::new();
        let read = BufReader::new(output).read_line(&mut line);
        read.expect("the program writes UTF-8");
        let file = folder.path(&name.replace("NUMBER", &child.id().to_string()));
        fs::write(file, "of another").expect("the file can be written");
        let mut input = child.stdin.take().expect("the stream is piped");
        input.write_all(b"\n").expect("the program reads");
        let text = stderr(&child.wait_with_output().expect("the program ends"));
        assert!(text.contains("so this report is in "), "{text}");
        assert_eq!(text.contains("use %p"), is_advised, "{text}");
    }
}

/// Checks that a report that could not be written went to stderr after a line that says `what` is wrong, and that the exit status is 0.
fn assert_printed_instead(output: &Output, what: &str) {
    let text = stderr(output);
    let first = text.lines().next().unwrap_or_default();
    assert!(
        first.starts_with("tsc: cannot write TSC_REPORT_FILE="),
        "{text}"
    );
    assert!(first.contains(what), "{what} in {first}");
    assert!(
        text.lines().any(|line| line.starts_with(":CLK: work")),
        "{text}"
    );
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn what_cannot_be_written_is_printed() {
    let folder = Folder::new("unwritable");
    assert_printed_instead(
        &run("exit", &folder.path("none/dump")),
        "none/dump: No such file",
    );
    assert_printed_instead(&run("exit", &folder.0), "is a directory");
    assert!(folder.files().is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_is_said() {
    assert_printed_instead(&run("exit", Path::new("/dev/full")), "No space left");
}

#[cfg(target_os = "linux")]
#[test]
fn limit_of_the_file_size_kills_nobody() {
    let folder = Folder::new("limit");
    let file = folder.path("run.json");
    let program = env!("CARGO_BIN_EXE_reporting");
    let output = tests::program("sh")
        .args(["-c", &format!("ulimit -f 1; exec {program} exit")])
        .env("TSC_REPORT_FILE", &file)
        .output()
        .expect("there is a shell");
    assert_printed_instead(&output, "too large");
    assert!(folder.files().is_empty(), "{:?}", folder.files());
}

#[cfg(unix)]
#[test]
fn pipe_without_a_reader_does_not_block() {
    let folder = Folder::new("pipe");
    let pipe = folder.path("pipe");
    let made = Command::new("mkfifo")
        .arg(&pipe)
        .status()
        .expect("there is mkfifo");
    assert!(made.success());
    assert_printed_instead(&run("exit", &pipe), "nobody reads");
}

#[cfg(unix)]
#[test]
fn pipe_with_a_reader_gets_the_report() {
    use std::io::Read as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let folder = Folder::new("reader");
    let pipe = folder.path("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .expect("there is mkfifo")
            .success()
    );
    // Without `O_NONBLOCK`, this would wait for a writer. The whole report fits into the pipe.
    let mut reader = fs::File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(&pipe)
        .expect("a pipe can be opened without a writer");
    let output = run("return", &pipe);
    assert_eq!(stderr(&output), "");
    let mut report = String::new();
    reader
        .read_to_string(&mut report)
        .expect("the writer has ended");
    assert!(report.contains(":CLK: work"), "{report}");
}

#[cfg(unix)]
#[test]
fn links_in_folders_of_everybody_are_not_followed() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new("links");
    let victim = folder.path("victim");
    fs::write(&victim, "precious").expect("the file can be written");
    let shared = folder.path("shared");
    fs::create_dir(&shared).expect("the folder or link can be created");
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).expect("this user owns it");
    symlink(&victim, shared.join("run.json")).expect("the folder or link can be created");
    assert_printed_instead(&run("exit", &shared.join("run.json")), "is a symbolic link");
    symlink(&folder.0, shared.join("folder")).expect("the folder or link can be created");
    assert_printed_instead(
        &run("exit", &shared.join("folder/run.json")),
        "is a symbolic link",
    );
    assert_eq!(read(&victim), "precious");
    assert_eq!(fs::read_dir(&shared).expect("the path exists").count(), 2);
}

#[cfg(unix)]
#[test]
fn links_of_the_user_are_followed_and_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new("own-links");
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o755)).expect("this user owns it");
    fs::create_dir(folder.path("data")).expect("the folder or link can be created");
    fs::write(folder.path("data/real.json"), "").expect("the file can be written");
    let real = fs::File::options()
        .write(true)
        .open(folder.path("data/real.json"))
        .expect("the path exists");
    real.set_modified(std::time::UNIX_EPOCH)
        .expect("the time of the file can be set");
    symlink("data/real.json", folder.path("run.json")).expect("the folder or link can be created");
    assert_eq!(stderr(&run("return", &folder.path("run.json"))), "");
    assert_eq!(calls(&read(&folder.path("data/real.json"))), [10]);
    assert!(
        fs::symlink_metadata(folder.path("run.json"))
            .expect("the path exists")
            .is_symlink()
    );
}

#[cfg(target_os = "linux")]
#[test]
fn standard_output_may_be_the_file() {
    let output = run("return", Path::new("/dev/stdout"));
    assert!(
        String::from_utf8_lossy(&output.stdout).contains(":CLK: work"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn program_may_write_files_itself() {
    let folder = Folder::new("dump_to");
    let (text, json) = (folder.path("run.txt"), folder.path("run.json"));
    let output = tests::program(env!("CARGO_BIN_EXE_reporting"))
        .args([
            "dump-to",
            text.to_str().expect("UTF-8"),
            json.to_str().expect("UTF-8"),
        ])
        .env("TSC_REPORT", "off")
        .output()
        .expect("the test's own program starts");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(read(&text).contains(":CLK: work"));
    assert_eq!(calls(&read(&json)), [10]);
}

/// If a program runs with the rights of its file's owner, its user cannot choose where it writes.
#[cfg(target_os = "linux")]
#[test]
fn program_with_more_rights_than_its_user_hears_no_variable() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    let folder = Folder::new("secure");
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o777)).expect("this user owns it");
    if fs::metadata(&folder.0).expect("the path exists").uid() != 0 {
        return tests::skipped("only root can make a program run with another user's rights");
    }
    let copy = folder.path("reporting");
    fs::copy(env!("CARGO_BIN_EXE_reporting"), &copy).expect("the program can be copied");
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o4755)).expect("this user owns it");
    let file = folder.path("run.json");
    let output = tests::program(&copy)
        .arg("return")
        .env("TSC_REPORT_FILE", &file)
        .env("TSC_REPORT", "json")
        .uid(65534)
        .gid(65534)
        .output();
    // Root may have no right to become another user, or that user none to enter the folder.
    let output = match output {
        Ok(output) => output,
        Err(error) => return tests::skipped(&format!("another user cannot start it: {error}")),
    };
    assert!(output.status.success());
    if folder.files().contains(&"run.json".to_owned()) {
        // If the file system is mounted without set-uid, the program has no additional rights, so it reads the variables.
        assert_ne!(
            fs::metadata(&file).expect("the path exists").uid(),
            0,
            "written as root"
        );
        return tests::skipped("set-uid has no effect here");
    }
    assert!(
        stderr(&output).contains(":CLK: work"),
        "{}",
        stderr(&output)
    );
}
