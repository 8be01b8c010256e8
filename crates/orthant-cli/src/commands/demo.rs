//! `orthant demo`: all methods on the paper's synthetic sets and on the swimmer, made on the spot.

use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Result, bail};
use orthant::evaluate::scores;
use orthant::generate::{Generated, Generator, Swimmer, Synthetic};
use orthant::matrix::open;
use orthant::run::{Event, Go, Observer};
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::table::{figure, table};
use crate::args::DemoArgs;
use crate::contest::{Figures, mean_and_deviation};
use crate::interrupt;
use crate::load::{self, Truth};
use crate::naming::Contender;
use crate::output::{Folder, print, print_json, summary_of};
use crate::progress::{Counter, duration};

/// Noise of the synthetic sets, relative to the largest entry of a centroid [P, section 2.3].
const NOISE: [f64; 5] = [0.0, 0.05, 0.1, 0.2, 0.3];
/// The multiplicative methods creep: this is enough to see where they go.
const LIMIT: usize = 500;
/// What a summary of a demo says it is.
const DEMO: &str = "demo";

/// A data set of the demo.
struct Set {
    /// Its noise; the swimmer has none.
    noise: Option<f64>,
    made: Generated,
    truth: Truth,
}

impl Set {
    fn new(noise: Option<f64>, made: Generated) -> Set {
        let truth = Truth { classes: made.truth.clone(), names: made.classes.clone() };
        Set { noise, made, truth }
    }
}

/// Runs the command.
pub fn run(args: &DemoArgs) -> Result<()> {
    let begun = Instant::now();
    let threads = load::threads(&args.work)?;
    let mut folder = Folder::new(&args.out, is_demo(&args.out)?)?;
    let sets = sets(args)?;
    let contenders = Contender::all()?;
    let figures = contest(args, &sets, &contenders)?;
    let seconds = begun.elapsed().as_secs_f64();

    let table = accuracies(&sets, &contenders, &figures);
    let swimmer = swimmer(&sets, &contenders, &figures);
    let text = in_words(args, &table, &swimmer, seconds);
    let object = object(args, threads, seconds, &table, &swimmer);
    folder.text("demo.txt", &(text.clone() + "\n"))?;
    folder.finish(object.clone())?;
    if args.json { print_json(&object) } else { print(&text) }
}

/// Whether there is an earlier demo that may be replaced; anything else is not ours to touch.
fn is_demo(place: &Path) -> Result<bool> {
    if !place.exists() {
        return Ok(false);
    }
    let is_ours = summary_of(place).is_ok_and(|s| s.get("what").and_then(Value::as_str) == Some(DEMO));
    if !is_ours {
        bail!("{}: exists and is no earlier demo: choose another folder with --out", place.display());
    }
    Ok(true)
}

fn sets(args: &DemoArgs) -> Result<Vec<Set>> {
    let mut sets = vec![];
    for noise in NOISE {
        for set in 0..args.sets {
            let seed = args.seed.wrapping_add(set as u64);
            let made = Synthetic { noise, seed, ..Synthetic::default() }.generate()?;
            sets.push(Set::new(Some(noise), made));
        }
    }
    sets.push(Set::new(None, Swimmer::default().generate()?));
    Ok(sets)
}

/// Passes Ctrl-C on.
struct Listen;

impl Observer for Listen {
    fn iteration(&mut self, _event: &Event) -> Go {
        if interrupt::happened() { Go::Stop } else { Go::On }
    }
}

/// Every contender on every set: `[set][contender]`, nothing where Ctrl-C came first.
type Results = Vec<Vec<Option<Figures>>>;

fn contest(args: &DemoArgs, sets: &[Set], contenders: &[Contender]) -> Result<Results> {
    interrupt::working();
    let mut cells: Vec<(usize, usize)> =
        (0..sets.len()).flat_map(|set| (0..contenders.len()).map(move |row| (set, row))).collect();
    // The swimmer takes longest: it goes first, so that the threads end together.
    cells.sort_by_key(|&(set, _)| sets[set].noise.is_some());
    let counter = Counter::new(cells.len(), args.work.quiet);
    let results: Mutex<Results> = Mutex::new(vec![vec![None; contenders.len()]; sets.len()]);
    cells.into_par_iter().try_for_each(|(set, row)| -> Result<()> {
        if interrupt::happened() {
            return Ok(());
        }
        let Set { made, truth, .. } = &sets[set];
        let data = open(&made.matrix, None)?;
        let job = contenders[row].job(made.k(), args.runs, args.seed, Some(LIMIT));
        let figures = Figures::of(&*data, &job, Some(truth), &mut Listen)?;
        counter.done(&contenders[row].title());
        if !interrupt::happened() {
            results.lock().unwrap_or_else(|p| p.into_inner())[set][row] = Some(figures);
        }
        Ok(())
    })?;
    counter.end();
    Ok(results.into_inner().unwrap_or_else(|p| p.into_inner()))
}

/// A row of a table: the method, its figures, and seconds a run.
struct Line {
    title: String,
    figures: Vec<Option<f64>>,
    seconds: f64,
}

