//! The page of `choose_k`.

use super::Made;
use super::chart::{Axis, Line, Lines, Mark, Marker, Series, lines};
use super::number::decimals;
use super::page::{Table, capital, escape, shortened, table};
use super::parts::{Parts, Print};
use super::picture::{Row, rows_of_maps, segmentation};
use crate::choose_k::{Candidate, Choice, KResult};
use crate::error::Result;
use crate::evaluate::numbered_as;
use crate::image::ImageShape;

/// Everything that page is made of.
#[derive(Debug, Clone)]
pub struct Chosen<'a> {
    /// The name of the data.
    pub title: &'a str,
    /// How it came about.
    pub made: Made<'a>,
    /// What was found.
    pub choice: &'a Choice,
    /// Points are the pixels of a picture: the candidates have maps.
    pub image: Option<ImageShape>,
    /// For each candidate the words of its clusters, where features have names; otherwise empty.
    pub words: &'a [Vec<String>],
}

/// The answer first, then what else is possible, then what to beware of.
fn lead(choice: &Choice) -> String {
    let reasons = |c: &Candidate| escape(&capital(&c.reasons.join("; ")));
    let mut text = match choice.candidates.split_first() {
        Some((first, [])) => {
            format!(r#"<p class="answer"><b>Take k = {}.</b></p><p>{}.</p>"#, first.k, reasons(first))
        }
        Some((first, others)) => {
            let more: Vec<String> =
                others.iter().map(|c| format!("<b>k = {}</b>: {}", c.k, reasons(c))).collect();
            let others: Vec<String> = others.iter().map(|c| c.k.to_string()).collect();
            format!(
                r#"<p class="answer"><b>Take k = {}</b>, or look at {} as well.</p><p><b>k = {}</b>: {}.</p><p>{}.</p>"#,
                first.k,
                others.join(" and "),
                first.k,
                reasons(first),
                more.join(".</p><p>")
            )
        }
        None => {
            r#"<p class="answer"><b>The data do not say how many clusters there are.</b></p>"#.to_string()
        }
    };
    for note in &choice.notes {
        text += &format!(r#"<p class="warn">{}</p>"#, escape(note));
    }
    if choice.cancelled {
        text += r#"<p class="warn"><b>Stopped before the end</b>: this is what was found by then.</p>"#;
    }
    text
}

/// The candidates as maps, beside each other.
fn maps(choice: &Choice, image: ImageShape) -> Result<String> {
    const SIDE: usize = 320;
    let level = |c: &Candidate| choice.levels.iter().find(|l| l.k == c.k);
    let mut rows = vec![];
    let levels: Vec<&KResult> = choice.candidates.iter().filter_map(level).collect();
    let most = levels.iter().map(|level| level.k).max().unwrap_or(0);
    for level in &levels {
        // What most pixels have in common has one colour.
        let labels = numbered_as(&level.labels, &levels[0].labels, most)?;
        let map = segmentation(&labels, image)?.reduced(SIDE);
        rows.push(Row {
            name: format!("k = {}", level.k),
            note: format!("error {}", decimals(level.relative_error, 4)),
            maps: vec![("the clusters".into(), map)],
        });
    }
    rows_of_maps(&rows)
}

/// The candidates by the words of their clusters.
fn words(choice: &Choice, words: &[Vec<String>]) -> String {
    let row = |(c, clusters): (&Candidate, &Vec<String>)| {
        let items: Vec<String> =
            clusters.iter().map(|words| format!("<li>{}</li>", escape(&shortened(words, 80)))).collect();
        format!(
            r#"<article class="cluster"><h3>k = {}</h3><ul class="lines">{}</ul></article>"#,
            c.k,
            items.join("")
        )
    };
    let cards: Vec<String> = choice.candidates.iter().zip(words).map(row).collect();
    format!(r#"<div class="clusters">{}</div>"#, cards.join(""))
}

/// The page.
pub fn choice(input: &Chosen) -> Result<String> {
    let choice = input.choice;
    let lead = lead(choice);
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
    if let Some(image) = input.image {
        parts.add(
            "The candidates",
            maps(choice, image)?,
            "The map that each candidate gives; clusters that have most pixels in common have one colour.",
            Print::Wide,
        );
    } else if !input.words.is_empty() {
        let caption = "What sets the clusters of each candidate apart, a line each, the largest share of the data first.";
        parts.add("The candidates", words(choice, input.words), caption, Print::Wide);
    }
    parts.chart(
        "Points held out",
        chart(
            "what k clusters say of points held out, against k",
            Axis::new("log-density of points held out, nats a point"),
            vec![series("mean over the points", 0, Line::Solid, &|l| Some(l.held_out()))],
        ),
        "How well k clusters describe points that they were not made of, each cluster taken as an ellipsoid. Where this ends growing there are no further clusters. Vertical lines mark the candidates.",
    );
    parts.chart(
        "Error and bound",
        chart(
            "error and bound against k",
            Axis::new("relative error"),
            vec![
                series("no k clusters leave less", 1, Line::Dashed, &|l| Some(l.lower_bound)),
                series("left by the best partition found", 0, Line::Solid, &|l| Some(l.relative_error)),
            ],
        ),
        "What k clusters leave of the data, ‖M − UV‖/‖M‖, and what any k clusters must leave (from the singular values).",
    );
    if choice.levels.iter().any(|l| l.stability().is_some()) {
        parts.chart(
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
        );
    }
    if choice.levels.iter().any(|l| l.gain.is_some()) {
        parts.chart(
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
        );
    }
    let number = |x: Option<f64>, digits: usize| x.map_or("–".into(), |x| decimals(x, digits));
    let row = |l: &KResult| {
        let place = choice.candidates.iter().position(|c| c.k == l.k);
        vec![
            l.k.to_string(),
            number(Some(l.held_out()).filter(|x| x.is_finite()), 3),
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
        "#held out",
        "#error",
        "#bound",
        "#gain over k − 1, %",
        "#stability",
        "#consensus",
        "#smallest cluster",
        "",
    ];
    parts.add("Figures", table(&Table { columns: &columns, rows: &rows, best: &[] }), "", Print::Wide);
    let title = format!("{}: how many clusters?", input.title);
    parts.page(&title, "Orthant · how many clusters", lead, &input.made)
}
