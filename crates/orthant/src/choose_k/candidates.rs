//! From the levels to one to three candidates, each with its reasons.
//!
//! Four looks, none of which is right on all data:
//! - stable: the largest k whose clusters two halves of the data agree on about as well as for any k;
//! - knee: the k after which the gain falls off most, of one cluster over the next;
//! - rank: the k after which the singular values fall off most: points that are mixtures of k directions have clusters
//!   between these, but k singular values all the same;
//! - complete: the first k that explains everything.

use super::KResult;

/// A number of clusters with what speaks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The number.
    pub k: usize,
    /// Why, a phrase each.
    pub reasons: Vec<String>,
}

/// Halves that agree this well say the same.
const STABLE: f64 = 0.9;
/// So much less than the best agreement is still as good.
const SLACK: f64 = 0.03;
/// An error of rounding.
const NOTHING: f64 = 1e-6;
/// A knee is where a cluster gains so many times what the next one gains.
const KNEE: f64 = 2.0;

/// One to three candidates, the most convincing first; `energies` are the shares of the data that the first, second, …
/// singular value explains.
pub(super) fn candidates(levels: &[KResult], energies: &[f64]) -> Vec<Candidate> {
    let mut votes: Vec<(usize, f64, String)> = vec![];
    // Beyond the k that explains everything there is nothing to find.
    let complete = levels.iter().position(|l| l.relative_error <= NOTHING);
    let levels = &levels[..complete.map_or(levels.len(), |at| at + 1)];
    if let Some(at) = complete {
        votes.push((levels[at].k, 3.0, "it is the first that explains everything".into()));
    }
    votes.extend(stable(levels));
    let gains: Vec<(usize, f64)> = levels.iter().filter_map(|l| Some((l.k, l.gain?))).collect();
    let (first, last) = (levels[0].k, levels[levels.len() - 1].k);
    let ranks: Vec<(usize, f64)> = (first..=last.min(energies.len())).map(|k| (k, energies[k - 1])).collect();
    votes.extend(knees(&gains, [1.2, 0.5], |times| {
        format!("its last cluster gains {times} times what one more would")
    }));
    votes.extend(knees(&ranks, [0.8, 0.5], |times| {
        format!("the data span about so many directions (the last singular value explains {times} times what the next does)")
    }));
    if votes.is_empty() {
        let last = &levels[levels.len() - 1];
        votes.push((last.k, 0.0, "nothing stands out in this range; this is the largest looked at".into()));
    }
    let mut found: Vec<(f64, Candidate)> = vec![];
    for (k, weight, reason) in votes {
        match found.iter_mut().find(|(_, c)| c.k == k) {
            Some((total, candidate)) => {
                *total += weight;
                candidate.reasons.push(reason);
            }
            None => found.push((weight, Candidate { k, reasons: vec![reason] })),
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.k.cmp(&b.1.k)));
    found.into_iter().take(3).map(|(_, candidate)| candidate).collect()
}

/// The largest k that is about as stable as any, and the most stable one.
fn stable(levels: &[KResult]) -> Vec<(usize, f64, String)> {
    let known: Vec<(usize, f64)> = levels.iter().filter_map(|l| Some((l.k, l.stability()?))).collect();
    let Some(best) = known.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a }) else {
        return vec![];
    };
    let mut votes = vec![];
    let largest = known.iter().rev().find(|(_, s)| *s >= best.1 - SLACK).copied().unwrap_or(best);
    if largest.1 >= STABLE {
        let reason = format!(
            "the largest number of clusters that two halves of the data agree on (agreement {:.2})",
            largest.1
        );
        votes.push((largest.0, 1.5, reason));
    } else {
        let reason = format!("two halves of the data agree on it best (agreement {:.2})", best.1);
        votes.push((best.0, 1.0, reason));
    }
    votes
}

/// Where gains fall off most, and where they do so next; `gains` have consecutive k.
fn knees(
    gains: &[(usize, f64)],
    weights: [f64; 2],
    reason: impl Fn(&str) -> String,
) -> Vec<(usize, f64, String)> {
    let mut falls: Vec<(usize, f64)> = vec![];
    for pair in gains.windows(2) {
        let ((k, gain), (_, next)) = (pair[0], pair[1]);
        let ratio = gain / next.max(NOTHING * NOTHING);
        if ratio >= KNEE && gain > NOTHING * NOTHING {
            falls.push((k, ratio));
        }
    }
    falls.sort_by(|a, b| b.1.total_cmp(&a.1));
    let times = |ratio: f64| if ratio > 100.0 { "more than 100".into() } else { format!("{ratio:.1}") };
    falls.iter().zip(weights).map(|(&(k, ratio), weight)| (k, weight, reason(&times(ratio)))).collect()
}
