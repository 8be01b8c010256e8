//! A file that one run writes again and again and takes away at its end, as a checkpoint is. What another program puts
//! in its place is left alone.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::write_whole;
use crate::error::{Error, Place, Result};

/// Such a file.
#[derive(Debug)]
pub struct Kept {
    path: PathBuf,
    /// What stands there, if this run has put it there or goes on from it.
    own: Option<Mark>,
}

/// What tells a file from one that another program has put in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    length: u64,
    modified: Option<SystemTime>,
    number: u64,
}

impl Mark {
    fn of(path: &Path) -> Option<Mark> {
        let about = path.symlink_metadata().ok()?;
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(&about);
        #[cfg(not(unix))]
        let number = 0;
        Some(Mark { length: about.len(), modified: about.modified().ok(), number })
    }
}

impl Kept {
    /// What stands there now is another program's.
    pub fn new(path: &Path) -> Kept {
        Kept { path: path.into(), own: None }
    }

    /// What stands there now is this run's: it goes on from it.
    pub fn going_on(path: &Path) -> Kept {
        Kept { path: path.into(), own: Mark::of(path) }
    }

    /// Whether nothing stands there that another program has put there.
    fn is_ours(&self) -> bool {
        Mark::of(&self.path).is_none_or(|mark| self.own == Some(mark))
    }

    /// Replaces what this run has written before.
    ///
    /// # Errors
    /// When the system refuses, or what stands there is another program's.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if !self.is_ours() {
            let problem = "another program has written there".into();
            return Err(Error::File { path: self.path.clone(), place: Place::Whole, problem });
        }
        write_whole(&self.path, |out| out.write_all(bytes))?;
        self.own = Mark::of(&self.path);
        Ok(())
    }

    /// Takes it away, when there is nothing left to go on from. If it stays, it does no harm.
    pub fn remove(self) {
        if self.is_ours() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
