//! `orthant cluster`: a file in, clusters out.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use orthant::advise::Advise;
use orthant::auto::{self, AUTO, Chosen};
use orthant::certificate::{Bound, CERTIFICATE, Certificate, Rigour};
use orthant::checkpoint::Checkpoint;
use orthant::findings::Findings;
use orthant::finish::Solution;
use orthant::image::{ImageShape, Scan};
use orthant::matrix::rule::Power;
use orthant::matrix::{Data, Mat, Matrix, open};
use orthant::observed::{Gaps, cluster_observed};
use orthant::pipeline::{DEFAULT_METHOD, check_room, resume};
use orthant::recipe::Missing;
use orthant::report::{self, Features, Made, Report};
use orthant::run::{Race, Stop};
use orthant::start::Start;
use orthant::weighting::Weighting;
use orthant::{Job, Outcome, cluster, read};
use serde_json::{Value, json};

use super::choose_k::a_model;
use super::convert::same_file;
use crate::args::{ClusterArgs, Origin, number};
use crate::load::{self, Completed, Input, Points};
use crate::output::{Folder, print_json, print_with};
use crate::progress::{A_DESCENT, Piece, Watch, duration};
use crate::terminal::tell;
use crate::{interrupt, labels, made, naming, summary};

/// What is done, and why by this model, where that was chosen here.
struct Task {
    job: Job,
    chosen: Option<Chosen>,
}

/// Runs the command.
pub fn run(args: &ClusterArgs) -> Result<()> {
    let mut job = job(args)?;
    let threads = load::threads(&args.work)?;
    let saved = args.resume.as_deref().map(saved).transpose()?;
    if let Some(path) = &args.checkpoint {
        check_checkpoint(path, args.resume.as_deref())?;
    }
    let folder = args.out.as_ref().map(|out| Folder::new(out, args.force)).transpose()?;
    let mut input = load::load_with_gaps(&args.data, args.work.quiet)?;
    job.start = args.start.as_ref().map(|origin| start(origin, &input, args.k)).transpose()?;
    // Data that stay on disk are not gone through before it is known whether what is asked for fits.
    if let Points::Streamed(source, _) = &input.points {
        let memory = load::room(&args.data.read, &input.points);
        check_room(&source.shape(), false, &Job { memory, ..job.clone() })?;
    }
    let endmembers = args.endmembers.as_deref().map(|path| endmembers(path, &input)).transpose()?;
    interrupt::working();
    let mut watch = Watch::of_pieces(pieces(args, &job, &input), args.work.quiet);
    let chosen = match is_auto(args) {
        true => {
            let guessed = guessed(&input).map_err(|error| input.located(error))?;
            Some(match &guessed {
                Some(points) => {
                    let data = open(points, input.weights.clone())?;
                    let chosen = auto::choose(&*data, args.k, args.seed, &mut watch);
                    chosen.map_err(|error| input.located(error))?
                }
                None => input.choose(args.k, args.seed, &mut watch)?,
            })
        }
        false => None,
    };
    input.counts = None;
    if let Some(chosen) = &chosen {
        job = Job { method: chosen.job(args.k)?.method, ..job };
    }
    let usual = if job.start().is_random() { auto::RUNS } else { 1 };
    job.runs = args.runs.unwrap_or(usual);
    job.memory = load::room(&args.data.read, &input.points);
    let task = Task { job, chosen };
    let job = &task.job;
    if let Some(path) = &args.checkpoint {
        watch.saving(path, args.checkpoint_every, goes_on_from(path, args.resume.as_deref()));
    }
    let (resumed, saved) = saved.unzip();
    // An error is one of the saved work, or of the data.
    let located = |error, input: &Input| match resumed {
        Some(path) => load::locate(error, path, args.data.cluster),
        None => input.located(error),
    };
    let observed =
        observed(&mut input, job, saved.clone(), &mut watch).map_err(|error| located(error, &input))?;
    let data = input.open()?;
    if !args.work.quiet {
        watch.beside(|| tell_what_is_odd(&input, &*data, job, job.runs));
    }
    let outcome = match (observed, saved) {
        (Some(outcome), _) => Ok(outcome),
        (None, Some(saved)) => resume(&*data, job, saved, &mut watch),
        (None, None) => cluster(&*data, job, &mut watch),
    };
    let outcome = outcome.map_err(|error| located(error, &input))?;
    watch.end();

    // First what lasts, then what is said about it.
    let words = in_words(&input, &*data, &task, &outcome)?;
    let labels = &outcome.solution.labels;
    let doubts = [doubt_about_scan(&input, labels), doubt_about_classes(&input, labels)?];
    let findings = match folder.is_some() || args.json {
        true => {
            let mut findings = Findings::new(&*data, &outcome.solution)?;
            if input.feature_image.is_some() {
                findings = findings.with_points(&*data)?;
            }
            if let (Some(image), Features::Bands) = (input.image, input.features()) {
                findings = findings.with_scene(&*data, image, input.wavelengths.as_deref())?;
            }
            Some(findings)
        }
        false => None,
    };
    if let (Some(folder), Some(findings)) = (folder, &findings) {
        let about = About { input: &input, task: &task, findings, endmembers: endmembers.as_ref(), threads };
        write(folder, &about, &*data, &outcome)?;
    }
    if !args.work.quiet {
        tell!("{words}");
        doubts.iter().flatten().for_each(|doubt| tell!("orthant: {doubt}"));
        match &args.out {
            Some(out) => tell!("written to {}", out.display()),
            None if args.json || args.labels_only => {}
            None => tell!("labels          not written: add --out DIR, or --labels-only to print them"),
        }
    }
    if let (true, Some(findings)) = (args.json, &findings) {
        let mut object = summary::object(&input, &*data, job, &outcome, threads)?;
        object.extend(choice(&task));
        object.insert("clusters".into(), labels::clusters(&input, &outcome, findings));
        print_json(&object)?;
    }
    if args.labels_only {
        print_with(|out| labels::lines(&outcome.solution.labels, out))?;
    }
    if !interrupt::happened() {
        watch.saved_no_more();
    }
    Ok(())
}

