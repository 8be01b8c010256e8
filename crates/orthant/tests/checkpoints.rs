//! Work that is saved and resumed ends at the same bits; damaged checkpoints are refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::*;
use orthant::algorithms::{METHODS, Polish, Values};
use orthant::certificate::Rigour;
use orthant::checkpoint::Checkpoint;
use orthant::pipeline::{Job, resume};
use orthant::run::{Event, Go, Observer, Stop, StopAsked};
use orthant::start::Start;

/// Saves after a number of iterations, and stops there.
pub(crate) struct Stopping {
    pub(crate) after: usize,
    pub(crate) seen: usize,
    pub(crate) saved: Option<Vec<u8>>,
}

impl Observer for Stopping {
    fn iteration(&mut self, event: &Event) -> Go {
        self.seen = event.iteration.max(self.seen);
        if event.iteration >= self.after { Go::Stop } else { Go::On }
    }

    fn wants_to_save(&mut self) -> bool {
        self.seen >= self.after && self.saved.is_none()
    }

    fn save(&mut self, checkpoint: &[u8]) -> orthant::Result<()> {
        self.saved = Some(checkpoint.to_vec());
        Ok(())
    }
}

#[test]
fn every_method_goes_on_from_a_checkpoint_to_the_same_bits() {
    let (points, features) = (80, 12);
    let x = clustered(points, features, 4, 31);
    for method in METHODS {
        for kind in ["dense f64", "sparse f64", "dense f32"] {
            let data = open_kind(kind, &x, features, None);
            // A search has many stages, each with a state of its own, if not all starts find the same.
            let search = method.name.starts_with("best");
            let job = Job {
                seed: 2,
                runs: if method.batched { 5 } else { 3 },
                ..short(method, if search { 7 } else { 4 })
            };
            let whole = run(&*data, &job);
            let mut resumptions = 0;
            let later: &[usize] = if search { &[15, 23, 31, 37, 42, 50, 60, 70, 90] } else { &[] };
            for &after in [1, 2, 7].iter().chain(later) {
                let mut observer = Stopping { after, seen: 0, saved: None };
                orthant::cluster(&*data, &job, &mut observer).unwrap();
                // A method that had converged by then has nothing to save.
                let Some(bytes) = observer.saved else { continue };
                resumptions += 1;
                let resumed = resume(&*data, &job, Checkpoint::from_bytes(&bytes).unwrap(), &mut ()).unwrap();
                assert_eq!(whole.solution.u, resumed.solution.u, "{} on {kind} after {after}", method.name);
                assert_eq!(whole.solution.labels, resumed.solution.labels);
                assert_eq!(whole.runs.len(), resumed.runs.len());
                for (a, b) in whole.runs.iter().zip(&resumed.runs) {
                    assert_eq!(a.objective.to_bits(), b.objective.to_bits(), "{} on {kind}", method.name);
                    assert_eq!(a.iterations(), b.iterations());
                    let stages = |run: &orthant::pipeline::Run| -> Vec<String> {
                        run.stages
                            .iter()
                            .map(|s| format!("{} {} {}", s.name, s.history.len(), s.relative_error))
                            .collect()
                    };
                    assert_eq!(stages(a), stages(b), "{} on {kind} after {after}", method.name);
                }
            }
            let least = if search { 7 } else { 1 };
            assert!(resumptions >= least, "{}: only {resumptions} checkpoints", method.name);
        }
    }
}

