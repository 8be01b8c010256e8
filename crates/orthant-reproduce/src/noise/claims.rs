//! What the paper says of Figures 2 and 4.
//!
//! Methods are compared in pairs on the same sets. At noise 0.5 and 1 everything is near chance, and nothing is decided.

use anyhow::Result;
use orthant::report::number::percent;

use super::{Course, ONMF, OP_SVD, Pairs, by_set, title};
use crate::estimate::{Estimate, Side, all, everywhere, mostly, share_of_perfect_draws};
use crate::lab::Lab;
use crate::protocol::{POLISHED, SETS};
use crate::sets::synthetic::NoiseLevel;
use crate::shown::{Claim, Verdict};

/// The level at which the paper finds ONP-MF and O-P(SVD) perfect.
pub const SMALL: f64 = 0.01;
/// Below this share of all draws the paper's ten sets cannot well have been perfect; above the other they must have.
const RARE: f64 = 0.05;
const COMMON: f64 = 0.95;
/// Methods that differ by less perform similarly.
const SIMILAR: f64 = 0.05;

/// ONMF above both, at every level.
pub fn above(lab: &Lab, pairs: &[Pairs]) -> Claim {
    let (place, claim) = (
        "Figure 2",
        "ONMF outperforms k-means and spherical k-means (noise up to 0.3, in pairs on the same sets).",
    );
    let least = pairs.iter().map(|p| p.differences.len()).min().unwrap_or(0);
    let sides: Vec<Side> = pairs.iter().map(|p| p.estimate().side()).collect();
    let told = |side: Side| -> Vec<String> {
        let of =
            |p: &Pairs| format!("noise {} against {}: {}", p.noise, title(p.other), p.estimate().points());
        pairs.iter().filter(|p| p.estimate().side() == side).map(of).collect()
    };
    let count = |side: Side| sides.iter().filter(|s| **s == side).count();
    if least == 0 {
        return Claim {
            place,
            claim,
            verdict: lab.judge(false, Verdict::Uncertain),
            evidence: String::new(),
        };
    }
    let mut evidence = format!(
        "On {least} sets a level: above in {} of {} comparisons, equal on every set in {}.",
        count(Side::Above),
        sides.len(),
        count(Side::Equal)
    );
    for (words, side) in [("Below", Side::Below), ("Not to be told", Side::Unclear)] {
        if !told(side).is_empty() {
            evidence += &format!(" {words}: {} (percent points ± standard error).", told(side).join("; "));
        }
    }
    Claim { place, claim, verdict: lab.judge(least >= SETS, everywhere(&sides)), evidence }
}

/// Accuracies of a method on all sets of the small level that have been run.
fn at_small_noise(lab: &Lab, method: &str) -> Result<Vec<f64>> {
    let mut known = vec![];
    for level in lab.sets.levels.iter().filter(|level| level.noise == SMALL) {
        known = by_set(lab, level, method, usize::MAX)?.into_iter().flatten().collect();
    }
    Ok(known)
}

/// Whether ten sets may have been perfect.
fn of_share(share: f64) -> Verdict {
    match share {
        share if share >= COMMON => Verdict::Holds,
        share if share <= RARE => Verdict::Fails,
        _ => Verdict::Uncertain,
    }
}

/// Perfect on all of ten sets of the small level.
pub fn perfect_model(lab: &Lab) -> Result<Claim> {
    let known = at_small_noise(lab, ONMF)?;
    let perfect = known.iter().filter(|a| **a == 1.0).count();
    let share = share_of_perfect_draws(&known, SETS);
    Ok(Claim {
        place: "Figures 2 and 4",
        claim: "ONP-MF identifies all clusters perfectly at noise 0.01.",
        verdict: lab.judge_single_runs(known.len() >= 2 * SETS, of_share(share)),
        evidence: format!(
            "{perfect} of {} sets are perfect, mean accuracy {:.4}. Of all draws of {SETS} sets from these, as many as the \
             paper has, {} would be perfect.",
            known.len(),
            Estimate::of(&known).value,
            percent(share)
        ),
    })
}

/// A method's accuracy less another's, set by set.
fn difference(lab: &Lab, level: &NoiseLevel, one: &str, other: &str) -> Result<Estimate> {
    let (a, b) = (by_set(lab, level, one, lab.protocol.sets)?, by_set(lab, level, other, lab.protocol.sets)?);
    Ok(Estimate::of(&a.iter().zip(b).filter_map(|(a, b)| Some((*a)? - b?)).collect::<Vec<_>>()))
}

/// The two that the paper finds best, the three it finds similar, and the one it finds poor.
const BEST: [&str; 2] = [ONMF, OP_SVD];
const MIDDLE: [&str; 3] = ["chnmf:random", "o-pnmf:random", "chnmf:nndsvd"];
const POOR: &str = "em-onmf:random";

/// What the paper says of Figure 4, at the levels at which methods can be told apart.
pub fn of_methods(lab: &Lab, courses: &[Course]) -> Result<Vec<Claim>> {
    let levels: Vec<&NoiseLevel> = lab.sets.levels.iter().filter(|l| l.noise > 0.0 && l.tells()).collect();
    let paper = || courses.iter().filter(|c| c.method != POLISHED);
    let whole = paper().all(|c| levels.iter().all(|l| c.sets_at(l.noise) >= lab.protocol.sets));
    Ok(vec![
        best(lab, courses, &levels, whole)?,
        only_perfect(lab, whole)?,
        similar(lab, &levels, whole)?,
        lower(lab, &levels, whole)?,
        poor(lab, &levels, whole)?,
    ])
}

