//! The page of several methods side by side: `compare`, `demo`, and parts of larger pages.

use super::chart::{Axis, Lines, Marker, Series, lines};
use super::number::{decimals, seconds, significant};
use super::page::{Table, shortened, table};
use super::parts::{Parts, paragraph};
use super::picture::{Row, rows_of_maps};
use super::{Made, chart::Line};
use crate::error::Result;

/// A mean and its deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// The standard deviation over the runs (their number, not one less, in the denominator).
    pub deviation: f64,
    /// Of how many.
    pub count: usize,
}

impl Mean {
    /// The mean of some values; NaN of none.
    pub fn of(values: &[f64]) -> Mean {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let deviation = (values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt();
        Mean { mean, deviation, count: values.len() }
    }
}

/// One method's line of the table. Scores are fractions.
#[derive(Debug, Clone)]
pub struct Compared {
    /// The method's name in print.
    pub method: String,
    /// How many runs.
    pub runs: usize,
    /// Accuracy over the runs, where there is a truth.
    pub accuracy: Option<Mean>,
    /// Normalised mutual information.
    pub nmi: Option<Mean>,
    /// Adjusted Rand index.
    pub ari: Option<Mean>,
    /// Share of points in the majority class of their cluster.
    pub purity: Option<Mean>,
    /// Relative error of the feasible factors.
    pub error: Option<Mean>,
    /// The lowest error of all runs.
    pub best_error: Option<f64>,
    /// The accuracy of the run with the best objective.
    pub best_accuracy: Option<f64>,
    /// Seconds a run.
    pub seconds: Option<Mean>,
    /// A word more: why it is missing, what it was started from.
    pub note: String,
}

/// One method's curve of a [`Sweep`].
#[derive(Debug, Clone)]
pub struct Curve {
    /// The method's name in print.
    pub method: String,
    /// Where, and what was reached.
    pub points: Vec<(f64, Mean)>,
    /// A curve to compare with rather than a competitor (published values): dashed.
    pub reference: bool,
}

/// Something that was varied, such as the noise.
#[derive(Debug, Clone)]
pub struct Sweep {
    /// The heading.
    pub title: String,
    /// What was varied.
    pub x: String,
    /// What is shown.
    pub y: String,
    /// One curve a method.
    pub curves: Vec<Curve>,
    /// Whether the values at which it was done are spread evenly, whatever they are (0, 0.01, 0.05, 1).
    pub evenly: bool,
    /// Whether to draw error bars.
    pub deviations: bool,
    /// What to know about it.
    pub caption: String,
}

/// Pictures, one row a method.
#[derive(Debug, Clone)]
pub struct Gallery {
    /// The heading.
    pub title: String,
    /// One row a method.
    pub rows: Vec<Row>,
    /// What to know about it.
    pub caption: String,
}

/// A table of methods.
#[derive(Debug, Clone)]
pub struct Contest {
    /// The heading.
    pub title: String,
    /// One line a method.
    pub methods: Vec<Compared>,
    /// What to know about it.
    pub caption: String,
}

/// Everything a comparison is made of.
#[derive(Debug, Clone, Default)]
pub struct Comparison<'a> {
    /// The name of the data, or of the page.
    pub title: &'a str,
    /// What was compared on what, in a sentence or two of plain text.
    pub lead: &'a str,
    /// How it came about.
    pub made: Made<'a>,
    /// Tables of methods.
    pub contests: Vec<Contest>,
    /// Line charts.
    pub sweeps: Vec<Sweep>,
    /// Rows of pictures.
    pub galleries: Vec<Gallery>,
}

