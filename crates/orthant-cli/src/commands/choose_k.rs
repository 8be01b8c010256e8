//! `orthant choose-k`: several numbers of clusters, and candidates with reasons.

use std::ops::RangeInclusive;

use anyhow::Result;
use orthant::advise::MODELS;
use orthant::auto;
use orthant::choose_k::{Choice, ChooseK, choose_k, middle};
use orthant::findings::{Marker, distinctive};
use orthant::matrix::Data;
use orthant::report::{self, Chosen, Made};
use serde_json::{Map, Value, json};

use super::table::Table;
use crate::args::ChooseKArgs;
use crate::load::{self, Input};
use crate::output::{Folder, print, print_json};
use crate::progress::{Piece, Watch};
use crate::terminal::tell;
use crate::{interrupt, made, summary};

/// Runs the command.
pub fn run(args: &ChooseKArgs) -> Result<()> {
    let study = &args.study;
    let threads = load::threads(&study.work)?;
    let folder = study.out.as_ref().map(|out| Folder::new(out, study.force)).transpose()?;
    let input = load::load_for_study(&args.data, study.seed, study.work.quiet)?;
    let data = input.open()?;
    interrupt::working();
    let (least, most) = args.range;
    let mut watch = Watch::of_pieces(pieces(args, &*data), study.work.quiet);
    let model = match args.model {
        Some(model) => model,
        None => {
            let chosen = input.choose(middle(&*data, least, most), study.seed, &mut watch);
            let chosen = chosen.inspect_err(|_| watch.end())?;
            if !study.work.quiet {
                let (title, reason) = (chosen.model.title(), &chosen.reason);
                watch.beside(|| tell!("orthant: clusters of {title} are counted. {reason}"));
            }
            chosen.model
        }
    };
    let ask = ChooseK {
        model,
        least,
        most,
        runs: args.runs,
        divisions: study.halves,
        seed: study.seed,
        ..ChooseK::default()
    };
    let choice = choose_k(&*data, &ask, &mut watch);
    watch.end();
    let choice = choice.map_err(|error| input.located(error))?;
    let object = object(&input, &choice, study.seed, threads)?;
    if let Some(mut folder) = folder {
        folder.text("ks.csv", &csv(&choice))?;
        folder.text("report.html", &page(&input, &*data, &choice, threads)?)?;
        folder.finish(object.clone())?;
        if let (Some(out), false) = (&study.out, study.work.quiet) {
            tell!("written to {}", out.display());
        }
    }
    if study.json { print_json(&object) } else { print(&in_words(&choice)) }
}

/// The fits that are made, and how long each takes beside the others.
fn pieces(args: &ChooseKArgs, data: &dyn Data) -> Vec<Piece> {
    let (least, most) = args.range;
    let model = match args.model {
        Some(_) => vec![],
        None => a_model((middle(data, least, most) * auto::STARTS) as f64),
    };
    model
        .into_iter()
        .chain(ks(least..=most.min(data.facts().usable_points), args.runs, args.study.halves))
        .collect()
}

/// The fits by which a model is chosen, each of an effort. One is enough at times: the others count for less.
pub(super) fn a_model(effort: f64) -> Vec<Piece> {
    let likely = |at: usize| if at == 0 { 1.0 } else { 0.4 };
    (0..=MODELS.len()).map(|at| Piece { word: "", effort: likely(at) * effort }).collect()
}

/// Those by which k is: all points for every k, from starts and from what was found last, then their halves.
pub(super) fn ks(range: RangeInclusive<usize>, runs: usize, halves: usize) -> impl Iterator<Item = Piece> {
    // Some of the work is the same for every k.
    let of = |word: &'static str, k: usize, runs: usize| Piece { word, effort: ((k + 5) * runs) as f64 };
    let whole = range.clone().map(move |k| of("all points", k, runs + 1));
    let halves = (0..halves).flat_map(move |_| range.clone());
    whole.chain(halves.map(move |k| of("halves", k, runs.div_ceil(4))))
}

