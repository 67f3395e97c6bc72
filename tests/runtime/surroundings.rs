//! What belongs to the program stays the program's, and the program survives its own limits: see `programs/surroundings`.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::ptr;
use std::time::Duration;

use serde_json::Value;
use tests::folder::Folder;
use tests::text;

fn program(arguments: &[&str]) -> Command {
    let mut command = tests::program(env!("CARGO_BIN_EXE_surroundings"));
    command.args(arguments);
    command
}

fn run(command: &mut Command) -> Output {
    let output = command.output().expect("the test's own program starts");
    assert!(output.status.success(), "{output:?}");
    output
}

/// The number of calls in the row `name` of a JSON report.
fn calls(report: &Value, name: &str) -> u64 {
    let rows = report["callsites"].as_array().expect("callsites");
    let row = rows.iter().find(|row| row["name"] == name);
    row.and_then(|row| row["calls"].as_u64()).unwrap_or(0)
}

fn parse(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

#[test]
fn file_with_the_number_of_standard_error_is_not_written_to() {
    let folder = Folder::new("number-2");
    let path = folder.path("data");
    run(program(&["own-file-is-number-2"]).arg(&path));
    assert_eq!(fs::read_to_string(path).expect("it exists"), "precious\n");
}

#[test]
fn path_is_relative_to_the_folder_at_the_start() {
    let folder = Folder::new("relative-100%p");
    let other = folder.path("other");
    fs::create_dir(&other).expect("the folder is new");
    let mut program = program(&["change-folder"]);
    program
        .arg(&other)
        .current_dir(&folder.0)
        .env("TSC_REPORT_FILE", "run-%%.json");
    let output = run(&mut program);
    assert_eq!(text(&output.stderr), "");
    let report = fs::read_to_string(folder.path("run-%.json")).expect("it is there");
    assert_eq!(calls(&parse(&report), "work"), 1);
    assert_eq!(fs::read_dir(other).expect("it exists").count(), 0);
}

#[test]
fn threads_leave_most_descriptors_to_the_program() {
    let output = run(&mut program(&["threads", "500"]));
    let (printed, report) = (text(&output.stdout), text(&output.stderr));
    let open = printed
        .split_once(" descriptors, 800 files\n")
        .unwrap_or_else(|| panic!("{printed}"));
    let open: usize = open.0.parse().expect("a number");
    // An eighth, and the program's own.
    assert!(open < 1024 / 8 + 20, "{open}");
    let is_known = !report.contains("interruptions: not detected");
    if is_known && report.contains("; blocked ") {
        assert!(report.contains("schedstat cannot be read"), "{report}");
    }
}

#[test]
fn first_call_leaves_the_error_number_alone() {
    let output = run(&mut program(&["errno"]));
    assert_eq!(text(&output.stdout), format!("{}\n", libc::ENOENT));
}

/// A pipe whose writer does not wait, if `nonblocking`.
fn pipe(nonblocking: bool) -> (PipeReader, PipeWriter) {
    let (reader, writer) = io::pipe().expect("a pipe");
    if nonblocking {
        set_flags(&writer, libc::O_NONBLOCK);
    }
    (reader, writer)
}

fn set_flags(writer: &PipeWriter, flags: libc::c_int) {
    // SAFETY: the descriptor is a pipe of this test.
    let failed = unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETFL, flags) };
    assert_eq!(failed, 0);
}

fn many_functions_to(writer: impl Into<Stdio>) -> Child {
    let mut program = program(&["many-functions"]);
    program.env("TSC_REPORT", "json").stderr(writer);
    program.spawn().expect("the test's own program starts")
}

fn read(mut reader: PipeReader) -> String {
    let mut all = String::new();
    reader.read_to_string(&mut all).expect("it is UTF-8");
    all
}

fn assert_is_whole(report: &str) {
    let rows = parse(report)["callsites"].as_array().map_or(0, Vec::len);
    assert_eq!(rows, 100);
    // Otherwise the test shows nothing.
    assert!(report.len() > 1 << 16);
}

