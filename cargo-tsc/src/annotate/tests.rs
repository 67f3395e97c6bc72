use super::{
    ATTRIBUTE, Files, Function, Probe, Where, annotate, annotate_each, files_for_this_machine,
    files_of, strip, without_plain,
};
use regex_lite::Regex;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::test_files::write;

fn everything(source: &str, place: Where) -> String {
    annotate(source, place, &|_| Some(Probe::Timed))
        .unwrap()
        .text
}

/// Checks that annotating `source` inserts an attribute at each `$`, and that stripping removes them.
#[track_caller]
fn check(marked: &str, place: Where) {
    let source = marked.replace('$', "");
    let annotated = everything(&source, place);
    assert_eq!(annotated, marked.replace('$', ATTRIBUTE));
    assert_eq!(source.lines().count(), annotated.lines().count());
    let (stripped, count) = strip(&annotated).unwrap();
    assert_eq!(stripped, source);
    assert_eq!(count, marked.matches('$').count());
}

#[test]
fn functions_of_every_kind_get_it() {
    check(
        "/// Doc.\n#[inline] $pub(crate) fn a() { $async unsafe fn inner() {} }\nconst fn c() {}\nimpl T { $fn m(&self) {} }\n\
         trait U { fn no(); #[must_use] $extern \"C\" fn yes() {} }\nmod m { $fn x() {} }\n",
        Where::Functions,
    );
}

#[test]
fn bytes_outside_ascii_marks_and_line_ends_survive() {
    check(
        "\u{feff}// ünï ☃\r\n$fn a() {\r\n\tlet ß = \"fn x() {}\"; b()\r\n}\r\n",
        Where::Functions,
    );
    check(
        "#!/usr/bin/env rustx ☃\n#![allow(x)]\n\n   $fn  a ( ) { }",
        Where::Functions,
    );
    check("\u{feff}#!/bin/x\n$fn a() {}", Where::Functions);
}

#[test]
fn what_is_done_sooner_than_a_probe_stays_bare() {
    check(
        "fn get(&self) -> u8 { self.x }\nfn new() -> Option<S> { Some(S { a: 1 }) }\nfn pick(a: u8) -> u8 { if a > 1 { 2 } else { a << 3 } }\n\
         $fn calls() { f() }\n$fn loops() { while x {} }\n$fn says() { println!() }\n$fn method(&self) { self.x.y() }\n$async fn later() {}\n\
         #[inline(always)] fn lanes() { f() }\n#[cfg_attr(x, inline(always))] fn wide() { f() }\n#[inline] $fn hint() { f() }\n\
         #[inline(always)] $fn looped() { for x in y { f() } }\n\
         $fn product(a: &M, b: &M) -> M { a * b }\n$fn negated(a: M) -> M { -a }\nfn sum(&self) -> f64 { self.a + self.b }\n\
         impl T { #[cfg(test)] fn of_tests() { f() } $fn of_all() { f() } }\ntrait U { #[cfg(test)] fn of_tests() { f() } }\n\
         #[test] fn t() { f() }\n#[tokio::test] async fn tt() { f() }\n#[cfg(test)] mod tests { fn g() { f() } }\n\
         #[tokio::test(flavor = \"multi_thread\")] async fn ttt() { fn nested() { f() } }\n\
         #[panic_handler] fn p(_: &I) -> ! { loop {} }\nunsafe impl std::alloc::GlobalAlloc for A { fn alloc() { f() } }\n",
        Where::Worthwhile,
    );
}

#[test]
fn attributes_by_hand_are_neither_doubled_nor_stripped() {
    let source = "#[cycles] fn a() {}\n#[::tsc_runtime::cycles] fn b() {}\n#[tsc_runtime::cycles(skip)] fn c() {}\n\
        #[::tsc_runtime::cycles()] fn d() {}\n#[::tsc_runtime::cycles(/* mine */)] fn e() {}\n\
        #[cfg_attr(feature = \"prof\", tsc_runtime::cycles)] fn f() {}\n#[cycles(skip)] impl T { fn g() {} }\n\
        #[tsc_runtime::cycles(skip)] mod m { fn h() {} trait U { fn i() {} } }\n#[cycles(skip)] trait V { fn j() {} }\n";
    assert_eq!(everything(source, Where::Functions), source);
    assert_eq!(everything(source, Where::Blocks), source);
    assert_eq!(strip(source).unwrap(), (source.to_owned(), 0));
}

