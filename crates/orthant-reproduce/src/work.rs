//! Computes cells side by side, each on a thread of its own, and keeps each as soon as it has ended.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use anyhow::Result;
use orthant::algorithms::Method;
use orthant::matrix::{Data, open};
use orthant::run::{Event, Go, Observer, StopAsked};
use orthant::start::Start;
use orthant::{Job, Outcome, cluster};

use crate::Watch;
use crate::cells::{Cells, Key, Run};
use crate::plan::{Cell, labels_file, polished};
use crate::protocol::Protocol;

/// Computes what is missing; the watcher may end it. What a method refuses is told and does not stop the others.
pub fn work(
    cells: &Cells,
    missing: &[Cell],
    protocol: &Protocol,
    threads: usize,
    watch: &dyn Watch,
) -> Result<Vec<String>> {
    let (next, problems, keeping) = (AtomicUsize::new(0), Mutex::new(vec![]), Mutex::new(()));
    let worker = |line: usize| -> Result<()> {
        // A pool of one thread: a cell's time is its own.
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
        while let Some(cell) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
            watch.begin(line, cell);
            let mut watching = Watching { watch, line, cell };
            let done = alone.install(|| compute(cell, protocol, &mut watching));
            if watch.stopped() {
                break;
            }
            match done {
                Ok(results) => {
                    let _one_at_a_time = keeping.lock().unwrap_or_else(|p| p.into_inner());
                    keep(cells, cell, results)?;
                }
                Err(error) => {
                    let problem = format!("{}: {error:#}", cell.title());
                    problems.lock().unwrap_or_else(|p| p.into_inner()).push(problem);
                }
            }
            watch.done(line, cell);
        }
        Ok(())
    };
    let worker = &worker;
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|line| scope.spawn(move || worker(line))).collect();
        let join = |worker: std::thread::ScopedJoinHandle<'_, Result<()>>| match worker.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        workers.into_iter().try_for_each(join)
    })?;
    Ok(problems.into_inner().unwrap_or_else(|p| p.into_inner()))
}

/// What a job gave, and under which key.
struct Computed {
    key: Key,
    /// ‖M‖² in the units of the history.
    norm2: f64,
    outcome: Outcome,
    better: &'static Method,
    seconds: f64,
}

fn compute(cell: &Cell, protocol: &Protocol, observer: &mut Watching) -> Result<Vec<Computed>> {
    let data = open(&cell.set.matrix, None)?;
    let job = protocol.job(&cell.contender, cell.set.k, cell.runs, cell.first, cell.variant);
    let mut results = vec![of(&*data, &job, cell.key.clone(), observer)?];
    if cell.contender.name() == "onp-mf:svd" && !observer.watch.stopped() {
        // EM from its labels is what a polish does.
        let labels = results[0].outcome.solution.labels.clone();
        let em = Job { start: Some(Start::Labels(Arc::new(labels))), ..Job::new("em-onmf", job.k)? };
        let mut result = of(&*data, &em, polished(&cell.key), observer)?;
        result.seconds += results[0].seconds;
        results.push(result);
    }
    Ok(results)
}

fn of(data: &dyn Data, job: &Job, key: Key, observer: &mut dyn Observer) -> Result<Computed> {
    let outcome = cluster(data, job, observer)?;
    let seconds = outcome.seconds / outcome.runs.len() as f64;
    Ok(Computed { key, norm2: data.facts().norm2, outcome, better: job.aim(), seconds })
}

/// First the picture, then the runs: a run that is there has its picture.
fn keep(cells: &Cells, cell: &Cell, results: Vec<Computed>) -> Result<()> {
    let mut runs = vec![];
    for Computed { key, norm2, outcome, better, seconds } in results {
        let name = labels_file(&cell.file, &key);
        let before = cells.runs(&cell.file, &key, usize::MAX);
        let best = outcome.best().objective;
        let beaten = before.iter().any(|run| !better.better(best, run.objective));
        if cell.pictured && (!beaten || cells.text(&name).is_none()) {
            cells.keep(&name, &in_words(&outcome.solution.labels))?;
        }
        if cell.pictured && key.method == "onp-mf:svd" {
            cells.keep(&curve_file(&cell.file, &key), &curve(&outcome, norm2))?;
        }
        for (number, run) in outcome.runs.iter().enumerate() {
            let scores = match &cell.set.truth {
                Some(truth) => Some(orthant::evaluate::scores(&run.labels, truth)?),
                None => None,
            };
            let score = |f: fn(&orthant::evaluate::Scores) -> f64| scores.as_ref().map_or(f64::NAN, f);
            runs.push(Run {
                key: key.clone(),
                run: cell.first + number,
                accuracy: score(|s| s.accuracy),
                nmi: score(|s| s.nmi),
                ari: score(|s| s.ari),
                error: run.relative_error,
                lower_bound: outcome.certificate.lower_bound,
                objective: run.objective,
                iterations: run.iterations(),
                stopped: run.stop().name().into(),
                // Microseconds: more digits would only make the files longer.
                seconds: (seconds * 1e6).round() / 1e6,
                version: env!("CARGO_PKG_VERSION").into(),
            });
        }
    }
    cells.add(&cell.file, runs)
}

fn in_words(labels: &[i32]) -> String {
    labels.iter().map(i32::to_string).collect::<Vec<_>>().join(" ") + "\n"
}

/// Where the course of ONP-MF is kept.
pub fn curve_file(file: &str, key: &Key) -> String {
    labels_file(file, key).replace(".labels.", ".course.")
}

/// Residual and relative error of every iteration.
fn curve(outcome: &Outcome, norm2: f64) -> String {
    let mut text = String::from("iteration,negative_part,relative_error\n");
    let history = outcome.best().stages.iter().flat_map(|stage| &stage.history);
    for (number, progress) in history.enumerate() {
        let error = (progress.objective / norm2).max(0.0).sqrt();
        text += &format!("{},{:.6e},{:.8}\n", number + 1, progress.residual, error);
    }
    text
}

/// Shows a cell's iterations, and ends them when asked to.
struct Watching<'a> {
    watch: &'a dyn Watch,
    line: usize,
    cell: &'a Cell,
}

impl Observer for Watching<'_> {
    fn iteration(&mut self, event: &Event) -> Go {
        if self.watch.stopped() {
            return Go::Stop;
        }
        self.watch.iteration(self.line, self.cell, event);
        Go::On
    }

    fn stop_asked(&self) -> Option<StopAsked> {
        self.watch.stop_asked()
    }
}