/// What is done one after another: where the model is chosen, a fit of each to a sample, then the method, what follows it, and the
/// certificate.
fn pieces(args: &ClusterArgs, job: &Job, input: &Input) -> Vec<Piece> {
    let sampled = (Advise::default().most_points as f64 / input.points.points().max(1) as f64).min(1.0);
    let a_fit = auto::STARTS as f64 * A_DESCENT * sampled;
    let mut pieces = if is_auto(args) { a_model(a_fit) } else { vec![] };
    let runs = if job.start().is_random() { args.runs.unwrap_or(auto::RUNS) } else { 1 };
    let method = Piece::of(job.method, runs, None);
    let certificate = match job.certificate {
        Rigour::Auto if job.method.rule.onmf => 0.1,
        Rigour::Quick => 0.3,
        Rigour::Thorough => 1.0,
        _ => 0.0,
    };
    let certificate = Piece { word: CERTIFICATE, effort: certificate * method.effort };
    pieces.push(method);
    pieces.extend(
        job.polish.iter().map(|polish| Piece { word: polish.name(), effort: runs as f64 * 3.0 * A_DESCENT }),
    );
    pieces.push(certificate);
    pieces
}

/// Points to choose a model by, where entries are missing and may be.
fn guessed(input: &Input) -> orthant::Result<Option<Matrix>> {
    let (Missing::Ignore, Points::Held(points)) = (input.learned.missing, &input.points) else {
        return Ok(None);
    };
    Ok(Gaps::of(points)?.map(|gaps| {
        let mut points = points.clone();
        gaps.guess(&mut points, Power.into());
        points
    }))
}

/// The outcome where entries are missing and may be: what was observed is clustered, and the points are completed.
fn observed(
    input: &mut Input,
    job: &Job,
    saved: Option<Checkpoint>,
    watch: &mut Watch,
) -> orthant::Result<Option<Outcome>> {
    let (Missing::Ignore, Points::Held(points)) = (input.learned.missing, &mut input.points) else {
        return Ok(None);
    };
    let Some(gaps) = Gaps::of(points)? else { return Ok(None) };
    let found = cluster_observed(points, &gaps, input.weights.as_deref(), job, saved, watch)?;
    let (rounds, relative_error) = (found.rounds, found.relative_error);
    input.completed = Some(Completed { entries: gaps.count(), rounds, relative_error });
    Ok(Some(found.outcome))
}