#[test]
fn only_attributes_that_say_no_more_are_taken_away_and_no_line_moves() {
    let kept = "#[cycles(name = \"x\")] fn a() {}\n#[cycles(skip)] fn b() {}\n#[other::cycles] fn c() {}\n";
    let plain = "#[cycles] fn d() {}\n#[cycles(light)]\nimpl T {\n    #[tsc_runtime::cycles(\n    )]\n    fn e() {}\n}\n";
    let (without, lines) = (
        " fn d() {}\n\nimpl T {\n    \n\n    fn e() {}\n}\n",
        plain.lines().count(),
    );
    assert_eq!(without.lines().count(), lines);
    let source = format!("{kept}{plain}");
    assert_eq!(without_plain(&source).unwrap(), format!("{kept}{without}"));
}

#[test]
fn annotating_twice_is_annotating_once() {
    let once = everything("fn a() { b() }", Where::Functions);
    assert_eq!(everything(&once, Where::Functions), once);
}

#[test]
fn attribute_on_a_line_of_its_own_goes_with_the_line() {
    let formatted = format!(
        "impl T {{\n    {}\n    fn a() {{}}\n}}\n",
        ATTRIBUTE.trim_end()
    );
    assert_eq!(strip(&formatted).unwrap().0, "impl T {\n    fn a() {}\n}\n");
}

#[test]
fn functions_can_be_left_out_by_line() {
    let source = "fn a() {}\n#[inline]\npub fn\nb() {}\n";
    let probe = |function: &Function| {
        let is_left_out = function.name == "b" && function.line == 4;
        (!is_left_out).then_some(Probe::Timed)
    };
    let annotated = annotate(source, Where::Functions, &probe).unwrap();
    assert_eq!(annotated.text, format!("{ATTRIBUTE}{source}"));
    assert_eq!(annotated.attributes, 1);
}

#[test]
fn attribute_that_leaves_the_kind_of_probe_open_gets_it() {
    let source = "#[cycles(name = \"x\")] fn a() { f() }\n#[cycles(items = n)] fn b(n: u64) {}\n\
        #[cycles(fence = \"none\")] fn c() { f() }\n#[cycles(record = id)] fn d(id: u64) { f() }\n";
    let with = |probe| {
        let annotated = annotate_each(source, Where::Worthwhile, &|function| {
            assert!(function.has_attribute);
            probe
        });
        annotated.unwrap().text
    };
    assert_eq!(with(Some(Probe::Timed)), source);
    let light = source
        .replace("(name", "(light, name")
        .replace("(items", "(light, items");
    assert_eq!(with(Some(Probe::Light)), light);
    assert_eq!(with(None), light);
}

#[test]
fn functions_are_left_out_of_a_block_with_arguments() {
    let source = "#[cycles(name = \"x\")] mod m { impl T { fn hot() { f() } fn short() {} fn long() { f() } } }\nfn hot() { f() }\n";
    let probe = |function: &Function| (function.name != "hot").then_some(Probe::Timed);
    let each = annotate_each(source, Where::Worthwhile, &probe).unwrap();
    let skip = "#[::tsc_runtime::cycles(skip /* cargo tsc */)] ";
    let expected = source.replacen("fn hot", &format!("{skip}fn hot"), 1);
    let expected = expected.replace("fn short", &format!("{skip}fn short"));
    let expected = expected.replace("fn long", &format!("{ATTRIBUTE}fn long"));
    assert_eq!(each.text, expected);
    assert_eq!((each.attributes, each.light, each.too_short), (1, 0, 1));
    // In the user's own file, the block's attribute stays in force.
    let own = annotate(source, Where::Worthwhile, &probe).unwrap();
    assert_eq!(own.text, expected.replace(skip, ""));
}

