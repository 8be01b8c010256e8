//! What the program leaves behind: standard output, and files that appear whole or not at all.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use orthant::matrix::{Dense, Mat, Matrix};
use orthant::read::{Loaded, write, write_whole};
use serde_json::{Map, Value};

use crate::interrupt;

/// Text to standard output, with a line end.
pub fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", text.trim_end_matches('\n'))?;
    out.flush()?;
    Ok(())
}

/// An object to standard output.
pub fn print_json(object: &Map<String, Value>) -> Result<()> {
    print(&json(object))
}

/// An object as text.
pub fn json(object: &Map<String, Value>) -> String {
    format!("{:#}", Value::Object(object.clone()))
}

/// Refuses to overwrite a file, unless asked to.
pub fn check_new(path: &Path, force: bool) -> Result<()> {
    if path.is_dir() {
        bail!("{}: is a folder, a file name is wanted", path.display());
    }
    // A pipe or a terminal is written to, not replaced.
    let replaced = path.metadata().is_ok_and(|about| about.is_file());
    if replaced && !force {
        bail!("{}: exists already: choose another name, or --force to overwrite it", path.display());
    }
    Ok(())
}

/// The list of files that a folder's summary names as written by the program.
const FILES: &str = "files";
/// The file that says what a folder is.
pub const SUMMARY: &str = "summary.json";

/// A folder in the making: files are written beside the place where it will stand and moved there at
/// the end, the summary last.
pub struct Folder {
    place: PathBuf,
    stage: PathBuf,
    files: Vec<String>,
    /// Folders above that had to be made, innermost first.
    made: Vec<PathBuf>,
    done: bool,
}

impl Folder {
    /// Makes sure that the folder can be written before any work is done for it.
    pub fn new(place: &Path, force: bool) -> Result<Folder> {
        let exists = place.symlink_metadata().is_ok();
        if exists && !place.is_dir() {
            bail!("{}: exists and is not a folder: choose another name", place.display());
        }
        if exists && !force {
            bail!("{}: exists already: choose another name, or --force to write into it", place.display());
        }
        let Some(name) = place.file_name() else {
            bail!("{}: a folder needs a name", place.display());
        };
        let parent = place.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let made: Vec<PathBuf> = parent
            .ancestors()
            .take_while(|p| !p.as_os_str().is_empty() && !p.exists())
            .map(Path::to_path_buf)
            .collect();
        let cannot = || format!("{}: cannot be written", place.display());
        fs::create_dir_all(parent).with_context(cannot)?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.part", std::process::id()));
        let stage = parent.join(hidden);
        let folder = Folder { place: place.to_path_buf(), stage, files: vec![], made, done: false };
        fs::create_dir(&folder.stage).with_context(cannot)?;
        interrupt::remember(&folder.stage);
        Ok(folder)
    }

    /// Where a file goes for now; it is part of the folder from here on.
    pub fn file(&mut self, name: &str) -> PathBuf {
        self.files.push(name.to_string());
        self.stage.join(name)
    }

    /// A file of text.
    pub fn text(&mut self, name: &str, text: &str) -> Result<()> {
        let path = self.file(name);
        Ok(write_whole(&path, |out| out.write_all(text.as_bytes()))?)
    }

    /// A file of bytes.
    pub fn bytes(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.file(name);
        Ok(write_whole(&path, |out| out.write_all(bytes))?)
    }

    /// A matrix as .npy.
    pub fn matrix(&mut self, name: &str, matrix: &Mat) -> Result<()> {
        let path = self.file(name);
        let dense = Dense::new(matrix.rows, matrix.cols, matrix.data.clone())?;
        Ok(write(&path, &Loaded::from(Matrix::DenseF64(dense)))?)
    }

    /// A list of numbers as a one-dimensional .npy.
    pub fn list(&mut self, name: &str, numbers: &[f64]) -> Result<()> {
        let path = self.file(name);
        Ok(write_whole(&path, |out| {
            let head = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({},), }}", numbers.len());
            // Magic, version and length take 10 bytes; numbers begin at a multiple of 64.
            let length = (10 + head.len() + 1).next_multiple_of(64) - 10;
            out.write_all(b"\x93NUMPY\x01\x00")?;
            out.write_all(&(length as u16).to_le_bytes())?;
            writeln!(out, "{head:<width$}", width = length - 1)?;
            numbers.iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))
        })?)
    }

    /// Puts the summary in and everything in its place.
    pub fn finish(mut self, mut summary: Map<String, Value>) -> Result<()> {
        self.files.push(SUMMARY.to_string());
        summary.insert(FILES.into(), self.files.clone().into());
        let text = json(&summary) + "\n";
        write_whole(&self.stage.join(SUMMARY), |out| out.write_all(text.as_bytes()))?;
        let cannot = || format!("{}: cannot be written", self.place.display());
        if self.place.exists() {
            for old in files_of(&self.place) {
                // What cannot be removed is overwritten below, or belongs to no one any more.
                let _ = fs::remove_file(self.place.join(old));
            }
            for file in &self.files {
                fs::rename(self.stage.join(file), self.place.join(file)).with_context(cannot)?;
            }
        } else {
            fs::rename(&self.stage, &self.place).with_context(cannot)?;
        }
        self.done = true;
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // After a failure nothing is left, as far as the system lets us.
        let _ = fs::remove_dir_all(&self.stage);
        if !self.done {
            self.made.iter().for_each(|folder| drop(fs::remove_dir(folder)));
        }
        interrupt::forget(&self.stage);
    }
}

/// The summary of a folder that the program wrote.
pub fn summary_of(folder: &Path) -> Result<Map<String, Value>> {
    let path = folder.join(SUMMARY);
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    match serde_json::from_str(&text) {
        Ok(Value::Object(summary)) => Ok(summary),
        Ok(_) => bail!("{}: is not a summary: one JSON object is expected", path.display()),
        Err(error) => bail!("{}: is not JSON: {error}", path.display()),
    }
}

/// Files of an earlier result: plain names only, whatever the summary says.
fn files_of(folder: &Path) -> Vec<String> {
    let Ok(summary) = summary_of(folder) else { return vec![] };
    let names = summary.get(FILES).and_then(Value::as_array).into_iter().flatten();
    let plain = |name: &&str| Path::new(name).components().count() == 1 && !name.starts_with("..");
    names.filter_map(Value::as_str).filter(plain).map(str::to_string).collect()
}
