//! `orthant compare`: all methods side by side.

use anyhow::Result;
use orthant::Error;
use orthant::algorithms::method;
use orthant::contender::Contender;
use orthant::evaluate;
use orthant::findings::{Marker, distinctive};
use orthant::prepare::Problem;
use orthant::report::picture::{Row, segmentation};
use orthant::report::{
    Agreement, Compared, Comparison, Contest, Gallery, Made, Mean, Worded, comparison, verdict,
};
use serde_json::{Map, Value, json};

use super::table::{Table, figure};
use crate::args::CompareArgs;
use crate::contest::{Figures, spread};
use crate::load::{self, Input};
use crate::naming::find;
use crate::output::{Folder, print, print_as_it_is, print_json};
use crate::progress::{Piece, Watch, duration};
use crate::terminal::tell;
use crate::{interrupt, made};

/// A method and what it reached, or why it could not.
type Entry = (Contender, std::result::Result<Figures, String>);

/// Runs the command.
pub fn run(args: &CompareArgs) -> Result<()> {
    let mut contenders = vec![];
    for name in &args.methods {
        // Without a start and a polish it is a method's name.
        find("--methods", name.split([':', '+']).next().unwrap_or(name))?;
        contenders.extend(Contender::parse(name)?);
    }
    if contenders.is_empty() {
        contenders = Contender::all()?;
    }
    let threads = load::threads(&args.work)?;
    let folder = args.out.as_ref().map(|out| Folder::new(out, args.force)).transpose()?;
    let input = load::load(&args.data, args.work.quiet)?;
    let rows = contest(args, &input, contenders)?;
    let object = object(args, &input, &rows, threads)?;
    let csv = csv(&rows);
    if let Some(mut folder) = folder {
        folder.text("compare.csv", &csv)?;
        folder.text("report.html", &page(args, &input, &rows, threads)?)?;
        folder.finish(object.clone())?;
        if let (Some(out), false) = (&args.out, args.work.quiet) {
            tell!("written to {}", out.display());
        }
    }
    if args.json {
        print_json(&object)
    } else if args.csv {
        print_as_it_is(&csv)
    } else {
        print(&in_words(&rows, args.max_iterations))
    }
}

/// Runs one contender after another; what one of them refuses does not stop the others.
fn contest(args: &CompareArgs, input: &Input, contenders: Vec<Contender>) -> Result<Vec<Entry>> {
    let data = input.open()?;
    if data.facts().usable_points == 0 {
        // k-means alone takes zero points: there is nothing to compare it with.
        Problem::new(&*data, args.k, method("best")?.needs()).map_err(|error| input.located(error))?;
    }
    interrupt::working();
    let mut watch = Watch::of_pieces(contenders.iter().map(|c| piece(c, args)).collect(), args.work.quiet);
    let mut rows: Vec<Entry> = vec![];
    let count = contenders.len();
    let mut first_error = None;
    for (number, contender) in contenders.into_iter().enumerate() {
        watch.begin(&format!("{}/{count} {}", number + 1, contender.title()));
        let mut job = contender.job(args.k, args.runs, args.seed, args.max_iterations);
        job.memory = load::room(&args.data.read, &input.points);
        match Figures::of(&*data, &job, input.truth.as_ref(), &mut watch) {
            Ok(figures) => rows.push((contender, Ok(figures))),
            Err(error) => {
                rows.push((contender, Err(error.to_string())));
                first_error.get_or_insert(error);
            }
        }
        if interrupt::happened() {
            break;
        }
    }
    watch.end();
    match first_error {
        Some(error) if rows.iter().all(|row| row.1.is_err()) => Err(match error.downcast::<Error>() {
            Ok(error) => input.located(error),
            Err(other) => other,
        }),
        _ => Ok(rows),
    }
}

/// About how long a contender takes beside the others.
fn piece(contender: &Contender, args: &CompareArgs) -> Piece {
    let runs = if contender.start.is_random() { args.runs } else { 1 };
    Piece { word: "", ..Piece::of(contender.method, runs, args.max_iterations) }
}

/// A column of figures.
struct Column {
    name: &'static str,
    figures: fn(&Figures) -> &[f64],
    unit: f64,
    digits: usize,
    more_is_better: bool,
    /// On the screen, what matters most comes first: not all columns may have room beside each other.
    place: u8,
}

