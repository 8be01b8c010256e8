//! Who is asked to stop hears it also where no iteration ends: in a start, in the singular value decomposition, in a descent.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::*;
use orthant::Error;
use orthant::advise::{Advise, advise};
use orthant::algorithms::{METHODS, Polish};
use orthant::checkpoint::Checkpoint;
use orthant::choose_k::{ChooseK, choose_k};
use orthant::matrix::{Data, Mat};

use orthant::pipeline::{Job, cluster, resume};
use orthant::run::{Event, Go, Observer, Stop, StopAsked};
use orthant::singular::{dominant_within, top, top_until};
use orthant::start::Start;

/// Wants to stop from the beginning, and says so whenever asked; iterations of the method itself go on up to a stage.
#[derive(Default)]
struct Impatient {
    /// How often it was asked,
    asked: Arc<AtomicUsize>,
    /// and how often before each iteration.
    before: Vec<usize>,
    /// Iterations that it lets pass have another name.
    from: Option<&'static str>,
}

impl Observer for Impatient {
    fn iteration(&mut self, event: &Event) -> Go {
        self.before.push(self.asked.load(Ordering::SeqCst));
        if self.from.is_none_or(|from| from == event.method) { Go::Stop } else { Go::On }
    }

    fn stop_asked(&self) -> Option<StopAsked> {
        let asked = self.asked.clone();
        Some(Arc::new(move || {
            asked.fetch_add(1, Ordering::SeqCst);
            true
        }))
    }
}

/// More features than the decomposition takes at once.
fn wide() -> Box<dyn Data> {
    open_kind("dense f64", &clustered(120, 150, 6, 3), 150, None)
}

#[test]
fn every_method_ends_with_what_it_has() {
    let data = wide();
    for method in METHODS {
        let mut observer = Impatient::default();
        let outcome = cluster(&*data, &Job { seed: 2, ..short(method, 6) }, &mut observer).unwrap();
        let certificate = &outcome.certificate;
        assert_eq!(observer.before.len(), 1, "{}: one iteration, then the end", method.name);
        assert_eq!(outcome.solution.labels.len(), 120);
        assert!(outcome.solution.sizes.iter().all(|size| *size > 0), "{}", method.name);
        assert!(certificate.orthogonality_residual < 1e-12, "{}", method.name);
        // A decomposition that was cut short proves nothing.
        assert!(observer.asked.load(Ordering::SeqCst) > 0, "{}: nobody asked", method.name);
        assert_eq!(certificate.lower_bound, 0.0, "{}", method.name);
        assert!((0.0..=1.0).contains(&certificate.energy_share), "{}", method.name);
    }
}

/// Stops after some iterations of all runs together, and knows how far each had come.
struct Overseer {
    left: usize,
    last: std::collections::BTreeMap<usize, f64>,
}

impl Observer for Overseer {
    fn iteration(&mut self, event: &Event) -> Go {
        self.last.insert(event.run, event.progress.objective);
        self.left = self.left.saturating_sub(1);
        if self.left == 0 { Go::Stop } else { Go::On }
    }
}

#[test]
fn of_runs_that_are_cut_short_only_the_furthest_is_concluded() {
    for kind in ["dense f64", "sparse f64"] {
        let data = open_kind(kind, &clustered(300, 40, 6, 3), 40, None);
        for name in ["em-onmf", "k-means", "kl-onmf"] {
            let mut observer = Overseer { left: 12, last: Default::default() };
            let job = Job { runs: 6, seed: 2, ..Job::new(name, 6).unwrap() };
            let outcome = cluster(&*data, &job, &mut observer).unwrap();
            let cut: Vec<_> = outcome.runs.iter().filter(|run| run.stop() == Stop::Cancelled).collect();
            assert!(cut.len() == 1 && observer.last.len() > 1, "{name} on {kind}: {} runs", cut.len());
            let furthest = observer.last.values().copied().fold(f64::INFINITY, f64::min);
            let reached = outcome.runs.iter().filter_map(|run| run.stages[0].history.last());
            let reached = reached.map(|p| p.objective).fold(f64::INFINITY, f64::min);
            assert_eq!(reached, furthest, "{name} on {kind}");
        }
    }
}

#[test]
fn the_start_of_kl_onmf_asks_after_each_of_its_passes() {
    let data = wide();
    let mut observer = Impatient::default();
    let job = Job { seed: 2, ..Job::new("kl-onmf", 6).unwrap() };
    let outcome = cluster(&*data, &job, &mut observer).unwrap();
    assert_eq!(observer.before, [1], "asked once, after the first pass of the start");
    assert_eq!(outcome.stop(), Stop::Cancelled);
}

/// Never wants to stop, but counts how often it was asked before the first iteration.
#[derive(Default)]
struct Patient {
    asked: Arc<AtomicUsize>,
    before: Option<usize>,
}

impl Observer for Patient {
    fn iteration(&mut self, _event: &Event) -> Go {
        self.before.get_or_insert(self.asked.load(Ordering::SeqCst));
        Go::On
    }

    fn stop_asked(&self) -> Option<StopAsked> {
        let asked = self.asked.clone();
        Some(Arc::new(move || {
            asked.fetch_add(1, Ordering::SeqCst);
            false
        }))
    }
}

