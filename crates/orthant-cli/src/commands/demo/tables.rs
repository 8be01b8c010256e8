//! The tables of the demo.

use orthant::evaluate::scores;
use orthant::report::Mean;

use super::super::table::{Table, figure};
use super::{Demo, LIMIT, NOISE, Set};
use crate::args::DemoArgs;
use crate::contest::Figures;
use crate::interrupt;
use crate::progress::duration;

/// A row of a table: the method, its figures, and seconds a run.
pub struct Line {
    pub title: String,
    pub figures: Vec<Option<f64>>,
    pub seconds: f64,
}

/// Mean accuracy for each noise level.
pub fn synthetic(demo: &Demo) -> Vec<Line> {
    let line = |row: usize| {
        let mean = |noise: &f64| {
            let all: Vec<f64> =
                demo.at(*noise, row).iter().flat_map(|f| f.accuracy.iter().copied()).collect();
            (!all.is_empty()).then(|| Mean::of(&all).mean)
        };
        let seconds: Vec<f64> =
            NOISE.iter().flat_map(|&noise| demo.at(noise, row)).map(Figures::seconds_per_run).collect();
        Line {
            title: demo.contenders[row].title(),
            figures: NOISE.iter().map(mean).collect(),
            seconds: Mean::of(&seconds).mean,
        }
    };
    (0..demo.contenders.len()).map(line).collect()
}

/// Parts found by the best run, accuracy and error.
pub fn swimmer(demo: &Demo) -> Vec<Line> {
    let (set, results) = demo.swimmer();
    let line = |row: usize| {
        let found = results[row].as_ref();
        Line {
            title: demo.contenders[row].title(),
            figures: vec![
                found.map(|f| parts(&f.labels, set) as f64),
                found.map(|f| Mean::of(&f.accuracy).mean),
                found.map(|f| f.error[f.best]),
            ],
            seconds: found.map_or(f64::NAN, Figures::seconds_per_run),
        }
    };
    (0..demo.contenders.len()).map(line).collect()
}

/// How many classes are exactly a cluster.
pub fn parts(labels: &[i32], set: &Set) -> usize {
    let Ok(scores) = scores(labels, &set.truth.labels) else { return 0 };
    let table = &scores.confusion;
    let (clusters, classes) = (table.cluster_sizes(), table.class_sizes());
    let exact = |class: usize| {
        (0..table.clusters()).any(|cluster| {
            let both = table.count(cluster, class);
            both > 0 && both == clusters[cluster] && both == classes[class]
        })
    };
    (0..set.made.k()).filter(|&class| exact(class)).count()
}

/// Everything that goes to the screen.
pub fn in_words(args: &DemoArgs, synthetic: &[Line], swimmer: &[Line], seconds: f64) -> String {
    let sets = if args.sets == 1 { "one set".into() } else { format!("{} sets", args.sets) };
    let runs = if args.runs == 1 { "one run".into() } else { format!("{} runs", args.runs) };
    let mut text = format!(
        "Synthetic data of the paper: 450 points, 10 features, 6 clusters. Mean accuracy in percent over \
         {sets} and {runs} (one where the start is not random) for each level of noise:\n\n"
    );
    let header: Vec<String> = NOISE.iter().map(|noise| format!("noise {noise}")).collect();
    let columns: Vec<Column> =
        header.iter().map(|name| Column { name, unit: 100.0, digits: 1, more_is_better: true }).collect();
    text.push_str(&lines(synthetic, &columns));
    text.push_str(
        "\n\nSwimmer: 256 images of 20 x 11 pixels, 17 parts (a torso, four limbs in four positions each). Parts found exactly by the best of the runs:\n\n",
    );
    let columns = [
        Column { name: "parts of 17", unit: 1.0, digits: 0, more_is_better: true },
        Column { name: "mean accuracy %", unit: 100.0, digits: 1, more_is_better: true },
        Column { name: "relative error", unit: 1.0, digits: 4, more_is_better: false },
    ];
    text.push_str(&lines(swimmer, &columns));
    text.push_str(&format!(
        "\n\n* best of the column. CHNMF and O-PNMF are stopped after {LIMIT} iterations here to keep the demo \
         short (5000 to 20000 otherwise). Everything took {}; the report is {}.\n\
         Next: orthant cluster FILE -k K, or orthant generate --help for data like these.",
        duration(seconds),
        args.out.join("report.html").display()
    ));
    if interrupt::happened() {
        text.push_str("\nStopped by Ctrl-C: the figures are of what was done by then.");
    }
    text
}

struct Column<'a> {
    name: &'a str,
    unit: f64,
    digits: usize,
    more_is_better: bool,
}

fn lines(lines: &[Line], columns: &[Column]) -> String {
    let mut names = vec!["method"];
    names.extend(columns.iter().map(|c| c.name));
    names.push("time a run");
    let mut table = Table::new(names);
    let print = |x: f64, c: usize| format!("{:.*}", columns[c].digits, x * columns[c].unit);
    let best = |c: usize| {
        let figures = lines.iter().filter_map(|line| line.figures[c]);
        let best =
            if columns[c].more_is_better { figures.reduce(f64::max) } else { figures.reduce(f64::min) };
        best.map(|x| print(x, c))
    };
    for line in lines {
        let mut cells = vec![line.title.clone()];
        for (c, x) in line.figures.iter().enumerate() {
            let text = x.map(|x| print(x, c));
            // Equal in print is equal.
            let marked = text.is_some() && text == best(c);
            cells.push(figure(text.unwrap_or("–".into()), marked));
        }
        let seconds = if line.seconds.is_nan() { "–".into() } else { duration(line.seconds) };
        cells.push(seconds);
        table.row(cells);
    }
    table.fitted()
}