/// Mean accuracy for each noise level.
fn accuracies(sets: &[Set], contenders: &[Contender], results: &Results) -> Vec<Line> {
    let line = |(row, contender): (usize, &Contender)| {
        let at = |noise: f64| -> Vec<&Figures> {
            let of_level = sets.iter().zip(results).filter(|(set, _)| set.noise == Some(noise));
            of_level.filter_map(|(_, figures)| figures[row].as_ref()).collect()
        };
        let mean = |noise: &f64| {
            let all: Vec<f64> = at(*noise).iter().flat_map(|f| f.accuracy.iter().copied()).collect();
            (!all.is_empty()).then(|| mean_and_deviation(&all).0)
        };
        let seconds: Vec<f64> = NOISE.iter().flat_map(|&n| at(n)).map(Figures::seconds_per_run).collect();
        Line {
            title: contender.title(),
            figures: NOISE.iter().map(mean).collect(),
            seconds: mean_and_deviation(&seconds).0,
        }
    };
    contenders.iter().enumerate().map(line).collect()
}

/// Parts found by the best run, accuracy and error.
fn swimmer(sets: &[Set], contenders: &[Contender], results: &Results) -> Vec<Line> {
    let Some((set, figures)) = sets.iter().zip(results).find(|(set, _)| set.noise.is_none()) else {
        return vec![];
    };
    let line = |(row, contender): (usize, &Contender)| {
        let found = figures[row].as_ref();
        Line {
            title: contender.title(),
            figures: vec![
                found.map(|f| parts(&f.labels, set) as f64),
                found.map(|f| mean_and_deviation(&f.accuracy).0),
                found.map(|f| f.error[f.best]),
            ],
            seconds: found.map_or(f64::NAN, Figures::seconds_per_run),
        }
    };
    contenders.iter().enumerate().map(line).collect()
}

/// How many classes are exactly a cluster.
fn parts(labels: &[i32], set: &Set) -> usize {
    let Ok(scores) = scores(labels, &set.truth.classes) else { return 0 };
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

fn in_words(args: &DemoArgs, synthetic: &[Line], swimmer: &[Line], seconds: f64) -> String {
    let sets = if args.sets == 1 { "one set".into() } else { format!("{} sets", args.sets) };
    let runs = if args.runs == 1 { "one run".into() } else { format!("{} runs", args.runs) };
    let mut text = format!(
        "Synthetic data of the paper: 450 points, 10 features, 6 clusters. Mean accuracy over {sets}\n\
         and {runs} (one where the start is not random) for each level of noise:\n\n"
    );
    let header: Vec<String> = NOISE.iter().map(|noise| format!("noise {noise}")).collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    text.push_str(&lines(synthetic, &header, &[3; NOISE.len()], &[true; NOISE.len()]));
    text.push_str(
        "\n\nSwimmer: 256 images of 20 x 11 pixels, 17 parts (a torso, four limbs in four positions each).\n\
         Parts found exactly by the best of the runs:\n\n",
    );
    let header = ["parts of 17", "mean accuracy", "relative error"];
    text.push_str(&lines(swimmer, &header, &[0, 3, 4], &[true, true, false]));
    text.push_str(&format!(
        "\n\n* best of the column. CHNMF and O-PNMF are stopped after {LIMIT} iterations here to keep the demo\n\
         short (5000 to 20000 otherwise). Everything took {}; the report is in {}.\n\
         Next: orthant cluster FILE -k K, or orthant generate --help for data like these.",
        duration(seconds),
        args.out.display()
    ));
    if interrupt::happened() {
        text.push_str("\nStopped by Ctrl-C: the figures are of what was done by then.");
    }
    text
}

fn lines(lines: &[Line], header: &[&str], digits: &[usize], more: &[bool]) -> String {
    let mut names = vec!["method"];
    names.extend(header);
    names.push("time a run");
    let mut table = table(&names);
    let print = |x: f64, column: usize| format!("{x:.*}", digits[column]);
    let best = |column: usize| {
        let column_of = lines.iter().filter_map(|line| line.figures[column]);
        let best = if more[column] {
            column_of.fold(f64::NEG_INFINITY, f64::max)
        } else {
            column_of.fold(f64::INFINITY, f64::min)
        };
        print(best, column)
    };
    for line in lines {
        let mut cells = vec![comfy_table::Cell::new(&line.title)];
        for (column, x) in line.figures.iter().enumerate() {
            let text = x.map_or("–".into(), |x| print(x, column));
            let marked = text == best(column);
            cells.push(figure(text, marked));
        }
        cells.push(comfy_table::Cell::new(if line.seconds.is_nan() {
            "–".into()
        } else {
            duration(line.seconds)
        }));
        table.add_row(cells);
    }
    table.to_string()
}

fn object(
    args: &DemoArgs,
    threads: usize,
    seconds: f64,
    synthetic: &[Line],
    swimmer: &[Line],
) -> Map<String, Value> {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| drop(object.insert(key.into(), value));
    put("program", json!(format!("orthant {}", env!("CARGO_PKG_VERSION"))));
    put("what", json!(DEMO));
    put("seed", json!(args.seed));
    put("sets", json!(args.sets));
    put("runs", json!(args.runs));
    put("threads", json!(threads));
    put("max_iterations", json!(LIMIT));
    put("seconds", json!(seconds));
    put("noise", json!(NOISE));
    let rows =
        |lines: &[Line], keys: &dyn Fn(&Line) -> Value| -> Vec<Value> { lines.iter().map(keys).collect() };
    put(
        "synthetic",
        rows(synthetic, &|l| json!({"method": l.title, "accuracy": l.figures, "seconds_per_run": l.seconds}))
            .into(),
    );
    put(
        "swimmer",
        rows(swimmer, &|l| {
            json!({"method": l.title, "parts": l.figures[0], "accuracy": l.figures[1],
                   "relative_error": l.figures[2], "seconds_per_run": l.seconds})
        })
        .into(),
    );
    put("interrupted", json!(interrupt::happened()));
    object
}
