//! Figures 5 to 8: Hubble, Urban, the swimmer, and what the paper says of them.

use anyhow::Result;

use crate::estimate::{Estimate, Side, everywhere};
use crate::lab::Lab;
use crate::maps::{self, Best};
use crate::noise::title;
use crate::permutations::{self, PERMUTED, Spread};
use crate::plan::Plan;
use crate::protocol::{PAPER, POLISHED};
use crate::sets::scenes::Picture;
use crate::shown::{Claim, Shown, Verdict};

const ONP_MF: &str = "onp-mf:svd";
/// Figure 6 has these, Figure 7 those that begin with an SVD.
const URBAN: &[&str] = &[
    "k-means:random",
    "spherical-k-means:random",
    "chnmf:random",
    "o-pnmf:random",
    "em-onmf:random",
    ONP_MF,
];
const URBAN_SVD: &[&str] = &["chnmf:nndsvd", "o-pnmf:nndsvd"];
/// Methods that begin with an SVD, where it is beside the random starts.
const FROM_SVD: &[(&str, &str)] = &[("chnmf:nndsvd", "chnmf:random"), ("o-pnmf:nndsvd", "o-pnmf:random")];
/// A class counts as extracted when it and its cluster overlap at least this far.
const EXTRACTED: f64 = 0.5;
const BEYOND: &str = "<p class=\"note\">The last row is beyond the paper: ONP-MF followed by EM.</p>";
const BRIGHTNESS: &str = "Brightness is the strength v of a pixel in its cluster; pixels that are zero belong to none. \
                          Each method shows its best run by its own objective.";

/// The paper's methods and ONP-MF followed by EM.
fn with_polish(methods: &[&'static str]) -> Vec<&'static str> {
    methods.iter().copied().chain([POLISHED]).collect()
}

/// Plans the cells of Figure 5.
pub fn plan_figure5(lab: &Lab, plan: &mut Plan) -> Result<()> {
    lab.sets.hubble.iter().try_for_each(|picture| maps::plan_methods(lab, plan, picture, PAPER))
}

/// Plans the cells of Figure 6.
pub fn plan_figure6(lab: &Lab, plan: &mut Plan) -> Result<()> {
    lab.sets.urban.iter().try_for_each(|picture| maps::plan_methods(lab, plan, picture, URBAN))
}

/// Plans the cells of Figure 7.
pub fn plan_figure7(lab: &Lab, plan: &mut Plan) -> Result<()> {
    lab.sets.urban.iter().try_for_each(|picture| maps::plan_methods(lab, plan, picture, URBAN_SVD))
}

/// Plans the cells of Figure 8.
pub fn plan_figure8(lab: &Lab, plan: &mut Plan) -> Result<()> {
    lab.sets.swimmer.iter().try_for_each(|picture| maps::plan_methods(lab, plan, picture, PAPER))?;
    permutations::plan(lab, plan, "swimmer", PERMUTED)
}

/// A verdict about an image.
fn judge(lab: &Lab, picture: &Picture, whole: bool, verdict: Verdict) -> Verdict {
    picture.verdict(lab.judge(whole, verdict))
}

fn of<'a>(found: &'a [Best], method: &str) -> Option<&'a Best> {
    found.iter().find(|b| b.method == method)
}

/// Figure 5.
pub fn figure5(lab: &Lab) -> Result<Shown> {
    let pictures = &lab.sets.hubble;
    let titles = pictures.iter().map(|p| p.title.as_str()).collect::<Vec<_>>().join("; ");
    let mut shown = Shown { heading: format!("Figure 5: {titles}"), ..Shown::default() };
    shown.html = format!("<p class=\"note\">{BRIGHTNESS}</p>");
    for picture in pictures {
        let found = maps::best(lab, picture, &with_polish(PAPER))?;
        let gallery = maps::gallery(&name("figure5", pictures, picture), picture, &found, true, true)?;
        shown.html += &format!("{}{}<p>{}</p>{BEYOND}", maps::heading(picture), gallery.html, ranked(&found));
        shown.markdown += &format!("### {}\n\n{}{}\n\n", picture.title, gallery.markdown, ranked(&found));
        shown.files.extend(gallery.files);
        shown.claims.extend(hubble_claims(lab, picture, &found));
    }
    shown.claims = merged(shown.claims);
    Ok(shown)
}

