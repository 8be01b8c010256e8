//! What a state needs to go on to the same bits, by name.

use std::collections::BTreeMap;

use crate::bytes::Bytes;
use crate::error::{Error, Result};
use crate::matrix::{Mat, Slot, Slots};

/// Named values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Saved(BTreeMap<String, Vec<u8>>);

impl Bytes for Saved {
    fn write(&self, to: &mut Vec<u8>) {
        self.0.len().write(to);
        for (name, value) in &self.0 {
            name.write(to);
            value.write(to);
        }
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        let fields: Vec<(String, Vec<u8>)> = Bytes::read(from)?;
        let count = fields.len();
        let fields: BTreeMap<_, _> = fields.into_iter().collect();
        (fields.len() == count).then_some(Saved(fields))
    }
}

impl Saved {
    /// Keeps a value under a name.
    pub fn put(&mut self, name: &str, value: &impl Bytes) {
        self.0.insert(name.to_string(), value.to_bytes());
    }

    /// What was kept under a name.
    pub fn take<T: Bytes>(&mut self, name: &str) -> Result<T> {
        self.0.remove(name).and_then(|bytes| T::from_bytes(&bytes)).ok_or_else(misfit)
    }

    /// The same, if it is as `fits` says.
    pub fn take_if<T: Bytes>(&mut self, name: &str, fits: impl FnOnce(&T) -> bool) -> Result<T> {
        let value = self.take(name)?;
        if fits(&value) { Ok(value) } else { Err(misfit()) }
    }

    /// A matrix of this shape with finite entries.
    pub fn take_mat(&mut self, name: &str, rows: usize, cols: usize) -> Result<Mat> {
        self.take_if(name, |mat: &Mat| {
            (mat.rows, mat.cols) == (rows, cols) && mat.data.iter().all(|x| x.is_finite())
        })
    }

    /// A finite number.
    pub fn take_finite(&mut self, name: &str) -> Result<f64> {
        self.take_if(name, |x: &f64| x.is_finite())
    }

    /// Labels of so many points, from −1 to k − 1 (or −2, which stands for none yet).
    pub fn take_labels(&mut self, name: &str, points: usize, k: usize) -> Result<Vec<i32>> {
        self.take_if(name, |labels: &Vec<i32>| {
            labels.len() == points && labels.iter().all(|l| (-2..k as i32).contains(l))
        })
    }

    /// Labels that were kept as those of a run, back into its slot; none where there were none.
    pub fn take_labels_into(
        &mut self,
        slots: &mut dyn Slots,
        run: usize,
        points: usize,
        k: usize,
    ) -> Result<()> {
        if !self.0.contains_key("labels") {
            return slots.forget(Slot::Labels(run));
        }
        let labels = self.take_labels("labels", points, k)?;
        slots.set_labels(run, &labels)
    }

    /// Keeps the numbers of a slot under its name.
    pub fn put_slot(&mut self, slots: &mut dyn Slots, slot: Slot) -> Result<()> {
        if let Some(array) = slots.read(slot)? {
            self.put(&slot.name(), &array);
        }
        Ok(())
    }

    /// Puts numbers back into a slot, k finite ones for each point.
    pub fn take_slot(&mut self, slots: &mut dyn Slots, slot: Slot, points: usize, k: usize) -> Result<()> {
        use crate::matrix::Array;
        if !self.0.contains_key(&slot.name()) {
            return slots.forget(slot);
        }
        let array = self.take_if(&slot.name(), |array: &Array| match array {
            Array::Numbers(each, numbers) => {
                *each == k && numbers.len() == points * k && numbers.iter().all(|x| x.is_finite())
            }
            Array::Labels(_) => false,
        })?;
        slots.write(slot, array)
    }
}

/// What is said where a checkpoint has not what it should.
pub(crate) fn misfit() -> Error {
    Error::Data("the checkpoint does not fit this work: start without it".into())
}
