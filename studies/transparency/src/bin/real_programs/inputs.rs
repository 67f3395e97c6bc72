//! The inputs of the programs. They are the same in every run, and come only from this repository.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use transparency::project::copy_dir;

/// How often `{tree}` holds the same files.
const COPIES: usize = 40;

/// Files by the words that stand for them.
pub struct Inputs(Vec<(&'static str, PathBuf)>);

const SCRIPT: &str = "fn fib(n) { if n < 2 { n } else { fib(n-1) + fib(n-2) } }
let list = [];
for i in 0..2000000 { list.push(i * 7 % 1013); }
let sum = 0;
for x in list { sum += x; }
let map = #{};
for i in 0..200000 { map[\"k\" + i % 100] = i; }
print(sum);
print(fib(28));
print(map.len());
";

impl Inputs {
    pub fn make(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let runtime = folder.join("runtime");
        if runtime.exists() {
            fs::remove_dir_all(&runtime)?;
        }
        copy_dir(&workspace.join("tsc-core/src"), &runtime)?;
        let (mut rust, mut markdown) = (Vec::new(), Vec::new());
        gather(&runtime, "rs", &mut rust)?;
        gather(&workspace.join("docs"), "md", &mut markdown)?;
        let contents = [
            ("{rust}", "text.rs", rust.repeat(2)),
            ("{big}", "big.rs", rust.repeat(60)),
            ("{markdown}", "text.md", markdown.repeat(160)),
            ("{csv}", "rows.csv", rows().into_bytes()),
            ("{script}", "script.rhai", SCRIPT.as_bytes().to_vec()),
        ];
        let tree = folder.join("tree");
        if !tree.exists() {
            for copy in 0..COPIES {
                copy_dir(&runtime, &tree.join(format!("copy{copy:02}")))?;
            }
        }
        let mut files = vec![("{tree}", tree)];
        for (word, name, bytes) in contents {
            let path = folder.join(name);
            fs::write(&path, bytes)?;
            files.push((word, path));
        }
        Ok(Self(files))
    }

    /// An argument with paths in the words' places.
    pub fn fill(&self, argument: &str) -> String {
        let mut filled = argument.to_owned();
        for (word, path) in &self.0 {
            filled = filled.replace(word, &path.display().to_string());
        }
        filled
    }
}

/// The text of all files of a kind, in the order of their names.
fn gather(folder: &Path, extension: &str, into: &mut Vec<u8>) -> io::Result<()> {
    let entries: io::Result<Vec<_>> = fs::read_dir(folder)?.collect();
    let mut paths: Vec<PathBuf> = entries?.iter().map(fs::DirEntry::path).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            gather(&path, extension, into)?;
        } else if path.extension().is_some_and(|is| is == extension) {
            into.extend(fs::read(path)?);
        }
    }
    Ok(())
}

fn rows() -> String {
    let mut text = "id,name,price,city\n".to_owned();
    let (names, cities) = (["ann", "bob", "\"c, d\"", "eve"], ["Rome", "Oslo", "Paris"]);
    let mut state = 1_u64;
    for id in 0..4_800_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let at = (state >> 33) as usize;
        let price = (state >> 40) as f64 / 1e5;
        let (name, city) = (names[at % 4], cities[at / 4 % 3]);
        let _ = writeln!(text, "{id},{name},{price:.3},{city}");
    }
    text
}