fn hubble_claims(lab: &Lab, picture: &Picture, found: &[Best]) -> Vec<Claim> {
    if found.is_empty() && lab.sets.hubble.len() > 1 {
        return vec![];
    }
    let (k, title) = (picture.set.k, &picture.title);
    let all = |b: &&Best| b.exact == k;
    let paper = || found.iter().filter(|b| b.method != POLISHED);
    let whole = paper().count() == PAPER.len() && picture.set.truth.is_some();
    let missed: Vec<String> = paper()
        .filter(|b| !all(b))
        .map(|b| format!("{} {} of {k} (accuracy {:.1})", b.title, b.exact, 100.0 * b.accuracy))
        .collect();
    let missed = if missed.is_empty() { "none".into() } else { missed.join(", ") };
    let svd = || found.iter().filter(|b| URBAN_SVD.contains(&b.method));
    let alone = of(found, ONP_MF).is_some_and(|b| b.exact == k) && paper().filter(all).count() == 1;
    let of_svd: Vec<String> = svd()
        .map(|b| format!("{} {} of {k}, accuracy {:.1}", b.title, b.exact, 100.0 * b.accuracy))
        .collect();
    vec![
        Claim {
            place: "Figure 5",
            claim: "ONP-MF alone recovers all eight materials without mixing.",
            verdict: judge(lab, picture, whole, Verdict::of(alone)),
            evidence: format!(
                "On {title}: all {k} exactly {}; not all {missed}.",
                maps::titles(paper().filter(all))
            ),
        },
        Claim {
            place: "Figure 5",
            claim: "From the SVD start too, CHNMF and O-PNMF do not separate all materials.",
            verdict: judge(lab, picture, whole, Verdict::of(!svd().any(|b| all(&b)))),
            evidence: format!("On {title}: {}.", of_svd.join("; ")),
        },
    ]
}

/// A claim once, with what was found on every image.
fn merged(claims: Vec<Claim>) -> Vec<Claim> {
    let mut once: Vec<Claim> = vec![];
    for claim in claims {
        match once.iter_mut().find(|c| c.claim == claim.claim) {
            Some(known) => {
                let both = format!("{} {}", known.evidence, claim.evidence);
                known.evidence = both.trim().to_string();
            }
            None => once.push(claim),
        }
    }
    once
}

/// Where ONP-MF stands among the paper's methods by accuracy.
fn ranked(found: &[Best]) -> String {
    let paper: Vec<&Best> = found.iter().filter(|b| b.method != POLISHED && b.accuracy.is_finite()).collect();
    let Some(onp) = paper.iter().find(|b| b.method == ONP_MF) else { return String::new() };
    let others: Vec<f64> = paper.iter().filter(|b| b.method != ONP_MF).map(|b| 100.0 * b.accuracy).collect();
    if others.is_empty() {
        return String::new();
    }
    let above = paper.iter().filter(|b| b.accuracy > onp.accuracy).count();
    let place = match above {
        0 => "the best".to_string(),
        _ if above == others.len() => "the worst".to_string(),
        _ => format!("number {}", above + 1),
    };
    let (low, high) =
        (others.iter().copied().fold(100.0, f64::min), others.iter().copied().fold(0.0, f64::max));
    format!(
        "By the accuracy of its best run ONP-MF is {place} of {}: {:.1}, the others {low:.1} to {high:.1}.",
        paper.len(),
        100.0 * onp.accuracy
    )
}

/// Figures 6 and 7 need a picture of Urban, or what stands for it.
fn without_urban(heading: &str) -> Shown {
    Shown {
        heading: format!("{heading}: Urban"),
        html: "<p>Not run: neither Urban.mat (or Urban_R162.mat) nor hyperspectral/urban_gt6 or \
               hyperspectral/urban_crop80x100 is in the folder of the data.</p>"
            .into(),
        claims: vec![Claim {
            place: "Figures 6 and 7",
            claim: "ONP-MF is the only method that extracts the metal of Urban.",
            verdict: Verdict::untestable("The data are not here."),
            evidence: String::new(),
        }],
        ..Shown::default()
    }
}

