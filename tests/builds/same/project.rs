//! A small crate, with its attributes or with comments of the same length in their place.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A form of the crate: its edition, the features of tsc-runtime, and whether it has the attributes.
#[derive(Clone, Copy)]
pub(crate) struct Form {
    pub(crate) edition: &'static str,
    pub(crate) features: &'static str,
    pub(crate) annotated: bool,
}

/// The folder of the crate. Both forms use the same one, so that paths in messages and in machine code are the same.
pub(crate) struct Project {
    dir: PathBuf,
}

impl Project {
    pub(crate) fn new(name: &str, source: &str, form: Form) -> Self {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("same")
            .join(name);
        fs::create_dir_all(dir.join("src")).unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        fs::copy(root.join("Cargo.lock"), dir.join("Cargo.lock")).unwrap();
        let manifest = format!(
            "[package]\nname = \"fixture\"\nversion = \"0.0.0\"\nedition = {:?}\n\n\
             [lib]\npath = \"src/lib.rs\"\n\n\
             [dependencies.tsc-runtime]\npath = {:?}\ndefault-features = false\nfeatures = [{}]\n\n\
             [workspace]\n",
            form.edition,
            root.join("tsc-runtime"),
            form.features,
        );
        fs::write(dir.join("Cargo.toml"), manifest).unwrap();
        let source = if form.annotated {
            source.to_owned()
        } else {
            without_attributes(source)
        };
        fs::write(dir.join("src/lib.rs"), source).unwrap();
        Self { dir }
    }

    /// Adds the tests of `path` to the crate.
    pub(crate) fn with_tests(self, name: &str, path: &Path) -> Self {
        let manifest = self.dir.join("Cargo.toml");
        let mut text = fs::read_to_string(&manifest).unwrap();
        text.push_str(&format!("\n[[test]]\nname = {name:?}\npath = {path:?}\n"));
        fs::write(manifest, text).unwrap();
        self
    }

    pub(crate) fn cargo(&self, arguments: &[&str]) -> Output {
        // The files must be newer than what the other form's build has left.
        let lib = self.dir.join("src/lib.rs");
        fs::write(&lib, fs::read(&lib).unwrap()).unwrap();
        Command::new(env!("CARGO"))
            .current_dir(&self.dir)
            .env(
                "CARGO_TARGET_DIR",
                Path::new(env!("CARGO_TARGET_TMPDIR")).join("same-target"),
            )
            .env_remove("RUSTFLAGS")
            .env("CARGO_TERM_COLOR", "never")
            .args(arguments)
            .output()
            .unwrap()
    }

    /// The compiler's messages about the crate itself.
    pub(crate) fn messages(&self, arguments: &[&str]) -> String {
        let output = self.cargo(arguments);
        let text = without_attributes(&String::from_utf8(output.stderr).unwrap());
        let from = |line: &&str| {
            !line
                .trim_start()
                .starts_with(['C', 'F', 'L', 'A', 'U', 'W', 'B'])
        };
        text.lines()
            .filter(from)
            .map(|line| format!("{line}\n"))
            .collect()
    }
}

/// Replaces `#[cycles(…)]` by a comment of the same length.
pub(crate) fn without_attributes(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("#[cycles") {
        let len = rest[at..].find(']').map_or(0, |end| end + 1);
        out.push_str(&rest[..at]);
        out.push_str(&format!("/*{:-<1$}*/", "", len - 4));
        rest = &rest[at + len..];
    }
    out + rest
}