#[test]
fn runs_that_had_not_begun_are_no_runs_and_come_after_all() {
    let (points, features, runs) = (80, 12, 200);
    let x = clustered(points, features, 4, 31);
    let data = open_kind("sparse f64", &x, features, None);
    let job = Job { runs, ..Job::new("spherical-k-means", 4).unwrap() };
    let mut observer = Stopping { after: 1, seen: 0, saved: None };
    let stopped = orthant::cluster(&*data, &job, &mut observer).unwrap();
    assert!((1..runs).contains(&stopped.runs.len()), "{} runs", stopped.runs.len());
    assert_eq!(stopped.stop(), Stop::Cancelled);
    for run in &stopped.runs {
        assert!(run.iterations() > 0 && run.objective.is_finite());
        assert!(run.labels.iter().all(|label| (-1..4).contains(label)));
    }
    let saved = Checkpoint::from_bytes(&observer.saved.expect("it was stopped early")).unwrap();
    let (whole, resumed) = (run(&*data, &job), resume(&*data, &job, saved, &mut ()).unwrap());
    assert_eq!((whole.runs.len(), resumed.runs.len()), (runs, runs));
    for (a, b) in whole.runs.iter().zip(&resumed.runs) {
        assert_eq!((a.objective.to_bits(), &a.labels), (b.objective.to_bits(), &b.labels));
    }
}

#[test]
fn a_batch_that_ends_at_once_does_not_outrun_who_stops_it() {
    // With 64 clusters a batch has eight runs, and on these points each has ended after a few iterations.
    let (points, features) = (192, 64);
    let x: Vec<f64> = (0..points * features).map(|i| f64::from(i % features == i / features % 64)).collect();
    let data = open_kind("sparse f64", &x, features, None);
    let start = Some(Start::named("residual").unwrap());
    let job = Job { runs: 40, start, ..Job::new("k-means", 64).unwrap() };
    let mut observer = Stopping { after: 1, seen: 0, saved: None };
    let stopped = orthant::cluster(&*data, &job, &mut observer).unwrap();
    assert_eq!((stopped.runs.len(), stopped.stop()), (8, Stop::Cancelled));
    assert!(stopped.runs.iter().all(|run| run.stop() == Stop::Converged), "no run is cut short");
    let saved = Checkpoint::from_bytes(&observer.saved.expect("what has ended is saved too")).unwrap();
    let (whole, resumed) = (run(&*data, &job), resume(&*data, &job, saved, &mut ()).unwrap());
    assert_eq!((resumed.runs.len(), resumed.stopped), (40, None));
    for (a, b) in whole.runs.iter().zip(&resumed.runs) {
        assert_eq!((a.objective.to_bits(), &a.labels), (b.objective.to_bits(), &b.labels));
    }
    let late = orthant::cluster(&*data, &Job { time: Some(1e-9), ..job }, &mut ()).unwrap();
    // No second batch begins; of the first, whose starts were cut short too, the furthest run is left.
    assert_eq!((late.runs.len(), late.stop()), (1, Stop::OutOfTime));
}

#[test]
fn a_damaged_or_foreign_checkpoint_is_refused() {
    let x = clustered(40, 8, 3, 5);
    let data = open_kind("dense f64", &x, 8, None);
    let job = Job { runs: 4, ..Job::new("em-onmf", 3).unwrap() };
    let mut observer = Stopping { after: 1, seen: 0, saved: None };
    orthant::cluster(&*data, &job, &mut observer).unwrap();
    let bytes = observer.saved.unwrap();
    let refused = |bytes: &[u8]| Checkpoint::from_bytes(bytes).map(|_| ()).unwrap_err().to_string();
    for cut in 0..bytes.len() {
        refused(&bytes[..cut]);
    }
    for at in (0..bytes.len()).step_by(3) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x55;
        refused(&damaged);
    }
    let other = Job { seed: 1, ..job.clone() };
    let message =
        resume(&*data, &other, Checkpoint::from_bytes(&bytes).unwrap(), &mut ()).map(|_| ()).unwrap_err();
    assert!(message.to_string().contains("other work"), "{message}");
    // Other data: the same norms of points and of features, another digit at the end, other weights.
    let turned: Vec<f64> = x.chunks_exact(8).flat_map(|point| point.iter().rev().copied()).collect();
    let swapped = [&x[8..16], &x[..8], &x[16..]].concat();
    let mut nearly = x.clone();
    nearly[100] = f64::from_bits(nearly[100].to_bits() + 1);
    let weighted = Some(vec![2.0; 40]);
    for (x, weights) in [(turned, None), (swapped, None), (nearly, None), (x.clone(), weighted)] {
        let other = open_kind("dense f64", &x, 8, weights);
        let saved = Checkpoint::from_bytes(&bytes).unwrap();
        let message = resume(&*other, &job, saved, &mut ()).map(|_| ()).unwrap_err();
        assert!(message.to_string().contains("other work"), "{message}");
    }
    // Nobody can have been left behind by nobody.
    let mut impossible = Checkpoint::from_bytes(&bytes).unwrap();
    assert!(impossible.finished.is_empty());
    impossible.left_behind = 4;
    resume(&*data, &job, impossible, &mut ()).map(|_| ()).unwrap_err();
}

