//! Figures 5 to 8: Hubble, Urban, the swimmer, and what the paper says of them.

use anyhow::Result;

use crate::lab::Lab;
use crate::maps::{self, Best};
use crate::plan::Plan;
use crate::protocol::{PAPER, POLISHED};
use crate::shown::{Claim, Shown, UNRUN, Verdict};

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
/// A class counts as extracted when it and its cluster overlap at least this far.
const EXTRACTED: f64 = 0.5;
const BEYOND: &str = "<p class=\"note\">The last row is beyond the paper: ONP-MF followed by EM.</p>";
const BRIGHTNESS: &str = "Brightness is the strength v of a pixel in its cluster; pixels that are zero belong to none. \
                          Each method shows its best run by error.";

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
    lab.sets.swimmer.iter().try_for_each(|picture| maps::plan_methods(lab, plan, picture, PAPER))
}

fn of<'a>(found: &'a [Best], method: &str) -> Option<&'a Best> {
    found.iter().find(|b| b.method == method)
}

/// Figure 5.
pub fn figure5(lab: &Lab) -> Result<Shown> {
    let Some(picture) = &lab.sets.hubble else { return Ok(Shown::default()) };
    let found = maps::best(lab, picture, &with_polish(PAPER))?;
    let gallery = maps::gallery("figure5", picture, &found, true, true)?;
    let k = picture.set.k;
    let all = |b: &&Best| b.exact == k;
    let paper = || found.iter().filter(|b| b.method != POLISHED);
    let whole = paper().count() == PAPER.len() && picture.set.truth.is_some();
    let judge = |holds: bool| if whole { Verdict::of(holds) } else { UNRUN };
    let complete = maps::titles(paper().filter(all));
    let missed: Vec<String> =
        paper().filter(|b| !all(b)).map(|b| format!("{} {} of {k}", b.title, b.exact)).collect();
    let stand_in = if picture.name == "telescope" { " (On a stand-in for Hubble.)" } else { "" };
    let missed = if missed.is_empty() { "none".into() } else { missed.join(", ") };
    let svd = || found.iter().filter(|b| URBAN_SVD.contains(&b.method));
    Ok(Shown {
        heading: format!("Figure 5: {}", picture.title),
        html: format!("<p class=\"note\">{BRIGHTNESS}</p>{}{BEYOND}", gallery.html),
        files: gallery.files,
        claims: vec![
            Claim {
                place: "Figure 5",
                claim: "ONP-MF alone recovers all eight materials without mixing.",
                verdict: judge(
                    of(&found, ONP_MF).is_some_and(|b| b.exact == k) && paper().filter(all).count() == 1,
                ),
                evidence: format!("All {k} exactly: {complete}. Not all: {missed}.{stand_in}"),
            },
            Claim {
                place: "Figure 5",
                claim: "From the SVD start too, CHNMF and O-PNMF do not separate all materials.",
                verdict: judge(!svd().any(|b| all(&b))),
                evidence: svd()
                    .map(|b| format!("{} {} of {k}, accuracy {:.1}", b.title, b.exact, 100.0 * b.accuracy))
                    .collect::<Vec<_>>()
                    .join("; ")
                    + "."
                    + stand_in,
            },
        ],
    })
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
            verdict: Verdict::Open("The data are not here."),
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
        let gallery = maps::gallery(&name("figure6", lab, picture.name), picture, &found, true, false)?;
        shown.html += &(maps::heading(picture) + &gallery.html + BEYOND);
        shown.files.extend(gallery.files);
        let all = maps::best(lab, picture, PAPER)?;
        if picture.set.truth.is_some() {
            shown.claims.extend(urban_claims(&picture.title, &picture.set.classes, &all));
        }
    }
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
        let gallery = maps::gallery(&name("figure7", lab, picture.name), picture, &found, false, false)?;
        shown.html += &(maps::heading(picture) + &gallery.html);
        shown.files.extend(gallery.files);
    }
    Ok(shown)
}

/// With one picture the figure's name alone, with several each its own.
fn name(figure: &str, lab: &Lab, picture: &str) -> String {
    if lab.sets.urban.len() == 1 { figure.into() } else { format!("{figure}-{picture}") }
}

fn urban_claims(title: &str, classes: &[String], found: &[Best]) -> Vec<Claim> {
    let class = |word: &str| classes.iter().position(|c| c.contains(word));
    let (Some(metal), Some(road), Some(dirt)) = (class("metal"), class("road"), class("dirt")) else {
        return vec![];
    };
    let overlap = |b: &Best, class: usize| b.overlap.get(class).copied().unwrap_or(0.0);
    let onp = of(found, ONP_MF);
    let judge = |holds: bool| if onp.is_some() && found.len() > 4 { Verdict::of(holds) } else { UNRUN };
    let with_metal: Vec<&Best> = found.iter().filter(|b| overlap(b, metal) >= EXTRACTED).collect();
    let metals: Vec<String> = found.iter().map(|b| format!("{} {:.2}", b.title, overlap(b, metal))).collect();
    let apart: Vec<&Best> =
        found.iter().filter(|b| overlap(b, road) >= 0.9 && overlap(b, dirt) >= 0.9).collect();
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
            evidence: format!("{title}; overlap of the metal with its cluster: {}.", metals.join(", ")),
        },
        Claim {
            place: "Figure 6",
            claim: "Road and dirt are not separated perfectly by any method.",
            verdict: judge(apart.is_empty()),
            evidence: format!(
                "{title}; overlap of at least 0.9 for both: {}.",
                maps::titles(apart.into_iter())
            ),
        },
        Claim {
            place: "Figures 6 and 7",
            claim: "CH(SVD) and k-means perform relatively poorly on Urban.",
            verdict: judge(found.len() >= 2 && ranked.iter().take(3).filter(|b| poor(b)).count() == 2),
            evidence: format!("{title}; accuracy of the best run, from the lowest: {}.", order.join(", ")),
        },
    ]
}

/// Figure 8.
pub fn figure8(lab: &Lab) -> Result<Shown> {
    let Some(picture) = &lab.sets.swimmer else { return Ok(Shown::default()) };
    let found = maps::best(lab, picture, &with_polish(PAPER))?;
    let gallery = maps::gallery("figure8", picture, &found, true, false)?;
    let k = picture.set.k;
    let paper = || found.iter().filter(|b| b.method != POLISHED);
    let whole = paper().count() == PAPER.len();
    let o_pnmf = |b: &&Best| b.method.starts_with("o-pnmf");
    let complete = |b: &&Best| b.exact == k;
    let missed: Vec<String> =
        paper().filter(|b| !complete(b)).map(|b| format!("{} {} of {k}", b.title, b.exact)).collect();
    let others = paper().filter(|b| !o_pnmf(b)).all(|b| complete(&b));
    let evidence = format!(
        "All {k} parts: {}. Not all: {}.",
        maps::titles(paper().filter(complete)),
        if missed.is_empty() { "none".into() } else { missed.join(", ") }
    );
    let why = swimmer_reasons(&found, k);
    Ok(Shown {
        heading: "Figure 8: the swimmer".into(),
        html: format!("<p class=\"note\">{BRIGHTNESS}</p>{}{BEYOND}{why}", gallery.html),
        files: gallery.files,
        claims: vec![Claim {
            place: "Figure 8",
            claim: "All methods but O-PNMF and O-P(SVD) find the 17 parts of the swimmer.",
            verdict: if whole {
                Verdict::of(others && !paper().filter(o_pnmf).any(|b| complete(&b)))
            } else {
                UNRUN
            },
            evidence,
        }],
    })
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