/// Work that was saved.
fn saved(path: &Path) -> Result<(&Path, Checkpoint)> {
    let name = || path.display().to_string();
    let bytes = std::fs::read(path).with_context(name)?;
    Ok((path, Checkpoint::from_bytes(&bytes).with_context(name)?))
}

/// Whether the checkpoint is the one that the work was resumed from.
fn goes_on_from(path: &Path, resumed: Option<&Path>) -> bool {
    resumed.is_some_and(|resumed| same_file(path, resumed))
}

/// A checkpoint is overwritten again and again, so it must not be anything else to begin with.
fn check_checkpoint(path: &Path, resumed: Option<&Path>) -> Result<()> {
    if path.symlink_metadata().is_ok() && !goes_on_from(path, resumed) {
        bail!("{}: exists already: go on from it with --resume, or remove it", path.display());
    }
    let folder = read::folder_of(path);
    if !folder.is_dir() {
        bail!("{}: the folder of the checkpoint does not exist", path.display());
    }
    Ok(read::settle(folder)?)
}

/// Whether something was said that presumes a method: its start, or what follows it.
fn is_of_a_method(args: &ClusterArgs) -> bool {
    args.start.is_some() || args.polish.is_some()
}

/// Whether the model is chosen by the data: asked for, or nothing was said that only some methods know.
fn is_auto(args: &ClusterArgs) -> bool {
    match args.algorithm.as_deref() {
        Some(name) => name == AUTO,
        None => !is_of_a_method(args),
    }
}

/// The choice as an entry of an object.
fn choice(task: &Task) -> Option<(String, Value)> {
    let chosen = task.chosen.as_ref()?;
    Some(("chosen".into(), json!({"model": chosen.model.name(), "reason": chosen.reason})))
}

/// What to do, checked before any file is read; where the model is chosen later, with what all searches take.
fn job(args: &ClusterArgs) -> Result<Job> {
    let named = args.algorithm.as_deref().filter(|name| *name != AUTO);
    if let (Some(AUTO), true) = (args.algorithm.as_deref(), is_of_a_method(args)) {
        bail!("--algorithm: auto takes no --start or --polish: name a method, see 'orthant methods'");
    }
    let name = named.unwrap_or(DEFAULT_METHOD);
    let job = Job {
        method: naming::find("--algorithm", name)?,
        k: args.k,
        values: args.values.0.clone(),
        start: None,
        runs: 1,
        race: (args.race_after > 0).then_some(Race {
            after: args.race_after,
            share: args.race_share,
            finals: args.race_finals,
        }),
        seed: args.seed,
        polish: args.polish.as_ref().map_or(vec![], |polish| polish.0.clone()),
        time: args.time,
        certificate: args.certificate,
        memory: None,
    };
    job.method.with(&job.values)?;
    Ok(job)
}

/// A start, with what its file holds.
fn start(origin: &Origin, input: &Input, k: usize) -> Result<Start> {
    match origin {
        Origin::Named(start) => Ok(start.clone()),
        Origin::Labels(path) => {
            let (labels, names) = load::labels(path)?;
            let points = input.points.points();
            if labels.len() != points {
                bail!("{}: has {} labels for {points} points", path.display(), labels.len());
            }
            if names.len() > k {
                bail!("{}: has {} different labels, but -k is {k}", path.display(), names.len());
            }
            Ok(Start::Labels(Arc::new(labels)))
        }
        Origin::Centroids(path) => Ok(Start::Centroids(Arc::new(centroids(path, input, k)?))),
    }
}

