//! Which of a point's scores is the largest.

/// The lowest index whose score is the largest, up to `tie` (relative to it): on exactly collinear
/// data the last bit must not decide.
#[inline(always)]
pub(in crate::matrix::passes) fn largest(scores: &[f64], tie: f64) -> usize {
    let mut best = f64::NEG_INFINITY;
    for &s in scores {
        best = if s > best { s } else { best };
    }
    let enough = best - tie * best.abs();
    // From the last to the first, without a branch that a processor would guess wrongly for every other point.
    let mut first = 0;
    for (i, &s) in scores.iter().enumerate().rev() {
        first = if s >= enough { i } else { first };
    }
    first
}

/// The label of a point, its score, and the largest score of another cluster.
pub(super) struct Choice {
    pub(super) label: usize,
    pub(super) score: f64,
    pub(super) other: f64,
}

/// The largest score so far, the second, and whose the largest is, after one more. (Comparisons that are single
/// instructions: `f64::max` would look for NaN each time.)
#[inline(always)]
fn ahead((best, second, label): (f64, f64, usize), score: f64, i: usize) -> (f64, f64, usize) {
    let better = score > best;
    let lower = if better { best } else { score };
    let second = if lower > second { lower } else { second };
    (if better { score } else { best }, second, if better { i } else { label })
}

/// The cluster with the largest score less its offset. Where others are as good up to `tie`, relative to the terms of
/// the difference, the lowest index wins: on exactly collinear data the last bit must not decide.
#[inline(always)]
pub(super) fn choose(scores: &[f64], offset: impl Fn(usize) -> f64, tie: f64) -> Choice {
    let (mut best, mut second, mut label) = (f64::NEG_INFINITY, f64::NEG_INFINITY, 0);
    for (i, &score) in scores.iter().enumerate() {
        (best, second, label) = ahead((best, second, label), score - offset(i), i);
    }
    let enough = best - tie * (scores[label].abs() + offset(label));
    if second >= enough {
        label = (0..scores.len()).position(|i| scores[i] - offset(i) >= enough).unwrap_or(label);
        let others = (0..scores.len()).filter(|&i| i != label).map(|i| scores[i] - offset(i));
        second = others.fold(f64::NEG_INFINITY, f64::max);
    }
    Choice { label, score: scores[label], other: second }
}

/// The largest of rough scores less their offsets (if any), the second, and whose the largest is.
#[inline(always)]
pub(super) fn choose_roughly(scores: &[f32], offsets: &[f64]) -> (f64, f64, usize) {
    let mut found = (f64::NEG_INFINITY, f64::NEG_INFINITY, 0);
    for (i, &score) in scores.iter().enumerate() {
        found = ahead(found, f64::from(score) - offsets.get(i).copied().unwrap_or(0.0), i);
    }
    found
}
