//! NNDSVD of Boutsidis and Gallopoulos: of every pair of singular vectors, the positive or the negative
//! parts, whichever weigh more.
//!
//! The zeros decide what multiplicative updates can do with it: they are filled with 1e-10, with which
//! the published results of O-P(SVD) are met; a fill of the mean entry is another algorithm.

use super::svd;
use crate::error::Result;
use crate::matrix::passes::{Signs, TakePositive};
use crate::matrix::{Mat, Slots};
use crate::prepare::Problem;

const FILL: f64 = 1e-10;

/// V into its slot; returns U.
pub(super) fn factors(problem: &Problem, slots: &mut dyn Slots) -> Result<Mat> {
    let singular = svd::signed(problem, slots)?;
    let k = problem.k;
    let signs = slots.tell(&Signs { k })?.0;
    let v_parts: Vec<(f64, f64)> = (0..k).map(|i| (signs[i], signs[k + i])).collect();
    let mut u = singular.left;
    let mut v_factors = vec![0.0; k];
    for i in 0..k {
        let column = u.column(i);
        let part = |sign: f64| column.iter().map(|x| (sign * x).max(0.0).powi(2)).sum::<f64>().sqrt();
        let (positive, negative) = (part(1.0) * v_parts[i].0.sqrt(), part(-1.0) * v_parts[i].1.sqrt());
        let (sign, weight) = if positive >= negative { (1.0, positive) } else { (-1.0, negative) };
        let (u_norm, v_norm) =
            if sign > 0.0 { (part(1.0), v_parts[i].0.sqrt()) } else { (part(-1.0), v_parts[i].1.sqrt()) };
        let size = (singular.values[i] * weight).sqrt();
        v_factors[i] = if v_norm > 0.0 { sign * size / v_norm } else { 0.0 };
        let factor = if u_norm > 0.0 { sign * size / u_norm } else { 0.0 };
        let filled: Vec<f64> =
            column.iter().map(|x| if factor * x > 0.0 { factor * x } else { FILL }).collect();
        u.set_column(i, &filled);
    }
    slots.tell(&TakePositive { factors: v_factors, fill: FILL })?;
    Ok(u)
}