#[test]
fn a_start_does_not_go_on_when_the_time_is_over() {
    let data = wide();
    for start in ["random", "residual"] {
        let job =
            Job { seed: 2, start: Some(Start::named(start).unwrap()), ..Job::new("kl-onmf", 6).unwrap() };
        let (mut whole, mut late) = (Patient::default(), Patient::default());
        cluster(&*data, &job, &mut whole).unwrap();
        let outcome = cluster(&*data, &Job { time: Some(1e-9), ..job }, &mut late).unwrap();
        assert_eq!((outcome.stop(), outcome.best().iterations()), (Stop::OutOfTime, 1), "{start}");
        assert!(
            outcome.certificate.lower_bound > 0.0,
            "what is told of the end takes the time that it needs"
        );
        // Each pass of a start asks, unless the time is over: then there is no second one.
        assert!(
            whole.before.unwrap() > 1 && late.before == Some(0),
            "{start}: {:?} {:?}",
            whole.before,
            late.before
        );
    }
}

#[test]
fn a_descent_after_a_swap_ends_after_a_pass() {
    let data = wide();
    let mut observer = Impatient { from: Some("swaps"), ..Impatient::default() };
    let job = Job { polish: vec![Polish::Swaps], seed: 2, ..Job::new("em-onmf", 6).unwrap() };
    let outcome = cluster(&*data, &job, &mut observer).unwrap();
    let before = &observer.before;
    assert_eq!(before[0], 0, "EM-ONMF is asked by its iterations");
    let [.., last_of_em, of_swaps] = before[..] else { panic!("{before:?}") };
    assert!(
        of_swaps - last_of_em <= 4,
        "what EM explains, the descent to begin with, and that of the first swaps"
    );
    assert_eq!(outcome.best().stages.last().unwrap().history.len(), 1);
}

#[test]
fn moves_are_given_up_and_leave_what_was_before_them() {
    let data = wide();
    let job = Job { seed: 2, ..Job::new("em-onmf", 6).unwrap() };
    let before = cluster(&*data, &job, &mut ()).unwrap();
    let mut observer = Impatient { from: Some("moves"), ..Impatient::default() };
    let job = Job { polish: vec![Polish::Moves], ..job };
    let whole = cluster(&*data, &job, &mut ()).unwrap();
    assert!(whole.best().stages.last().unwrap().history.len() > 1, "there is something to move");
    let outcome = cluster(&*data, &job, &mut observer).unwrap();
    let moves = outcome.best().stages.last().unwrap();
    assert_eq!((moves.name.as_str(), moves.history.len(), moves.stop), ("moves", 0, Stop::Cancelled));
    assert_eq!(outcome.solution.labels, before.solution.labels);
    assert!(outcome.best().objective.is_finite());
}

#[test]
fn a_decomposition_that_is_cut_short_claims_nothing() {
    let data = wide();
    let asked = AtomicUsize::new(0);
    let stopped_at = |last: usize| {
        asked.store(0, Ordering::SeqCst);
        top_until(&*data, 6, &|| asked.fetch_add(1, Ordering::SeqCst) == last)
    };
    let whole = stopped_at(usize::MAX).unwrap();
    let times = asked.load(Ordering::SeqCst);
    assert!(times > 10, "it asks several times a step, not {times} times in all");
    for last in [0, 1, times / 2, times - 1] {
        assert!(matches!(stopped_at(last), Err(Error::Stopped(_))), "asked {last} times");
        assert_eq!(asked.load(Ordering::SeqCst), last + 1, "nothing is asked after the end");
    }
    assert_eq!(whole.values, top(&*data, 6).unwrap().values);
    assert!(whole.slack < 1e-9 * data.facts().norm2);
}

/// Lets so many iterations pass and so many questions, and then wants to stop; keeps what is saved then.
struct Sudden {
    iterations: usize,
    questions: Arc<AtomicUsize>,
    after: usize,
    saved: Option<Vec<u8>>,
}

impl Sudden {
    fn stops(&self) -> bool {
        self.iterations == 0 && self.questions.load(Ordering::SeqCst) > self.after
    }
}

impl Observer for Sudden {
    fn iteration(&mut self, _event: &Event) -> Go {
        self.iterations = self.iterations.saturating_sub(1);
        if self.iterations == 0 {
            // Questions count from here.
            self.questions.fetch_max(1, Ordering::SeqCst);
        }
        if self.stops() { Go::Stop } else { Go::On }
    }
    fn stop_asked(&self) -> Option<StopAsked> {
        let (questions, after) = (self.questions.clone(), self.after);
        Some(Arc::new(move || {
            let counts = questions.load(Ordering::SeqCst) > 0;
            counts && questions.fetch_add(1, Ordering::SeqCst) >= after
        }))
    }
    fn wants_to_save(&mut self) -> bool {
        self.stops()
    }
    fn save(&mut self, checkpoint: &[u8]) -> orthant::Result<()> {
        self.saved = Some(checkpoint.to_vec());
        Ok(())
    }
}