#[test]
fn report_is_whole_where_writes_do_not_wait() {
    let (reader, writer) = pipe(true);
    let mut child = many_functions_to(writer);
    std::thread::sleep(Duration::from_millis(300));
    assert_is_whole(&read(reader));
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn report_is_whole_or_says_so_if_nobody_reads() {
    for nonblocking in [true, false] {
        let (reader, writer) = pipe(nonblocking);
        let mut child = many_functions_to(writer);
        assert!(ended(&mut child).success());
        let report = read(reader);
        if !report.contains("tsc: the end is missing") {
            assert_is_whole(&report);
        }
    }
}

/// Waits for the end of a program that may hang.
fn ended(child: &mut Child) -> ExitStatus {
    for _ in 0..300 {
        if let Some(status) = child.try_wait().expect("it is a child") {
            return status;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let _ = child.kill();
    panic!("the program hangs");
}

#[test]
fn signal_ends_a_program_whose_standard_error_nobody_reads() {
    let (reader, mut writer) = pipe(true);
    while writer.write(&[b'x'; 4096]).is_ok() {}
    set_flags(&writer, 0);
    let mut command = tests::program(env!("CARGO_BIN_EXE_watched"));
    command
        .arg("wait")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(writer);
    let mut child = command.spawn().expect("the test's own program starts");
    drop(command);
    let mut ready = [0; 6];
    let mut output = child.stdout.take().expect("it is piped");
    output
        .read_exact(&mut ready)
        .expect("it says that it is ready");
    // SAFETY: the process is a child that was not waited for.
    unsafe { libc::kill(child.id().cast_signed(), libc::SIGTERM) };
    assert_eq!(ended(&mut child).signal(), Some(libc::SIGTERM));
    let printed = read(reader);
    let printed = printed.trim_start_matches('x');
    assert!(
        printed.contains(":CLK: work") || printed.contains("the end is missing"),
        "{printed}"
    );
}

#[test]
fn calls_after_the_report_are_counted_in_the_file() {
    let folder = Folder::new("late");
    let path = folder.path("run.json");
    let output = run(program(&["late-calls"]).env("TSC_REPORT_FILE", &path));
    assert_eq!(text(&output.stderr), "");
    let report = parse(&fs::read_to_string(path).expect("it is there"));
    let counted = ["early", "in_handler", "light_in_handler", "in_fini"];
    let counted = counted.map(|name| calls(&report, name));
    assert_eq!(counted, [11, 10, 10, 10]);
    let rows = report["callsites"].as_array().expect("a list");
    let in_handler = rows.iter().find(|row| row["name"] == "in_handler");
    let in_handler = in_handler.expect("it was called");
    assert_eq!(in_handler["units"], 10);
    assert_eq!(in_handler["threads"], 1);
    assert_eq!(report["process"]["ended"]["reason"], "exit");
    assert_eq!(report["process"]["ended"]["code"], 0);
}

#[test]
fn calls_after_the_report_are_said_on_standard_error() {
    let printed = text(&run(&mut program(&["late-calls"])).stderr);
    assert_eq!(printed.matches(":CLK: early ").count(), 1, "{printed}");
    assert!(
        printed.ends_with("\ntsc: calls after the report: 40\n"),
        "{printed}"
    );
}

#[test]
fn program_goes_on_without_memory_for_records() {
    let output = run(program(&["no-memory"]).env("TSC_REPORT", "json"));
    assert_eq!(text(&output.stdout), "survived\n");
    let report = parse(text(&output.stderr).lines().last().unwrap_or_default());
    for name in ["a0", "b9", "light", "of_type<u8>", "on_thread"] {
        assert_eq!(calls(&report, name), 1, "{name}");
    }
    assert_eq!(report["unrecorded_calls"], 44);
}

#[test]
fn program_goes_on_with_any_limit_of_memory() {
    // At the last ones, the program's own threads take all that the runtime's have left.
    let limits = (0..256).step_by(16).chain((256..16_000).step_by(487));
    for kib in limits.chain((10_380..10_420).step_by(4)) {
        let bytes = (kib << 10).to_string();
        let output = run(&mut program(&["memory-for", &bytes]));
        assert_eq!(text(&output.stdout), "survived\n", "{kib} KiB");
    }
}

#[test]
fn program_ends_as_usual_without_memory_for_the_report() {
    let output = run(&mut program(&["no-memory-for-the-report"]));
    assert_eq!(text(&output.stdout), "survived\n");
    let printed = text(&output.stderr);
    assert!(printed.contains("no memory for a report"), "{printed}");
}

/// A terminal is not a pipe.
#[test]
fn other_devices_are_written_to() {
    let (mut controller, mut terminal) = (0, 0);
    let (name, settings, size) = (ptr::null_mut(), ptr::null(), ptr::null());
    // SAFETY: there is room for both descriptors, and nothing else is passed.
    let failed =
        unsafe { libc::openpty(&raw mut controller, &raw mut terminal, name, settings, size) };
    assert_eq!(failed, 0);
    // SAFETY: the descriptors are open and belong to nobody else.
    let [mut controller, terminal] =
        [controller, terminal].map(|descriptor| unsafe { File::from_raw_fd(descriptor) });
    let mut child = many_functions_to(terminal);
    let mut report = Vec::new();
    // The last read fails, because no program has the terminal any more.
    let _ = controller.read_to_end(&mut report);
    assert_is_whole(&text(&report));
    assert!(ended(&mut child).success());
}
