//! Figure 3: how ONP-MF converges on Hubble.

use anyhow::Result;
use orthant::report::chart::{Axis, Line, Lines, Series, file, lines};

use crate::lab::Lab;
use crate::maps;
use crate::plan::{Plan, Request};
use crate::protocol::Variant;
use crate::shown::{Claim, Shown, Verdict};
use crate::work::curve_file;
use orthant::contender::Contender;

const ONP_MF: &str = "onp-mf:svd";

/// The paper stops at 1e-3: too soon to see whether the residual goes on falling as it does.
const TO_THE_END: Variant = &[("tolerance", 1e-8)];

/// Plans the one cell.
pub fn plan(lab: &Lab, plan: &mut Plan) -> Result<()> {
    lab.sets.hubble.iter().take(1).try_for_each(|picture| {
        let (file, set, methods) = (maps::file(picture), &picture.set, &[ONP_MF][..]);
        let request = Request { file, set, methods, variant: TO_THE_END, runs: 1, pictured: true };
        plan.add(lab.protocol, request)
    })
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
    let data = picture.set.fingerprint()?;
    let key = lab.protocol.key_of(&contender, &picture.set, &data, TO_THE_END);
    let there = !lab.runs(&maps::file(picture), &key, 1).is_empty();
    let text = lab.cells.text(&curve_file(&maps::file(picture), &key)).filter(|_| there).unwrap_or_default();
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
    let found = judged(claim, &course);
    Ok(Shown {
        heading,
        html,
        files: vec![
            ("figure3-residual.svg".into(), file(&left).into_bytes()),
            ("figure3-error.svg".into(), file(&right).into_bytes()),
            ("figure3.csv".into(), text.into_bytes()),
        ],
        claims: vec![Claim { verdict: picture.verdict(found.verdict), ..found }],
        ..Shown::default()
    })
}

/// Below this share of V its negative part is on its way to zero.
const FALLING: f64 = 1e-2;
/// Decades over which a line must be straight to tell.
const DECADES: f64 = 4.0;
/// What a straight line must explain.
const STRAIGHT: f64 = 0.99;
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
    let (first, end) = (late.first().map_or(0.0, |p| p.1), late.last().map_or(0.0, |p| p.1));
    let decades = (first - end) / std::f64::consts::LN_10;
    let last = course[course.len() - 1].2;
    let tenth = &course[course.len() * 9 / 10..];
    let change = tenth.iter().map(|p| (p.2 - last).abs()).fold(0.0, f64::max) / last.max(f64::MIN_POSITIVE);
    let fixed = change < 0.01 || last < EXACT;
    let verdict = match decades {
        decades if decades < DECADES => Verdict::Uncertain,
        _ => Verdict::of(slope < 0.0 && straight > STRAIGHT && fixed),
    };
    Claim {
        place: "Figure 3",
        claim,
        verdict,
        evidence: format!(
            "Of {} iterations the residual falls steadily in the last {}, over {decades:.1} decades, by a factor of {:.4} \
             each (a straight line in the logarithm explains {:.1} % of it); before that it goes up and down. The error \
             ends at {last:.5}{}.",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_fall_over_decades_is_linear_and_a_short_or_bent_one_is_not() {
        let course = |iterations: usize, residual: &dyn Fn(f64) -> f64| -> Vec<(f64, f64, f64)> {
            (1..=iterations).map(|t| (t as f64, residual(t as f64), 0.2)).collect()
        };
        let verdict = |course: Vec<(f64, f64, f64)>| judged("", &course).verdict;
        assert_eq!(verdict(course(2000, &|t| 0.02 * 0.99f64.powf(t))), Verdict::Holds);
        assert_eq!(verdict(course(300, &|t| 0.02 * 0.99f64.powf(t))), Verdict::Uncertain);
        // Slower and slower: a power of the iteration, not of a factor.
        assert_eq!(verdict(course(20000, &|t| 1e3 * t.powf(-3.0))), Verdict::Fails);
    }
}
