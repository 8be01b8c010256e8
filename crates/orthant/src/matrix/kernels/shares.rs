//! Soft memberships of eight runs side by side, in float32: see [`mod@super::lanes`] for how they lie.

use super::lanes::{LANES, Scored, scores, share};
use super::{Kernel, holds};
use crate::matrix::rough::Softness;

/// What each point adds to every cluster, by its share there: proportional to `exp(each·closeness)`, where closeness is the
/// score, or its square.
pub(crate) struct Shares<'a> {
    pub to: Scored<'a>,
    pub from: usize,
    /// Whether closeness is the square of a score, and a point adds itself times its score too: a power step.
    pub squares: bool,
    /// Of the points from `from` on.
    pub shift: &'a [f32],
    pub softness: &'a [Softness],
    /// points × k × lanes, of the same points.
    pub shares: &'a mut [f32],
    /// points × lanes: the largest score.
    pub score: &'a mut [f32],
}

/// Calls [`scores`] with as many clusters at once as `$q` says, and keeps them.
macro_rules! keep_scores {
    ($fma:tt, $to:expr, $row:expr, $first:expr, $q:expr, $shift:expr, $out:expr, $($n:literal)+) => {
        match $q {
            // SAFETY: as asserted by the caller.
            $($n => $out.copy_from_slice(unsafe { scores::<$fma, $n>($to, $row, $first, $shift) }.as_flattened()),)+
            _ => unreachable!("no more clusters are taken at once"),
        }
    };
}

impl Kernel for Shares<'_> {
    type T = f32;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let Shares { to, from, squares, shift, softness, shares, score } = self;
        let (k, count) = (to.k, score.len() / LANES);
        to.check(from, count);
        assert!(holds(shares.len(), count, k * LANES));
        assert!(shift.len() >= count && softness.len() >= count);
        let mut parts = vec![[0.0; LANES]; k];
        for (p, (own, best)) in shares.chunks_exact_mut(k * LANES).zip(score.as_chunks_mut().0).enumerate() {
            let mut first = 0;
            while first < k {
                let q = share(k - first);
                let out = &mut own[first * LANES..(first + q) * LANES];
                keep_scores!(FMA, &to, from + p, first, q, shift[p], out, 1 2 3 4 5 6 7 8 9 10);
                first += q;
            }
            *best = soften(own.as_chunks_mut().0, squares, softness[p], &mut parts);
        }
    }
}

/// Scores of a point become what it adds; gives the largest of them. `parts` is memory for a number each.
#[inline(always)]
fn soften(
    own: &mut [[f32; LANES]],
    squares: bool,
    Softness { each, adds }: Softness,
    parts: &mut [[f32; LANES]],
) -> [f32; LANES] {
    let mut best = [f32::NEG_INFINITY; LANES];
    for score in own.iter() {
        for l in 0..LANES {
            best[l] = if score[l] > best[l] { score[l] } else { best[l] };
        }
    }
    let closeness = |score: f32| each * if squares { score * score } else { score };
    let mut whole = [0.0; LANES];
    for (part, score) in parts.iter_mut().zip(own.iter()) {
        for l in 0..LANES {
            part[l] = exponential(closeness(score[l]) - closeness(best[l]));
            whole[l] += part[l];
        }
    }
    for l in 0..LANES {
        whole[l] = adds / whole[l];
    }
    for (score, part) in own.iter_mut().zip(parts.iter()) {
        for l in 0..LANES {
            score[l] = part[l] * whole[l] * if squares { score[l] } else { 1.0 };
        }
    }
    best
}

