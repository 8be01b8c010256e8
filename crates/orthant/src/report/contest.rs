//! A table of methods: their figures, as dots, in a table, and in words.

use super::chart::{Dot, dots};
use super::comparison::{Compared, Mean};
use super::number::{decimals, seconds};
use super::page::{Table, shortened, table};

/// The columns of a table of methods: name, value of a line, whether more is better, how it is written.
type Column = (&'static str, fn(&Compared) -> Option<f64>, bool, fn(&Compared) -> String);

const COLUMNS: &[Column] = &[
    ("#accuracy", |m| m.accuracy.map(|x| x.mean), true, |m| spread(m.accuracy, 100.0, 1)),
    ("#accuracy of best run", |m| m.best_accuracy, true, |m| plain(m.best_accuracy, 100.0, 1)),
    ("#NMI", |m| m.nmi.map(|x| x.mean), true, |m| plain(m.nmi.map(|x| x.mean), 100.0, 1)),
    ("#ARI", |m| m.ari.map(|x| x.mean), true, |m| plain(m.ari.map(|x| x.mean), 100.0, 1)),
    ("#purity", |m| m.purity.map(|x| x.mean), true, |m| plain(m.purity.map(|x| x.mean), 100.0, 1)),
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

/// Methods as dots on a scale, the best first: accuracy where a truth is known, and the error.
pub(super) fn dot_plots(methods: &[Compared]) -> String {
    let plot = |label: &str, more: bool, unit: f64, digits: usize, of: &dyn Fn(&Compared) -> Option<Mean>| {
        let mut known: Vec<(&Compared, Mean)> = methods.iter().filter_map(|m| Some((m, of(m)?))).collect();
        if known.len() < 2 {
            return String::new();
        }
        let order = |a: f64, b: f64| if more { b.total_cmp(&a) } else { a.total_cmp(&b) };
        known.sort_by(|a, b| order(a.1.mean, b.1.mean));
        let best = decimals(unit * known[0].1.mean, digits);
        let dot = |(m, mean): &(&Compared, Mean)| Dot {
            name: m.method.clone(),
            value: unit * mean.mean,
            deviation: unit * mean.deviation,
            text: spread(Some(*mean), unit, digits),
            best: decimals(unit * mean.mean, digits) == best,
        };
        let list: Vec<Dot> = known.iter().map(dot).collect();
        format!(r#"<figure class="panel">{}</figure>"#, dots(label, label, &list))
    };
    let plots = plot("accuracy, %", true, 100.0, 1, &|m| m.accuracy)
        + &plot("relative error", false, 1.0, 4, &|m| m.error);
    format!(r#"<div class="pair">{plots}</div>"#)
}

/// What the figures of several methods say, in a sentence or two.
pub fn verdict(methods: &[Compared]) -> String {
    let known: Vec<&Compared> = methods.iter().filter(|m| m.error.is_some()).collect();
    let name = |list: &[&Compared]| {
        let names: Vec<&str> = list.iter().map(|m| m.method.as_str()).collect();
        match names.split_last() {
            Some((last, [])) => last.to_string(),
            Some((last, others)) if names.len() <= 4 => format!("{} and {last}", others.join(", ")),
            Some((_, others)) => format!("{} and {} more", others[..3].join(", "), names.len() - 3),
            None => String::new(),
        }
    };
    // What is written the same is as good.
    let best_of = |of: &dyn Fn(&Compared) -> Option<f64>, more: bool, digits: usize| {
        let better = |a: f64, b: f64| if more { a.max(b) } else { a.min(b) };
        let best = known.iter().filter_map(|m| of(m)).reduce(better)?;
        let written = decimals(best, digits);
        let all: Vec<&Compared> =
            known.iter().copied().filter(|m| of(m).is_some_and(|x| decimals(x, digits) == written)).collect();
        Some((all, best))
    };
    let Some((first, error)) = best_of(&|m| m.error.map(|x| x.mean), false, 4) else { return String::new() };
    let have = |list: &[&Compared]| if list.len() == 1 { "has" } else { "have" };
    let mut text =
        format!("{} {} the lowest error on average ({})", name(&first), have(&first), decimals(error, 4));
    let lowest = best_of(&|m| m.best_error, false, 4);
    if let Some((reached, least)) = lowest
        && least < error - 5e-5
    {
        text += &format!("; the best of its runs brings {} to {}", name(&reached), decimals(least, 4));
    }
    text += ".";
    if let Some((right, accuracy)) = best_of(&|m| m.accuracy.map(|x| 100.0 * x.mean), true, 1) {
        let also = right.iter().any(|r| first.iter().any(|f| f.method == r.method));
        text += &format!(
            " {} {}{} the highest accuracy on average ({} %).",
            name(&right),
            if also { "also " } else { "" },
            have(&right),
            decimals(accuracy, 1)
        );
        if !also {
            text += " A lower error is not always a higher accuracy.";
        }
    }
    let quick = first.iter().filter_map(|m| Some((m, m.seconds?.mean))).min_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((quickest, time)) = quick {
        let time = seconds(time);
        text += &match first.len() {
            1 => format!(" {} takes {time} a run.", quickest.method),
            _ => format!(" The quickest of these is {}, with {time} a run.", quickest.method),
        };
    }
    text
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn compared(method: &str, accuracy: &[f64], error: &[f64]) -> Compared {
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
    fn the_verdict_names_the_best_and_says_where_error_and_accuracy_part() {
        let both = verdict(&[compared("a", &[0.5], &[0.2]), compared("b", &[0.9], &[0.1])]);
        assert_eq!(
            both,
            "b has the lowest error on average (0.1000). b also has the highest accuracy on average (90.0 %). b takes 250 ms a run."
        );
        let apart = verdict(&[
            compared("a", &[0.9], &[0.2, 0.1]),
            compared("b", &[0.5], &[0.12]),
            compared("c", &[0.5], &[0.12]),
        ]);
        assert!(apart.starts_with(
            "b and c have the lowest error on average (0.1200); the best of its runs brings a to 0.1000."
        ));
        assert!(
            apart.contains("a has the highest accuracy on average (90.0 %). A lower error is not always"),
            "{apart}"
        );
        assert!(apart.ends_with(" The quickest of these is b, with 250 ms a run."), "{apart}");
        assert_eq!(verdict(&[]), "");
    }
}