fn urban_title(lab: &Lab) -> String {
    lab.sets.urban.iter().map(|p| p.title.as_str()).collect::<Vec<_>>().join("; ")
}

/// Figure 6.
pub fn figure6(lab: &Lab) -> Result<Shown> {
    if lab.sets.urban.is_empty() {
        return Ok(without_urban("Figure 6"));
    }
    let mut shown = Shown { heading: format!("Figure 6: {}", urban_title(lab)), ..Shown::default() };
    shown.html = format!("<p class=\"note\">{BRIGHTNESS}</p>");
    for picture in &lab.sets.urban {
        let found = maps::best(lab, picture, &with_polish(URBAN))?;
        let gallery =
            maps::gallery(&name("figure6", &lab.sets.urban, picture), picture, &found, true, false)?;
        let all = maps::best(lab, picture, PAPER)?;
        shown.html += &format!("{}{}<p>{}</p>{BEYOND}", maps::heading(picture), gallery.html, ranked(&all));
        shown.markdown += &format!("### {}\n\n{}{}\n\n", picture.title, gallery.markdown, ranked(&all));
        shown.files.extend(gallery.files);
        if picture.set.truth.is_some() {
            shown.claims.extend(urban_claims(lab, picture, &all));
        }
    }
    shown.claims = merged(shown.claims);
    Ok(shown)
}

/// Figure 7.
pub fn figure7(lab: &Lab) -> Result<Shown> {
    if lab.sets.urban.is_empty() {
        return Ok(Shown { claims: vec![], ..without_urban("Figure 7") });
    }
    let mut shown =
        Shown { heading: format!("Figure 7: {}, from the SVD", urban_title(lab)), ..Shown::default() };
    for picture in &lab.sets.urban {
        let found = maps::best(lab, picture, URBAN_SVD)?;
        let gallery =
            maps::gallery(&name("figure7", &lab.sets.urban, picture), picture, &found, false, false)?;
        shown.html += &(maps::heading(picture) + &gallery.html);
        shown.markdown += &format!("### {}\n\n{}", picture.title, gallery.markdown);
        shown.files.extend(gallery.files);
    }
    Ok(shown)
}

/// With one picture the figure's name alone, with several each its own.
fn name(figure: &str, pictures: &[Picture], picture: &Picture) -> String {
    if pictures.len() == 1 { figure.into() } else { format!("{figure}-{}", picture.name) }
}

