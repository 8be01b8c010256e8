//! What the program leaves behind: standard output, and files that appear whole or not at all. All of the program's
//! files are written by way of [`Stage`] or [`write_whole`], nowhere else.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use orthant::Error;
use orthant::matrix::{Dense, Mat, Matrix};
use orthant::read::{self, Loaded, SEAL, Stage, folder_of, is_part, is_special, settle, write_whole};
use serde_json::{Map, Value};

use crate::interrupt;
use crate::terminal::{for_people, harmless, harmless_json};

/// Text for people to standard output, with a line end; on a terminal lines are broken between words.
pub fn print(text: &str) -> Result<()> {
    print_raw(&for_people(&harmless(text)))
}

/// Text for programs, or whose lines must stay as they are.
pub fn print_as_it_is(text: &str) -> Result<()> {
    print_raw(&harmless(text))
}

/// An object to standard output.
pub fn print_json(object: &Map<String, Value>) -> Result<()> {
    print_raw(&harmless_json(&json(object)))
}

fn print_raw(text: &str) -> Result<()> {
    print_with(|out| writeln!(out, "{}", text.trim_end_matches('\n')))
}

/// What is too long to be a text first, to standard output; nothing that steers a terminal may be in it.
pub fn print_with(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).context("standard output")
}

/// An object as text.
pub fn json(object: &Map<String, Value>) -> String {
    format!("{:#}", Value::Object(object.clone()))
}

/// A stage that goes away however the program ends.
struct Staged(Option<Stage>);

impl Staged {
    /// `named` is what the user calls it.
    fn open(named: &Path, home: &Path, claims: &[&OsStr], make: bool) -> Result<Staged> {
        let stage = interrupt::making(|| Stage::open(home, claims, make), Stage::traces);
        let stage = stage.map_err(|error| match error {
            Error::Io { source, .. } => {
                anyhow::Error::new(source).context(format!("{}: cannot be written", named.display()))
            }
            other => other.into(),
        })?;
        Ok(Staged(Some(stage)))
    }

    fn stage(&self) -> &Stage {
        self.0.as_ref().expect("a stage is there until it is committed")
    }

    fn commit(mut self, replace: bool) -> Result<()> {
        let Some(stage) = self.0.take() else { return Ok(()) };
        let traces = stage.traces();
        let committed = {
            let _held = interrupt::hold();
            stage.commit(replace)
        };
        interrupt::forget(&traces);
        Ok(committed?)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if let Some(stage) = self.0.take() {
            let traces = stage.traces();
            drop(stage);
            interrupt::forget(&traces);
        }
    }
}

/// Files with names that the user chose, which appear together.
pub struct Files {
    /// A terminal or a pipe needs none.
    staged: Option<Staged>,
    force: bool,
}

impl Files {
    /// Makes sure that the files, all in one folder, can be written before any work is done for them.
    pub fn open(paths: &[&Path], force: bool) -> Result<Files> {
        let Some(first) = paths.first() else { bail!("no file is named") };
        let folder = folder_of(first);
        settle(folder)?;
        let mut claims = vec![];
        for path in paths {
            if path.is_dir() {
                bail!("{}: is a folder, a file name is wanted", path.display());
            }
            let Some(name) = path.file_name() else { bail!("{}: a file needs a name", path.display()) };
            if is_special(path) {
                continue;
            }
            if path.symlink_metadata().is_ok() && !force {
                bail!("{}: exists already: choose another name, or --force to overwrite it", path.display());
            }
            claims.push(name);
        }
        let staged = (!claims.is_empty()).then(|| Staged::open(first, folder, &claims, false)).transpose();
        Ok(Files { staged: staged?, force })
    }

    /// One of them.
    pub fn write(&self, path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        let name = path.file_name().unwrap_or_default();
        match &self.staged {
            Some(staged) if !is_special(path) => Ok(staged.stage().write(name, write)?),
            _ => Ok(write_whole(path, write)?),
        }
    }

    /// A matrix with what lies beside it.
    pub fn matrix(&self, path: &Path, loaded: &Loaded) -> Result<()> {
        match &self.staged {
            Some(staged) if !is_special(path) => Ok(read::write_staged(staged.stage(), path, loaded)?),
            _ => Ok(read::write(path, loaded)?),
        }
    }

    /// Puts them in their place.
    pub fn finish(self) -> Result<()> {
        self.staged.map_or(Ok(()), |staged| staged.commit(self.force))
    }
}

