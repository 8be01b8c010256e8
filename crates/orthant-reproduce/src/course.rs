//! Figure 3: how ONP-MF converges on Hubble.

use anyhow::Result;
use orthant::report::chart::{Axis, Line, Lines, Series, file, lines};

use crate::lab::Lab;
use crate::maps;
use crate::plan::Plan;
use crate::shown::{Claim, Shown, Verdict};
use crate::work::curve_file;
use orthant::contender::Contender;

const ONP_MF: &str = "onp-mf:svd";

/// Plans the one cell.
pub fn plan(lab: &Lab, plan: &mut Plan) -> Result<()> {
    lab.sets.hubble.iter().take(1).try_for_each(|picture| maps::plan_methods(lab, plan, picture, &[ONP_MF]))
}

/// Iteration, negative part, relative error.
fn course(text: &str) -> Vec<(f64, f64, f64)> {
    let line = |line: &str| {
        let mut fields = line.split(',').map(|x| x.parse().ok());
        Some((fields.next()??, fields.next()??, fields.next()??))
    };
    text.lines().skip(1).filter_map(line).collect()
}

/// The figure.
pub fn show(lab: &Lab) -> Result<Shown> {
    let Some(picture) = lab.sets.hubble.first() else { return Ok(Shown::default()) };
    let contender = Contender::parse(ONP_MF)?.remove(0);
    let key = lab.protocol.key(&contender, &picture.set, &picture.set.fingerprint()?);
    let text = lab.cells.text(&curve_file(&maps::file(picture), &key)).unwrap_or_default();
    let course = course(&text);
    let heading = format!("Figure 3: convergence of ONP-MF on {}", picture.title);
    let claim =
        "The negative part of V decreases linearly to zero while the error converges to a fixed value.";
    if course.len() < 10 {
        let claims = vec![Claim {
            place: "Figure 3",
            claim,
            verdict: lab.judge_single_runs(false, Verdict::Uncertain),
            evidence: String::new(),
        }];
        return Ok(Shown { heading, html: "<p>Not run yet.</p>".into(), claims, ..Shown::default() });
    }
    let chart = |title: &str, y: Axis, value: fn(&(f64, f64, f64)) -> f64| Lines {
        title: title.into(),
        x: Axis::new("iteration"),
        y,
        series: vec![Series {
            points: course.iter().map(|p| (p.0, value(p))).collect(),
            colour: Some(0),
            line: Line::Solid,
            ..Series::default()
        }],
        ..Lines::default()
    };
    let left = chart("Constraint residual", Axis::log("‖min(V, 0)‖ / ‖V‖"), |p| p.1);
    let right = chart("Approximation error", Axis::new("‖M − UV‖ / ‖M‖"), |p| p.2);
    let html = format!(
        "<div class=\"pair\"><figure class=\"panel\">{}<figcaption>Constraint residual, logarithmic</figcaption></figure>\
         <figure class=\"panel\">{}<figcaption>Approximation error of the iterate</figcaption></figure></div>",
        lines(&left),
        lines(&right)
    );
    Ok(Shown {
        heading,
        html,
        files: vec![
            ("figure3-residual.svg".into(), file(&left).into_bytes()),
            ("figure3-error.svg".into(), file(&right).into_bytes()),
            ("figure3.csv".into(), text.into_bytes()),
        ],
        claims: vec![judged(claim, &course)],
    })
}

/// Below this share of V its negative part is on its way to zero.
const FALLING: f64 = 1e-2;
/// Below this relative error everything is explained.
const EXACT: f64 = 1e-3;

/// Linear convergence is a straight line in the logarithm, from where the negative part has begun to fall for good.
fn judged(claim: &'static str, course: &[(f64, f64, f64)]) -> Claim {
    let begun = course.iter().rposition(|p| p.1 > FALLING).map_or(0, |i| i + 1);
    let late: Vec<(f64, f64)> =
        course[begun..].iter().filter(|p| p.1 > 0.0).map(|p| (p.0, p.1.ln())).collect();
    let n = late.len() as f64;
    let (mx, my) = (late.iter().map(|p| p.0).sum::<f64>() / n, late.iter().map(|p| p.1).sum::<f64>() / n);
    let sum = |f: fn(f64, f64) -> f64| late.iter().map(|p| f(p.0 - mx, p.1 - my)).sum::<f64>();
    let (xx, xy, yy) = (sum(|x, _| x * x), sum(|x, y| x * y), sum(|_, y| y * y));
    let (slope, straight) = (xy / xx, xy * xy / (xx * yy));
    let last = course[course.len() - 1].2;
    let tenth = &course[course.len() * 9 / 10..];
    let change = tenth.iter().map(|p| (p.2 - last).abs()).fold(0.0, f64::max) / last.max(f64::MIN_POSITIVE);
    Claim {
        place: "Figure 3",
        claim,
        verdict: Verdict::of(slope < 0.0 && straight > 0.9 && (change < 0.01 || last < EXACT)),
        evidence: format!(
            "Of {} iterations the residual falls steadily in the last {}, by a factor of {:.4} each (a straight line in \
             the logarithm explains {:.1} % of it); before that it goes up and down. The error ends at {last:.5}{}.",
            course.len(),
            late.len(),
            slope.exp(),
            100.0 * straight,
            match last < EXACT {
                true => ": the scene has no noise, and its materials are found exactly".into(),
                false => format!(" and changes by {:.2} % in the last tenth", 100.0 * change),
            }
        ),
    }
}