const fn score(name: &'static str, figures: fn(&Figures) -> &[f64], place: u8) -> Column {
    Column { name, figures, unit: 100.0, digits: 1, more_is_better: true, place }
}

const COLUMNS: &[Column] = &[
    score("accuracy %", |f| &f.accuracy, 0),
    score("NMI %", |f| &f.nmi, 1),
    score("ARI %", |f| &f.ari, 3),
    score("purity %", |f| &f.purity, 4),
    Column {
        name: "relative error",
        figures: |f| &f.error,
        unit: 1.0,
        digits: 5,
        more_is_better: false,
        place: 2,
    },
];

impl Column {
    fn mean(&self, figures: &Figures) -> f64 {
        Mean::of((self.figures)(figures)).mean
    }

    /// Equal in print is equal.
    fn print(&self, mean: f64) -> String {
        format!("{:.*}", self.digits, mean * self.unit)
    }

    fn best(&self, all: &[&Figures]) -> String {
        let means = all.iter().map(|f| self.mean(f));
        let best = if self.more_is_better { means.reduce(f64::max) } else { means.reduce(f64::min) };
        self.print(best.unwrap_or(f64::NAN))
    }
}

fn in_words(rows: &[Entry], limit: Option<usize>) -> String {
    let done: Vec<&Figures> = rows.iter().filter_map(|row| row.1.as_ref().ok()).collect();
    let mut columns: Vec<&Column> =
        COLUMNS.iter().filter(|c| done.iter().any(|f| !(c.figures)(f).is_empty())).collect();
    columns.sort_by_key(|column| column.place);
    let best: Vec<String> = columns.iter().map(|c| c.best(&done)).collect();
    let mut header = vec!["method"];
    header.extend(columns.iter().map(|c| c.name));
    header.extend(["iterations", "time a run"]);
    let mut table = Table::new(header.clone());
    let mut refusals: Vec<(&str, Vec<String>)> = vec![];
    for (contender, figures) in rows {
        let mut cells = vec![contender.title()];
        match figures {
            Ok(f) => {
                for (column, best) in columns.iter().zip(&best) {
                    let text = spread((column.figures)(f), column.unit, column.digits);
                    cells.push(figure(text, column.print(column.mean(f)) == *best));
                }
                let at_limit = if f.at_limit > 0 { "+" } else { " " };
                let iterations = format!("{:.0}{at_limit}", Mean::of(&f.iterations).mean);
                cells.extend([iterations, duration(f.seconds_per_run())]);
            }
            Err(problem) => {
                cells.extend((1..header.len()).map(|_| "–".to_string()));
                match refusals.iter_mut().find(|r| r.0 == problem) {
                    Some(refusal) => refusal.1.push(contender.title()),
                    None => refusals.push((problem, vec![contender.title()])),
                }
            }
        }
        table.row(cells);
    }
    let mut notes = String::from("* best of the column.");
    if let Some(runs) = done.iter().map(|f| f.error.len()).max().filter(|&runs| runs > 1) {
        notes.push_str(&format!(" Mean ± standard deviation over {runs} runs where the start is random."));
    }
    notes.push('\n');
    for (problem, names) in refusals {
        notes.push_str(&format!("{}: {problem}\n", names.join(", ")));
    }
    if done.iter().any(|f| f.at_limit > 0) {
        let limit = limit.map_or(String::new(), |limit| format!(" (--max-iterations {limit})"));
        notes.push_str(&format!("+ some runs ended at the limit of iterations{limit}.\n"));
    }
    if interrupt::happened() {
        notes.push_str("Stopped by Ctrl-C: the last row is of what was done by then.\n");
    }
    format!("{}\n{}", table.fitted(), notes.trim_end())
}