#[test]
fn what_an_allocator_calls_gets_no_probe() {
    check(
        "fn note() { loop { count() } }\nfn count() { f() }\n$fn other() { f() }\n\
         impl S { fn alloc(&self) { self.lock().note() } }\n$fn main() { note() }\n\
         unsafe impl GlobalAlloc for A { unsafe fn alloc(&self) { crate::note(); S.alloc() } }\n",
        Where::Worthwhile,
    );
    check(
        "impl Drop for Guard { fn drop(&mut self) { self.0.store(false) } }\nimpl Guard { $fn new() -> Self { f() } }\n\
         fn first() { f() }\nfn second() { f() }\n$fn third() { f() }\n\
         unsafe impl GlobalAlloc for A { unsafe fn alloc(&self) { assert!(first()); with(second) } }\n",
        Where::Worthwhile,
    );
}

#[test]
fn each_function_gets_its_own_probe() {
    let source = "fn often() {}\nfn rarely() {}\nfn never() {}\n";
    let annotated = annotate_each(
        source,
        Where::Functions,
        &|function| match &*function.name {
            "often" => Some(Probe::Light),
            "rarely" => Some(Probe::Timed),
            _ => None,
        },
    )
    .unwrap();
    let light = "#[::tsc_runtime::cycles(light /* cargo tsc */)] fn often() {}\n";
    assert_eq!(
        annotated.text,
        format!("{light}{ATTRIBUTE}fn rarely() {{}}\nfn never() {{}}\n")
    );
    assert_eq!((annotated.attributes, annotated.light), (2, 1));
}

#[test]
fn blocks_get_it_before_their_attributes() {
    check(
        "fn a() {}\n$#[allow(x)] impl T {}\n$trait U {}\nmod elsewhere;\n$mod m {}\n",
        Where::Blocks,
    );
    check(
        "$mod a { mod b { macro_rules! c { () => {} } } }\nmod d { mod e { mod f; } }\nmod g { #[macro_export] macro_rules! h { () => {} } }\n",
        Where::Blocks,
    );
}

#[test]
fn path_of_an_inline_module_is_a_folder() {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in [
        (
            "lib.rs",
            "mod foo; #[path = \"of_root\"] mod bar { mod x; mod inner { mod y; } }",
        ),
        (
            "foo.rs",
            "#[path = \"other\"] mod bar { mod x; #[path = \"z.rs\"] mod y; #[path = \"deep\"] mod inner { mod x; } }",
        ),
        ("of_root/x.rs", ""),
        ("of_root/inner/y.rs", ""),
        ("other/x.rs", ""),
        ("other/z.rs", ""),
        ("other/deep/x.rs", ""),
        ("foo/other/x.rs", "not a module of the crate"),
    ] {
        write(&dir.path().join(path), text);
    }
    let found = files_of(&dir.path().join("lib.rs")).unwrap().code;
    let names = found
        .iter()
        .map(|file| file.strip_prefix(dir.path()).unwrap().to_str().unwrap());
    let expected = [
        "foo.rs",
        "lib.rs",
        "of_root/inner/y.rs",
        "of_root/x.rs",
        "other/deep/x.rs",
        "other/x.rs",
        "other/z.rs",
    ];
    assert_eq!(names.collect::<Vec<_>>(), expected);
}

