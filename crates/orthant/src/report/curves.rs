//! The course of the runs: curves, and a table of the runs.

use serde::Serialize;

use super::Report;
use super::chart::{Axis, HorizontalLine, Lines, Mark, Marker, Series, lines};
use super::number::{counted, decimals, significant};
use super::page::{Table, table};
use super::words;
use crate::algorithms::method;
use crate::error::Result;
use crate::evaluate;
use crate::matrix::rule::Measure;
use crate::pipeline::{Run, Stage};
use crate::run::Progress;

/// Runs whose curves are drawn.
const DRAWN: usize = 60;
/// Runs listed.
const LISTED: usize = 100;

#[derive(Serialize)]
pub(super) struct Figure {
    chart: String,
    caption: String,
}

#[derive(Serialize)]
struct Row {
    key: usize,
    best: bool,
    cells: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct Runs {
    columns: Vec<&'static str>,
    rows: Vec<Row>,
    keys: Vec<usize>,
    note: String,
    scatter: Option<String>,
}

/// What a stage's objective is shown as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Error,
    MeanCosine,
    Own(&'static str),
}

impl Unit {
    fn of(stage: &Stage) -> Unit {
        match stage.aim.rule.measure {
            Measure::Squares => Unit::Error,
            Measure::Cosines => Unit::MeanCosine,
            Measure::Divergence => Unit::Own(stage.aim.objective),
        }
    }

    fn label(self) -> &'static str {
        match self {
            Unit::Error => "relative error of the iterate",
            Unit::MeanCosine => "mean cosine",
            Unit::Own(name) => name,
        }
    }

    fn value(self, report: &Report, progress: &Progress) -> f64 {
        let facts = &report.findings.facts;
        match self {
            Unit::Error => (progress.objective / facts.norm2).max(0.0).sqrt(),
            Unit::MeanCosine => progress.objective / facts.usable_weight,
            Unit::Own(_) => progress.objective,
        }
    }
}

fn drawn(report: &Report) -> Vec<usize> {
    let runs = report.outcome.runs.len();
    let mut drawn: Vec<usize> = (0..runs.min(DRAWN)).filter(|r| *r != report.outcome.best).collect();
    drawn.push(report.outcome.best);
    drawn
}

fn series(report: &Report, run: usize, points: Vec<(f64, f64)>) -> Series {
    let best = run == report.outcome.best;
    let several = report.outcome.runs.len() > 1;
    let name = match (several, best) {
        (false, _) => String::new(),
        (true, true) => format!("run {run} (best)"),
        (true, false) => format!("run {run}"),
    };
    // A single step is a point, not a line.
    let marker = if points.len() < 2 { Marker::Circle } else { Marker::None };
    Series {
        name,
        points,
        colour: Some(0),
        faint: !best,
        key: Some(run.to_string()),
        marker,
        ..Series::default()
    }
}

/// Iterations of a run, numbered through all its stages, with the stage of each.
fn steps(run: &Run) -> impl Iterator<Item = (usize, &Stage, &Progress)> {
    let all = run.stages.iter().flat_map(|stage| stage.history.iter().map(move |p| (stage, p)));
    all.enumerate().map(|(i, (stage, p))| (i + 1, stage, p))
}

fn marks(run: &Run, within: impl Fn(&Stage) -> bool) -> Vec<Mark> {
    let mut done = 0;
    let mut marks = vec![];
    for (s, stage) in run.stages.iter().enumerate() {
        if s > 0 && within(stage) && !stage.history.is_empty() {
            // Few stages are named where they begin; many go by their number in the table.
            let label = if run.stages.len() > 3 {
                (s + 1).to_string()
            } else {
                format!("then {}", words::stage(&stage.name))
            };
            marks.push(Mark { x: done as f64 + 0.5, label });
        }
        done += stage.history.len();
    }
    marks.truncate(30);
    marks
}

/// A chart for each unit of the objective, and one of the residual.
pub(super) fn figures(report: &Report) -> Vec<Figure> {
    let (best, certificate) = (report.outcome.best(), &report.outcome.certificate);
    let mut figures = vec![];
    let mut units: Vec<Unit> = vec![];
    for stage in best.stages.iter().filter(|s| !s.history.is_empty()) {
        if !units.contains(&Unit::of(stage)) {
            units.push(Unit::of(stage));
        }
    }
    for unit in units {
        let all: Vec<Series> = drawn(report)
            .into_iter()
            .map(|run| {
                let points = steps(&report.outcome.runs[run])
                    .filter(|(_, stage, _)| Unit::of(stage) == unit)
                    .map(|(i, _, p)| (i as f64, unit.value(report, p)));
                series(report, run, points.collect())
            })
            .collect();
        // A bound far below would press the curves together.
        let bound = certificate.lower_bound;
        let near = unit == Unit::Error && bound > 0.6 * certificate.relative_error;
        let level = HorizontalLine { y: bound, label: format!("lower bound {}", significant(bound, 4)) };
        let caption = match unit {
            Unit::Error => format!(
                "After every iteration. The finished result has {}: its factors are feasible, those of an iterate need not be.",
                words::error(certificate.relative_error)
            ),
            Unit::MeanCosine => {
                "Mean cosine of the points with their cluster's direction, after every iteration.".into()
            }
            Unit::Own(name) => format!("The method's objective, {name}, after every iteration."),
        };
        figures.push(Figure {
            chart: lines(&Lines {
                title: format!("{} by iteration", unit.label()),
                x: Axis::new("iteration"),
                y: Axis::new(unit.label()),
                series: all,
                marks: marks(best, |stage| Unit::of(stage) == unit),
                levels: if near { vec![level] } else { vec![] },
                ..Lines::default()
            }),
            caption,
        });
    }
    figures.extend(residuals(report));
    figures
}

