//! The page of several methods side by side: `compare`, `demo`, and parts of larger pages.

use super::chart::{Axis, Heat, Lines, Marker, Series, heat, lines};
use super::contest::dot_plots;
use super::number::{decimals, significant};
use super::page::{Table, escape, shortened, table};
use super::parts::{Parts, Print, paragraph};
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
    /// One that stands behind the others, in grey.
    pub behind: bool,
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

/// How far every two methods agree.
#[derive(Debug, Clone, Default)]
pub struct Agreement {
    /// The methods.
    pub methods: Vec<String>,
    /// Agreement (adjusted Rand index) of every two, row after row.
    pub values: Vec<f64>,
}

/// The words of each method's clusters: the method, and a text for each cluster.
pub type Worded = (String, Vec<String>);

/// Everything a comparison is made of.
#[derive(Debug, Clone, Default)]
pub struct Comparison<'a> {
    /// The name of the data, or of the page.
    pub title: &'a str,
    /// What came out, in a sentence or two of plain text: the first thing on the page.
    pub verdict: &'a str,
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
    /// Words of the clusters, by method.
    pub words: Vec<Worded>,
    /// Agreement of the methods; none of fewer than two.
    pub agreement: Agreement,
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
    // Those that stand out have the first colours, and are drawn last.
    let (front, behind): (Vec<&Curve>, Vec<&Curve>) = sweep.curves.iter().partition(|curve| !curve.behind);
    let numbered = behind.into_iter().map(|curve| (0, curve)).chain(front.into_iter().enumerate());
    let series = numbered.map(|(i, curve)| Series {
        name: shortened(&curve.method, 60),
        points: curve.points.iter().map(|(x, m)| (place(*x), m.mean)).collect(),
        deviation: if sweep.deviations {
            curve.points.iter().map(|(_, m)| m.deviation).collect()
        } else {
            vec![]
        },
        colour: (!curve.behind).then_some(i),
        marker: if curve.behind { Marker::None } else { Marker::nth(i) },
        faint: curve.behind,
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

/// The clusters of every method by their words.
fn worded(words: &[Worded]) -> String {
    let most = words.iter().map(|w| w.1.len()).max().unwrap_or(0);
    let titles: Vec<String> = (0..most).map(|i| format!("cluster {i}")).collect();
    let mut columns = vec!["method"];
    columns.extend(titles.iter().map(String::as_str));
    let row = |(method, clusters): &Worded| {
        let mut row = vec![shortened(method, 60)];
        row.extend((0..most).map(|i| clusters.get(i).map_or(String::new(), |c| shortened(c, 80))));
        row
    };
    let rows: Vec<Vec<String>> = words.iter().map(row).collect();
    table(&Table { columns: &columns, rows: &rows, best: &[] })
}

fn agreement(of: &Agreement) -> String {
    let n = of.methods.len();
    let cell = |at: usize| {
        let (a, b, x) = (at / n, at % n, of.values[at]);
        let detail = format!("{} and {}: {}", of.methods[a], of.methods[b], decimals(x, 3));
        if a == b { (0.0, "·".into(), String::new()) } else { (x, decimals(x, 2), detail) }
    };
    heat(&Heat {
        title: "agreement of the methods".into(),
        corner: "method".into(),
        rows: of.methods.iter().enumerate().map(|(i, name)| format!("{} {name}", i + 1)).collect(),
        columns: (1..=n).map(|i| i.to_string()).collect(),
        cells: (0..n * n).map(cell).collect(),
        framed: vec![],
        colours: vec![],
    })
}

/// The page.
pub fn comparison(input: &Comparison) -> Result<String> {
    let mut parts = Parts::default();
    for sweep in &input.sweeps {
        parts.chart(&sweep.title, self::sweep(sweep), &sweep.caption);
    }
    for contest in &input.contests {
        parts.add(
            &contest.title,
            dot_plots(&contest.methods),
            "Dots are means over the runs, lines standard deviations; the best first.",
            Print::Wide,
        );
    }
    for gallery in &input.galleries {
        parts.add(&gallery.title, rows_of_maps(&gallery.rows)?, &gallery.caption, Print::Wide);
    }
    if !input.words.is_empty() {
        let caption = "What sets each cluster apart, by the best run of every method; clusters that have most points in common stand below each other.";
        parts.add("The clusters of each", worded(&input.words), caption, Print::Wide);
    }
    if input.agreement.methods.len() > 1 {
        let caption = "Agreement of the best runs of every two methods (adjusted Rand index): 1 is the same partition, 0 chance.";
        parts.add("Where they agree", agreement(&input.agreement), caption, Print::Wide);
    }
    for contest in &input.contests {
        let title = if input.contests.len() > 1 {
            format!("{}: all figures", contest.title)
        } else {
            "All figures".into()
        };
        parts.add(&title, super::contest::contest(&contest.methods), &contest.caption, Print::Wide);
    }
    let verdict = if input.verdict.is_empty() {
        String::new()
    } else {
        format!(r#"<p class="answer">{}</p>"#, escape(input.verdict))
    };
    parts.page(input.title, "Orthant · methods side by side", verdict + &paragraph(input.lead), &input.made)
}

#[cfg(test)]
mod tests {
    use super::super::contest::tests::compared;
    use super::*;

    #[test]
    fn a_page_holds_what_it_was_given_and_nothing_else() {
        let curve = Curve {
            method: "EM".into(),
            points: vec![(0.0, Mean::of(&[1.0])), (0.01, Mean::of(&[0.9]))],
            reference: false,
            behind: false,
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
            words: vec![("a".into(), vec!["<w>, x".into()]), ("b".into(), vec!["y".into()])],
            agreement: Agreement {
                methods: vec!["a".into(), "b".into()],
                values: vec![1.0, 0.25, 0.25, 1.0],
            },
            ..Comparison::default()
        };
        let html = comparison(&full).unwrap();
        assert!(
            html.contains("x &lt;y&gt;")
                && html.contains("a &amp; b")
                && html.contains("<svg")
                && html.contains("<table")
        );
        assert!(html.contains("&lt;w&gt;, x") && html.contains("--h:25%"));
        let empty = comparison(&Comparison::default()).unwrap();
        assert!(!empty.contains("<svg class=\"chart") && !empty.contains("maprow\""));
    }
}
