//! `orthant advise`: which model the data ask for.

use anyhow::Result;
use orthant::advise::{Advice, Advise, MODELS, advise};
use orthant::auto;
use orthant::choose_k::{ChooseK, middle};
use orthant::evaluate::Scores;
use orthant::matrix::{Data, open};
use orthant::report::{self, Advised, Made};
use serde_json::{Map, Value, json};

use super::choose_k::{a_model, ks};
use super::table::Table;
use crate::args::AdviseArgs;
use crate::load::{self, Input};
use crate::output::{Folder, print, print_json};
use crate::progress::{Piece, Watch};
use crate::terminal::tell;
use crate::{interrupt, made, summary};

/// Where k is not given, numbers up to this one are looked at.
const MOST: usize = 12;

/// Runs the command.
pub fn run(args: &AdviseArgs) -> Result<()> {
    let study = &args.study;
    let threads = load::threads(&study.work)?;
    let folder = study.out.as_ref().map(|out| Folder::new(out, study.force)).transpose()?;
    let mut input = load::load_for_study(&args.data, study.seed, study.work.quiet)?;
    interrupt::working();
    let mut watch = Watch::of_pieces(pieces(args, &input)?, study.work.quiet);
    if input.counts.is_some() {
        let k = args.k.map_or_else(|| Ok(middle(&*input.open()?, 1, MOST)), anyhow::Ok)?;
        if input.asks_for_counts(k, study.seed, &mut watch).inspect_err(|_| watch.end())?.is_some() {
            input.notes.push("the words were looked at as counts, before any weighting".into());
        } else {
            input.counts = None;
        }
    }
    let data = match &input.counts {
        Some(counts) => open(counts, input.weights.clone())?,
        None => input.open()?,
    };
    let ask =
        Advise { k: args.k, runs: args.runs, divisions: study.halves, seed: study.seed, ..Advise::default() };
    let advice = advise(&*data, &ask, &mut watch);
    watch.end();
    let advice = advice.map_err(|error| input.located(error))?;
    let scored = scored(&input, &advice)?;
    let object = object(&input, &advice, &scored, study.seed, threads);
    if let Some(mut folder) = folder {
        folder.text("report.html", &page(&input, &*data, &advice, &scored, threads)?)?;
        folder.finish(object.clone())?;
        if let (Some(out), false) = (&study.out, study.work.quiet) {
            tell!("written to {}", out.display());
        }
    }
    if study.json { print_json(&object) } else { print(&in_words(&input, &advice, &scored)) }
}

/// The fits that are made, and how long each takes beside the others: where k is not given, those by which it is chosen, then every
/// model, and each with halves of the points.
fn pieces(args: &AdviseArgs, input: &Input) -> Result<Vec<Piece>> {
    let data = input.open()?;
    let middling = middle(&*data, 1, MOST);
    let mut pieces = vec![];
    if input.counts.is_some() {
        pieces.extend(a_model((args.k.unwrap_or(middling) * auto::STARTS) as f64));
    }
    if args.k.is_none() {
        pieces.extend(a_model((middling * args.runs) as f64));
        pieces.extend(ks(2..=MOST.min(data.facts().usable_points), ChooseK::default().runs, 0));
    }
    let effort = (args.k.unwrap_or(middling) * args.runs) as f64;
    pieces.extend(MODELS.map(|_| Piece { word: "", effort }));
    let halves = MODELS.len() * args.study.halves;
    pieces.extend((0..halves).map(|_| Piece { word: "halves", effort: effort / 2.0 }));
    Ok(pieces)
}

/// Scores of every model on the points used, where there is a truth; the advice has not seen it.
fn scored(input: &Input, advice: &Advice) -> Result<Vec<Option<Scores>>> {
    let Some(truth) = &input.truth else { return Ok(vec![None; advice.models.len()]) };
    let classes: Vec<usize> = advice.points.iter().map(|&j| truth.labels[j]).collect();
    let of = |labels: &[usize]| {
        let labels: Vec<i32> = labels.iter().map(|&l| l as i32).collect();
        Ok(Some(truth.scores_of(&labels, &classes)?))
    };
    advice.models.iter().map(|m| of(&m.labels)).collect()
}

fn point(input: &Input, j: usize) -> String {
    match (&input.names, input.image) {
        (Some(names), _) => names[j].clone(),
        (None, Some(image)) => format!("row {}, column {}", image.row(j), image.column(j)),
        (None, None) => format!("point {j}"),
    }
}