fn in_words(choice: &Choice) -> String {
    let mut rows = Table::new([
        "k",
        "candidate",
        "held out",
        "stability",
        "error",
        "gain %",
        "smallest",
        "consensus",
        "bound",
    ]);
    for level in &choice.levels {
        let place = choice.candidates.iter().position(|c| c.k == level.k);
        let number = |x: Option<f64>| x.map_or("–".to_string(), |x| format!("{x:.3}"));
        rows.row([
            level.k.to_string(),
            place.map_or(String::new(), |at| (at + 1).to_string()),
            format!("{:.3}", level.held_out()),
            number(level.stability()),
            format!("{:.5}", level.relative_error),
            level.gain.map_or("–".to_string(), |g| format!("{:.3}", 100.0 * g)),
            level.smallest.to_string(),
            number(level.consensus),
            format!("{:.5}", level.lower_bound),
        ]);
    }
    format!("{}\nClusters of {}.\n{}", rows.fitted(), choice.model.title(), choice.summary())
}

fn csv(choice: &Choice) -> String {
    let mut text = String::from(
        "k,held_out,relative_error,lower_bound,gain,stability,consensus,smallest_cluster,candidate\n",
    );
    for level in &choice.levels {
        let number = |x: Option<f64>| x.map_or(String::new(), |x| x.to_string());
        let candidate = choice.candidates.iter().position(|c| c.k == level.k);
        text += &format!(
            "{},{},{},{},{},{},{},{},{}\n",
            level.k,
            level.held_out(),
            level.relative_error,
            level.lower_bound,
            number(level.gain),
            number(level.stability()),
            number(level.consensus),
            level.smallest,
            candidate.map_or(String::new(), |at| (at + 1).to_string())
        );
    }
    text
}

/// What sets the clusters of each candidate apart, where features have names.
fn words(input: &Input, data: &dyn Data, choice: &Choice) -> Result<Vec<Vec<String>>> {
    const TOLD: usize = 5;
    let (Some(names), None) = (&input.vocabulary, input.image) else { return Ok(vec![]) };
    let mut words = vec![];
    for candidate in &choice.candidates {
        let Some(level) = choice.levels.iter().find(|level| level.k == candidate.k) else { continue };
        let told = |markers: &Vec<Marker>| {
            let words: Vec<&str> = markers.iter().take(TOLD).map(|m| names[m.feature].as_str()).collect();
            words.join(", ")
        };
        words.push(distinctive(data, &level.labels, level.k)?.iter().map(told).collect());
    }
    Ok(words)
}

fn page(input: &Input, data: &dyn Data, choice: &Choice, threads: usize) -> Result<String> {
    let (command, date) = (made::command(), made::date());
    let made = Made {
        command: Some(&command),
        date: Some(&date),
        threads: Some(threads),
        read_seconds: Some(input.read_seconds),
        notes: &input.notes,
        ..Made::default()
    };
    let words = words(input, data, choice)?;
    Ok(report::choice(&Chosen { title: &input.title(), made, choice, image: input.image, words: &words })?)
}

fn object(input: &Input, choice: &Choice, seed: u64, threads: usize) -> Result<Map<String, Value>> {
    let mut object = input.studied(seed, threads);
    let mut put = |key: &str, value: Value| drop(object.insert(key.into(), value));
    let candidates = choice.candidates.iter().map(|c| json!({"k": c.k, "reasons": c.reasons}));
    put("model", json!(choice.model.name()));
    put("candidates", candidates.collect::<Vec<_>>().into());
    let mut levels = vec![];
    for level in &choice.levels {
        let mut row = Map::new();
        row.insert("k".into(), json!(level.k));
        row.insert("held_out".into(), json!(level.held_out()));
        row.insert("relative_error".into(), json!(level.relative_error));
        row.insert("lower_bound".into(), json!(level.lower_bound));
        row.insert("gain".into(), json!(level.gain));
        row.insert("stability".into(), json!(level.stability()));
        row.insert("agreements".into(), json!(level.agreements));
        row.insert("consensus".into(), json!(level.consensus));
        row.insert("smallest_cluster".into(), json!(level.smallest));
        if let Some(truth) = &input.truth {
            summary::insert_scores(&mut row, &truth.scores(&level.labels)?);
        }
        levels.push(Value::Object(row));
    }
    put("levels", levels.into());
    put("notes", json!(choice.notes));
    put("interrupted", json!(choice.cancelled));
    Ok(object)
}