fn urban_claims(lab: &Lab, picture: &Picture, found: &[Best]) -> Vec<Claim> {
    let (title, classes) = (&picture.title, &picture.set.classes);
    let class = |word: &str| classes.iter().position(|c| c.contains(word));
    let (Some(metal), Some(road), Some(dirt)) = (class("metal"), class("road"), class("dirt")) else {
        return vec![];
    };
    let (Some(grass), Some(tree), Some(roof)) = (class("grass"), class("tree"), class("roof")) else {
        return vec![];
    };
    let overlap = |b: &Best, class: usize| b.overlap.get(class).copied().unwrap_or(0.0);
    if found.is_empty() && lab.sets.urban.len() > 1 {
        return vec![];
    }
    let whole = found.len() == PAPER.len();
    let judge = |holds: bool| judge(lab, picture, whole, Verdict::of(holds));
    let overlaps = |class: usize| {
        found.iter().map(|b| format!("{} {:.2}", b.title, overlap(b, class))).collect::<Vec<_>>().join(", ")
    };
    let with_metal: Vec<&Best> = found.iter().filter(|b| overlap(b, metal) >= EXTRACTED).collect();
    let apart: Vec<&Best> =
        found.iter().filter(|b| overlap(b, road) >= 0.9 && overlap(b, dirt) >= 0.9).collect();
    let onp = of(found, ONP_MF);
    let three = [("grass", grass), ("trees", tree), ("roofs", roof)];
    let mut ranked: Vec<&Best> = found.iter().collect();
    ranked.sort_by(|a, b| a.accuracy.total_cmp(&b.accuracy));
    let poor = |b: &Best| ["chnmf:nndsvd", "k-means:random"].contains(&b.method);
    let order: Vec<String> =
        ranked.iter().map(|b| format!("{} {:.1}", b.title, 100.0 * b.accuracy)).collect();
    vec![
        Claim {
            place: "Figure 6",
            claim: "ONP-MF is the only method that extracts the metal of Urban.",
            verdict: judge(with_metal.len() == 1 && with_metal[0].method == ONP_MF),
            evidence: format!("On {title}, overlap of the metal with its cluster: {}.", overlaps(metal)),
        },
        Claim {
            place: "Figure 6",
            claim: "ONP-MF extracts grass, trees and roofs.",
            verdict: judge(onp.is_some_and(|b| three.iter().all(|(_, c)| overlap(b, *c) >= EXTRACTED))),
            evidence: onp.map_or(String::new(), |b| {
                let told = three.map(|(name, c)| format!("{name} {:.2}", overlap(b, c))).join(", ");
                format!("On {title}, overlap of each with its cluster: {told}.")
            }),
        },
        Claim {
            place: "Figure 6",
            claim: "Road and dirt are not separated perfectly by any method.",
            verdict: judge(apart.is_empty()),
            evidence: format!(
                "On {title}, overlap of at least 0.9 for both: {}.",
                maps::titles(apart.into_iter())
            ),
        },
        Claim {
            place: "Figures 6 and 7",
            claim: "CH(SVD) and k-means perform relatively poorly on Urban.",
            verdict: judge(ranked.iter().take(3).filter(|b| poor(b)).count() == 2),
            evidence: format!("On {title}, accuracy of the best run, from the lowest: {}.", order.join(", ")),
        },
    ]
}

/// Figure 8.
pub fn figure8(lab: &Lab) -> Result<Shown> {
    let Some(picture) = &lab.sets.swimmer else { return Ok(Shown::default()) };
    let found = maps::best(lab, picture, &with_polish(PAPER))?;
    let gallery = maps::gallery("figure8", picture, &found, true, false)?;
    let k = picture.set.k;
    let spread = permutations::spread(lab, picture.name, PERMUTED)?;
    let orders = permutations::tables(&spread);
    let mut files = gallery.files;
    files.push(("figure8-permutations.csv".into(), orders.values));
    Ok(Shown {
        heading: "Figure 8: the swimmer".into(),
        html: format!(
            "<p class=\"note\">{BRIGHTNESS}</p>{}{BEYOND}{}<h3>The same data, points and features in another \
             order</h3>{}",
            gallery.html,
            swimmer_reasons(&found, k),
            orders.html
        ),
        markdown: gallery.markdown + &orders.markdown,
        files,
        claims: swimmer_claims(lab, &found, &spread, k),
        ..Shown::default()
    })
}

/// Parts of the swimmer that a method finds: of its best run where the start is random, in every order of the data where
/// the answer hangs on rounding.
fn finds_all(b: &Best, spread: &[Spread], k: usize) -> Side {
    match spread.iter().find(|s| s.method == b.method).filter(|s| !s.accuracies.is_empty()) {
        Some(s) if s.complete() == s.accuracies.len() => Side::Above,
        Some(s) if s.complete() > 0 => Side::Unclear,
        Some(_) => Side::Below,
        None if b.exact == k => Side::Above,
        None => Side::Below,
    }
}

