//! Dense rows → their columns as rows, with as much memory as is allowed: windows of rows are turned and written one
//! after the other, then as many columns as fit are gathered from all of them.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::super::stored::Stored;
use super::super::values::Number;
use crate::error::{Error, Result};
use crate::matrix::Dense;

/// Rows in the making.
pub(super) struct Turner<T> {
    path: PathBuf,
    file: File,
    features: usize,
    /// Rows of a window.
    most: usize,
    rows: Vec<T>,
    /// How many rows each window has.
    windows: Vec<usize>,
    memory: usize,
}

impl<T: Number> Turner<T> {
    pub fn new(folder: &Path, features: usize, memory: usize) -> Result<Turner<T>> {
        let path = folder.join("turned");
        let file = File::create(&path).map_err(|source| Error::Io { path: path.clone(), source })?;
        let most = (memory / 3 / (features * size_of::<T>()).max(1)).max(1);
        Ok(Turner { path, file, features, most, rows: vec![], windows: vec![], memory })
    }

    /// More rows.
    pub fn push(&mut self, rows: &[T]) -> Result<()> {
        for row in rows.chunks(self.features) {
            self.rows.extend_from_slice(row);
            if self.rows.len() >= self.most * self.features {
                self.close()?;
            }
        }
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        let count = self.rows.len() / self.features;
        if count == 0 {
            return Ok(());
        }
        let rows = Dense::new(count, self.features, std::mem::take(&mut self.rows))?;
        let turned = rows.transposed();
        let written = self.file.write_all(bytemuck::cast_slice(turned.data()));
        written.map_err(|source| Error::Io { path: self.path.clone(), source })?;
        self.windows.push(count);
        self.rows = rows.into_data().unwrap_or_default();
        self.rows.clear();
        Ok(())
    }

    /// Gives the columns as rows, from `first` on.
    pub fn give(mut self, first: usize, push: &mut dyn FnMut(Dense<'_, T>) -> Result<()>) -> Result<()> {
        self.close()?;
        self.rows = vec![];
        let points: usize = self.windows.iter().sum();
        let failed = |source| Error::Io { path: self.path.clone(), source };
        self.file.flush().and_then(|()| self.file.seek(SeekFrom::Start(0))).map_err(failed)?;
        let stored = Stored::new(&self.path, 0, (points * self.features) as u64, T::NATIVE)?;
        let size = (points * size_of::<T>()).max(1);
        let together = (self.memory / 3 / size).max(1);
        let mut part: Vec<T> = vec![];
        for from in (first..self.features).step_by(together) {
            let count = together.min(self.features - from);
            let mut rows = vec![T::default(); count * points];
            let (mut at, mut before) = (0, 0);
            for &window in &self.windows {
                part.resize(count * window, T::default());
                let begin = (at + from * window) as u64;
                stored.read(begin..begin + part.len() as u64, &mut part)?;
                for (row, own) in rows.chunks_exact_mut(points).zip(part.chunks_exact(window)) {
                    row[before..before + window].copy_from_slice(own);
                }
                at += window * self.features;
                before += window;
            }
            push(Dense::new(count, points, rows)?)?;
        }
        Ok(())
    }
}
