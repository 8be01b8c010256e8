//! Facts about all of the data, in two looks: the largest entry of all, then norms of the points scaled by it. Whoever holds
//! a part of the points never decides alone.

use super::Engine;
use super::Piece;
use super::strip::Ready;
use crate::error::{Error, Result};
use crate::matrix::passes::{Look, Looked, Normed, Norms};
use crate::matrix::seam::Facts;
use crate::matrix::{Format, Shape};

/// The power of two that data with this largest entry are multiplied by.
pub(super) fn scale_of(largest: f64, shape: &Shape) -> f64 {
    let exponent = match shape.format {
        Format::F32 => 100,
        Format::F64 => 1000,
    };
    power_of_two_near(largest, exponent).recip()
}

/// The largest power of two that is not above `x`, kept where the format can hold its inverse.
fn power_of_two_near(x: f64, exponent: i32) -> f64 {
    if x > 0.0 && x.is_finite() {
        // From the bits: a rounded logarithm would be off by one just below a power of two. (0: subnormal.)
        let power = ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023;
        2f64.powi(power.clamp(-exponent, exponent))
    } else {
        1.0
    }
}

/// The facts from both looks.
pub(super) fn facts(
    looked: Looked,
    normed: &Normed,
    scale: f64,
    weights: Option<&[f64]>,
    points: usize,
) -> Facts {
    let weightless =
        weights.iter().flat_map(|w| w.iter().enumerate().filter(|(_, w)| **w == 0.0).map(|(j, _)| j));
    let words = weights.iter().flat_map(|w| w.iter().map(|w| w.to_bits()));
    let weightless_points: Vec<usize> = weightless.collect();
    let unusable =
        normed.zero.iter().chain(&weightless_points).collect::<std::collections::BTreeSet<_>>().len();
    Facts {
        scale,
        largest: looked.largest,
        norm2: normed.norm2,
        usable_weight: normed.weight,
        zero_points: normed.zero.clone(),
        usable_points: points - unusable,
        weightless_points,
        faint: normed.faint,
        least_norm2: normed.least,
        zero_features: looked.points_with.iter().filter(|with| **with == 0).count(),
        lone_features: looked.points_with.iter().filter(|with| **with == 1).count(),
        not_finite: looked.not_finite,
        negative: looked.negative,
        weighted: weights.is_some(),
        digest: crate::bytes::digest(std::iter::once(looked.digest).chain(words)),
    }
}

impl Engine {
    /// Both looks over points that are all here; fills in scale and norms.
    pub(super) fn meet<'a>(&mut self, piece: impl Fn(usize) -> Result<Piece<'a>> + Sync) -> Result<Facts> {
        let strips = self.cut.strips_of(&self.rows);
        let look = Look { features: self.shape.features };
        let ready = Ready::new(&look, &self.shape, vec![]);
        let (looked, _) = self.sweep(&ready, strips.clone(), vec![], &|b| piece(b))?;
        let looked: Looked = *looked.into_any().downcast().expect("a look tells what it saw");
        self.scale = scale_of(looked.largest, &self.shape);
        let ready = Ready::new(&Norms, &self.shape, vec![]);
        let (normed, _) = self.sweep(&ready, strips, vec![], &|b| piece(b))?;
        let mut normed: Normed = *normed.into_any().downcast().expect("norms tell norms");
        self.norms2 = std::mem::take(&mut normed.norms2);
        Ok(facts(looked, &normed, self.scale, self.weights.as_deref(), self.shape.points))
    }
}

/// Whether there is a usable weight for each point.
pub(crate) fn check_weights(weights: &[f64], points: usize) -> Result<()> {
    if weights.len() != points {
        return Err(Error::parameter(
            "weights",
            format!("{} weights for {points} points: give one for each point", weights.len()),
        ));
    }
    if let Some(j) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
        return Err(Error::parameter(
            "weights",
            format!(
                "the weight of point {j} (counted from 0) is {}: weights are finite and not negative",
                weights[j]
            ),
        ));
    }
    if let Some(j) = weights.iter().position(|w| *w > 0.0 && !(1e-30..=1e30).contains(w)) {
        return Err(Error::parameter(
            "weights",
            format!(
                "the weight of point {j} (counted from 0) is {:e}: scale them to lie from 1e-30 to 1e30",
                weights[j]
            ),
        ));
    }
    Ok(())
}
