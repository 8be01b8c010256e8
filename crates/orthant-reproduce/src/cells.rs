//! What has been computed, run by run: small CSV files that are rewritten whole whenever a cell ends. Nothing that
//! has ended is lost, not even by kill −9, and nothing is computed twice.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use anyhow::{Context, Result, anyhow, bail};
use orthant::read::{settle, write_whole};

/// The folder of the cells inside a folder of results.
pub const CELLS: &str = "cells";
/// The head of every file.
const HEAD: &str = "set,data,method,settings,run,accuracy,nmi,ari,relative_error,lower_bound,objective,iterations,\
                    stopped,seconds,version,engine";

/// What a run is of: two runs with the same key give the same answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The data set.
    pub set: String,
    /// Its size and norm: other data under the same name are other data.
    pub data: String,
    /// The method, as [`Contender`](orthant::contender::Contender) names it.
    pub method: String,
    /// k, the seed, and what differs from the method's own values.
    pub settings: String,
    /// The engine that computed it: see [`Engines`](crate::engine::Engines).
    pub engine: String,
}

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub key: Key,
    /// Number of the run, from 0.
    pub run: usize,
    /// Scores against the truth, as fractions; NaN where there is none.
    pub accuracy: f64,
    pub nmi: f64,
    pub ari: f64,
    /// `‖M − UV‖/‖M‖` of the feasible factors.
    pub error: f64,
    /// No factors of this rank do better.
    pub lower_bound: f64,
    /// The method's own objective.
    pub objective: f64,
    pub iterations: usize,
    /// Why it ended.
    pub stopped: String,
    pub seconds: f64,
    /// The program that computed it.
    pub version: String,
}

impl Run {
    fn line(&self) -> String {
        let Key { set, data, method, settings, engine } = &self.key;
        format!(
            "{set},{data},{method},{settings},{},{},{},{},{},{},{},{},{},{},{},{engine}",
            self.run,
            self.accuracy,
            self.nmi,
            self.ari,
            self.error,
            self.lower_bound,
            self.objective,
            self.iterations,
            self.stopped,
            self.seconds,
            self.version
        )
    }

    fn parse(line: &str) -> Option<Run> {
        let fields: Vec<&str> = line.split(',').collect();
        #[rustfmt::skip]
        let [set, data, method, settings, run, accuracy, nmi, ari, error, bound, objective, iterations, stopped,
             seconds, version, engine] = fields[..] else { return None };
        let text = |x: &str| x.to_string();
        Some(Run {
            key: Key {
                set: text(set),
                data: text(data),
                method: text(method),
                settings: text(settings),
                engine: text(engine),
            },
            run: run.parse().ok()?,
            accuracy: accuracy.parse().ok()?,
            nmi: nmi.parse().ok()?,
            ari: ari.parse().ok()?,
            error: error.parse().ok()?,
            lower_bound: bound.parse().ok()?,
            objective: objective.parse().ok()?,
            iterations: iterations.parse().ok()?,
            stopped: text(stopped),
            seconds: seconds.parse().ok()?,
            version: text(version),
        })
    }
}

/// All runs of a file, by what they are of.
type Runs = BTreeMap<(Key, usize), Run>;

/// The runs that have ended.
pub struct Cells {
    folder: PathBuf,
    files: Mutex<BTreeMap<String, Runs>>,
    /// Held as long as the folder is in use; the system lets go of it however the program ends.
    _lock: File,
}

