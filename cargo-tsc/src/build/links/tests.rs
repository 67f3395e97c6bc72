use super::*;

#[cfg(unix)]
#[test]
fn a_program_that_cannot_be_linked_again_is_built_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("links");
    let output = dir.path().join("program");
    let words = ["-o".into(), output.clone().into()];
    // It makes neither the program, which cannot be copied then, nor the others.
    for _ in 0..2 {
        assert_eq!(link("true".as_ref(), &words, &folder, 2).unwrap(), 0);
        assert!(!folder.exists());
        fs::write(&output, "program").unwrap();
    }
}

/// The path of a linker. As a real one does, it writes a map where it is told to, and its last word is the output.
#[cfg(target_os = "linux")]
fn linker(folder: &Path) -> PathBuf {
    let linker = folder.join("linker");
    let script = "#!/bin/sh\nfor word; do case $word in -Wl,*) exit 1 ;; -Map=*) : > \"${word#-Map=}\" ;; esac; done\n: > \"$word\"\n";
    fs::write(&linker, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&linker, mode).unwrap();
    linker
}

#[cfg(target_os = "linux")]
#[test]
fn a_comma_in_the_path_is_no_end_of_an_argument() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("a,b");
    let words = ["-o".into(), dir.path().join("program").into()];
    let linker = linker(dir.path());
    assert_eq!(link(linker.as_ref(), &words, &folder, 2).unwrap(), 0);
    assert!(folder.join("2").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_is_linked_in_as_many_orders_as_are_used() {
    let dir = tempfile::tempdir().unwrap();
    let [folder, path] = ["links", "program"].map(|name| dir.path().join(name));
    let (linker, words) = (linker(dir.path()), ["-o".into(), path.clone().into()]);
    let program = Executable {
        path: path.clone(),
        arguments: Vec::new(),
        folder: None,
        environment: Vec::new(),
    };
    let of_program = folder.join("program");
    let linked = |count: u32| orders(&folder, &program, count).len();
    for (count, fewer) in [(0, None), (3, Some(2))] {
        link(linker.as_ref(), &words, &of_program, count).unwrap();
        let more = count + 1;
        assert_eq!((linked(count), linked(more)), (count as usize, 0));
        assert!(!of_program.join(more.to_string()).exists());
        for used in fewer.into_iter().chain([count]) {
            remove_with_fewer(&folder, used);
            assert_eq!((path.exists(), linked(used)), (true, used as usize));
        }
        remove_with_fewer(&folder, more);
        assert!(!path.exists() && !of_program.exists());
    }
}

#[test]
fn functions_of_two_builds_are_in_the_same_order() {
    let map = |hash: &str, more: &str| {
        format!(
            " 10 10 4 16 a.o:(.text._ZN1a17h{hash}E)\n 10 10 4 16 a.o:(.text.unlikely._ZN1b17h{hash}E)\n 1 a.o:(.text.main)\n 1 a.o:(.data.x)\n{more}"
        )
    };
    let one = map("0123456789abcdef", "");
    let two = map(
        "fedcba9876543210",
        " 10 10 4 16 a.o:(.text._ZN1c17hfedcba9876543210E)\n",
    );
    let (one, two) = (functions(&one), functions(&two));
    assert_eq!((one.len(), two.len()), (3, 4));
    let place = |names: &[&str], of: &str| names.iter().position(|name| name.starts_with(of));
    let mut orders = BTreeSet::new();
    for order in 1..=10 {
        let (one, two) = (in_order(&one, order), in_order(&two, order));
        let places = |names: &[&str]| {
            let mut names = ["_ZN1a", "_ZN1b", "main"].map(|name| (place(names, name), name));
            names.sort_unstable();
            names.map(|(_, name)| name)
        };
        assert_eq!(places(&one), places(&two));
        orders.insert(places(&one));
    }
    assert!(orders.len() > 1, "{orders:?}");
}
