//! Arrays beside points that are streamed: in memory as long as they fit its budget, in files where not. A pass sees a
//! window of each either way, so that the bits are the same.

use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::ArrayMut;
use crate::error::{Error, Result};
use crate::matrix::seam::{Array, Slot, Use};

/// What data that are streamed may use.
#[derive(Debug, Clone)]
pub struct Budget {
    /// Bytes for all that is kept: windows of points, and arrays beside them.
    pub bytes: usize,
    /// Where arrays lie that do not fit. Without one they are kept in memory, whatever they need.
    pub folder: Option<PathBuf>,
}

impl Budget {
    /// No limit.
    pub fn unlimited() -> Budget {
        Budget { bytes: usize::MAX, folder: None }
    }
}

/// Room for arrays that all who work on the same data share.
#[derive(Debug)]
pub(super) struct Room {
    /// Bytes of arrays in memory, at most.
    most: usize,
    used: AtomicUsize,
    folder: Option<PathBuf>,
}

impl Room {
    pub(super) fn new(most: usize, folder: Option<PathBuf>) -> Arc<Room> {
        Arc::new(Room { most, used: AtomicUsize::new(0), folder })
    }

    /// Whether so many more bytes fit; then they are taken.
    fn take(&self, bytes: usize) -> bool {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed);
        let fits = self.folder.is_none() || used.saturating_add(bytes) <= self.most;
        if !fits {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
        }
        fits
    }
}

/// Where an array is.
enum Kept {
    Memory(Array),
    Disk(Filed),
}

/// An array in a file without a name: it goes away however the process ends.
struct Filed {
    file: File,
    /// Numbers for each point; none for labels.
    each: Option<usize>,
}

impl Filed {
    fn create(folder: &std::path::Path, each: Option<usize>) -> io::Result<Filed> {
        // A name like no other: in containers that share a folder all processes may have the same number, and one that was
        // killed in this very moment leaves its file.
        let name = format!(".orthant-arrays-{:016x}", RandomState::new().build_hasher().finish());
        let path = folder.join(name);
        let file = File::options().read(true).write(true).create_new(true).open(&path)?;
        // Where open files cannot be removed, it is left for whoever cleans the folder.
        let _ = std::fs::remove_file(&path);
        Ok(Filed { file, each })
    }

    fn size(&self) -> usize {
        self.each.map_or(4, |each| 8 * each)
    }

    fn read(&self, rows: &Range<usize>) -> io::Result<Array> {
        let at = (rows.start * self.size()) as u64;
        Ok(match self.each {
            Some(each) => {
                let mut numbers = vec![0f64; rows.len() * each];
                read_at(&self.file, bytemuck::cast_slice_mut(&mut numbers), at)?;
                Array::Numbers(each, numbers)
            }
            None => {
                let mut labels = vec![0i32; rows.len()];
                read_at(&self.file, bytemuck::cast_slice_mut(&mut labels), at)?;
                Array::Labels(labels)
            }
        })
    }

    fn write(&self, first: usize, array: &Array) -> io::Result<()> {
        let at = (first * self.size()) as u64;
        match array {
            Array::Numbers(_, numbers) => write_at(&self.file, bytemuck::cast_slice(numbers), at),
            Array::Labels(labels) => write_at(&self.file, bytemuck::cast_slice(labels), at),
        }
    }
}

#[cfg(unix)]
fn read_at(file: &File, to: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, to, at)
}

#[cfg(unix)]
fn write_at(file: &File, from: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, from, at)
}

#[cfg(not(unix))]
fn read_at(mut file: &File, to: &mut [u8], at: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(to)
}

#[cfg(not(unix))]
fn write_at(mut file: &File, from: &[u8], at: u64) -> io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    file.seek(SeekFrom::Start(at))?;
    file.write_all(from)
}

/// Points for which an array in a file is read or written at a time.
const AT_ONCE: usize = 1 << 16;

fn bytes_of(array: &Array) -> usize {
    match array {
        Array::Numbers(_, numbers) => 8 * numbers.len(),
        Array::Labels(labels) => 4 * labels.len(),
    }
}

/// Arrays by their slots.
pub(super) struct Arrays {
    points: usize,
    arrays: BTreeMap<Slot, Kept>,
    room: Arc<Room>,
}

impl Arrays {
    pub(super) fn new(points: usize, room: Arc<Room>) -> Arrays {
        Arrays { points, arrays: BTreeMap::new(), room }
    }

    fn failed(&self, source: io::Error) -> Error {
        let path = self.room.folder.clone().unwrap_or_default().join("arrays beside the points");
        Error::Io { path, source }
    }

    /// What a slot holds, all of it in memory.
    pub(super) fn get(&self, slot: Slot) -> Result<Option<Array>> {
        Ok(match self.arrays.get(&slot) {
            None => None,
            Some(Kept::Memory(array)) => Some(array.clone()),
            Some(Kept::Disk(filed)) => {
                Some(filed.read(&(0..self.points)).map_err(|error| self.failed(error))?)
            }
        })
    }

    /// The numbers of a slot where they are in memory.
    pub(super) fn look(&self, slot: Slot) -> Option<&[f64]> {
        match self.arrays.get(&slot) {
            Some(Kept::Memory(Array::Numbers(_, numbers))) => Some(numbers),
            _ => None,
        }
    }

