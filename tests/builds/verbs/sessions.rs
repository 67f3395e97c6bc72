//! `cargo tsc list` and `merge`.

use crate::project::{PROGRAM, Project};

#[test]
fn a_manifest_that_cargo_cannot_read_is_said() {
    let project = Project::with_manifest("", "fn main() {}");
    project.write("Cargo.toml", "[package\n");
    project
        .tsc("report")
        .ends(2)
        .remarks("`cargo metadata` exited with an error")
        .complains("no session in target/tsc");
}

#[test]
fn sessions_are_listed_with_what_they_are_of() {
    let project = Project::new(PROGRAM);
    project.tsc("list").ends(0).remarks("no session in");
    project.tsc("run -n 2 --name one").ends(0);
    project
        .tsc("run --name one -- run -- x")
        .ends(0)
        .remarks("the session that was named one is now one.1");
    project.tsc("list").ends(0).says("one.1").says("run -- x");
    let json = project.tsc("list --json").ends(0).json();
    let names: Vec<_> = json
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            (
                row["session"].as_str().unwrap(),
                row["runs"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(names, [("one.1", 2), ("one", 1)]);
}

#[test]
fn sixty_four_processes_add_up_to_exactly_the_sums() {
    let project = Project::new(PROGRAM);
    project.tsc("run --name one").ends(0);
    let report = project.json(&project.report_of("one/001"));
    for process in 0..64 {
        let mut report = report.clone();
        report["process"]["pid"] = process.into();
        project.write(&format!("fleet/{process}.json"), &report.to_string());
    }
    project
        .tsc("merge fleet -o all.json")
        .ends(0)
        .remarks("64 processes");
    let sum = project.json("all.json");
    for row in report["callsites"].as_array().unwrap() {
        let merged = sum["callsites"]
            .as_array()
            .unwrap()
            .iter()
            .find(|merged| merged["name"] == row["name"])
            .unwrap();
        assert_eq!(
            merged["calls"].as_u64().unwrap(),
            row["calls"].as_u64().unwrap() * 64
        );
        let buckets = |row: &serde_json::Value, times: u64| -> Vec<_> {
            let buckets = row["histogram"].as_array().unwrap().iter();
            buckets
                .map(|bucket| {
                    let calls = bucket["calls"].as_u64().unwrap() * times;
                    (bucket["from_ticks"].clone(), calls)
                })
                .collect()
        };
        assert_eq!(buckets(merged, 1), buckets(row, 64));
    }
    let streamed = project.tsc("merge fleet").ends(0).json();
    assert_eq!(streamed, sum);
    project
        .tsc("merge fleet/7.json fleet/7.json -o 7.json")
        .ends(0)
        .remarks("contain them: 1 report\n")
        .remarks("1 process in 7.json\n");
    // A report that is given again, and the sum of an earlier call, count once.
    project
        .tsc("merge fleet fleet/7.json fleet -o fleet/all.json")
        .ends(0)
        .remarks("contain them: 65 reports\n")
        .remarks("64 processes");
    project
        .tsc("merge fleet -o fleet/all.json")
        .ends(0)
        .remarks("left out, because it is to be written: ")
        .remarks("64 processes");
    assert_eq!(project.json("fleet/all.json"), sum);
    project.refuses("merge fleet", "one of them is of several processes");
    project.refuses(
        "report fleet",
        "all.json: it has calls of a process that are also in another report",
    );
    project.refuses(
        "merge all.json fleet/7.json -o all.json",
        "it is also the file for the sum",
    );
    project.tsc("report all.json").ends(0).says("app::outer");
    #[cfg(target_os = "linux")]
    {
        let mut command = project.command("report /dev/stdin");
        let (reader, mut writer) = std::io::pipe().unwrap();
        let mut file = std::fs::File::open(project.path("all.json")).unwrap();
        std::thread::spawn(move || std::io::copy(&mut file, &mut writer));
        let output = command.stdin(reader).output().unwrap();
        let ended = crate::project::Ended::of(output, "report of a pipe");
        ended.ends(0).says("app::outer");
    }
}