fn swimmer_claims(lab: &Lab, found: &[Best], spread: &[Spread], k: usize) -> Vec<Claim> {
    let paper: Vec<&Best> = found.iter().filter(|b| b.method != POLISHED).collect();
    let whole = paper.len() == PAPER.len() && spread.iter().all(Spread::whole);
    let o_pnmf = |b: &Best| b.method.starts_with("o-pnmf");
    let turned = |side: Side| match side {
        Side::Above => Side::Below,
        Side::Below => Side::Above,
        other => other,
    };
    let sides: Vec<Side> = paper
        .iter()
        .map(|b| if o_pnmf(b) { turned(finds_all(b, spread, k)) } else { finds_all(b, spread, k) })
        .collect();
    let which = |side: Side| maps::titles(paper.iter().copied().filter(|b| finds_all(b, spread, k) == side));
    let evidence = format!(
        "All {k} parts: {}; never all: {}; in some orders of the data: {}.",
        which(Side::Above),
        which(Side::Below),
        which(Side::Unclear)
    );
    // No benefit: the best run from random starts is at least as good as those from the SVD.
    let benefit = |svd: &str, random: &str| {
        let svd = spread.iter().find(|s| s.method == svd && !s.accuracies.is_empty())?;
        Some((of(found, random)?.accuracy, Estimate::of(&svd.accuracies)))
    };
    let benefits: Vec<(f64, Estimate)> =
        FROM_SVD.iter().filter_map(|(svd, random)| benefit(svd, random)).collect();
    let without: Vec<Side> =
        benefits.iter().map(|(best, svd)| Estimate::exact(*best).minus(svd).side()).collect();
    let told: Vec<String> = FROM_SVD
        .iter()
        .zip(&benefits)
        .map(|((svd, random), (best, mean))| {
            format!(
                "{} {:.1} on average over orders of the data, the best of {} {:.1}",
                title(svd),
                100.0 * mean.value,
                title(random),
                100.0 * best
            )
        })
        .collect();
    let better = paper.iter().filter(|b| b.method != ONP_MF).map(|b| {
        // Found by others too: a single run of ONP-MF cannot have worked better.
        if finds_all(b, spread, k) == Side::Above { Side::Below } else { Side::Above }
    });
    let better: Vec<Side> = better.collect();
    vec![
        Claim {
            place: "Figure 8",
            claim: "All methods but O-PNMF and O-P(SVD) find the 17 parts of the swimmer.",
            verdict: lab.judge(whole, everywhere(&sides)),
            evidence,
        },
        Claim {
            place: "Figure 8",
            claim: "On the swimmer the SVD-based start is of no benefit, neither for CHNMF nor for O-PNMF.",
            verdict: lab.judge(whole && without.len() == 2, everywhere(&without)),
            evidence: if told.is_empty() { String::new() } else { format!("Accuracy: {}.", told.join("; ")) },
        },
        Claim {
            place: "Conclusion",
            claim: "In all image experiments a single run of ONP-MF worked better than all other methods.",
            verdict: lab.judge(paper.len() == PAPER.len(), everywhere(&better)),
            evidence: format!(
                "On the swimmer, the one image that is here as the paper had it, {} find all parts too (by the paper's own \
                 Figure 8 five others do). Of Hubble and Urban only stand-ins are here, which decide nothing.",
                which(Side::Above)
            ),
        },
    ]
}

/// Why a method did not find all parts, where we know.
fn swimmer_reasons(found: &[Best], k: usize) -> String {
    let failed = |method: &str| of(found, method).is_some_and(|b| b.exact < k);
    let mut html = String::new();
    let mut say = |words: &str| html += &format!("<p class=\"note\">{words}</p>");
    if failed("k-means:random") || failed("spherical-k-means:random") || failed("em-onmf:random") {
        say(
            "k-means, spherical k-means and EM-ONMF do not leave an assignment in which two parts share a cluster and \
             a third has two: more starts help.",
        );
    }
    if failed(ONP_MF) {
        say(
            "ONP-MF: the data have rank 13 with 17 parts, and singular values 2 to 13 are equal, so that the SVD start \
             is any basis of that space, and which one it is depends on rounding. EM, started from what ONP-MF found, \
             mends what is left.",
        );
    }
    if failed("chnmf:nndsvd") || failed("o-pnmf:nndsvd") {
        say(
            "CH(SVD) and O-P(SVD): for the same reason their start has nothing of its own for at least four of the 17 \
             clusters.",
        );
    }
    html
}
