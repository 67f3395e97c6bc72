//! `cargo tsc run --all` compares the program with the bare one.

use crate::project::Project;

#[cfg(target_os = "linux")]
#[test]
fn output_that_is_shown_is_not_that_of_a_run_that_is_reported() {
    let program = "fn write() {\n    println!(\"done\");\n}\n\nfn main() {\n    write();\n    \
        if std::fs::read_link(\"/proc/self/fd/1\").unwrap() != std::path::Path::new(\"/dev/null\") {\n        write();\n    }\n}\n";
    let project = Project::with_manifest("", program);
    // The second time, the probes are known.
    for _ in 0..2 {
        let ended = project
            .tsc("run --all --json")
            .ends(0)
            .remarks("done\ndone\n");
        let rows = ended.json()["report"]["callsites"].clone();
        let rows = rows.as_array().unwrap().iter();
        let calls = rows
            .filter(|row| row["name"] == "write")
            .map(|row| &row["calls"]);
        assert_eq!(calls.collect::<Vec<_>>(), [1]);
    }
}

#[test]
fn probes_that_are_known_stay_if_a_later_run_is_slow() {
    let program = "fn tiny(x: u64) -> u64 {\n    std::hint::black_box(x).rotate_left(3)\n}\n\nfn main() {\n    \
        let calls = if std::fs::exists(\"more\").unwrap() { 5_000_000 } else { 1 };\n    println!(\"{}\", (0..calls).map(tiny).fold(0, u64::wrapping_add));\n}\n";
    let project = Project::with_manifest("", program);
    project.tsc("run --all").ends(0).says("app::tiny");
    project.write("more", "");
    let ended = project.tsc("run --all").ends(0).says("app::tiny");
    assert!(!ended.err.contains("Compiling"), "{}", ended.err);
}

#[test]
fn what_probes_cannot_cost_is_not_blamed_on_them() {
    // Something else than the probes makes the measured program slow.
    let program = "fn wait() {\n    for x in 0..200_000_000_u64 {\n        std::hint::black_box(x);\n    }\n}\n\n\
        fn main() {\n    if std::env::var(\"TSC_REPORT\").is_ok_and(|value| value == \"json\") {\n        wait();\n    }\n    println!(\"done\");\n}\n";
    let project = Project::with_manifest("", program);
    let ended = project.tsc("run --all").ends(0);
    assert!(
        !ended.out.contains("the most probes are in"),
        "{}",
        ended.out
    );
    ended
        .says("medians of 6 runs of each, in turns")
        .says("the probes, by their number, cost at most")
        .says("the rest is this machine");
}

#[test]
fn probes_that_cost_too_much_are_kept_if_there_are_no_others() {
    let project = Project::with_manifest("", "fn main() {}");
    let library = "pub fn tick(x: u64) -> u64 {\n    std::hint::black_box(x) + 1\n}\n\n\
        #[test]\nfn ticks() {\n    assert_eq!((0..20_000_000).fold(0, |x, _| tick(x)), 20_000_000);\n}\n";
    project.write("src/lib.rs", library);
    for _ in 0..2 {
        project
            .tsc("run --all -- test --lib --release")
            .ends(0)
            .says("app::tick");
    }
}

#[test]
fn short_programs_are_compared_three_times_and_saved_as_often_as_asked() {
    let program = "fn work() -> u64 {\n    (0..1000).map(std::hint::black_box).sum()\n}\n\nfn main() {\n    println!(\"{}\", work());\n}\n";
    let project = Project::with_manifest("", program);
    let ended = project.tsc("run --all --name one").ends(0);
    ended.says("medians of 3 runs of each, in turns");
    let session = project.read("target/tsc/one/session.json");
    assert_eq!(session.matches("\"bare_seconds\"").count(), 1, "{session}");
    let ended = project.tsc("run --all -n 4 --name four").ends(0);
    ended.says("medians of 4 runs of each, in turns");
}