/// Wants to stop from some question on, and to keep the work then, as the program does at Ctrl-C.
struct Interrupted {
    after: usize,
    asked: Arc<AtomicUsize>,
    saved: Option<Vec<u8>>,
}

impl Interrupted {
    fn is_over(&self) -> bool {
        self.asked.fetch_add(1, Ordering::SeqCst) >= self.after
    }
}

impl Observer for Interrupted {
    fn iteration(&mut self, _event: &Event) -> Go {
        if self.is_over() { Go::Stop } else { Go::On }
    }
    fn stop_asked(&self) -> Option<StopAsked> {
        let (asked, after) = (self.asked.clone(), self.after);
        Some(Arc::new(move || asked.fetch_add(1, Ordering::SeqCst) >= after))
    }
    fn wants_to_save(&mut self) -> bool {
        // Also now and then before.
        self.asked.load(Ordering::SeqCst).is_multiple_of(5) || self.is_over()
    }
    fn save(&mut self, checkpoint: &[u8]) -> orthant::Result<()> {
        self.saved = Some(checkpoint.to_vec());
        Ok(())
    }
}

/// Also where a start, a decomposition, a descent or the certificate was cut short: that is not what is kept.
#[test]
fn work_that_is_interrupted_anywhere_goes_on_to_the_same_bits() {
    let (points, features) = (60, 80);
    let x = clustered(points, features, 4, 13);
    let polish = vec![Polish::Em, Polish::Moves, Polish::Swaps];
    let mut jobs: Vec<Job> = METHODS.iter().map(|method| short(method, 4)).collect();
    // The least effort: every stage is there.
    jobs.iter_mut()
        .filter(|job| job.method.name == "best")
        .for_each(|job| job.values = Values::new().set("effort", 0.0));
    let residual = Start::named("residual").ok();
    let polished = Job { polish, start: residual.clone(), ..Job::new("em-onmf", 4).unwrap() };
    jobs.push(Job { certificate: Rigour::Quick, ..polished.clone() });
    jobs.push(polished);
    jobs.push(Job { start: residual, certificate: Rigour::Quick, ..Job::new("em-onmf", 4).unwrap() });
    let (mut resumed, mut others) = (0, vec![]);
    for kind in ["dense f64", "sparse f64"] {
        let data = open_kind(kind, &x, features, None);
        for job in &jobs {
            let job = Job { seed: 5, runs: 2, ..job.clone() };
            let whole = run(&*data, &job);
            for after in [0, 1, 3, 6, 14, 60] {
                let mut observer = Interrupted { after, asked: Arc::default(), saved: None };
                orthant::cluster(&*data, &job, &mut observer).unwrap();
                let Some(bytes) = observer.saved else { continue };
                resumed += 1;
                let again = resume(&*data, &job, Checkpoint::from_bytes(&bytes).unwrap(), &mut ()).unwrap();
                let same = whole.solution.labels == again.solution.labels
                    && whole.solution.u == again.solution.u
                    && whole.runs.len() == again.runs.len();
                if !same {
                    let polished = if job.polish.is_empty() { "" } else { " with polish" };
                    others.push(format!("{}{polished} on {kind}, stopped at {after}", job.method.name));
                }
            }
        }
    }
    assert!(others.is_empty(), "ended at other bits: {others:?}");
    assert!(resumed > 30, "only {resumed} checkpoints");
}
