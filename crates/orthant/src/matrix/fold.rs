//! Points with at most one feature of their own. Features that no other point has turn a point away from all others alike,
//! whichever of them it is: one that is as long as all of them together leaves every product of points what it was, and with
//! these norms, and what any partition explains. In some texts most words occur once; what needs nothing but products goes
//! over fewer features so.

use super::seam::Data;
use super::{Csr, Format, Mat, Shape, open};
use crate::error::Result;

/// Data with more entries are left as they are: they would be there twice.
const MOST: usize = 1 << 24;
/// It is worth a copy where at least one in so many features goes.
const WORTH: usize = 5;

/// Data with the products of others, over fewer features.
pub(crate) struct Folded {
    pub(crate) data: Box<dyn Data>,
    /// Where each feature of the others went, and its share in that one.
    places: Vec<(u32, f64)>,
}

/// Whether the data are copied to be folded.
pub(crate) fn is_worth_it(data: &dyn Data) -> bool {
    let (Shape { points, features, nonzeros, sparse, .. }, facts) = (data.shape(), data.facts());
    // A point keeps one of its own.
    let goes = facts.zero_features + facts.lone_features.saturating_sub(points);
    let many = sparse && goes.saturating_mul(WORTH) >= features && goes > 0;
    many && nonzeros <= MOST && data.fits().is_none()
}

/// Folds features that only one point has. None where that is not worth it, or where not all points fit into memory: the
/// same answer whoever holds them.
pub(crate) fn fold(data: &dyn Data) -> Result<Option<Folded>> {
    if !is_worth_it(data) {
        return Ok(None);
    }
    let (Shape { points, features, format, .. }, facts) = (data.shape(), data.facts());
    let copied;
    let from = if data.in_memory() {
        data
    } else {
        copied = data.select(&(0..points).collect::<Vec<_>>())?;
        &*copied
    };
    // How many points have each feature, and whether it stays: of those that a point has alone its first.
    let (mut with, mut stays) = (vec![0u8; features], vec![false; features]);
    for point in 0..points {
        from.entries(point, &mut |f, x| with[f] = 2.min(with[f] + u8::from(x != 0.0)))?;
    }
    for point in 0..points {
        let mut has_one = false;
        from.entries(point, &mut |f, x| {
            stays[f] |= with[f] > 1 || (x != 0.0 && !std::mem::replace(&mut has_one, true));
        })?;
    }
    let (mut places, mut left) = (vec![(0, 0.0); features], 0);
    for (place, _) in places.iter_mut().zip(&stays).filter(|(_, stays)| **stays) {
        *place = (left, 1.0);
        left += 1;
    }
    let (mut offsets, mut columns, mut values) = (vec![0], vec![], vec![]);
    for point in 0..points {
        let mut own = vec![];
        let mut first = columns.len();
        from.entries(point, &mut |f, x| {
            if x != 0.0 && with[f] == 1 {
                if own.is_empty() {
                    first = columns.len();
                    columns.push(places[f].0 as i32);
                    values.push(0.0);
                }
                own.push((f, x));
            } else if x != 0.0 {
                columns.push(places[f].0 as i32);
                values.push(x / facts.scale);
            }
        })?;
        if let [(at, _), ..] = own[..] {
            // Entries are near 1 at most, and their squares lose nothing that counts.
            let length = own.iter().map(|(_, x)| x * x).sum::<f64>().sqrt();
            let to = places[at].0;
            own.iter().for_each(|&(f, x)| places[f] = (to, if length > 0.0 { x / length } else { 0.0 }));
            values[first] = length / facts.scale;
        }
        offsets.push(columns.len());
    }
    let (left, weights) = (left as usize, data.weights().map(<[f64]>::to_vec));
    let data = match format {
        Format::F64 => open(Csr::new(left, offsets, columns, values)?, weights)?,
        Format::F32 => {
            let values: Vec<f32> = values.into_iter().map(|x| x as f32).collect();
            open(Csr::new(left, offsets, columns, values)?, weights)?
        }
    };
    // At the ends of the format a length may leave it.
    let facts = data.facts();
    let is_sound = facts.not_finite.is_none() && facts.faint.is_none();
    Ok(is_sound.then_some(Folded { data, places }))
}

/// What folding may take in memory: entries in both orders, and as many that are read where points are not there.
pub(crate) fn bytes(shape: &Shape, in_memory: bool) -> u128 {
    let each = if shape.format == Format::F32 { 16 } else { 24 };
    let copies = if in_memory { 1 } else { 2 };
    if shape.sparse && shape.nonzeros <= MOST { shape.nonzeros as u128 * each * copies } else { 0 }
}

impl Folded {
    /// A matrix with a row for each folded feature, as one with a row for each.
    pub(crate) fn unfold(&self, u: &Mat) -> Mat {
        Mat::from_fn(self.places.len(), u.cols, |f, i| {
            let (at, share) = self.places[f];
            if share == 0.0 { 0.0 } else { share * u[(at as usize, i)] }
        })
    }
}