/// Centroids in a file, k × features, as features × k.
fn centroids(path: &Path, input: &Input, k: usize) -> Result<Mat> {
    let matrix = read::read(path, &read::Options::default())?.matrix;
    let (rows, columns, features) = (matrix.points(), matrix.features(), input.points.features());
    if (rows, columns) != (k, features) {
        bail!(
            "{}: is {rows} x {columns}, but {k} centroids of {features} features are needed",
            path.display()
        );
    }
    let rows: Vec<Vec<f64>> = (0..k).map(|i| matrix.point(i)).collect();
    Ok(Mat::from_fn(features, k, |f, i| rows[i][f]))
}

/// True spectra in a file, bands × spectra or the other way round, as features × spectra.
fn endmembers(path: &Path, input: &Input) -> Result<Mat> {
    let matrix = read::read(path, &read::Options::default())?.matrix;
    let (rows, columns, bands) = (matrix.points(), matrix.features(), input.points.features());
    if rows != bands && columns != bands {
        bail!("{}: is {rows} x {columns}, but spectra of {bands} bands are needed", path.display());
    }
    let all: Vec<Vec<f64>> = (0..rows).map(|row| matrix.point(row)).collect();
    Ok(match rows == bands {
        true => Mat::from_fn(bands, columns, |band, spectrum| all[band][spectrum]),
        false => Mat::from_fn(bands, rows, |band, spectrum| all[spectrum][band]),
    })
}

fn tell_what_is_odd(input: &Input, data: &dyn Data, job: &Job, runs: usize) {
    if runs > 1 && !job.start().is_random() {
        tell!("orthant: --runs {runs}: the start {} is not random, one run is made", job.start().name());
    }
    let zeros = data.facts().zero_points.len();
    if zeros > 0 && !job.method.rule.distance && data.facts().usable_points > 0 {
        tell!("orthant: {zeros} of {} points are zero and get no cluster", input.points.points());
    }
}

/// A map that would be much smoother if its pixels were listed in the other order is probably scrambled.
fn doubt_about_scan(input: &Input, labels: &[i32]) -> Option<String> {
    let image = input.image?;
    let (other, name) = in_the_other_order(image);
    let (own, turned) = (image.edges(labels), other.edges(labels));
    (own > 0.1 && turned < own / 2.0).then(|| {
        let (height, width) = (image.height, image.width);
        format!("the map is much smoother with --image {height}x{width} --scan {name}: is that meant?")
    })
}

/// Classes that would fit much better in the other order are probably listed so. For a square scene nothing else tells: its map
/// in the wrong order is mirrored at the diagonal, and as smooth.
fn doubt_about_classes(input: &Input, labels: &[i32]) -> Result<Option<String>> {
    let (Some(image), Some(truth)) = (input.image, &input.truth) else { return Ok(None) };
    let (other, name) = in_the_other_order(image);
    let turned: Vec<usize> = (0..image.pixels())
        .map(|pixel| truth.labels[other.pixel(image.row(pixel), image.column(pixel))])
        .collect();
    let (own, turned) = (truth.scores(labels)?.nmi, truth.scores_of(labels, &turned)?.nmi);
    Ok((turned > 0.1 + 2.0 * own).then(|| {
        let (own, turned) = (100.0 * own, 100.0 * turned);
        format!(
            "the classes fit the map much better (NMI {turned:.1} %, not {own:.1} %) if one of the two is in the other order: \
             is --scan {name} meant, or are the classes listed by {name}?"
        )
    }))
}

/// The same pixels listed in the other order, and what it is called.
fn in_the_other_order(image: ImageShape) -> (ImageShape, &'static str) {
    match image.scan {
        Scan::Rows => (ImageShape { scan: Scan::Columns, ..image }, "columns"),
        Scan::Columns => (ImageShape { scan: Scan::Rows, ..image }, "rows"),
    }
}