#[test]
fn files_are_those_that_modules_name() {
    let dir = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| write(&dir.path().join(path), text);
    write(
        "main.rs",
        "mod a; mod inline { mod b; } #[macro_use] mod parts; parts!(); #[path = \"odd/place.rs\"] mod p; cfg_if! { if #[cfg(x)] { mod c; } } #[cfg(test)] mod tests;\n\
         #[cfg_attr(windows, path = \"windows.rs\")] mod system;\n\
         choose! { use a::b; #[path = \"linux.rs\"] #[allow(unused)] pub(crate) mod imp; => mod e; #[cfg(test)] mod tests; }",
    );
    write(
        "a.rs",
        "mod deeper; mod inner { include!(\"included/x.rs\"); const T: [u8; 1] = include!(\"included/table.rs\"); include!(concat!(env!(\"X\"), \"/y.rs\")); fn t() { println!(\"{}\", include_str!(\"data.txt\")) } }",
    );
    write("a/deeper.rs", "");
    write(
        "parts.rs",
        "macro_rules! parts { () => { mod part; } } hide! { #[cfg(not(x))] mod error; }",
    );
    write("parts/error.rs", "\"x is required\"");
    write("part.rs", "");
    write("inline/b.rs", "");
    write("odd/place.rs", "mod near;");
    write("odd/near.rs", "");
    write("c/mod.rs", "mod d;");
    write("c/d.rs", "this does not parse");
    for file in ["windows", "system", "linux", "imp", "e", "tests"] {
        write(&format!("{file}.rs"), "");
    }
    write("template.rs", "");
    write(
        "included/x.rs",
        "#![doc = include_str!(\"near.md\")] const B: &[u8] = include_bytes!(\"missing\");",
    );
    write("included/near.md", "");
    write("included/table.rs", "[1]");
    write("data.txt", "");
    let names = |files: BTreeSet<PathBuf>| -> Vec<String> {
        let name = |file: &PathBuf| file.strip_prefix(dir.path()).unwrap().display().to_string();
        files.iter().map(name).collect()
    };
    let root = dir.path().join("main.rs");
    let expected = [
        "a/deeper.rs",
        "a.rs",
        "c/d.rs",
        "c/mod.rs",
        "e.rs",
        "included/x.rs",
        "inline/b.rs",
        "linux.rs",
        "main.rs",
        "odd/near.rs",
        "odd/place.rs",
        "part.rs",
        "parts.rs",
        "system.rs",
        "windows.rs",
    ];
    let files = files_of(&root).unwrap();
    assert_eq!(names(files.code), expected);
    let data = [
        "data.txt",
        "included/near.md",
        "included/table.rs",
        "parts/error.rs",
    ];
    assert_eq!(names(files.data), data);
}

#[test]
fn closures_that_do_more_than_call_have_probes_in_a_copy() {
    let marked = "static S: L = L::new(|| {<b {closure#0}> a(); b() </b>});\n\
        fn f() {\n\
        let x = |y| {<b {closure#0}> // it\n a(y); b() </b>};\n\
        s(|| <e {closure#1}>loop { a() }</e>,\n\
        |x| -> u8 {<b {closure#2}> g(|| {<b {closure#2}::{closure#0}>\n a(); b() </b>}) </b>},\n\
        |x| <e {closure#3}>unsafe { a(|| 1) } as u8</e>);\n\
        t(\n\
        <f {closure#4}>async move {\n\
        w(move || <e {closure#4}::{closure#0}>x.map(|y|\n\
        <e {closure#4}::{closure#0}::{closure#0}>match y { A => b(), B => c() }</e>)</e>) }</f>) }\n\
        async fn g() -> F {\n\
        s(async || {\n a(||\n <e {closure#0}::{closure#0}::{closure#0}::{closure#0}>if x { a() }</e>) });\n\
        <f {closure#0}::{closure#1}>async { a(); b() }</f> }\n\
        fn h() -> Reply {\n\
        Box::pin(<f {closure#0}>async {\n a(); b() }</f>) }\n";
    let marks = Regex::new("<.[^>]*}>|</.>").unwrap();
    let source = marks.replace_all(marked, "");
    for (probe, kind) in [(Probe::Light, "light"), (Probe::Timed, "timed")] {
        let mut expected = marked.to_owned();
        for (mark, before, after) in [
            ("b", "__closure!(KIND \"$1\" {", " })"),
            ("e", "__closure!(KIND \"$1\" { (", ") })"),
            ("f", "__future!(KIND \"$1\" ", ")"),
        ] {
            let begin = Regex::new(&format!("<{mark} ([^>]*)>")).unwrap();
            let text = format!(" ::tsc_runtime::{}", before.replace("KIND", kind));
            expected = begin.replace_all(&expected, &text).into_owned();
            expected = expected.replace(&format!("</{mark}>"), after);
        }
        let is_closure = |function: &Function| function.name.starts_with("{closure#");
        let probe = |function: &Function| is_closure(function).then_some(probe);
        let annotated = annotate_each(&source, Where::Worthwhile, &probe).unwrap();
        assert_eq!((annotated.text, annotated.attributes), (expected, 12));
    }
}