    pub(super) fn set(&mut self, slot: Slot, array: Array) -> Result<()> {
        self.forget(slot);
        let kept = if self.room.take(bytes_of(&array)) {
            Kept::Memory(array)
        } else {
            let each = match &array {
                Array::Numbers(each, _) => Some(*each),
                Array::Labels(_) => None,
            };
            let filed = self.create(each)?;
            filed.write(0, &array).map_err(|error| self.failed(error))?;
            Kept::Disk(filed)
        };
        self.arrays.insert(slot, kept);
        Ok(())
    }

    pub(super) fn forget(&mut self, slot: Slot) {
        if let Some(Kept::Memory(array)) = self.arrays.remove(&slot) {
            self.room.used.fetch_sub(bytes_of(&array), Ordering::Relaxed);
        }
    }

    fn create(&self, each: Option<usize>) -> Result<Filed> {
        let folder =
            self.room.folder.as_deref().expect("only where there is a folder does something not fit");
        Filed::create(folder, each).map_err(|error| self.failed(error))
    }

    /// Makes sure that the arrays of a pass are there; new ones are as [`Use`] says.
    pub(super) fn prepare(&mut self, uses: &[Use]) -> Result<()> {
        for used in uses {
            let (slot, each) = of(used);
            let there = match self.arrays.get(&slot) {
                Some(Kept::Memory(Array::Numbers(old, _))) => each == Some(*old),
                Some(Kept::Memory(Array::Labels(_))) => each.is_none(),
                Some(Kept::Disk(filed)) => filed.each == each,
                None => false,
            };
            if there {
                continue;
            }
            self.forget(slot);
            let new = |points: usize| match each {
                Some(each) => Array::Numbers(each, vec![0.0; points * each]),
                None => Array::Labels(vec![-2; points]),
            };
            let kept = if self.room.take(self.points * each.map_or(4, |each| 8 * each)) {
                Kept::Memory(new(self.points))
            } else {
                let filed = self.create(each)?;
                for first in (0..self.points).step_by(AT_ONCE) {
                    let count = AT_ONCE.min(self.points - first);
                    filed.write(first, &new(count)).map_err(|error| self.failed(error))?;
                }
                Kept::Disk(filed)
            };
            self.arrays.insert(slot, kept);
        }
        Ok(())
    }

    /// Calls `work` with the part of each array that belongs to some points, in the order of `uses`, which were prepared.
    pub(super) fn window(
        &mut self,
        uses: &[Use],
        rows: &Range<usize>,
        work: &mut dyn FnMut(Vec<ArrayMut>) -> Result<()>,
    ) -> Result<()> {
        let failed = |error| Error::Io {
            path: self.room.folder.clone().unwrap_or_default().join("arrays beside the points"),
            source: error,
        };
        let place = |slot: &Slot| uses.iter().position(|used| of(used).0 == *slot);
        let mut loaded: Vec<(usize, Slot, Array, Array)> = vec![];
        let mut arrays: Vec<(usize, ArrayMut)> = vec![];
        for (slot, kept) in &mut self.arrays {
            let Some(at) = place(slot) else { continue };
            match kept {
                Kept::Memory(Array::Numbers(each, numbers)) => {
                    let own = &mut numbers[rows.start * *each..rows.end * *each];
                    arrays.push((at, ArrayMut::Numbers(own, *each)));
                }
                Kept::Memory(Array::Labels(labels)) => {
                    arrays.push((at, ArrayMut::Labels(&mut labels[rows.clone()])));
                }
                Kept::Disk(filed) => {
                    let array = filed.read(rows).map_err(failed)?;
                    loaded.push((at, *slot, array.clone(), array));
                }
            }
        }
        for (at, _, _, array) in &mut loaded {
            arrays.push((
                *at,
                match array {
                    Array::Numbers(each, numbers) => ArrayMut::Numbers(numbers, *each),
                    Array::Labels(labels) => ArrayMut::Labels(labels),
                },
            ));
        }
        arrays.sort_by_key(|(at, _)| *at);
        work(arrays.into_iter().map(|(_, array)| array).collect())?;
        for (_, slot, before, array) in loaded {
            // Many passes only read.
            if before != array
                && let Some(Kept::Disk(filed)) = self.arrays.get(&slot)
            {
                filed.write(rows.start, &array).map_err(failed)?;
            }
        }
        Ok(())
    }
}

impl Drop for Arrays {
    fn drop(&mut self) {
        let slots: Vec<Slot> = self.arrays.keys().copied().collect();
        slots.into_iter().for_each(|slot| self.forget(slot));
    }
}

/// The slot of a use, and its numbers for each point.
fn of(used: &Use) -> (Slot, Option<usize>) {
    match *used {
        Use::Numbers(slot, each) => (slot, Some(each)),
        Use::Labels(run) => (Slot::Labels(run), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_of_the_same_number_left_is_not_in_the_way() {
        let folder = tempfile::tempdir().unwrap();
        let left = |number: usize| format!(".orthant-arrays-{}-{number}", std::process::id());
        (0..100).for_each(|number| drop(File::create(folder.path().join(left(number))).unwrap()));
        let filed = Filed::create(folder.path(), Some(1)).unwrap();
        filed.write(2, &Array::Numbers(1, vec![3.0])).unwrap();
        assert!(matches!(filed.read(&(2..3)).unwrap(), Array::Numbers(1, numbers) if numbers == [3.0]));
        // In a file without a name.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 100);
    }
}