/// The residual of the method's own stage: what its stopping rule looks at.
fn residuals(report: &Report) -> Option<Figure> {
    // The stages of a search differ in what they look at.
    let name = report.outcome.best().stages.first().map(|s| s.name.as_str()).filter(|n| method(n).is_ok())?;
    let all: Vec<Series> = drawn(report)
        .into_iter()
        .map(|run| {
            let own = steps(&report.outcome.runs[run]).filter(|(_, stage, _)| stage.name == name);
            let positive = own.filter(|(_, _, p)| p.residual > 0.0 && p.residual.is_finite());
            series(report, run, positive.map(|(i, _, p)| (i as f64, p.residual)).collect())
        })
        .collect();
    if all.iter().all(|s| s.points.len() < 2) {
        return None;
    }
    let label = words::residual(name);
    let caption = if name == "onp-mf" {
        "How far the iterate is from nonnegative; it is orthogonal at every step. The method stops when this falls below its tolerance."
    } else {
        "What the stopping rule looks at. A zero has no place on a logarithmic axis, so the last step may be missing."
    };
    Some(Figure {
        chart: lines(&Lines {
            title: format!("{label} by iteration"),
            x: Axis::new("iteration"),
            y: Axis::log(label),
            series: all,
            ..Lines::default()
        }),
        caption: caption.into(),
    })
}

/// What each stage of the best run reached, where there are several.
pub(super) fn stages(report: &Report) -> Option<String> {
    let best = report.outcome.best();
    if best.stages.len() < 2 {
        return None;
    }
    let mut before = f64::INFINITY;
    let rows = best.stages.iter().enumerate().map(|(s, stage)| {
        let gain = before - stage.relative_error;
        let gained = match (s, gain > 1e-9) {
            (0, _) => String::new(),
            (_, true) => significant(gain, 3),
            (_, false) => "–".into(),
        };
        before = before.min(stage.relative_error);
        let name = words::stage(&stage.name);
        vec![
            (s + 1).to_string(),
            name,
            stage.history.len().to_string(),
            decimals(stage.relative_error, 6),
            gained,
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let columns = &["stage", "what", "#iterations", "#best error so far", "#gained"];
    Some(table(&Table { columns, rows: &rows, best: &[] }))
}

/// The table of the runs, where there are several.
pub(super) fn runs(report: &Report) -> Result<Option<Runs>> {
    let outcome = report.outcome;
    if outcome.runs.len() < 2 {
        return Ok(None);
    }
    let mut accuracies = vec![];
    let mut rows = vec![];
    let listed = (0..outcome.runs.len()).filter(|r| *r < LISTED || *r == outcome.best);
    for (r, run) in listed.map(|r| (r, &outcome.runs[r])) {
        let mut cells = vec![
            r.to_string(),
            decimals(run.relative_error, 5),
            significant(run.objective, 6),
            run.iterations().to_string(),
            run.stop().name().replace('-', " "),
        ];
        if let Some(truth) = report.truth {
            let accuracy = evaluate::scores(&run.labels, truth.labels)?.accuracy;
            cells.push(decimals(accuracy, 4));
            accuracies.push((run.relative_error, accuracy, r));
        }
        rows.push(Row { key: r, best: r == outcome.best, cells });
    }
    let mut columns = vec!["run", "relative error", report.job.aim().objective, "iterations", "ended"];
    if report.truth.is_some() {
        columns.push("accuracy");
    }
    let errors: Vec<f64> = outcome.runs.iter().map(|r| r.relative_error).collect();
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    let deviation = (errors.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / errors.len() as f64).sqrt();
    let mut note = format!(
        "{} from different random numbers, error {} ± {}. The best objective picks the run, never the truth.",
        counted(errors.len(), "run", "runs"),
        decimals(mean, 4),
        significant(deviation, 2)
    );
    if outcome.runs.len() > LISTED {
        note += &format!(" The first {LISTED} are listed.");
    }
    Ok(Some(Runs { columns, rows, keys: drawn(report), note, scatter: scatter(report, &accuracies) }))
}

/// Error against accuracy, one point a run.
fn scatter(report: &Report, runs: &[(f64, f64, usize)]) -> Option<String> {
    if runs.len() < 4 {
        return None;
    }
    let (best, others): (Vec<_>, Vec<_>) = runs.iter().partition(|r| r.2 == report.outcome.best);
    let points = |of: Vec<&(f64, f64, usize)>| of.into_iter().map(|r| (r.0, r.1)).collect();
    let dots = |name: &str, points, colour, marker| Series {
        name: name.into(),
        points,
        colour: Some(colour),
        marker,
        line: super::chart::Line::None,
        ..Series::default()
    };
    Some(lines(&Lines {
        title: "accuracy against error, one point a run".into(),
        x: Axis::new("relative error"),
        y: Axis::new("accuracy"),
        series: vec![
            dots("a run", points(others), 0, Marker::Circle),
            dots("the best objective", points(best), 4, Marker::Diamond),
        ],
        ..Lines::default()
    }))
}