impl Cells {
    /// Reads what there is in a folder of results, which is this program's alone from here on.
    pub fn open(out: &Path) -> Result<Cells> {
        let folder = out.join(CELLS);
        let cannot = || format!("{}: cannot be written", folder.display());
        fs::create_dir_all(&folder).with_context(cannot)?;
        let lock = File::create(folder.join(".lock")).with_context(cannot)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                bail!("{}: another run works in this folder: wait for it, or choose another", out.display())
            }
            Err(TryLockError::Error(error)) => return Err(error).with_context(cannot),
        }
        // Nobody else works here: what killed runs left goes away.
        let inner = list(&folder)?.into_iter().filter(|path| path.is_dir());
        inner.chain([out.to_path_buf(), folder.clone()]).try_for_each(|place| settle(&place))?;
        let files = Mutex::new(read(&folder)?);
        Ok(Cells { folder, files, _lock: lock })
    }

    /// Whether a folder holds cells.
    pub fn check(from: &Path) -> Result<()> {
        if !from.join(CELLS).is_dir() {
            bail!("{}: holds no cells: name a folder that 'orthant reproduce' wrote", from.display());
        }
        Ok(())
    }

    /// Takes over what another folder holds and this one does not.
    pub fn take(&self, from: &Path) -> Result<usize> {
        Cells::check(from)?;
        let folder = from.join(CELLS);
        let mut taken = 0;
        for (name, runs) in read(&folder)? {
            let mut files = self.files();
            let ours = files.entry(name.clone()).or_default();
            let before = ours.len();
            for (key, run) in runs {
                ours.entry(key).or_insert(run);
            }
            taken += ours.len() - before;
            if ours.len() > before {
                self.write(&name, ours)?;
            }
        }
        for name in names(&folder, "txt")? {
            let (theirs, ours) = (folder.join(&name), self.folder.join(&name));
            if !ours.exists() {
                let text = fs::read(&theirs).with_context(|| theirs.display().to_string())?;
                self.make_room(&ours)?;
                write_whole(&ours, |out| out.write_all(&text))?;
            }
        }
        Ok(taken)
    }

    /// Keeps runs that have ended.
    pub fn add(&self, file: &str, runs: Vec<Run>) -> Result<()> {
        let mut files = self.files();
        let ours = files.entry(file.to_string()).or_default();
        ours.extend(runs.into_iter().map(|run| ((run.key.clone(), run.run), run)));
        self.write(file, ours)
    }

    /// Whether there is one run.
    pub fn has(&self, file: &str, key: &Key, run: usize) -> bool {
        self.files().get(file).is_some_and(|runs| runs.contains_key(&(key.clone(), run)))
    }

    /// Those of the first `most` runs that there are, in order.
    pub fn runs(&self, file: &str, key: &Key, most: usize) -> Vec<Run> {
        let files = self.files();
        let Some(runs) = files.get(file) else { return vec![] };
        runs.range((key.clone(), 0)..(key.clone(), most)).map(|(_, run)| run.clone()).collect()
    }

    /// The same of another engine: of that which has most of them.
    pub fn older(&self, file: &str, key: &Key, most: usize) -> Vec<Run> {
        let files = self.files();
        let Some(runs) = files.get(file) else { return vec![] };
        let first = Key { engine: String::new(), ..key.clone() };
        let same = |run: &Key| Key { engine: String::new(), ..run.clone() } == first;
        let mut engines: BTreeMap<&str, Vec<Run>> = BTreeMap::new();
        for ((key, number), run) in runs.range((first.clone(), 0)..).take_while(|((key, _), _)| same(key)) {
            if *number < most {
                engines.entry(&key.engine).or_default().push(run.clone());
            }
        }
        engines.into_values().max_by_key(Vec::len).unwrap_or_default()
    }

    /// A text that belongs to a cell: labels for a picture, a curve.
    pub fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.folder.join(name)).ok()
    }

    /// Keeps such a text.
    pub fn keep(&self, name: &str, text: &str) -> Result<()> {
        let path = self.folder.join(name);
        self.make_room(&path)?;
        Ok(write_whole(&path, |out| out.write_all(text.as_bytes()))?)
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<String, Runs>> {
        self.files.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn write(&self, file: &str, runs: &Runs) -> Result<()> {
        let path = self.folder.join(format!("{file}.csv"));
        self.make_room(&path)?;
        Ok(write_whole(&path, |out| {
            writeln!(out, "{HEAD}")?;
            runs.values().try_for_each(|run| writeln!(out, "{}", run.line()))
        })?)
    }

    fn make_room(&self, path: &Path) -> Result<()> {
        let folder = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder).with_context(|| format!("{}: cannot be written", folder.display()))
    }
}

/// Every file of cells below a folder.
fn read(folder: &Path) -> Result<BTreeMap<String, Runs>> {
    let mut files = BTreeMap::new();
    for name in names(folder, "csv")? {
        let path = folder.join(&name);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let mut lines = text.lines();
        if lines.next() != Some(HEAD) {
            bail!("{}: is no file of cells: move it away, or choose another folder", path.display());
        }
        let mut runs = Runs::new();
        for (number, line) in lines.enumerate() {
            let run = Run::parse(line).ok_or_else(|| {
                anyhow!("{}, line {}: is no run: remove the line, or the file", path.display(), number + 2)
            })?;
            runs.insert((run.key.clone(), run.run), run);
        }
        files.insert(name.trim_end_matches(".csv").to_string(), runs);
    }
    Ok(files)
}

