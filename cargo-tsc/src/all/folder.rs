//! A folder of this program, in which nothing is reached through a symbolic link. What a link leads to belongs to somebody else.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, Permissions};

/// A handle of a folder. Every name is looked up in it, and the operating system's handle keeps it the same folder even if its path leads
/// elsewhere meanwhile.
#[derive(Debug)]
pub struct Folder(Dir);

/// What is at a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    File,
    Folder,
    /// A symbolic link, or something else that copies do not contain.
    Other,
}

impl Folder {
    /// The folder with this name in `parent`, which is created if it does not exist. Of `parent` itself, links are followed: the user may
    /// have the target folder elsewhere.
    ///
    /// # Errors
    /// If it cannot be created or opened.
    pub fn open(parent: &Path, name: &str) -> io::Result<Self> {
        fs::create_dir_all(parent)?;
        Self(Dir::open_ambient_dir(parent, ambient_authority())?).folder(OsStr::new(name))
    }

    /// The folder with this name in this one. Anything else with this name is removed.
    ///
    /// # Errors
    /// If it cannot be created or opened.
    pub fn folder(&self, name: &OsStr) -> io::Result<Self> {
        if self.kind(name) != Some(Kind::Folder) {
            self.remove(name)?;
            self.0.create_dir(name)?;
        }
        self.0.open_dir(name).map(Self)
    }

    /// What is at this name. `None` if there is nothing.
    #[must_use]
    pub fn kind(&self, name: &OsStr) -> Option<Kind> {
        let metadata = self.0.symlink_metadata(name).ok()?;
        Some(if metadata.is_file() {
            Kind::File
        } else if metadata.is_dir() {
            Kind::Folder
        } else {
            Kind::Other
        })
    }

    /// The names of everything in the folder.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let entries = self.0.entries()?;
        entries.map(|entry| Ok(entry?.file_name())).collect()
    }

    /// The contents of a file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(&self, name: &OsStr) -> io::Result<Vec<u8>> {
        self.0.read(name)
    }

    /// Creates a file. What had this name is removed, because it may be read-only, or a link.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(
        &self,
        name: &OsStr,
        contents: &[u8],
        permissions: Option<fs::Permissions>,
    ) -> io::Result<()> {
        self.remove(name)?;
        let mut options = OpenOptions::new();
        let mut file = self
            .0
            .open_with(name, options.write(true).create_new(true))?;
        file.write_all(contents)?;
        match permissions {
            Some(permissions) => file.set_permissions(Permissions::from_std(permissions)),
            None => Ok(()),
        }
    }

    /// Gives a file these permissions if it has other ones. Its time stays, so that cargo does not build it again.
    ///
    /// # Errors
    /// If they cannot be read or changed.
    pub fn permit(&self, name: &OsStr, permissions: fs::Permissions) -> io::Result<()> {
        let permissions = Permissions::from_std(permissions);
        if self.0.symlink_metadata(name)?.permissions() == permissions {
            return Ok(());
        }
        self.0.set_permissions(name, permissions)
    }

    /// The path in a link. `None` if this is no link.
    #[must_use]
    pub fn target(&self, name: &OsStr) -> Option<PathBuf> {
        self.0.read_link_contents(name).ok()
    }

    /// Creates a symbolic link. Where there are none, the file to which it would lead is copied.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn link(&self, name: &OsStr, target: &Path) -> io::Result<()> {
        self.remove(name)?;
        #[cfg(unix)]
        self.0.symlink_contents(target, name)?;
        #[cfg(not(unix))]
        if target.is_file() {
            self.write(name, &fs::read(target)?, None)?;
        }
        Ok(())
    }

    /// Removes what has this name, if there is anything: of a link, the link itself.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        match self.kind(name) {
            None => Ok(()),
            Some(Kind::Folder) => self.0.remove_dir_all(name),
            Some(_) => self.0.remove_file(name),
        }
    }
}
