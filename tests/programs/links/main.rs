//! Opens every local link of the HTML pages in the folders that its arguments name, and lists those that lead nowhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut pages = BTreeMap::new();
    for folder in std::env::args().skip(1) {
        read_pages(Path::new(&folder), &mut pages);
    }
    let mut opened = 0;
    let mut dead = BTreeSet::new();
    for (page, text) in &pages {
        for link in attributes(text, "href").chain(attributes(text, "src")) {
            if is_elsewhere(&link) {
                continue;
            }
            opened += 1;
            if !leads_somewhere(page, &link, &pages) {
                dead.insert(format!("{}: {link}", page.display()));
            }
        }
    }
    for link in &dead {
        println!("{link}");
    }
    println!(
        "{opened} local links in {} pages, {} dead",
        pages.len(),
        dead.len()
    );
    if opened == 0 || !dead.is_empty() {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// All HTML files below a folder. Rustdoc's pages of source code, and those of its own, are left out: they have no links of ours.
fn read_pages(folder: &Path, pages: &mut BTreeMap<PathBuf, String>) {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.expect("the folder can be listed").path();
        if path.is_dir() {
            if !path.ends_with("doc/src") {
                read_pages(&path, pages);
            }
        } else if path
            .extension()
            .is_some_and(|extension| extension == "html")
            && !["doc/help.html", "doc/settings.html"]
                .iter()
                .any(|own| path.ends_with(own))
        {
            let text = fs::read_to_string(&path).expect("a page is UTF-8");
            pages.insert(path, text);
        }
    }
}

/// The values of all attributes of this name.
fn attributes<'a>(text: &'a str, name: &str) -> impl Iterator<Item = String> + use<'a> {
    let begin = format!(" {name}=\"");
    let values: Vec<&str> = text.split(&begin).skip(1).collect();
    values.into_iter().map(|rest| {
        let value = rest.split('"').next().unwrap_or_default();
        decoded(&value.replace("&amp;", "&").replace("&#x27;", "'"))
    })
}

/// Without percent signs.
fn decoded(link: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = link.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = (*first == b'%').then(|| tail.get(..2)).flatten();
        let code =
            code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn is_elsewhere(link: &str) -> bool {
    ["://", "mailto:", "data:", "javascript:"]
        .iter()
        .any(|scheme| link.contains(scheme))
}

fn leads_somewhere(page: &Path, link: &str, pages: &BTreeMap<PathBuf, String>) -> bool {
    let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
    let file = file.split('?').next().unwrap_or_default();
    let target = if file.is_empty() {
        page.to_owned()
    } else {
        normal(&page.with_file_name("").join(file))
    };
    let target = if target.is_dir() {
        target.join("index.html")
    } else {
        target
    };
    if !target.exists() {
        return false;
    }
    let Some(text) = pages.get(&target) else {
        return true;
    };
    fragment.is_empty() || attributes(text, "id").any(|id| id == fragment)
}

/// Without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        if part.as_os_str() == ".." {
            normal.pop();
        } else {
            normal.push(part);
        }
    }
    normal
}