/// What lies in a folder, in order.
fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths = entries.map(|e| Ok(e?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// Names of the files with an ending in the folders of a folder.
fn names(folder: &Path, ending: &str) -> Result<Vec<String>> {
    let mut found = vec![];
    for inner in list(folder)?.into_iter().filter(|path| path.is_dir()) {
        for path in list(&inner)?.into_iter().filter(|path| path.extension().is_some_and(|e| e == ending)) {
            if let Ok(name) = path.strip_prefix(folder) {
                found.push(name.to_string_lossy().into_owned());
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(method: &str, number: usize, accuracy: f64) -> Run {
        let text = |x: &str| x.to_string();
        Run {
            key: Key {
                set: text("s"),
                data: text("2x3"),
                method: text(method),
                settings: text("k=2 seed=0"),
                engine: text("e1"),
            },
            run: number,
            accuracy,
            nmi: 0.1 + 0.2,
            ari: f64::NAN,
            error: 1e-17,
            lower_bound: 0.0,
            objective: 12345.678901234567,
            iterations: 17,
            stopped: text("converged"),
            seconds: 0.25,
            version: text("0.1.0"),
        }
    }

    #[test]
    fn runs_read_back_are_the_same_to_the_last_bit() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (run("em", 0, 1.0 / 3.0), run("em", 2, 0.5));
        let cells = Cells::open(folder.path()).unwrap();
        cells.add("text/s", vec![b.clone(), a.clone(), run("km", 0, 0.25)]).unwrap();
        drop(cells);
        let cells = Cells::open(folder.path()).unwrap();
        let back = cells.runs("text/s", &a.key, 30);
        assert_eq!(back.len(), 2);
        assert!(back[0].accuracy == a.accuracy && back[0].nmi == a.nmi && back[0].objective == a.objective);
        assert!(back[0].ari.is_nan() && back[0].error == 1e-17);
        assert_eq!((back[1].run, cells.runs("text/s", &a.key, 2).len()), (2, 1));
        assert!(cells.has("text/s", &a.key, 2) && !cells.has("text/s", &a.key, 1));
    }

    #[test]
    fn runs_of_other_engines_are_kept_apart() {
        let folder = tempfile::tempdir().unwrap();
        let cells = Cells::open(folder.path()).unwrap();
        let of = |engine: &str, number: usize, accuracy: f64| {
            let mut run = run("em", number, accuracy);
            run.key.engine = engine.into();
            run
        };
        cells.add("text/s", vec![of("old", 0, 0.1), of("old", 1, 0.2), of("older", 0, 0.3)]).unwrap();
        cells.add("text/s", vec![run("kl", 0, 0.9)]).unwrap();
        let key = of("new", 0, 0.0).key;
        assert!(cells.runs("text/s", &key, 9).is_empty() && !cells.has("text/s", &key, 0));
        let older: Vec<f64> = cells.older("text/s", &key, 9).iter().map(|r| r.accuracy).collect();
        assert_eq!(older, [0.1, 0.2]);
    }

    #[test]
    fn cells_of_another_folder_are_taken_over_and_ours_stay() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let ours = Cells::open(one.path()).unwrap();
        ours.add("text/s", vec![run("em", 0, 0.9)]).unwrap();
        let theirs = Cells::open(other.path()).unwrap();
        theirs.add("text/s", vec![run("em", 0, 0.1), run("em", 1, 0.2)]).unwrap();
        theirs.keep("text/s-em.txt", "labels").unwrap();
        assert_eq!(ours.take(other.path()).unwrap(), 1);
        let runs = ours.runs("text/s", &run("em", 0, 0.0).key, 9);
        assert_eq!(runs.iter().map(|r| r.accuracy).collect::<Vec<_>>(), [0.9, 0.2]);
        assert_eq!(ours.text("text/s-em.txt").as_deref(), Some("labels"));
        let error = ours.take(&other.path().join("nowhere")).unwrap_err().to_string();
        assert!(error.contains("holds no cells"), "{error}");
    }

    #[test]
    fn a_folder_in_use_and_a_damaged_file_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let cells = Cells::open(folder.path()).unwrap();
        assert!(Cells::open(folder.path()).err().unwrap().to_string().contains("another run works"));
        cells.add("text/s", vec![run("em", 0, 0.9)]).unwrap();
        drop(cells);
        let path = folder.path().join(CELLS).join("text/s.csv");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("converged", "conv,erged")).unwrap();
        let error = Cells::open(folder.path()).err().unwrap().to_string();
        assert!(error.contains("s.csv, line 2: is no run"), "{error}");
        fs::write(&path, "something else\n").unwrap();
        assert!(Cells::open(folder.path()).err().unwrap().to_string().contains("is no file of cells"));
    }
}
