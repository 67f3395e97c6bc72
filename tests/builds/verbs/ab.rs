//! `cargo tsc ab`: compares two revisions of a repository, and leaves the repository unchanged.

use std::path::Path;
use std::process::Command;

use crate::git::{commit_all, git};
use crate::project::{Ended, PROGRAM, Project};

/// A repository with the revisions `one` and `two`. In the latter, `work` does half as much work again.
pub(crate) fn repository() -> Project {
    let project = Project::new(PROGRAM);
    let root = project.path(".");
    project.write(".gitignore", "target\n");
    // Let cargo write the lock file before the commit, so that it does not change the file in the working tree later.
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .current_dir(&root)
        .args(["metadata", "--format-version=1"]);
    assert!(cargo.output().unwrap().status.success());
    commit_all(&root);
    git(&root, &["tag", "one"]);
    project.write("src/main.rs", &PROGRAM.replace("work(2000)", "work(3000)"));
    git(&root, &["commit", "--quiet", "--all", "--message=two"]);
    git(&root, &["tag", "two"]);
    project
}

/// The state of the repository: the working tree's changes, the list of worktrees, and all references.
pub(crate) fn state(project: &Project) -> (String, String, String) {
    let root = project.path(".");
    (
        git(&root, &["status", "--porcelain"]),
        git(&root, &["worktree", "list"]),
        git(&root, &["for-each-ref"]),
    )
}

#[test]
fn two_revisions_are_run_in_turns_and_compared() {
    let project = repository();
    project.write("src/main.rs", &PROGRAM.replace("work(2000)", "work(100)"));
    let before = state(&project);
    let ended = project
        .tsc("ab one two -n 8 --lenient --json -- --release")
        .ends(0);
    let json = ended.json();
    // What the sides have in common is built once, and the wait is announced.
    let built = ended.err.matches("Compiling tsc-runtime ").count();
    assert!(built <= 1, "{}", ended.err);
    let ended = ended.remarks(" runs in all\n");
    let rows = json["comparison"]["rows"].as_array().unwrap();
    let work = rows
        .iter()
        .find(|row| row["name"] == "app::inner::work")
        .unwrap();
    let ratio = work["ratio"].as_f64().unwrap();
    assert!((1.1..2.2).contains(&ratio), "half more was planted: {json}");
    assert_eq!(
        (
            &json["comparison"]["interleaved"],
            &json["comparison"]["runs"]
        ),
        (&true.into(), &serde_json::json!([8, 8]))
    );
    // Both sides were linked in the same orders, as many as there are rounds, and each round has its own.
    let links = |side: &str| {
        let folder = project.path(&format!("target/tsc/.ab/{side}-target/links"));
        let folders = std::fs::read_dir(&folder);
        let mut folders =
            folders.unwrap_or_else(|error| panic!("{}: {error}\n{}", folder.display(), ended.err));
        let folder = folders.next().unwrap().unwrap();
        let path = |order: u32| folder.path().join(order.to_string());
        assert!(!path(9).exists(), "{side}");
        let paths = (1..=8).map(path);
        paths
            .map(|path| std::fs::read(path).unwrap())
            .collect::<std::collections::BTreeSet<_>>()
            .len()
    };
    assert_eq!((links("before"), links("after")), (8, 8));
    assert_eq!(json["comparison"]["orders"], 8);
    project
        .tsc("gate --baseline ab-before ab-after --metric calls")
        .ends(0);
    assert_eq!(state(&project), before);
    assert!(
        project.read("src/main.rs").contains("work(100)"),
        "the working tree stays"
    );
    project
        .tsc("list")
        .ends(0)
        .says("ab-before")
        .says("ab-after");
    let again = project.tsc("diff ab-before ab-after --lenient").ends(0);
    again.says("8 runs a side in turns, 8 layouts in memory");
}