/// The outcome for people.
fn in_words(input: &Input, data: &dyn Data, task: &Task, outcome: &Outcome) -> Result<String> {
    let job = &task.job;
    let (best, certificate, solution) = (outcome.best(), &outcome.certificate, &outcome.solution);
    let mut text = String::new();
    let mut say = |name: &str, what: String| text.push_str(&format!("{name:<16}{what}\n"));
    if let Some(chosen) = &task.chosen {
        say("model", format!("{}, chosen by the data. {}", chosen.model.title(), chosen.reason));
    }
    let polish: String = job.polish.iter().map(|p| format!(", {}", p.name())).collect();
    let runs = outcome.runs.len();
    let of_runs = match (runs, outcome.left_behind) {
        (1, 0) => String::new(),
        (_, 0) => format!(", best of {runs} runs"),
        (_, behind) => format!(", best of {} starts, of which {runs} went to their end", runs + behind),
    };
    say("method", format!("{}{polish}, start {}{of_runs}", job.method.title, job.start().name()));
    let stopped = match outcome.stop() {
        Stop::Converged => "converged",
        Stop::MaxIterations => "limit of iterations reached",
        Stop::Cancelled => "stopped by Ctrl-C: the best so far",
        Stop::OutOfTime => "the time was over: the best so far, which another machine may not find",
        other => other.name(),
    };
    say("iterations", format!("{} in {}, {stopped}", best.iterations(), duration(outcome.seconds)));
    say("relative error", format!("{:.6}{}", certificate.relative_error, above_best(certificate)));
    if let Some(Completed { entries, rounds, relative_error }) = input.completed {
        let times = if rounds == 1 { "once".into() } else { format!("{rounds} times") };
        say(
            "observed",
            format!(
                "error {relative_error:.6}; {entries} missing entries were filled in {times}, and what is said of errors and bounds is said of all"
            ),
        );
    }
    say("lower bound", lower_bound(job, outcome));
    say("explained", format!("{:.2} % of what rank {} can explain", certificate.energy_share * 100.0, job.k));
    if job.aim().objective != "‖M − UV‖²" {
        let value = match summary::objective(best, job, data) {
            Value::String(beyond) => beyond,
            _ => number(best.objective),
        };
        say("objective", format!("{} = {value}", job.aim().objective));
    }
    say("sizes", sizes(solution));
    if !solution.refilled.is_empty() {
        say(
            "note",
            format!("{} empty clusters were given the worst fitting points", solution.refilled.len()),
        );
    }
    if let Some(scores) = summary::score(&solution.labels, input.truth.as_ref())? {
        say(
            "against truth",
            format!(
                "accuracy {:.1} %, NMI {:.1} %, ARI {:.1} %, purity {:.1} % ({} points)",
                scores.accuracy * 100.0,
                scores.nmi * 100.0,
                scores.ari * 100.0,
                scores.purity * 100.0,
                scores.scored_points
            ),
        );
    }
    Ok(text)
}

/// How far from the best possible the error is at most.
fn above_best(certificate: &Certificate) -> String {
    match certificate.at_most_above_best() {
        None => String::new(),
        Some(above) if above < 5e-5 => ", the best possible".into(),
        Some(above) => format!(", at most {:.*} % above the best possible", digits(above), above * 100.0),
    }
}

/// As many decimals of a percentage as say something.
fn digits(share: f64) -> usize {
    if share < 0.1 { 2 } else { usize::from(share < 1.0) }
}

/// The bound, and what it holds for.
fn lower_bound(job: &Job, outcome: &Outcome) -> String {
    let (certificate, k) = (&outcome.certificate, job.k);
    let what = match certificate.bound {
        Bound::Singular => format!("no factors of rank {k} do better (singular values)"),
        Bound::Dual => format!("no partition into {k} does better (dual bound, proven)"),
        Bound::DualOfGroups => {
            format!("no partition into {k} does better (dual bound of groups of points, proven)")
        }
        other => format!("{} bound", other.name()),
    };
    let time = match job.certificate {
        Rigour::Singular => String::new(),
        _ => format!(", {}", duration(outcome.certificate_seconds)),
    };
    let more = match job.certificate {
        Rigour::Singular => "; --certificate quick may find one",
        Rigour::Auto => "; --certificate thorough may find one",
        _ => "",
    };
    if certificate.lower_bound > 0.0 {
        format!("{:.6}: {what}{time}", certificate.lower_bound)
    } else {
        format!("no bound{more}{time}")
    }
}

