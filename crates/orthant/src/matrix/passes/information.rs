//! The part of the KL divergence that no factors change.

use crate::bytes::bytes_of;
use crate::error::Result;
use crate::matrix::Shape;
use crate::matrix::engine::{ArrayMut, Strip};
use crate::matrix::seam::{Pass, Slot, Use};

/// `Σ_f m log(m/Σm)` of every point, what its own distribution would say of it, into a slot; tells `Σⱼ wⱼ` times that.
#[derive(Debug, Clone)]
pub struct Information;
bytes_of!(Information {});

impl Pass for Information {
    const NAME: &'static str = "information";
    type Part = f64;

    fn empty(&self) -> f64 {
        0.0
    }

    fn slots(&self) -> Vec<Use> {
        vec![Use::Numbers(Slot::Information, 1)]
    }

    fn cost(&self, shape: &Shape) -> usize {
        shape.nonzeros.saturating_mul(4)
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], total: &mut f64) -> Result<()> {
        let log = |x: f64| if x > 0.0 { x * x.ln() } else { 0.0 };
        for (p, own) in arrays[0].numbers().iter_mut().enumerate() {
            let (mut sum, mut logs) = (0.0, 0.0);
            strip.entries(p, &mut |_, x| {
                sum += x;
                logs += log(x);
            });
            *own = logs - log(sum);
            *total += strip.weight(p) * *own;
        }
        Ok(())
    }
}