#[test]
fn a_program_is_linked_again_for_more_orders_and_not_for_fewer() {
    let project = repository();
    // A commit is always built anew, and the working tree only if something has changed. For each: the number of its orders that are there.
    for (words, commit, working_tree, is_built) in [
        ("-n 1", 0, 0, true),
        ("-n 4 --links 3", 3, 3, true),
        ("-n 2", 2, 3, false),
        ("-n 4 --links 1", 0, 3, false),
    ] {
        let words = format!("ab one . {words} --lenient --no-duet");
        let ended = project.tsc(&words).ends(0);
        assert!(!ended.err.contains("cannot be linked"), "{}", ended.err);
        let built = ended.err.matches("Compiling app ").count();
        assert_eq!(built, 1 + usize::from(is_built), "{words}\n{}", ended.err);
        for (side, orders) in [("before", commit), ("working-tree", working_tree)] {
            let folder = project.path(&format!("target/tsc/.ab/{side}-target/links"));
            let of_program = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap();
            let is_there = |order: &u32| of_program.path().join(order.to_string()).exists();
            let there = (1..=10).filter(is_there).count();
            assert_eq!(there, orders, "{side}: {words}");
        }
    }
}

#[test]
fn the_working_tree_can_be_a_side() {
    let project = repository();
    let main =
        "fn main() {\n    assert_eq!(std::env::var(\"TSC_REPORT_EVERY\").as_deref(), Ok(\"10s\"));";
    let changed = PROGRAM.replace("work(2000)", "work(9000)");
    project.write("src/main.rs", &changed.replace("fn main() {", main));
    let ended = project
        .tsc("ab two . -n 4 --name mine --duet --no-duet --lenient --json -- --release")
        .ends(0);
    assert!(!ended.err.contains("run at once"), "{}", ended.err);
    let json = ended.json();
    let row = json["comparison"]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["name"] == "app::inner::work")
        .unwrap()
        .clone();
    assert!(
        row["ratio"].as_f64().unwrap() > 1.5,
        "three times as much was planted: {row}"
    );
}