/// The sizes of the clusters; of very many only the first.
fn sizes(solution: &Solution) -> String {
    const SHOWN: usize = 20;
    let shown: Vec<String> = solution.sizes.iter().take(SHOWN).map(usize::to_string).collect();
    let more = if solution.sizes.len() > SHOWN { " …" } else { "" };
    format!("{}{more}", shown.join(" "))
}

/// What a result is written with.
struct About<'a> {
    input: &'a Input,
    task: &'a Task,
    findings: &'a Findings,
    endmembers: Option<&'a Mat>,
    threads: usize,
}

/// Everything into the folder.
fn write(mut folder: Folder, about: &About, data: &dyn Data, outcome: &Outcome) -> Result<()> {
    let About { input, task, findings, threads, .. } = *about;
    let job = &task.job;
    let solution = &outcome.solution;
    folder.write("labels.txt", |out| labels::lines(&solution.labels, out))?;
    folder.write("labels.csv", |out| labels::table(input, outcome, findings, out))?;
    folder.matrix("components.npy", &solution.u.transpose())?;
    folder.list("strengths.npy", &solution.v)?;
    let rule = job.aim().rule;
    // The directions of ONMF are U up to the lengths of its columns.
    if !rule.onmf {
        folder.matrix(rule.file, &solution.centroids.transpose())?;
    }
    let mut summary = summary::in_full(input, data, job, outcome, threads)?;
    summary.extend(choice(task));
    summary.insert("clusters".into(), labels::clusters(input, outcome, findings));
    summary.insert("rule".into(), json!({"name": rule.name, "words": rule.words, "file": rule.file}));
    folder.text(summary::PREPARATION, &format!("{}\n", serde_json::to_string(&input.learned)?))?;
    write_report(&mut folder, about, outcome)?;
    folder.finish(summary)
}

/// The page and its pictures.
fn write_report(folder: &mut Folder, about: &About, outcome: &Outcome) -> Result<()> {
    let About { input, task, findings, endmembers, threads } = *about;
    let scores = summary::score(&outcome.solution.labels, input.truth.as_ref())?;
    let truth = input.truth.as_ref().zip(scores.as_ref()).map(|(truth, scores)| report::Truth {
        labels: &truth.labels,
        classes: &truth.names,
        scores,
    });
    let because =
        |chosen: &Chosen| format!("{} was chosen by the data. {}", chosen.model.title(), chosen.reason);
    let mut notes: Vec<String> = task.chosen.iter().map(because).collect();
    notes.extend(input.notes.iter().cloned());
    let steps = input.learned.steps.iter();
    let weighted = |w: Weighting| format!("The data were weighted: {} ({}).", w.name(), w.reason());
    notes.extend(steps.map(|step| weighted(step.weighting)));
    let (title, command, date) = (input.title(), made::command(), made::date());
    let report = Report {
        made: Made {
            command: Some(&command),
            version: None,
            date: Some(&date),
            threads: Some(threads),
            read_seconds: Some(input.read_seconds),
            notes: &notes,
        },
        features: input.features(),
        vocabulary: input.vocabulary.as_deref(),
        names: input.names.as_deref(),
        image: input.image,
        feature_image: input.feature_image,
        wavelengths: input.wavelengths.as_deref(),
        truth,
        endmembers,
        excerpts: input.excerpts.as_deref(),
        called: input.called,
        ..Report::new(&title, findings, &task.job, outcome)
    };
    folder.text("report.html", &report::html(&report)?)?;
    for (name, picture) in report::pictures(&report)? {
        folder.bytes(&name, &picture)?;
    }
    write_scene(folder, input, &outcome.solution)
}

/// The map and the strengths as a scene of their own, at the place of the first.
fn write_scene(folder: &mut Folder, input: &Input, solution: &Solution) -> Result<()> {
    let (Some(image), Some(origin)) = (input.image, &input.origin) else { return Ok(()) };
    let colours: Vec<[u8; 3]> = (0..solution.sizes.len()).map(report::colour::category).collect();
    let segmented =
        read::Segmented { image, labels: &solution.labels, strengths: &solution.v, colours: &colours };
    for (name, bytes) in segmented.files(origin)? {
        folder.bytes(name, &bytes)?;
    }
    Ok(())
}
