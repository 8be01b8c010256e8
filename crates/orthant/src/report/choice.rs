//! The page of `choose_k`.

use super::Made;
use super::chart::{Axis, Line, Lines, Mark, Marker, Series, lines};
use super::number::decimals;
use super::page::{Table, table};
use super::parts::{Parts, paragraph};
use crate::choose_k::{Choice, KResult};
use crate::error::Result;

/// Everything that page is made of.
#[derive(Debug, Clone)]
pub struct Chosen<'a> {
    /// The name of the data.
    pub title: &'a str,
    /// How it came about.
    pub made: Made<'a>,
    /// What was found.
    pub choice: &'a Choice,
}

/// The page.
pub fn choice(input: &Chosen) -> Result<String> {
    let choice = input.choice;
    let lead: String = choice.summary().lines().map(paragraph).collect();
    let marks = || {
        let mark = |c: &crate::choose_k::Candidate| Mark { x: c.k as f64, label: c.k.to_string() };
        choice.candidates.iter().map(mark).collect::<Vec<_>>()
    };
    let series = |name: &str, colour: usize, line: Line, of: &dyn Fn(&KResult) -> Option<f64>| Series {
        name: name.into(),
        points: choice.levels.iter().filter_map(|l| Some((l.k as f64, of(l)?))).collect(),
        colour: Some(colour),
        line,
        marker: Marker::nth(colour),
        ..Series::default()
    };
    let chart = |title: &str, y: Axis, series: Vec<Series>| {
        let x = Axis::new("number of clusters k");
        lines(&Lines { title: title.into(), x, y, series, marks: marks(), ..Lines::default() })
    };
    let mut parts = Parts::default();
    parts.add(
        "Error and bound",
        chart(
            "error and bound against k",
            Axis::new("relative error"),
            vec![
                series("no k clusters leave less", 1, Line::Dashed, &|l| Some(l.lower_bound)),
                series("left by the best partition found", 0, Line::Solid, &|l| Some(l.relative_error)),
            ],
        ),
        "What k clusters leave of the data, ‖M − UV‖/‖M‖, and what any k clusters must leave (from the singular values). Vertical lines mark the candidates.",
        true,
    );
    if choice.levels.iter().any(|l| l.stability().is_some()) {
        parts.add(
            "Stability",
            chart(
                "stability against k",
                Axis::new("agreement (adjusted Rand index)"),
                vec![
                    series("of halves with all points", 1, Line::Dashed, &|l| l.consensus),
                    series("of two halves with each other", 0, Line::Solid, &KResult::stability),
                ],
            ),
            "The data are divided into two random halves several times; both are clustered and say where all points belong. 1: they say the same, 0: they agree by chance.",
            true,
        );
    }
    if choice.levels.iter().any(|l| l.gain.is_some()) {
        parts.add(
            "Gain",
            chart(
                "gain against k",
                // Factors between gains are what counts.
                Axis::log("percent of the data"),
                vec![series("explained more than by k − 1", 0, Line::Solid, &|l| {
                    l.gain.map(|g| 100.0 * g).filter(|g| *g > 1e-6)
                })],
            ),
            "By how much the share of the data that is explained, 1 − error², grows with the last cluster, on a scale of factors.",
            true,
        );
    }
    let number = |x: Option<f64>, digits: usize| x.map_or("–".into(), |x| decimals(x, digits));
    let row = |l: &KResult| {
        let place = choice.candidates.iter().position(|c| c.k == l.k);
        vec![
            l.k.to_string(),
            decimals(l.relative_error, 5),
            decimals(l.lower_bound, 5),
            number(l.gain.map(|g| 100.0 * g), 3),
            number(l.stability(), 3),
            number(l.consensus, 3),
            l.smallest.to_string(),
            place.map_or(String::new(), |at| format!("candidate {}", at + 1)),
        ]
    };
    let rows: Vec<Vec<String>> = choice.levels.iter().map(row).collect();
    let columns = [
        "#k",
        "#error",
        "#bound",
        "#gain over k − 1, %",
        "#stability",
        "#consensus",
        "#smallest cluster",
        "",
    ];
    parts.add("Figures", table(&Table { columns: &columns, rows: &rows, best: &[] }), "", false);
    parts.page(input.title, "Orthant · how many clusters", lead, &input.made)
}