/// The list of files that a folder's summary names as written by the program.
const FILES: &str = "files";
/// The file that says what a folder is.
pub const SUMMARY: &str = SEAL;

/// A folder in the making: its files are written where nobody looks and moved to their place at the end, the
/// summary last.
pub struct Folder {
    place: PathBuf,
    staged: Staged,
    files: Vec<String>,
    force: bool,
}

impl Folder {
    /// Makes sure that the folder can be written before any work is done for it. One that is empty is as good as
    /// none.
    pub fn new(place: &Path, force: bool) -> Result<Folder> {
        if place.symlink_metadata().is_ok() && !place.is_dir() {
            bail!("{}: exists and is not a folder: choose another name", place.display());
        }
        let refuse_to_mix = || match force || is_vacant(place)? {
            true => Ok(()),
            false => {
                bail!("{}: exists already: choose another name, or --force to write into it", place.display())
            }
        };
        settle(place)?;
        refuse_to_mix()?;
        let staged = Staged::open(place, place, &[OsStr::new(SUMMARY)], true)?;
        refuse_to_mix()?;
        Ok(Folder { place: place.to_path_buf(), staged, files: vec![], force })
    }

    /// A file that is written as it is made.
    pub fn write(&mut self, name: &str, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        self.files.push(name.to_string());
        Ok(self.staged.stage().write(name, write)?)
    }

    /// A file of text.
    pub fn text(&mut self, name: &str, text: &str) -> Result<()> {
        self.bytes(name, text.as_bytes())
    }

    /// A file of bytes.
    pub fn bytes(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.write(name, |out| out.write_all(bytes))
    }

    /// A matrix as .npy.
    pub fn matrix(&mut self, name: &str, matrix: &Mat) -> Result<()> {
        self.files.push(name.to_string());
        let dense = Dense::new(matrix.rows, matrix.cols, matrix.data.clone())?;
        let loaded = Loaded::from(Matrix::DenseF64(dense));
        Ok(read::write_staged(self.staged.stage(), &self.place.join(name), &loaded)?)
    }

    /// A list of numbers as a one-dimensional .npy.
    pub fn list(&mut self, name: &str, numbers: &[f64]) -> Result<()> {
        self.write(name, |out| read::write_list(numbers, out))
    }

    /// Puts the summary in and everything in its place; files of an earlier result that the new one does not have
    /// go away.
    pub fn finish(mut self, mut summary: Map<String, Value>) -> Result<()> {
        let files: Vec<&str> = self.files.iter().map(String::as_str).chain([SUMMARY]).collect();
        summary.insert(FILES.into(), files.into());
        self.text(SUMMARY, &(json(&summary) + "\n"))?;
        for old in files_of(&self.place) {
            self.staged.stage().drop_old(old)?;
        }
        self.staged.commit(self.force)
    }
}

/// Whether there is nothing in a folder, or no folder; files in the making do not count.
pub fn is_vacant(folder: &Path) -> Result<bool> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        // `small.csv/x`: what is to be made there will say why it cannot be.
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(true),
        other => other.with_context(|| folder.display().to_string())?,
    };
    Ok(entries.flatten().all(|entry| is_part(&entry.file_name())))
}

/// The summary of a folder that the program wrote.
pub fn summary_of(folder: &Path) -> Result<Map<String, Value>> {
    let path = folder.join(SUMMARY);
    refuse_pipe(&path)?;
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    match serde_json::from_str(&text) {
        Ok(Value::Object(summary)) => Ok(summary),
        Ok(_) => bail!("{}: is not a summary: one JSON object is expected", path.display()),
        Err(error) => bail!("{}: is not JSON: {error}", path.display()),
    }
}

/// A pipe that nobody named is not waited for.
pub fn refuse_pipe(path: &Path) -> Result<()> {
    match is_special(path) {
        true => bail!("{}: is not a file", path.display()),
        false => Ok(()),
    }
}

/// Files of an earlier result: plain names only, whatever the summary says.
fn files_of(folder: &Path) -> Vec<String> {
    let Ok(summary) = summary_of(folder) else { return vec![] };
    let names = summary.get(FILES).and_then(Value::as_array).into_iter().flatten();
    let plain = |name: &&str| Path::new(name).file_name() == Some(OsStr::new(name));
    names.filter_map(Value::as_str).filter(plain).map(str::to_string).collect()
}