#[cfg(unix)]
#[test]
fn where_the_linker_knows_no_orders_the_environment_varies_and_that_is_said() {
    use std::os::unix::fs::PermissionsExt as _;

    let project = repository();
    // What it does with its arguments is not known by its name.
    project.write("linker.sh", "#!/bin/sh\nexec cc \"$@\"\n");
    let linker = project.path("linker.sh");
    std::fs::set_permissions(&linker, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = project.command("ab one two -n 4 --lenient -- --release");
    command.env("RUSTFLAGS", format!("-Clinker={}", linker.display()));
    let ended = Ended::of(command.output().unwrap(), "ab with a linker of its own");
    ended
        .ends(0)
        .remarks("cannot be linked in several orders, which takes the linker lld")
        .says("4 runs a side in turns, 4 layouts in memory");
}

#[test]
fn what_is_no_revision_or_does_not_build_leaves_nothing_behind() {
    let project = repository();
    let before = state(&project);
    project
        .tsc("ab one three --target-dir elsewhere")
        .ends(2)
        .remarks("--target-dir has no effect here")
        .complains("three: no such revision");
    project.refuses("ab one two --name a/b", "--name a/b: use letters");
    project.write("src/main.rs", "fn main() { none() }");
    project.refuses("ab one . -n 1", "the build failed");
    project.tsc("list").ends(0).remarks("no session in");
    project.write("new/file", "");
    let mut command = project.command("ab one . -n 1");
    command.current_dir(project.path("new"));
    Ended::of(command.output().unwrap(), "ab in a new folder")
        .ends(2)
        .complains("one: there is no folder new");
    std::fs::remove_dir_all(project.path("new")).unwrap();
    project.write("src/main.rs", &PROGRAM.replace("work(2000)", "work(3000)"));
    project.write(".cargo/config.toml", "");
    project
        .tsc("ab one two -n 1 -- run -- fail")
        .ends(7)
        .remarks(
            "two: .cargo/config.toml is not that of the working tree, which counts for both sides",
        )
        .remarks("the program ended with status 7");
    // Nothing of it can be compared.
    project.tsc("list").ends(0).remarks("no session in");
    std::fs::remove_dir_all(project.path(".cargo")).unwrap();
    assert_eq!(state(&project), before);
    let alone = Project::new(PROGRAM);
    alone.refuses("ab one two", "not a git repository");
    let without = Project::with_manifest("", "fn main() {}");
    without.write(".gitignore", "target\n");
    commit_all(&without.path("."));
    let refused = without.refuses("ab HEAD .", "HEAD: app does not depend on tsc-runtime");
    refused.complains("or measure every function with `cargo tsc run --all`");
}

#[test]
fn sessions_without_a_report_on_both_sides_are_not_kept() {
    let project = repository();
    let words = "ab one two -n 1 --links 1 --lenient";
    project.tsc(words).ends(0);
    project.tsc("report").ends(0).says("revision two");
    project
        .tsc(words)
        .ends(0)
        .remarks("the session that was named ab-before is now ab-before.1\n")
        .remarks("the session that was named ab-after is now ab-after.1\n");
    let list = project.tsc("list").ends(0).out;
    #[cfg(target_os = "linux")]
    {
        let cpus = tsc_runtime::affinity::cpus().unwrap();
        let _pinned = tsc_runtime::affinity::pin(cpus[0]).unwrap();
        project.refuses("ab one two -n 1 --links 1 --duet", "--duet needs two CPUs");
    }
    project.write("src/main.rs", "fn main() {}");
    project.refuses(
        "ab one . -n 1 --links 1",
        ".: nothing was measured: add #[cycles]",
    );
    assert_eq!(project.tsc("list").ends(0).out, list);
}

#[test]
fn the_index_of_a_commit_that_is_being_made_stays() {
    let project = repository();
    let root = project.path(".");
    project.write("new.rs", "");
    git(&root, &["add", "new.rs"]);
    let before = state(&project);
    // Git sets these for a hook. Cargo refuses the command after the revision has been checked out.
    let mut command = project.command("ab one . -n 1 -- run --bin none");
    command
        .env("GIT_INDEX_FILE", root.join(".git/index"))
        .env("GIT_DIR", root.join(".git"))
        .env("GIT_PREFIX", "");
    Ended::of(command.output().unwrap(), "ab in a hook")
        .ends(2)
        .complains("the build failed");
    assert!(before.0.contains("A  new.rs"), "{before:?}");
    assert_eq!(state(&project), before);
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_the_repository_as_it_was() {
    let project = repository();
    project.write(
        "src/main.rs",
        &PROGRAM.replace("work(2000)", "work(200_000_000)"),
    );
    let root = project.path(".");
    git(&root, &["commit", "--quiet", "--all", "--message=long"]);
    git(&root, &["tag", "long"]);
    let before = state(&project);
    let they_run = || project.path("target/tsc/ab-after/session.json").exists();
    project
        .interrupted("ab long long -n 50 -- --release", they_run)
        .ends(130);
    assert_eq!(state(&project), before);
    let left: Vec<_> = std::fs::read_dir(project.path("target/tsc/.ab"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(
        left.iter()
            .all(|name| !name.to_string_lossy().starts_with("worktree-")),
        "{left:?}"
    );
}

/// The folders of a session's runs, and those that the session knows.
#[cfg(target_os = "linux")]
fn runs(project: &Project, session: &str) -> [Vec<String>; 2] {
    let folder = project.path("target/tsc").join(session);
    let entries = std::fs::read_dir(&folder).unwrap().map(Result::unwrap);
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut folders: Vec<String> = folders
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    folders.sort();
    let about = project.json(&format!("target/tsc/{session}/session.json"));
    let known = about["runs"].as_array().unwrap().iter();
    let known = known.map(|run| run["folder"].as_str().unwrap().to_owned());
    [folders, known.collect()]
}

#[cfg(target_os = "linux")]
#[test]
fn git_may_ask_for_a_password() {
    let project = repository();
    let root = project.path(".");
    // What git starts for a checkout writes its own group of processes, and the one that may read the terminal.
    let filter =
        "cut -d ' ' -f 5 /proc/self/stat > own; cut -d ' ' -f 8 /proc/self/stat > reader; cat";
    let filter = filter.replace("> ", &format!("> {}/", root.display()));
    git(&root, &["config", "filter.ask.smudge", &filter]);
    project.write(".git/info/attributes", "src/main.rs filter=ask\n");
    let words = "ab HEAD none || true";
    if crate::project::in_a_terminal(&project, words).is_some() {
        assert_eq!(project.read("own"), project.read("reader"));
    }
}

#[test]
fn clones_with_one_target_folder_are_not_taken_for_each_other() {
    let project = repository();
    let root = project.path(".");
    let clone = project.path("clone");
    git(&root, &["clone", "--quiet", ".", "clone"]);
    #[cfg(unix)]
    project.share_builds_apart("clone/target");
    let ab = |folder: &Path| {
        let words = "ab HEAD . -n 1 --links 1 --metric calls";
        let mut command = project.command(words);
        command.current_dir(folder);
        command.env("CARGO_TARGET_DIR", project.path("clone/target"));
        Ended::of(command.output().unwrap(), words).ends(0)
    };
    // What is built from the other working tree, later, is newer than these files.
    project.write("src/main.rs", &PROGRAM.replace("0..10", "0..20"));
    ab(&root).says("20 → 40");
    let ended = ab(&clone);
    assert!(!ended.out.contains("20 → 40"), "{}", ended.out);
}

#[cfg(target_os = "linux")]
#[test]
fn both_runs_that_are_interrupted_at_once_belong_to_their_sessions() {
    if std::thread::available_parallelism().unwrap().get() < 2 {
        return crate::project::skipped("one CPU");
    }
    let project = repository();
    let root = project.path(".");
    let long = PROGRAM.replace("work(2000)", "work(20_000_000)");
    project.write("src/main.rs", &long);
    git(&root, &["commit", "--quiet", "--all", "--message=long"]);
    let words = "ab HEAD HEAD -n 50 --duet --links 1 -- --release";
    // The first two have ended, and the next two run.
    let second = ["ab-before", "ab-after"].map(|side| project.path("target/tsc").join(side));
    let they_run = || second.iter().all(|side| side.join("002").exists());
    project
        .interrupted(words, they_run)
        .ends(130)
        .remarks("both sides run at once, on the CPUs ")
        .remarks("interrupted; the runs so far are kept\n");
    for side in ["ab-before", "ab-after"] {
        let [folders, known] = runs(&project, side);
        assert_eq!(folders, known, "{side}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn two_sides_that_fail_at_once_may_be_in_each_others_way() {
    if std::thread::available_parallelism().unwrap().get() < 2 {
        return crate::project::skipped("one CPU");
    }
    let project = repository();
    let fails = |how: &str| {
        let words = format!("ab two two -n 1 --links 1 {how} -- run -- fail");
        project.tsc(&words).ends(7)
    };
    let hint = "two: the program ended with status 7; both sides ran at once, so try --no-duet";
    fails("--duet")
        .remarks(hint)
        .remarks("tsc: this is a debug build");
    let alone = fails("--no-duet");
    assert!(!alone.err.contains("both sides"), "{}", alone.err);
}

#[test]
fn a_manifest_that_is_named_is_that_of_each_revision() {
    let project = repository();
    let root = project.path(".");
    project.write("src/main.rs", &PROGRAM.replace("0..10", "0..20"));
    git(&root, &["commit", "--quiet", "--all", "--message=three"]);
    let manifest = project.path("Cargo.toml");
    let words = format!(
        "ab one HEAD -n 1 --metric calls --manifest-path {}",
        manifest.display()
    );
    project.tsc(&words).ends(0).says("20 → 40");
    let outside = Project::new(PROGRAM);
    let manifest = outside.path("Cargo.toml");
    let words = format!("ab one two --manifest-path {}", manifest.display());
    project.refuses(
        &words,
        "start `cargo tsc ab` in the repository of this manifest",
    );
}

#[test]
fn a_package_that_has_become_a_workspace_is_compared_with_itself() {
    let project = repository();
    let root = project.path(".");
    let workspace = project.read("Cargo.toml");
    project.write("Cargo.toml", &workspace.replace("[workspace]\n", ""));
    git(&root, &["commit", "--quiet", "--all", "--message=alone"]);
    git(&root, &["tag", "alone"]);
    project.write("Cargo.toml", &workspace);
    project.write("src/main.rs", &PROGRAM.replace("0..10", "0..20"));
    let words = "ab alone . -n 1 --links 1 --metric calls";
    project.tsc(words).ends(0).says("20 → 40");
}
