//! `cargo tsc run --all` compares the program with the bare one.

use crate::project::Project;

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
