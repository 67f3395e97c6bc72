use super::*;

fn parse(line: &str) -> What {
    let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    What::parse(&words).unwrap()
}

fn cargo(line: &str) -> CargoCommand {
    match parse(line) {
        What::Cargo(command) => command,
        What::Program(..) => panic!("{line}"),
    }
}

#[test]
fn words_are_cargos_or_a_programs() {
    assert_eq!(cargo(""), cargo("run"));
    assert_eq!(
        cargo("--release --bin a -- x y"),
        cargo("r --release --bin a -- x y")
    );
    assert_eq!(cargo("test --lib -- --nocapture").verb, CargoVerb::Test);
    assert_eq!(cargo("run -- a -- b").arguments, ["a", "--", "b"]);
    for line in ["run -r -p app in.txt -- -x", "-rp app in.txt -- -x"] {
        assert!(cargo(line).options.ends_with(&["app".into()]));
        assert_eq!(cargo(line).arguments, ["in.txt", "--", "-x"]);
    }
    let named = cargo("test -p app --lib parses -- --exact");
    assert_eq!(named.options, ["-p", "app", "--lib"]);
    assert_eq!(named.arguments, ["parses", "--exact"]);
    assert_eq!(cargo("bench --bench speed").options, ["--bench", "speed"]);
    assert_eq!(
        parse("./app -x"),
        What::Program("./app".into(), vec!["-x".into()])
    );
    assert!(What::parse(&["build".into()]).is_err());
}

#[test]
fn options_are_found_however_they_are_written() {
    let command = cargo("run -p a --package=b -pc --bin d --release");
    assert_eq!(command.values("--package", Some("-p")), ["a", "b", "c"]);
    assert_eq!(command.values("--bin", None), ["d"]);
    assert!(command.is_optimised() && !cargo("run").is_optimised());
    assert!(
        cargo("run --profile fast").is_optimised() && !cargo("run --profile=dev").is_optimised()
    );
    assert!(cargo("bench").is_optimised() && !cargo("bench --profile test").is_optimised());
    assert!(command.is_for_this_machine());
    for line in ["run --target a-b-c", "test --target=a-b-c -- x"] {
        assert!(!cargo(line).is_for_this_machine(), "{line}");
    }
    assert_eq!(
        cargo("run --manifest-path x --release").without("--manifest-path"),
        ["--release"]
    );
}

#[test]
fn letters_in_one_word_are_options_of_their_own() {
    let command = cargo("run -qr -p=a -Fx,y -j4 -vp b -vvrpc --bin -qr in.txt -qr");
    let options = "-q -r -p=a -Fx,y -j4 -v -p b -v -v -r -pc --bin -qr";
    assert_eq!(
        command.options,
        options.split_whitespace().collect::<Vec<_>>()
    );
    assert_eq!(command.arguments, ["in.txt", "-qr"]);
    assert_eq!(command.values("--package", Some("-p")), ["a", "b", "c"]);
    assert_eq!(command.values("--features", Some("-F")), ["x,y"]);
    assert!(cargo("run -vr").is_optimised() && !cargo("run -q -- -r").is_optimised());
    assert_eq!(cargo("run - -r").arguments, ["-", "-r"]);
}

#[test]
fn files_of_settings_are_found_from_other_folders() {
    // The tests run in a folder with the first.
    let command = cargo("run --config Cargo.toml --config=src --release --config a=1");
    let [file, folder] = ["Cargo.toml", "src"].map(|it| std::path::absolute(it).unwrap());
    assert_eq!(
        command.values(CONFIG, None),
        [file.as_os_str(), folder.as_os_str(), "a=1".as_ref()]
    );
    assert!(command.has(&["--release"]));
}

#[test]
fn unlocked_commands_stay_off_the_network() {
    let unlocked = |line: &str| {
        let mut command = cargo(line);
        command.unlock();
        command.options
    };
    assert_eq!(unlocked("run --locked --release"), ["--release"]);
    assert_eq!(
        unlocked("run --frozen --release"),
        ["--release", "--offline"]
    );
    // Cargo accepts it once.
    assert_eq!(unlocked("run --frozen --offline --locked"), ["--offline"]);
}