fn object(args: &CompareArgs, input: &Input, rows: &[Entry], threads: usize) -> Result<Map<String, Value>> {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| drop(object.insert(key.into(), value));
    put("program", json!(format!("orthant {}", env!("CARGO_PKG_VERSION"))));
    put("data", json!(input.path.display().to_string()));
    put("cluster", json!(input.learned.orientation.name()));
    put("k", json!(args.k));
    put("points", json!(input.points.points()));
    put("features", json!(input.points.features()));
    put("nonzeros", json!(input.points.nonzeros()));
    put("seed", json!(args.seed));
    put("threads", json!(threads));
    put("read_seconds", json!(input.read_seconds));
    put("max_iterations", json!(args.max_iterations));
    let mut methods = vec![];
    for (contender, figures) in rows {
        let mut row = Map::new();
        row.insert("name".into(), json!(contender.name()));
        row.insert("title".into(), json!(contender.title()));
        row.insert("algorithm".into(), json!(contender.method.name));
        row.insert("start".into(), json!(contender.start.name()));
        let polish: Vec<&str> = contender.polish.iter().map(|p| p.name()).collect();
        row.insert("polish".into(), json!(polish));
        match figures {
            Ok(figures) => row.append(&mut figures.object()),
            Err(problem) => drop(row.insert("problem".into(), json!(problem))),
        }
        methods.push(Value::Object(row));
    }
    put("methods", methods.into());
    put("interrupted", json!(interrupt::happened()));
    Ok(object)
}

/// The methods that reached something, in the order of their errors, with the labels of their best runs, numbered as those
/// of the first.
fn partitions(rows: &[Entry], k: usize) -> Result<Vec<(String, Vec<i32>, f64)>> {
    let done = rows.iter().filter_map(|(contender, figures)| Some((contender, figures.as_ref().ok()?)));
    let mut all: Vec<(String, Vec<i32>, f64)> =
        done.map(|(contender, f)| (contender.title(), f.labels.clone(), f.error[f.best])).collect();
    all.sort_by(|a, b| a.2.total_cmp(&b.2));
    let Some(first) = all.first().map(|best| best.1.clone()) else { return Ok(all) };
    for (_, labels, _) in &mut all {
        *labels = evaluate::numbered_as(labels, &first, k)?;
    }
    Ok(all)
}

/// The report.
fn page(args: &CompareArgs, input: &Input, rows: &[Entry], threads: usize) -> Result<String> {
    let partitions = partitions(rows, args.k)?;
    let row = |(contender, figures): &Entry| match figures {
        Ok(f) => {
            let limit = if f.at_limit > 0 {
                format!("{} {} at the limit", f.at_limit, if f.at_limit == 1 { "run" } else { "runs" })
            } else {
                String::new()
            };
            f.compared(contender.title(), limit)
        }
        Err(problem) => Compared {
            runs: 0,
            seconds: None,
            ..Figures::default().compared(contender.title(), problem.clone())
        },
    };
    let methods: Vec<Compared> = rows.iter().map(row).collect();
    let verdict = verdict(&methods);
    let contest = Contest {
        title: "Methods".into(),
        methods,
        caption:
            "Mean ± standard deviation over the runs; scores in percent; the best of each column is marked. Runs at the limit of iterations might have gone on."
                .into(),
    };
    let called = input.called();
    let (points, features) = (called.points.1, called.features.1);
    let lead = format!(
        "{} methods put {} {points} of {} {features} into {} clusters, with {} runs where the start is random.",
        rows.len(),
        input.points.points(),
        input.points.features(),
        args.k,
        args.runs
    );
    let (command, date) = (made::command(), made::date());
    let made = Made {
        command: Some(&command),
        date: Some(&date),
        threads: Some(threads),
        read_seconds: Some(input.read_seconds),
        notes: &input.notes,
        ..Made::default()
    };
    let page = Comparison {
        title: &format!("{}: {} methods side by side", input.title(), rows.len()),
        verdict: &verdict,
        lead: &lead,
        made,
        contests: vec![contest],
        galleries: maps(input, &partitions)?.into_iter().collect(),
        words: words(args, input, &partitions)?,
        agreement: agreement(&partitions)?,
        ..Comparison::default()
    };
    Ok(comparison(&page)?)
}

/// A map for every method, and that of the truth.
fn maps(input: &Input, partitions: &[(String, Vec<i32>, f64)]) -> Result<Option<Gallery>> {
    const SIDE: usize = 256;
    let Some(image) = input.image else { return Ok(None) };
    // Where nothing is there is no cluster, whatever a method makes of it: backgrounds look alike.
    let data = input.open()?;
    let nothing = &data.facts().zero_points;
    let map = |name: &str, note: String, labels: &[i32]| -> Result<Row> {
        let mut labels = labels.to_vec();
        nothing.iter().for_each(|&j| labels[j] = -1);
        let picture = segmentation(&labels, image)?.reduced(SIDE);
        Ok(Row { name: name.into(), note, maps: vec![("the clusters".into(), picture)] })
    };
    let mut rows = vec![];
    for (name, labels, error) in partitions {
        rows.push(map(name, format!("error {error:.4}"), labels)?);
    }
    if let (Some(truth), Some((_, first, _))) = (&input.truth, partitions.first()) {
        let labels: Vec<i32> = truth.labels.iter().map(|&class| class as i32).collect();
        let k = truth.names.len().max(first.iter().max().map_or(0, |&most| most as usize + 1));
        rows.push(map("the truth", String::new(), &evaluate::numbered_as(&labels, first, k)?)?);
    }
    let caption = "The best run of every method, the lowest error first; clusters that have most pixels in common have one colour.";
    Ok(Some(Gallery { title: "Maps".into(), rows, caption: caption.into() }))
}

