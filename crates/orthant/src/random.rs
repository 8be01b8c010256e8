//! Random numbers: always an argument, never a global generator.
//!
//! Only the raw 64-bit words come from a crate; the distributions are written here, so that the
//! numbers of a seed stay the same when the crates change theirs.

use std::collections::HashMap;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Stream `index` of a seed: streams never overlap, so blocks, restarts and threads can each have one.
pub(crate) fn stream(seed: u64, index: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(index);
    rng
}

/// Uniform in [0, 1): 53 random bits.
pub(crate) fn uniform(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Uniform in [low, high).
pub(crate) fn uniform_between(rng: &mut impl Rng, low: f64, high: f64) -> f64 {
    low + (high - low) * uniform(rng)
}

/// A whole number below `n`, each as likely: the high half of a product of 64 bits, drawn again where the low half would
/// make some of them likelier (Lemire 2019).
pub(crate) fn below(rng: &mut impl Rng, n: usize) -> usize {
    let n = n as u64;
    loop {
        let product = u128::from(rng.next_u64()) * u128::from(n);
        if product as u64 >= n.wrapping_neg() % n {
            return (product >> 64) as usize;
        }
    }
}

/// `count` of the numbers below `n`, none twice, in random order: the first steps of a shuffle, which keeps only the places
/// that it touched.
pub(crate) fn sample(rng: &mut impl Rng, n: usize, count: usize) -> Vec<usize> {
    let mut moved = HashMap::new();
    let draw = |at: usize| {
        let other = at + below(rng, n - at);
        let here = moved.get(&at).copied().unwrap_or(at);
        moved.insert(other, here).unwrap_or(other)
    };
    (0..count).map(draw).collect()
}

/// `count` of the numbers below `n`, increasing: one of every stretch, so that nothing of an order is left out.
pub(crate) fn one_of_each_stretch(rng: &mut impl Rng, n: usize, count: usize) -> Vec<usize> {
    let edge = |at: usize| (at as u128 * n as u128 / count as u128) as usize;
    (0..count).map(|at| edge(at) + (uniform(rng) * (edge(at + 1) - edge(at)) as f64) as usize).collect()
}

/// Standard normal numbers by Marsaglia's polar method, which makes two at a time.
#[derive(Default)]
pub(crate) struct Normal {
    spare: Option<f64>,
}

impl Normal {
    /// The next number of N(0, 1).
    pub(crate) fn draw(&mut self, rng: &mut impl Rng) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let x = uniform_between(rng, -1.0, 1.0);
            let y = uniform_between(rng, -1.0, 1.0);
            let r2 = x * x + y * y;
            if r2 > 0.0 && r2 < 1.0 {
                let factor = (-2.0 * r2.ln() / r2).sqrt();
                self.spare = Some(y * factor);
                return x * factor;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_without_repetition_and_every_order_is_as_likely() {
        let mut seen = HashMap::new();
        let mut rng = stream(7, 0);
        for _ in 0..60_000 {
            *seen.entry(sample(&mut rng, 5, 3)).or_insert(0usize) += 1;
        }
        // 5·4·3 = 60 orders of 1000 samples each; 150 are five deviations.
        assert_eq!(seen.len(), 60);
        for (order, times) in seen {
            assert!(order[0] != order[1] && order[0] != order[2] && order[1] != order[2], "{order:?}");
            assert!(times.abs_diff(1000) < 160, "{order:?} {times} times");
        }
        let mut all = sample(&mut rng, 1000, 1000);
        all.sort_unstable();
        assert!(all.into_iter().eq(0..1000));
    }

    #[test]
    fn uniform_numbers_fill_the_unit_interval_evenly() {
        let mut rng = stream(1, 0);
        let mut tenths = [0usize; 10];
        for _ in 0..100_000 {
            tenths[(uniform(&mut rng) * 10.0) as usize] += 1;
        }
        // Five standard deviations of a binomial count: √(1e5 · 0.1 · 0.9) ≈ 95.
        assert!(tenths.iter().all(|&count| count.abs_diff(10_000) < 475), "{tenths:?}");
    }

    /// So that results of a seed did not change when the crate's own distribution was left.
    #[test]
    fn uniform_numbers_are_those_that_the_crate_makes_today() {
        use rand::RngExt;
        let (mut ours, mut theirs) = (stream(5, 1), stream(5, 1));
        assert!((0..1000).all(|_| uniform(&mut ours).to_bits() == theirs.random::<f64>().to_bits()));
    }

    #[test]
    fn normal_numbers_have_the_moments_and_tails_of_a_normal_distribution() {
        let (mut rng, mut normal) = (stream(2, 0), Normal::default());
        let n = 200_000;
        let draws: Vec<f64> = (0..n).map(|_| normal.draw(&mut rng)).collect();
        let moment = |power: i32| draws.iter().map(|x| x.powi(power)).sum::<f64>() / n as f64;
        assert!(moment(1).abs() < 0.012);
        assert!((moment(2) - 1.0).abs() < 0.016);
        assert!(moment(3).abs() < 0.045);
        assert!((moment(4) - 3.0).abs() < 0.12);
        let beyond_two = draws.iter().filter(|x| x.abs() > 2.0).count() as f64 / n as f64;
        assert!((beyond_two - 0.0455).abs() < 0.0025, "{beyond_two}");
    }

    #[test]
    fn streams_of_one_seed_differ_and_repeat() {
        let draw = |seed, index| stream(seed, index).next_u64();
        assert_eq!(draw(7, 3), draw(7, 3));
        assert_ne!(draw(7, 3), draw(7, 4));
        assert_ne!(draw(7, 3), draw(8, 3));
    }
}
