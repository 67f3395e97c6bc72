//! When reports are made: after signals and at intervals, but not for signals that the program handles itself.

#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tests::folder::Folder;

/// A running program, which is killed if the test ends first.
struct Running {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

fn command(way: &str, environment: &[(&str, &str)]) -> Command {
    let mut command = tests::program(env!("CARGO_BIN_EXE_watched"));
    command
        .arg(way)
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // If the test runs in the background, it may ignore some of these signals, and a child inherits this.
    let at_their_defaults = || {
        for signal in [
            libc::SIGINT,
            libc::SIGTERM,
            libc::SIGHUP,
            libc::SIGQUIT,
            libc::SIGUSR1,
            libc::SIGUSR2,
        ] {
            // SAFETY: no handler is installed.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: the closure calls only `signal`, which may be called between fork and exec.
    unsafe { command.pre_exec(at_their_defaults) };
    command
}

impl Running {
    fn start(mut command: Command) -> Self {
        let mut child = command.spawn().expect("the test's own program starts");
        let output = BufReader::new(child.stdout.take().expect("the stream is piped"));
        Self { child, output }
    }

    /// Starts the program and waits until it has printed that it is ready.
    fn ready(way: &str, environment: &[(&str, &str)]) -> Self {
        let mut running = Self::start(command(way, environment));
        assert_eq!(running.said(), "ready");
        running
    }

    fn said(&mut self) -> String {
        let mut line = String::new();
        self.output
            .read_line(&mut line)
            .expect("the program writes UTF-8");
        line.trim_end().to_owned()
    }

    fn send(&self, signal: i32) {
        // SAFETY: the child has not been waited for, so its number is its own.
        let sent = unsafe { libc::kill(self.child.id() as i32, signal) };
        assert_eq!(sent, 0);
    }

    /// Tells the program to continue, so that it ends by itself.
    fn go_on(&mut self) {
        let mut input = self.child.stdin.take().expect("the stream is piped");
        input.write_all(b"\n").expect("the program reads");
    }

    fn end(mut self) -> (ExitStatus, String) {
        let mut errors = String::new();
        let mut stderr = self.child.stderr.take().expect("the stream is piped");
        stderr
            .read_to_string(&mut errors)
            .expect("the output is UTF-8");
        (self.child.wait().expect("the program ends"), errors)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The number of calls of `work` in each dump in `text`.
fn calls(text: &str) -> Vec<u64> {
    text.lines()
        .filter(|line| line.starts_with(":CLK: work "))
        .map(|line| {
            let columns = line[72..].split_whitespace();
            let mut numbers = columns.filter_map(|it| it.replace(',', "").parse().ok());
            numbers.next().expect("calls is the only whole number")
        })
        .collect()
}

fn report(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn process_that_a_signal_ends_has_its_report_and_its_status() {
    for (signal, name) in [
        (libc::SIGINT, "SIGINT"),
        (libc::SIGTERM, "SIGTERM"),
        (libc::SIGHUP, "SIGHUP"),
    ] {
        let running = Running::ready("wait", &[]);
        running.send(signal);
        let (status, errors) = running.end();
        assert_eq!(status.signal(), Some(signal));
        assert_eq!(calls(&errors), [10], "{name}: {errors}");
        let running = Running::ready("wait", &[("TSC_REPORT", "json")]);
        running.send(signal);
        let (status, errors) = running.end();
        assert_eq!(status.signal(), Some(signal));
        let ended = &report(&errors)["process"]["ended"];
        assert_eq!(
            (&ended["reason"], &ended["signal"]),
            (&"signal".into(), &name.into())
        );
    }
}

#[test]
fn process_that_ends_by_itself_says_so() {
    let mut running = Running::ready("wait", &[("TSC_REPORT", "json")]);
    running.go_on();
    let (status, errors) = running.end();
    assert!(status.success());
    assert_eq!(report(&errors)["process"]["ended"]["reason"], "exit");
}

#[test]
fn signal_before_the_first_call_is_nothing_special() {
    let running = Running::ready("no-calls", &[]);
    running.send(libc::SIGTERM);
    let (status, errors) = running.end();
    assert_eq!(
        (status.signal(), errors.as_str()),
        (Some(libc::SIGTERM), "")
    );
}

#[test]
fn ignored_signals_stay_ignored() {
    let mut command = command("wait", &[]);
    // SAFETY: `signal` may be called between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGHUP, libc::SIG_IGN);
            Ok(())
        });
    }
    let mut running = Running::start(command);
    assert_eq!(running.said(), "ready");
    running.send(libc::SIGHUP);
    running.go_on();
    let (status, errors) = running.end();
    assert!(status.success(), "{status}");
    assert_eq!(calls(&errors), [10]);
}

#[test]
fn programs_that_handle_signals_themselves_are_left_alone() {
    for (way, signal) in [
        ("tokio-before", libc::SIGINT),
        ("tokio-after", libc::SIGINT),
        ("signal-hook-before", libc::SIGTERM),
        ("signal-hook-after", libc::SIGTERM),
    ] {
        let running = Running::ready(way, &[]);
        running.send(signal);
        let (status, errors) = running.end();
        assert_eq!(status.code(), Some(5), "{way}: {errors}");
        // The report is made at the exit, so it includes the call that the program made after the signal.
        assert_eq!(calls(&errors), [11], "{way}: {errors}");
    }
}

#[test]
fn endless_interval_does_not_keep_a_signal_from_ending_the_process() {
    let running = Running::ready("wait", &[("TSC_REPORT_EVERY", "18446744073s")]);
    running.send(libc::SIGTERM);
    let (status, errors) = running.end();
    assert_eq!(status.signal(), Some(libc::SIGTERM), "{errors}");
    assert_eq!(calls(&errors), [10], "{errors}");
}

#[test]
fn signals_may_be_left_alone_altogether() {
    let running = Running::ready("wait", &[("TSC_SIGNALS", "off")]);
    running.send(libc::SIGTERM);
    let (status, errors) = running.end();
    assert_eq!(
        (status.signal(), errors.as_str()),
        (Some(libc::SIGTERM), "")
    );
    if cfg!(target_os = "linux") {
        let mut running = Running::start(command("threads", &[("TSC_SIGNALS", "off")]));
        assert_eq!(running.said(), "1");
        let mut running = Running::start(command("threads", &[]));
        assert_eq!(running.said(), "2");
    }
}

#[test]
fn signal_of_ones_own_reports_and_the_program_goes_on() {
    for (value, signal) in [
        ("USR1", libc::SIGUSR1),
        ("SIGUSR2", libc::SIGUSR2),
        ("QUIT", libc::SIGQUIT),
    ] {
        let mut running = Running::ready("wait", &[("TSC_DUMP_SIGNAL", value)]);
        let mut errors = BufReader::new(running.child.stderr.take().expect("the stream is piped"));
        running.send(signal);
        let mut text = String::new();
        while calls(&text).is_empty() {
            assert_ne!(
                errors.read_line(&mut text).expect("the output is UTF-8"),
                0,
                "{text}"
            );
        }
        assert_eq!(calls(&text), [10]);
        running.go_on();
        errors
            .read_to_string(&mut text)
            .expect("the output is UTF-8");
        assert!(running.child.wait().expect("the program ends").success());
        // Also if nothing was called after the first report: a call that was running then may have ended.
        assert_eq!(calls(&text), [10, 10], "{text}");
    }
}

/// Elsewhere than in glibc, `raise` sends a signal to the thread that the C library knows, which is the parent's.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn signal_to_a_child_in_the_same_memory_is_not_the_parents() {
    let running = Running::start(command("child-in-the-same-memory", &[]));
    let (status, errors) = running.end();
    assert_eq!(status.signal(), Some(libc::SIGTERM));
    assert_eq!(calls(&errors), [10], "{errors}");
}

#[test]
fn ignored_signal_of_ones_own_is_said_to_be_ignored() {
    let mut command = command("threads", &[("TSC_DUMP_SIGNAL", "HUP")]);
    let ignore = || {
        // SAFETY: no handler is installed.
        unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
        Ok(())
    };
    // SAFETY: the closure calls only `signal`, which may be called between fork and exec.
    unsafe { command.pre_exec(ignore) };
    let (_, errors) = Running::start(command).end();
    let expected = "TSC_DUMP_SIGNAL=SIGHUP has no effect: this process ignores the signal";
    assert!(errors.contains(expected), "{errors}");
}

#[test]
fn signal_of_ones_own_may_come_again_before_the_report() {
    let running = Running::start(command("hang-up-thrice", &[("TSC_DUMP_SIGNAL", "HUP")]));
    let (status, errors) = running.end();
    assert!(status.success(), "{status}");
    let calls = calls(&errors);
    assert!(
        !calls.is_empty() && calls.iter().all(|&calls| calls == 10),
        "{errors}"
    );
}

fn wait_for(what: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !what() {
        assert!(
            Instant::now() < deadline,
            "the expected event did not occur within 30 s"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn killed_process_leaves_its_last_report_in_between() {
    let folder = Folder::new("moments");
    let file = folder.path("run.json");
    let path = file.to_str().expect("UTF-8").to_owned();
    let running = Running::ready(
        "wait",
        &[("TSC_REPORT_EVERY", "20ms"), ("TSC_REPORT_FILE", &path)],
    );
    let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    wait_for(|| !read(&file).is_empty());
    let begun = std::fs::metadata(&file)
        .and_then(|of| of.modified())
        .expect("the path exists");
    wait_for(|| {
        std::fs::metadata(&file)
            .and_then(|of| of.modified())
            .is_ok_and(|time| time > begun)
    });
    running.send(libc::SIGKILL);
    let (status, errors) = running.end();
    let text = read(&file);
    assert_eq!(
        (status.signal(), errors.as_str()),
        (Some(libc::SIGKILL), "")
    );
    let report = report(&text);
    assert_eq!(report["callsites"][0]["calls"], 10);
    assert!(report["process"]["ended"].is_null());
    assert_eq!(
        text.lines().count(),
        1,
        "each is in the place of the one before"
    );
}

#[test]
fn file_of_reports_in_between_has_the_end_at_last() {
    let folder = Folder::new("moments-end");
    let file = folder.path("run.json");
    let path = file.to_str().expect("UTF-8").to_owned();
    let mut running = Running::ready(
        "wait",
        &[("TSC_REPORT_EVERY", "20ms"), ("TSC_REPORT_FILE", &path)],
    );
    wait_for(|| file.exists());
    running.go_on();
    let (status, errors) = running.end();
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(status.success() && errors.is_empty(), "{errors}");
    assert_eq!(report(&text)["process"]["ended"]["reason"], "exit");
}

#[test]
fn child_of_a_fork_ends_by_its_signal() {
    let mut running = Running::start(command("fork-without-calls", &[]));
    assert_eq!(running.said(), format!("{:?}", Some(libc::SIGTERM)));
    let (status, errors) = running.end();
    assert!(status.success());
    assert_eq!(calls(&errors), [10], "{errors}");
    // If the child measures, it makes a report of its own.
    let mut running = Running::start(command("fork", &[]));
    assert_eq!(running.said(), format!("{:?}", Some(libc::SIGTERM)));
    let (status, errors) = running.end();
    assert!(status.success());
    assert_eq!(calls(&errors), [2, 10], "{errors}");
}

#[test]
fn programs_that_it_starts_have_the_signals_default() {
    let mut running = Running::start(command("child-program", &[]));
    assert_eq!(running.said(), format!("{:?}", Some(libc::SIGTERM)));
}
