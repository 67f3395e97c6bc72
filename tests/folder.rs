//! Temporary folders.

use std::fs;
use std::path::PathBuf;

/// A temporary folder for one test, which is removed at the end of the test.
pub struct Folder(pub PathBuf);

impl Folder {
    /// # Panics
    ///
    /// If there cannot be one.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let name = format!("tsc-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        // A process with the same number may have left one.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("the temporary folder can be written to");
        Self(path)
    }

    /// The path of a file in it.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The names of all files, including those that begin with a full stop.
    ///
    /// # Panics
    ///
    /// If it is gone, or a name is not UTF-8.
    #[must_use]
    pub fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("the path exists");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("the path exists").file_name())
            .map(|name| name.into_string().expect("UTF-8"))
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
