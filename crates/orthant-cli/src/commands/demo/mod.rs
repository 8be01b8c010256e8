//! `orthant demo`: all methods on the paper's synthetic sets and on the swimmer, made on the spot.

mod page;
mod tables;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use orthant::contender::Contender;
use orthant::generate::{Generated, Generator, Swimmer, Synthetic};
use orthant::matrix::open;
use orthant::read;
use orthant::run::{Event, Go, Observer, StopAsked};
use serde_json::{Map, Value, json};

use crate::args::DemoArgs;
use crate::contest::Figures;
use crate::interrupt;
use crate::load::{self, Truth};
use crate::output::{Folder, is_vacant, print, print_json, summary_of};
use crate::progress::Counter;

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
        let truth = Truth { labels: made.truth.clone(), names: made.classes.clone(), unlabelled: None };
        Set { noise, made, truth }
    }
}

/// Everything that was run.
struct Demo {
    sets: Vec<Set>,
    contenders: Vec<Contender>,
    /// `[set][contender]`, nothing where Ctrl-C came first.
    results: Vec<Vec<Option<Figures>>>,
}

impl Demo {
    /// What a contender reached on all sets of a noise level.
    fn at(&self, noise: f64, row: usize) -> Vec<&Figures> {
        let level = self.sets.iter().zip(&self.results).filter(|(set, _)| set.noise == Some(noise));
        level.filter_map(|(_, figures)| figures[row].as_ref()).collect()
    }

    /// The swimmer, and what every contender reached on it.
    fn swimmer(&self) -> (&Set, &[Option<Figures>]) {
        let last = self.sets.len() - 1;
        (&self.sets[last], &self.results[last])
    }
}

/// Runs the command.
pub fn run(args: &DemoArgs) -> Result<()> {
    let begun = Instant::now();
    let threads = load::threads(&args.work)?;
    let mut folder = Folder::new(&args.out, is_demo(&args.out)?)?;
    let demo = contest(args, threads)?;
    let seconds = begun.elapsed().as_secs_f64();

    let (synthetic, swimmer) = (tables::synthetic(&demo), tables::swimmer(&demo));
    let text = tables::in_words(args, &synthetic, &swimmer, seconds);
    let object = object(args, threads, seconds, &synthetic, &swimmer);
    folder.text("demo.txt", &(text.clone() + "\n"))?;
    folder.text("report.html", &page::page(args, &demo, threads)?)?;
    folder.finish(object.clone())?;
    if args.json { print_json(&object) } else { print(&text) }
}

/// Whether there is an earlier demo that may be replaced; anything else is not ours to touch.
fn is_demo(place: &Path) -> Result<bool> {
    read::settle(place)?;
    if is_vacant(place)? {
        return Ok(false);
    }
    let is_ours = summary_of(place).is_ok_and(|s| s.get("what").and_then(Value::as_str) == Some(DEMO));
    if !is_ours {
        bail!("{}: exists and is no earlier demo: choose another folder with --out", place.display());
    }
    Ok(true)
}

/// The synthetic sets, and the swimmer last.
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
    fn stop_asked(&self) -> Option<StopAsked> {
        Some(std::sync::Arc::new(interrupt::happened))
    }
}

/// Every contender on every set, side by side.
fn contest(args: &DemoArgs, threads: usize) -> Result<Demo> {
    let (sets, contenders) = (sets(args)?, Contender::all()?);
    interrupt::working();
    let mut cells: Vec<(usize, usize)> =
        (0..sets.len()).flat_map(|set| (0..contenders.len()).map(move |row| (set, row))).collect();
    // The swimmer takes longest: it goes first, so that the threads end together.
    cells.sort_by_key(|&(set, _)| sets[set].noise.is_some());
    let counter = Counter::new(cells.len(), args.work.quiet);
    let results = Mutex::new(vec![vec![None; contenders.len()]; sets.len()]);
    let next = AtomicUsize::new(0);
    let work = || -> Result<()> {
        // A pool of one thread: a cell's time is its own.
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
        while let Some(&(set, row)) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Set { made, truth, .. } = &sets[set];
            let data = open(&made.matrix, None)?;
            let job = contenders[row].job(made.k(), args.runs, args.seed, Some(LIMIT));
            let figures = alone.install(|| Figures::of(&*data, &job, Some(truth), &mut Listen))?;
            if interrupt::happened() {
                break;
            }
            counter.done(&contenders[row].title());
            results.lock().unwrap_or_else(|p| p.into_inner())[set][row] = Some(figures);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let start = |_| std::thread::Builder::new().spawn_scoped(scope, work);
        let workers = (0..threads).map(start).collect::<std::io::Result<Vec<_>>>();
        let workers = workers.context("--threads: the threads cannot be started").inspect_err(|_| {
            // Those that were started have nothing to do.
            next.store(cells.len(), Ordering::Relaxed);
        })?;
        let join = |worker: std::thread::ScopedJoinHandle<'_, Result<()>>| match worker.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        workers.into_iter().try_for_each(join)
    })?;
    counter.end();
    let results = results.into_inner().unwrap_or_else(|p| p.into_inner());
    Ok(Demo { sets, contenders, results })
}

fn object(
    args: &DemoArgs,
    threads: usize,
    seconds: f64,
    synthetic: &[tables::Line],
    swimmer: &[tables::Line],
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
    let accuracy = synthetic
        .iter()
        .map(|l| json!({"method": l.title, "accuracy": l.figures, "seconds_per_run": l.seconds}));
    put("synthetic", accuracy.collect());
    let parts = swimmer.iter().map(|l| {
        json!({"method": l.title, "parts": l.figures[0], "accuracy": l.figures[1],
               "relative_error": l.figures[2], "seconds_per_run": l.seconds})
    });
    put("swimmer", parts.collect());
    put("interrupted", json!(interrupt::happened()));
    object
}