fn in_words(input: &Input, advice: &Advice, scored: &[Option<Scores>]) -> String {
    let mut header = vec!["model", "log-density", "held out", "stability"];
    if scored.iter().any(Option::is_some) {
        header.push("accuracy %");
    }
    let mut rows = Table::new(header);
    for (model, scores) in advice.models.iter().zip(scored) {
        let number = |x: f64, digits: usize| if x.is_nan() { "–".into() } else { format!("{x:.digits$}") };
        let mut row = vec![
            model.model.title().to_string(),
            number(model.density, 3),
            number(model.held_out, 3),
            number(model.stability().unwrap_or(f64::NAN), 3),
        ];
        row.extend(scores.as_ref().map(|s| number(100.0 * s.accuracy, 1)));
        rows.row(row);
    }
    let mut text = format!("{}\n\n{}\n", advice.summary(), rows.fitted());
    if !advice.disagreements.is_empty() {
        let titles: Vec<&str> = advice.models.iter().map(|m| m.model.title()).collect();
        text += &format!("Points the models differ on (cluster by {}):\n", titles.join(", "));
        for d in advice.disagreements.iter().take(5) {
            let labels: Vec<String> = d.labels.iter().map(usize::to_string).collect();
            text += &format!("  {}: {}\n", point(input, d.point), labels.join(", "));
        }
    }
    if scored.iter().any(Option::is_some) {
        text += "Accuracies were not used. They compare models at this k only: at another k they mislead, as more clusters than classes score lower whatever they find.\n";
    }
    text + &format!("Next:\n  {}", next(input, advice))
}

/// What to type next: the command that finds the clusters of the best model.
fn next(input: &Input, advice: &Advice) -> String {
    let data = made::quoted(&input.path.to_string_lossy());
    let (options, k, algorithm) = (made::data_options(), advice.k, advice.verdict.best.to_use());
    format!("orthant cluster {data}{options} -k {k} --algorithm {algorithm} --out result")
}

fn page(
    input: &Input,
    data: &dyn Data,
    advice: &Advice,
    scored: &[Option<Scores>],
    threads: usize,
) -> Result<String> {
    let maps = input.image.map(|image| Ok((image, advice.everywhere(data)?)));
    let maps = maps.transpose().map_err(|error: orthant::Error| input.located(error))?;
    let (command, date, next) = (made::command(), made::date(), next(input, advice));
    let accuracy: Vec<Option<f64>> = scored.iter().map(|s| s.as_ref().map(|s| s.accuracy)).collect();
    Ok(report::advice(&Advised {
        title: &input.title(),
        made: Made {
            command: Some(&command),
            date: Some(&date),
            threads: Some(threads),
            read_seconds: Some(input.read_seconds),
            notes: &input.notes,
            ..Made::default()
        },
        advice,
        names: input.names.as_deref(),
        accuracy: &accuracy,
        next: Some(&next),
        maps: maps.as_ref().map(|(image, maps)| (*image, maps.as_slice())),
    })?)
}

fn object(
    input: &Input,
    advice: &Advice,
    scored: &[Option<Scores>],
    seed: u64,
    threads: usize,
) -> Map<String, Value> {
    let mut object = input.studied(seed, threads);
    let mut put = |key: &str, value: Value| drop(object.insert(key.into(), value));
    put("k", json!(advice.k));
    put("k_given", json!(advice.k_given));
    put("advice", json!(advice.answer()));
    put("best", json!(advice.verdict.best.name()));
    put("algorithm", json!(advice.verdict.best.to_use()));
    put("next", json!(next(input, advice)));
    let between: Vec<&str> = advice.verdict.between.iter().map(|m| m.name()).collect();
    put("undecided_between", json!(between));
    put("reasons", json!(advice.verdict.reasons));
    put("points_used", json!(advice.points.len()));
    put("norm_spread", json!(advice.spread));
    put("noise_slope", json!(advice.slope.map(|s| s.slope)));
    put("noise_slope_error", json!(advice.slope.map(|s| s.error)));
    put("noise_dimensions", json!(advice.dimensions));
    put(
        "counts",
        advice.counts.as_ref().map_or(
            Value::Null,
            |c| json!({"variance_slope": c.slope, "dispersion": c.dispersion, "typical": c.typical, "poisson_like": c.is_poisson_like()}),
        ),
    );
    let models = advice.models.iter().zip(scored).map(|(m, scores)| {
        let mut row = Map::new();
        row.insert("name".into(), json!(m.model.name()));
        row.insert("log_density".into(), if m.density.is_nan() { Value::Null } else { json!(m.density) });
        row.insert("held_out".into(), json!(m.held_out));
        row.insert("stability".into(), json!(m.stability()));
        if let Some(scores) = scores {
            summary::insert_scores(&mut row, scores);
        }
        Value::Object(row)
    });
    put("models", models.collect::<Vec<_>>().into());
    let agreements =
        advice.agreements.iter().map(|(a, b, x)| json!({"models": [a.name(), b.name()], "ari": x}));
    put("agreements", agreements.collect::<Vec<_>>().into());
    put("disagreeing_points", json!(advice.disagreeing));
    let listed = advice.disagreements.iter().map(|d| {
        json!({"point": d.point, "name": input.names.as_ref().map(|n| &n[d.point]), "clusters": d.labels})
    });
    put("disagreements", listed.collect::<Vec<_>>().into());
    put("interrupted", json!(advice.cancelled));
    object
}
