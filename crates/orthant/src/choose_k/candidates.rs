//! From the levels to one to three candidates, each with its reasons.
//!
//! Three looks, none of which is right on all data:
//! - stable: the largest k whose clusters two halves of the data agree on about as well as for any k;
//! - knee: the k after which the gain falls off most, of one cluster over the next;
//! - complete: the first k that explains everything.

use super::Level;

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

/// One to three candidates, the most convincing first.
pub(super) fn candidates(levels: &[Level]) -> Vec<Candidate> {
    let mut votes: Vec<(usize, f64, String)> = vec![];
    // Beyond the k that explains everything there is nothing to find.
    let complete = levels.iter().position(|l| l.relative_error <= NOTHING);
    let levels = &levels[..complete.map_or(levels.len(), |at| at + 1)];
    if let Some(at) = complete {
        votes.push((levels[at].k, 3.0, "it is the first that explains everything".into()));
    }
    votes.extend(stable(levels));
    votes.extend(knees(levels));
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
fn stable(levels: &[Level]) -> Vec<(usize, f64, String)> {
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

/// Where the gain falls off most, and where it does so next.
fn knees(levels: &[Level]) -> Vec<(usize, f64, String)> {
    let mut falls: Vec<(usize, f64)> = vec![];
    for pair in levels.windows(2) {
        let (Some(gain), Some(next)) = (pair[0].gain, pair[1].gain) else { continue };
        let ratio = gain / next.max(1e-12);
        if ratio >= KNEE && gain > NOTHING * NOTHING {
            falls.push((pair[0].k, ratio));
        }
    }
    falls.sort_by(|a, b| b.1.total_cmp(&a.1));
    let reason = |ratio: f64| {
        let times = if ratio > 100.0 { "more than 100".into() } else { format!("{ratio:.1}") };
        format!("its last cluster gains {times} times what one more would")
    };
    falls
        .iter()
        .take(2)
        .enumerate()
        .map(|(at, &(k, ratio))| (k, if at == 0 { 1.2 } else { 0.5 }, reason(ratio)))
        .collect()
}