#[test]
fn an_iteration_that_is_given_up_leaves_what_was_before_it() {
    let data = wide();
    let job = Job { seed: 2, ..Job::new("onp-mf", 6).unwrap() };
    let whole = cluster(&*data, &job, &mut ()).unwrap();
    // In the midst of a line search, at its first and later trials.
    for (iterations, after) in [(1, 1), (5, 1), (5, 2), (12, 3)] {
        let questions = Arc::new(AtomicUsize::new(0));
        let mut observer = Sudden { iterations, questions, after, saved: None };
        let outcome = cluster(&*data, &job, &mut observer).unwrap();
        assert_eq!(outcome.stop(), Stop::Cancelled);
        let reached = outcome.best().iterations();
        assert!(reached >= iterations && reached < whole.best().iterations(), "{reached}");
        let saved = Checkpoint::from_bytes(&observer.saved.expect("it was saved on its way out")).unwrap();
        let resumed = resume(&*data, &job, saved, &mut ()).unwrap();
        assert_eq!(resumed.solution, whole.solution, "after {iterations} iterations and {after} questions");
        assert_eq!(resumed.best().iterations(), whole.best().iterations());
    }
}

#[test]
fn work_that_is_resumed_and_stopped_at_once_has_what_was_saved() {
    let data = wide();
    for name in ["onp-mf", "best", "o-pnmf"] {
        let job = Job { seed: 2, start: Some(Start::Svd), ..Job::new(name, 6).unwrap() };
        let questions = Arc::new(AtomicUsize::new(0));
        let mut observer = Sudden { iterations: 12, questions, after: 0, saved: None };
        let stopped = cluster(&*data, &job, &mut observer).unwrap();
        let saved = Checkpoint::from_bytes(&observer.saved.unwrap()).unwrap();
        let outcome = resume(&*data, &job, saved, &mut Impatient::default()).unwrap();
        let (again, before) = (outcome.best().iterations(), stopped.best().iterations());
        assert!(again >= before, "{name}: {again} iterations after {before}");
    }
}

#[test]
fn a_start_and_the_vectors_of_clusters_end_after_a_pass() {
    let data = wide();
    let mut observer = Impatient::default();
    let start = Some(Start::named("residual").unwrap());
    let job = Job { start, seed: 2, ..Job::new("em-onmf", 6).unwrap() };
    cluster(&*data, &job, &mut observer).unwrap();
    assert_eq!(
        observer.before[0], 1,
        "a residual start looks for its next point only if nobody wants to stop"
    );
    let labels: Vec<i32> =
        (0..120).map(|j| if data.facts().zero_points.contains(&j) { -1 } else { j as i32 % 6 }).collect();
    let vectors = |stops: bool| {
        let mut slots = data.slots().unwrap();
        slots.set_labels(0, &labels).unwrap();
        let guess = Mat::zeros(150, 6);
        dominant_within(&*data, &mut *slots, &[0], &[&guess], 1e-12, &|| stops).unwrap().remove(0)
    };
    let (soon, whole) = (vectors(true), vectors(false));
    assert!(soon.passes <= 2 && whole.passes > 4, "{} and {} passes", soon.passes, whole.passes);
    for (soon, whole) in soon.sigma2.iter().zip(&whole.sigma2) {
        assert!(
            *soon > 0.0 && *soon <= whole * (1.0 + 1e-12),
            "what the vectors explain, no more: {soon} of {whole}"
        );
    }
}

#[test]
fn a_choice_of_k_ends_with_the_levels_it_has() {
    let data = wide();
    let ask = ChooseK { most: 9, ..ChooseK::default() };
    let mut observer = Impatient { from: Some("all points, k = 4 of 2..9"), ..Impatient::default() };
    let choice = choose_k(&*data, &ask, &mut observer).unwrap();
    let levels: Vec<usize> = choice.levels.iter().map(|level| level.k).collect();
    assert!(choice.cancelled && levels == [2, 3], "what was cut short does not compare: {levels:?}");
    assert_eq!(choice.levels[0].lower_bound, 0.0, "a decomposition that was cut short proves nothing");
    let nothing = choose_k(&*data, &ask, &mut Impatient::default()).unwrap_err();
    assert!(matches!(nothing, Error::Stopped(_)) && !nothing.is_bad_input(), "{nothing}");
}

#[test]
fn advice_rests_on_models_that_were_fitted_to_the_end() {
    let data = wide();
    let stopped = |k, from: Option<&'static str>| {
        advise(&*data, &Advise { k, ..Advise::default() }, &mut Impatient { from, ..Impatient::default() })
    };
    for (k, from) in [(Some(4), None), (Some(4), Some("ONMF")), (None, None)] {
        let error = stopped(k, from).unwrap_err();
        assert!(matches!(error, Error::Stopped(_)), "{error}");
    }
    let halves = Some("k-means, halves 1 of 3");
    let advice = stopped(Some(4), halves).unwrap();
    assert!(advice.cancelled && advice.points.len() == data.facts().usable_points);
    assert!(advice.models.iter().all(|model| model.agreements.is_empty()));
    assert!(advice.summary().ends_with("the stability is not known."), "{}", advice.summary());
}