fn best(lab: &Lab, courses: &[Course], levels: &[&NoiseLevel], whole: bool) -> Result<Claim> {
    let highest = |methods: &[&'static str], noise: f64| {
        let mean = |method: &str| courses.iter().find(|c| c.method == method).map_or(0.0, |c| c.at(noise));
        methods.iter().copied().max_by(|a, b| mean(a).total_cmp(&mean(b))).unwrap_or(ONMF)
    };
    let others = [&MIDDLE[..], &[POOR]].concat();
    let (mut sides, mut told) = (vec![], vec![]);
    for level in levels {
        let (mine, theirs) = (highest(&BEST, level.noise), highest(&others, level.noise));
        let d = difference(lab, level, mine, theirs)?;
        told.push(format!("{}: {} against {} {}", level.noise, title(mine), title(theirs), d.points()));
        sides.push(d.side());
    }
    Ok(Claim {
        place: "Figure 4",
        claim: "ONP-MF or O-P(SVD) perform best among all ONMF methods (noise up to 0.3).",
        verdict: lab.judge(whole, mostly(&sides)),
        evidence: format!(
            "The better of the two against the best of the others, on {} sets in pairs, percent points ± standard error: {}.",
            lab.protocol.sets,
            told.join("; ")
        ),
    })
}

fn only_perfect(lab: &Lab, whole: bool) -> Result<Claim> {
    let (mut told, mut together) = (vec![], 1.0);
    for method in [&BEST[..], &MIDDLE[..], &[POOR]].concat() {
        let share = share_of_perfect_draws(&at_small_noise(lab, method)?, SETS);
        together *= if BEST.contains(&method) { share } else { 1.0 - share };
        told.push(format!("{} {}", title(method), percent(share)));
    }
    Ok(Claim {
        place: "Figure 4",
        claim: "ONP-MF and O-P(SVD) are the only ones that find all clusters perfectly at noise 0.01.",
        verdict: lab.judge(whole && together.is_finite(), of_share(together)),
        evidence: format!("Share of draws of {SETS} sets that would be perfect: {}.", told.join(", ")),
    })
}

fn similar(lab: &Lab, levels: &[&NoiseLevel], whole: bool) -> Result<Claim> {
    let (mut verdicts, mut apart) = (vec![], 0.0f64);
    for level in levels {
        for (i, one) in MIDDLE.iter().enumerate() {
            for other in &MIDDLE[..i] {
                let d = difference(lab, level, one, other)?;
                apart = apart.max(d.value.abs());
                verdicts.push(d.within(SIMILAR));
            }
        }
    }
    Ok(Claim {
        place: "Figure 4",
        claim: "CHNMF, O-PNMF and CH(SVD) perform similarly (differences below 5 percent points).",
        verdict: lab.judge(whole, all(verdicts)),
        evidence: format!("Up to noise 0.3 they are at most {:.1} percent points apart.", 100.0 * apart),
    })
}

fn lower(lab: &Lab, levels: &[&NoiseLevel], whole: bool) -> Result<Claim> {
    let mut sides = vec![];
    for level in levels {
        for (one, other) in BEST.iter().flat_map(|one| MIDDLE.map(|other| (*one, other))) {
            sides.push(strictly(difference(lab, level, one, other)?.side()));
        }
    }
    let count = |side: Side| sides.iter().filter(|s| **s == side).count();
    Ok(Claim {
        place: "Figure 4",
        claim: "In most cases CHNMF, O-PNMF and CH(SVD) are below ONP-MF and O-P(SVD).",
        verdict: lab.judge(whole, mostly(&sides)),
        evidence: format!(
            "Of {} comparisons in pairs: below in {}, not below in {}, not to be told in {}.",
            sides.len(),
            count(Side::Above),
            count(Side::Below),
            count(Side::Unclear)
        ),
    })
}

fn poor(lab: &Lab, levels: &[&NoiseLevel], whole: bool) -> Result<Claim> {
    let (mut all, mut told) = (vec![], vec![]);
    for level in levels {
        let others = [&BEST[..], &MIDDLE[..]].concat();
        let sides = others.iter().map(|m| Ok(strictly(difference(lab, level, m, POOR)?.side())));
        let sides = sides.collect::<Result<Vec<_>>>()?;
        let above = sides.iter().filter(|side| **side == Side::Above).count();
        told.push(format!("{} behind {above} of {}", level.noise, sides.len()));
        all.extend(sides);
    }
    Ok(Claim {
        place: "Figure 4",
        claim: "EM-ONMF performs rather poorly (its average over random starts is below most others).",
        verdict: lab.judge(whole, mostly(&all)),
        evidence: format!("At noise {}.", told.join("; ")),
    })
}

/// For a claim that something is below: what is equal is not.
fn strictly(side: Side) -> Side {
    if side == Side::Equal { Side::Below } else { side }
}