/// The columns of a table of methods: name, value of a line, whether more is better, how it is written.
type Column = (&'static str, fn(&Compared) -> Option<f64>, bool, fn(&Compared) -> String);

const COLUMNS: &[Column] = &[
    ("#accuracy", |m| m.accuracy.map(|x| x.mean), true, |m| spread(m.accuracy, 100.0, 1)),
    ("#accuracy of best run", |m| m.best_accuracy, true, |m| plain(m.best_accuracy, 100.0, 1)),
    ("#NMI", |m| m.nmi.map(|x| x.mean), true, |m| spread(m.nmi, 100.0, 1)),
    ("#ARI", |m| m.ari.map(|x| x.mean), true, |m| spread(m.ari, 100.0, 1)),
    ("#purity", |m| m.purity.map(|x| x.mean), true, |m| spread(m.purity, 100.0, 1)),
    ("#error", |m| m.error.map(|x| x.mean), false, |m| spread(m.error, 1.0, 4)),
    ("#lowest error", |m| m.best_error, false, |m| plain(m.best_error, 1.0, 5)),
    (
        "#time a run",
        |m| m.seconds.map(|x| x.mean),
        false,
        |m| m.seconds.map_or("–".into(), |x| seconds(x.mean)),
    ),
];

fn spread(mean: Option<Mean>, unit: f64, digits: usize) -> String {
    match mean {
        Some(m) if m.count > 1 => {
            format!("{} ± {}", decimals(unit * m.mean, digits), decimals(unit * m.deviation, digits))
        }
        Some(m) => decimals(unit * m.mean, digits),
        None => "–".into(),
    }
}

fn plain(x: Option<f64>, unit: f64, digits: usize) -> String {
    x.map_or("–".into(), |x| decimals(unit * x, digits))
}

/// A table of methods as HTML: mean ± deviation, the best of each column marked; columns that nobody
/// has are left out.
pub fn contest(methods: &[Compared]) -> String {
    let columns: Vec<&Column> =
        COLUMNS.iter().filter(|c| methods.iter().any(|m| (c.1)(m).is_some())).collect();
    let noted = methods.iter().any(|m| !m.note.is_empty());
    let mut names = vec!["method", "#runs"];
    names.extend(columns.iter().map(|c| c.0));
    if noted {
        names.push("");
    }
    let rows: Vec<Vec<String>> = methods
        .iter()
        .map(|m| {
            let mut row =
                vec![shortened(&m.method, 60), if m.runs == 0 { "–".into() } else { m.runs.to_string() }];
            row.extend(columns.iter().map(|c| (c.3)(m)));
            if noted {
                row.push(shortened(&m.note, 200));
            }
            row
        })
        .collect();
    let mut best = vec![];
    for (c, column) in columns.iter().enumerate() {
        let values: Vec<Option<f64>> =
            methods.iter().map(|m| (column.1)(m).filter(|x| x.is_finite())).collect();
        let better = |a: f64, b: f64| if column.2 { a.max(b) } else { a.min(b) };
        let Some(most) = values.iter().flatten().copied().reduce(better) else { continue };
        // What is written the same is as good.
        let written = values.iter().position(|v| *v == Some(most)).map(|r| (column.3)(&methods[r]));
        let lead = |text: &str| text.split(" ±").next().map(str::to_string);
        let target = written.as_deref().and_then(lead);
        best.extend(
            (0..methods.len())
                .filter(|&r| values[r].is_some() && lead(&(column.3)(&methods[r])) == target)
                .map(|r| (r, c + 2)),
        );
    }
    table(&Table { columns: &names, rows: &rows, best: &best })
}

/// A line chart of methods as HTML.
pub fn sweep(sweep: &Sweep) -> String {
    lines(&sweep_chart(sweep))
}

/// The chart of a sweep.
pub fn sweep_chart(sweep: &Sweep) -> Lines {
    let mut values: Vec<f64> = sweep.curves.iter().flat_map(|c| c.points.iter().map(|p| p.0)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let place = |x: f64| if sweep.evenly { values.partition_point(|v| *v < x) as f64 } else { x };
    let series = sweep.curves.iter().enumerate().map(|(i, curve)| Series {
        name: shortened(&curve.method, 60),
        points: curve.points.iter().map(|(x, m)| (place(*x), m.mean)).collect(),
        deviation: if sweep.deviations {
            curve.points.iter().map(|(_, m)| m.deviation).collect()
        } else {
            vec![]
        },
        colour: Some(i),
        marker: Marker::nth(i),
        line: if curve.reference { Line::Dashed } else { Line::Solid },
        ..Series::default()
    });
    Lines {
        title: format!("{}: {} against {}", sweep.title, sweep.y, sweep.x),
        x: Axis::new(&sweep.x),
        y: Axis::new(&sweep.y),
        series: series.collect(),
        names: if sweep.evenly { values.iter().map(|v| significant(*v, 4)).collect() } else { vec![] },
        ..Lines::default()
    }
}

/// The page.
pub fn comparison(input: &Comparison) -> Result<String> {
    let mut parts = Parts::default();
    for contest in &input.contests {
        parts.add(&contest.title, self::contest(&contest.methods), &contest.caption, false);
    }
    for sweep in &input.sweeps {
        parts.add(&sweep.title, self::sweep(sweep), &sweep.caption, true);
    }
    for gallery in &input.galleries {
        parts.add(&gallery.title, rows_of_maps(&gallery.rows)?, &gallery.caption, false);
    }
    parts.page(input.title, "Orthant · methods side by side", paragraph(input.lead), &input.made)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(method: &str, accuracy: &[f64], error: &[f64]) -> Compared {
        Compared {
            method: method.into(),
            runs: accuracy.len(),
            accuracy: Some(Mean::of(accuracy)),
            nmi: None,
            ari: None,
            purity: None,
            error: Some(Mean::of(error)),
            best_error: error.iter().copied().reduce(f64::min),
            best_accuracy: None,
            seconds: Some(Mean::of(&[0.25])),
            note: String::new(),
        }
    }

    #[test]
    fn the_best_of_each_column_is_marked_and_ties_are_shared() {
        let html = contest(&[
            compared("a", &[0.5, 0.7], &[0.2]),
            compared("b", &[0.6], &[0.1]),
            compared("<c>", &[0.4], &[0.3]),
        ]);
        // 60.0 ± 10.0 and 60.0 tie; the lowest error and the lowest best error are b's.
        assert_eq!(html.matches(r#"class="n best">60.0"#).count(), 2, "{html}");
        assert!(html.contains(r#"class="n best">0.1000"#) && !html.contains(r#"best">0.2000"#));
        assert!(html.contains("&lt;c&gt;") && !html.contains("NMI"));
    }

    #[test]
    fn a_page_holds_what_it_was_given_and_nothing_else() {
        let curve = Curve {
            method: "EM".into(),
            points: vec![(0.0, Mean::of(&[1.0])), (0.01, Mean::of(&[0.9]))],
            reference: false,
        };
        let sweep = Sweep {
            title: "Noise".into(),
            x: "noise".into(),
            y: "accuracy".into(),
            curves: vec![curve],
            evenly: true,
            deviations: true,
            caption: String::new(),
        };
        let full = Comparison {
            title: "x <y>",
            lead: "a & b",
            contests: vec![Contest {
                title: "T".into(),
                methods: vec![compared("a", &[0.5], &[0.2])],
                caption: "c".into(),
            }],
            sweeps: vec![sweep],
            ..Comparison::default()
        };
        let html = comparison(&full).unwrap();
        assert!(
            html.contains("x &lt;y&gt;")
                && html.contains("a &amp; b")
                && html.contains("<svg")
                && html.contains("<table")
        );
        let empty = comparison(&Comparison::default()).unwrap();
        assert!(!empty.contains("<svg class=\"chart") && !empty.contains("maprow\""));
    }
}