/// What sets the clusters of every method apart, where features have names.
fn words(args: &CompareArgs, input: &Input, partitions: &[(String, Vec<i32>, f64)]) -> Result<Vec<Worded>> {
    const TOLD: usize = 4;
    /// More clusters than this would not stand beside each other.
    const BESIDE: usize = 8;
    let (Some(names), None) = (&input.vocabulary, input.image) else { return Ok(vec![]) };
    if args.k > BESIDE {
        return Ok(vec![]);
    }
    let data = input.open()?;
    let mut rows = vec![];
    for (name, labels, _) in partitions {
        let told = |markers: &Vec<Marker>| {
            let words: Vec<&str> = markers.iter().take(TOLD).map(|m| names[m.feature].as_str()).collect();
            words.join(", ")
        };
        rows.push((name.clone(), distinctive(&*data, labels, args.k)?.iter().map(told).collect()));
    }
    Ok(rows)
}

/// How far every two methods agree, on the points that both give a cluster.
fn agreement(partitions: &[(String, Vec<i32>, f64)]) -> Result<Agreement> {
    let mut values = vec![];
    for (_, a, _) in partitions {
        for (_, b, _) in partitions {
            let both = a.iter().zip(b).filter(|(a, b)| **a >= 0 && **b >= 0);
            let (a, b): (Vec<i32>, Vec<usize>) = both.map(|(&a, &b)| (a, b as usize)).unzip();
            values.push(if a.is_empty() { 1.0 } else { evaluate::scores(&a, &b)?.ari });
        }
    }
    Ok(Agreement { methods: partitions.iter().map(|p| p.0.clone()).collect(), values })
}

/// One line for each method.
fn csv(rows: &[Entry]) -> String {
    let mut text = String::from("method,start,polish,runs");
    for name in ["accuracy", "nmi", "ari", "purity", "relative_error"] {
        text.push_str(&format!(",{name}_mean,{name}_deviation"));
    }
    text.push_str(",iterations_mean,seconds_per_run,problem\n");
    for (contender, figures) in rows {
        let polish: Vec<&str> = contender.polish.iter().map(|p| p.name()).collect();
        let polish = polish.join("+");
        text.push_str(&format!("{},{},{polish},", contender.method.name, contender.start.name()));
        match figures {
            Ok(f) => {
                text.push_str(&f.error.len().to_string());
                for column in COLUMNS {
                    match (column.figures)(f) {
                        [] => text.push_str(",,"),
                        x => {
                            let Mean { mean, deviation, .. } = Mean::of(x);
                            text.push_str(&format!(",{mean},{deviation}"));
                        }
                    }
                }
                let iterations = Mean::of(&f.iterations).mean;
                text.push_str(&format!(",{iterations},{},\n", f.seconds_per_run()));
            }
            Err(problem) => {
                text.push_str(&format!("{}\"{}\"\n", ",".repeat(13), problem.replace('"', "\"\"")));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_agree_both_ways_alike_where_one_leaves_points_out() {
        let of = |labels: &[i32]| ("a method".to_string(), labels.to_vec(), 0.0);
        let found = agreement(&[of(&[0, 0, 1, 1, -1, -1]), of(&[1, 1, 0, 0, 1, 0]), of(&[-1; 6])]).unwrap();
        // On what both have a cluster for, the first two are the same; nothing contradicts the third.
        assert_eq!(found.values, [1.0; 9]);
        let found = agreement(&[of(&[0, 0, 1, 1, -1]), of(&[0, 1, 1, 1, 1])]).unwrap().values;
        assert_eq!(found[1], found[2]);
        assert!(found[1] < 0.5);
    }
}