/// `exp(x)` for x ≤ 0, the same bits in every form that it is compiled to: `2ⁿ·exp(r)` with |r| at most half of ln 2. Its series ends
/// with the sixth power: wrong by 2.4e-7 of it at most; 0 where it would be below 1e-37.
#[inline(always)]
pub(crate) fn exponential(x: f32) -> f32 {
    // Two parts of ln 2, the first of which has few digits: n of them are exact.
    const HIGH: f32 = 0.693_359_4;
    const LOW: f32 = -2.121_944_4e-4;
    let held = if x > -86.0 { x } else { -86.0 };
    // Nearest whole number, by way of one so large that nothing behind the point is kept.
    const LARGE: f32 = 12_582_912.0;
    let n = (held * std::f32::consts::LOG2_E + LARGE) - LARGE;
    let r = (held - n * HIGH) - n * LOW;
    let tail = 1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0 + r * (1.0 / 720.0)));
    let near = 1.0 + (r + r * r * (0.5 + r * tail));
    let scale = f32::from_bits(((n as i32 + 127) as u32) << 23);
    if x > -86.0 { near * scale } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::lanes::{Added, Rows, Sums, TOGETHER};
    use super::super::tests::{forms, numbers, run_form};
    use super::*;

    #[test]
    fn exponentials_are_those_of_the_standard_library_but_for_the_last_digits() {
        for i in 0..100_000 {
            let x = -(i as f32) * 1e-3;
            let (got, exact) = (f64::from(exponential(x)), f64::from(x).exp());
            let right = if x > -86.0 { (got - exact).abs() <= 2.4e-7 * exact } else { got == 0.0 };
            assert!(right, "exp({x}) = {exact}, not {got}");
        }
        assert_eq!((exponential(0.0), exponential(f32::NEG_INFINITY)), (1.0, 0.0));
    }

    /// Shares and the sums of what points add by them, by plain loops of each lane.
    #[test]
    fn shares_are_the_plain_loops_of_each_run() {
        let (points, features, from) = (29, 40, 4);
        let (mut offsets, mut at, mut x) = (vec![0], vec![], vec![]);
        for p in 0..points {
            for f in (0..features).filter(|f| (p * 5 + f * 3) % 4 == 0) {
                at.push(f as u32);
                x.push(numbers(points * features, 5)[p * features + f].abs() as f32);
            }
            offsets.push(at.len());
        }
        let rows = Rows::new(offsets, at, x, features);
        let turned = rows.turned();
        let single = |count: usize, seed: u64| -> Vec<f32> {
            numbers(count, seed).iter().map(|&x| x as f32).collect()
        };
        for (k, squares, form) in [1, 3, 10, 13]
            .into_iter()
            .flat_map(|k| [false, true].map(|s| (k, s)))
            .flat_map(|(k, s)| forms().into_iter().map(move |form| (k, s, form)))
        {
            let count = points - from;
            // Closeness grows with the score: what is squared is not negative, as data and centroids are not.
            let size = |x: Vec<f32>, most: f32| -> Vec<f32> { x.iter().map(|x| x.abs() * most).collect() };
            let (u, inverse) = (size(single(features * k * LANES, 6), 1.0), size(single(k * LANES, 7), 1.0));
            let offset = if squares { vec![0.0; k * LANES] } else { single(k * LANES, 8) };
            let (shift, each) =
                (single(count, 9), size(single(count, 10), if squares { 1e-3 } else { 0.125 }));
            let adds = single(count, 11);
            let to = Scored { rows: &rows, k, u: &u, inverse: &inverse, offset: &offset };
            let (mut shares, mut score) = (vec![0.0; points * k * LANES], vec![0.0; count * LANES]);
            let own = &mut shares[from * k * LANES..];
            let softness: Vec<Softness> =
                each.iter().zip(&adds).map(|(&each, &adds)| Softness { each, adds }).collect();
            let (shift, softness) = (&shift[..], &softness[..]);
            run_form(form, Shares { to, from, squares, shift, softness, shares: own, score: &mut score });
            for (p, l) in (0..count).flat_map(|p| (0..LANES).map(move |l| (p, l))) {
                let of = |c: usize| {
                    let product: f32 = rows.row(from + p).map(|(f, x)| x * u[(f * k + c) * LANES + l]).sum();
                    product * inverse[c * LANES + l] - shift[p] * offset[c * LANES + l]
                };
                let best = (0..k).map(of).fold(f32::NEG_INFINITY, f32::max);
                assert_eq!(score[p * LANES + l], best, "{form}, k = {k}");
                let close = |s: f32| each[p] * if squares { s * s } else { s };
                let shares_of: Vec<f64> =
                    (0..k).map(|c| f64::from(close(of(c)) - close(best)).exp()).collect();
                for c in 0..k {
                    let share = shares_of[c] / shares_of.iter().sum::<f64>();
                    let expected = share * f64::from(adds[p]) * if squares { f64::from(of(c)) } else { 1.0 };
                    let got = f64::from(shares[((from + p) * k + c) * LANES + l]);
                    assert!((got - expected).abs() <= 1e-5 * expected.abs().max(1e-3), "{form}, k = {k}");
                }
            }
            let mut sums = vec![f32::NAN; features * k * LANES];
            let tally = &mut vec![0.0; features.div_ceil(TOGETHER) * k * LANES];
            let added = Added::ToAll(&shares);
            let (turned, block, lanes) = (&turned, 64, LANES);
            run_form(
                form,
                Sums { turned, k, block, lanes, added, from: 0, u: &mut sums, squares: false, tally },
            );
            for (f, column) in (0..features).flat_map(|f| (0..k * LANES).map(move |column| (f, column))) {
                let (mut plain, mut size) = (0.0, 0.0);
                for (p, x) in turned.row(f) {
                    let add = f64::from(x) * f64::from(shares[p * k * LANES + column]);
                    (plain, size) = (plain + add, size + add.abs());
                }
                let got = f64::from(sums[f * k * LANES + column]);
                assert!((got - plain).abs() <= 1e-6 * size, "{form}, k = {k}");
            }
        }
    }
}