#[test]
fn closures_without_a_probe() {
    for source in [
        // A call or a few operations.
        "fn f() {\n a(|x| x.y(1),\n |x| { y(x) },\n |x| { let y = x + 1; y },\n |x| match x { A => 1, B => 2 },\n |x| format!(),\n |x| { println!() },\n |x| unsafe { a(x) }) }",
        // What is asynchronous itself, or has an attribute.
        "fn f() {\n a(async || { a(); b() },\n #[x] || { a(); b() }) }",
        // Futures that only call, and those that a function returns.
        "fn f() -> impl Future {\n a(async {},\n async { a().await },\n || async { a().await });\n async { a(); b() } }",
        "fn f() -> BoxFuture<u8> {\n Box::pin(async move { a(); b() }) }",
        // The row of the function has the same place.
        "fn f() { a(|| { b(); c() }) }",
        // What measures nothing, or must not be measured.
        "#[cycles(skip)] fn f() {\n a(|| { b(); c() }) }",
        "#[cycles(skip)] impl T { fn f() {\n a(|| { b(); c() }) } }",
        "#[cfg(test)] mod tests { fn f() {\n a(|| { b(); c() }) } }",
        "#[panic_handler] fn f() {\n a(|| { b(); c() }) }",
        "unsafe impl GlobalAlloc for T { fn alloc() {\n grow(); a(|| { b(); c() }) } }\nfn grow() {\n a(|| { b(); c() }) }\n\
         static S: L = L::new(|| {\n b(); c() });",
        // What runs in a child before it is another program.
        "fn f() {\n a(c.pre_exec(|| {\n b(); c() }).spawn()) }",
    ] {
        let only = |function: &Function| function.name.starts_with('{').then_some(Probe::Light);
        let annotated = annotate_each(source, Where::Worthwhile, &only).unwrap();
        assert_eq!((&*annotated.text, annotated.attributes), (source, 0));
    }
    let source = "fn f() {\n a(|| { b(); c() }) }";
    assert_eq!(
        everything(source, Where::Worthwhile),
        format!("{ATTRIBUTE}{source}")
    );
}

#[test]
fn files_of_modules_that_only_other_machines_have_are_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let here = format!(
        "target_arch = {:?}, target_os = {:?}",
        std::env::consts::ARCH,
        std::env::consts::OS
    );
    let modules = [
        ("here", format!("all({here})")),
        ("perhaps", "any(target_os = \"other\", unix)".to_owned()),
        ("not", "not(target_arch = \"other\")".to_owned()),
        ("arch", "target_arch = \"other\"".to_owned()),
        (
            "os",
            format!("all(feature = \"x\", all(target_os = \"other\", {here}))"),
        ),
        ("tests", "test".to_owned()),
    ];
    let root = dir.path().join("lib.rs");
    let declared = modules.each_ref().map(|(name, condition)| {
        fs::write(dir.path().join(format!("{name}.rs")), "").unwrap();
        format!("#[cfg({condition})] mod {name};\n")
    });
    fs::write(&root, declared.concat()).unwrap();
    let names = |files: Files| {
        let names = files
            .code
            .iter()
            .filter_map(|file| file.file_stem()?.to_str());
        names
            .filter(|name| *name != "lib")
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(names(files_of(&root).unwrap()), "arch here not os perhaps");
    let here = files_for_this_machine(&root).unwrap();
    assert_eq!(names(here), "here not perhaps");
}
