//! Tiny random problems of many kinds, for tests that know the optimum.

use super::Numbers;

/// A problem small enough for brute force.
#[derive(Debug, Clone)]
pub struct Tiny {
    pub x: Vec<f64>,
    pub features: usize,
    pub k: usize,
    pub weights: Option<Vec<f64>>,
    /// One of the kinds of `open_kind`.
    pub kind: &'static str,
}

/// Problem number `seed`: points of any kind, with duplicates, multiples, zeros, low rank, k from 1 to n.
pub fn tiny(seed: u64) -> Tiny {
    let mut numbers = Numbers(seed.wrapping_mul(0x9E37_79B9).wrapping_add(11));
    let mut below = |n: usize| (numbers.next() * n as f64) as usize;
    let n = 2 + below(if seed.is_multiple_of(10) { 9 } else { 6 });
    let features = 1 + below(7);
    let (shape, structure, weighted) = (below(5), below(5), below(3) == 0);
    let kind = super::KINDS[below(super::KINDS.len())];
    let k = match below(6) {
        0 => 1,
        1 => n,
        _ => 1 + below(n),
    };
    let mut numbers = Numbers(seed.wrapping_mul(77_777).wrapping_add(3));
    let mut next = || numbers.next();
    let entry = |next: &mut dyn FnMut() -> f64| match shape {
        // Dense, sparse, counts, powers of very different size, zeros and ones.
        0 => next(),
        1 => {
            if next() < 0.6 {
                0.0
            } else {
                next()
            }
        }
        2 => (4.0 * next() * next()).floor(),
        3 => (next() * 6.0 - 3.0).exp(),
        _ => f64::from(u8::from(next() < 0.5)),
    };
    let mut x: Vec<f64> = (0..n * features).map(|_| entry(&mut next)).collect();
    match structure {
        // Duplicates and multiples of earlier points.
        0 => {
            for j in 1..n {
                if next() < 0.5 {
                    let (from, times) =
                        ((next() * j as f64) as usize, if next() < 0.5 { 1.0 } else { 3.0 * next() });
                    for f in 0..features {
                        x[j * features + f] = times * x[from * features + f];
                    }
                }
            }
        }
        // Rank below k.
        1 => {
            let rank = 1 + (next() * 2.0) as usize;
            let basis: Vec<f64> = (0..rank * features).map(|_| next()).collect();
            for j in 0..n {
                let shares: Vec<f64> = (0..rank).map(|_| next()).collect();
                for f in 0..features {
                    x[j * features + f] = (0..rank).map(|r| shares[r] * basis[r * features + f]).sum();
                }
            }
        }
        // A zero point.
        2 => x[..features].fill(0.0),
        // Nearly collinear clusters.
        3 => {
            for j in 0..n {
                for f in 0..features {
                    x[j * features + f] = f64::from(u8::from(j % 3 == f % 3)) + 0.05 * next();
                }
            }
        }
        _ => {}
    }
    if kind.contains("f32") {
        // What the data are is what float32 holds.
        x.iter_mut().for_each(|v| *v = f64::from(*v as f32));
    }
    let weights =
        weighted.then(|| (0..n).map(|_| if next() < 0.1 { 0.0 } else { 0.1 + 3.0 * next() }).collect());
    let mut problem = Tiny { x, features, k, weights, kind };
    problem.k = problem.k.min(problem.usable());
    problem
}

impl Tiny {
    /// Nonzero points with a weight.
    pub fn usable(&self) -> usize {
        let weight = |j: usize| self.weights.as_ref().map_or(1.0, |w| w[j]);
        let points = self.x.chunks_exact(self.features).enumerate();
        points.filter(|(j, p)| weight(*j) > 0.0 && p.iter().any(|v| *v != 0.0)).count()
    }
}
