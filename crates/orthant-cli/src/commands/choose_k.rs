//! `orthant choose-k`: several numbers of clusters, and candidates with reasons.

use anyhow::Result;
use orthant::choose_k::{Choice, ChooseK, choose_k, middle};
use orthant::findings::{Marker, distinctive};
use orthant::matrix::Data;
use orthant::report::{self, Chosen, Made};
use serde_json::{Map, Value, json};

use super::table::table;
use crate::args::ChooseKArgs;
use crate::load::{self, Input};
use crate::output::{Folder, print, print_json};
use crate::progress::Watch;
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
    let model = match args.model {
        Some(model) => model,
        None => {
            let mut watch = Watch::new(study.work.quiet);
            let chosen = input.choose(middle(&*data, least, most), study.seed, &mut watch);
            watch.end();
            let chosen = chosen?;
            if !study.work.quiet {
                tell!("orthant: clusters of {} are counted. {}", chosen.model.title(), chosen.reason);
            }
            chosen.model
        }
    };
    let mut watch = Watch::of_pieces(pieces(args, data.facts().usable_points), study.work.quiet);
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

/// The fits that are made, and how long each takes beside the others: all points for every k, then their halves.
fn pieces(args: &ChooseKArgs, points: usize) -> Vec<f64> {
    let ks = || (args.range.0..=args.range.1.min(points)).map(|k| k as f64);
    let whole = ks().map(|k| k * (points * args.runs) as f64);
    let half = points.min(ChooseK::default().most_points) / 2 * args.runs.div_ceil(2);
    let halves = (0..2 * args.study.halves).flat_map(|_| ks().map(|k| k * half as f64));
    whole.chain(halves).collect()
}

fn in_words(choice: &Choice) -> String {
    let mut rows = table(&[
        "k",
        "held out",
        "error",
        "bound",
        "gain over k - 1",
        "stability",
        "consensus",
        "smallest",
        "",
    ]);
    for level in &choice.levels {
        let place = choice.candidates.iter().position(|c| c.k == level.k);
        let number = |x: Option<f64>| x.map_or("–".to_string(), |x| format!("{x:.3}"));
        rows.add_row(vec![
            level.k.to_string(),
            format!("{:.3}", level.held_out()),
            format!("{:.5}", level.relative_error),
            format!("{:.5}", level.lower_bound),
            level.gain.map_or("–".to_string(), |g| format!("{:.3} %", 100.0 * g)),
            number(level.stability()),
            number(level.consensus),
            level.smallest.to_string(),
            place.map_or(String::new(), |at| format!("candidate {}", at + 1)),
        ]);
    }
    format!("{rows}\nClusters of {}.\n{}", choice.model.title(), choice.summary())
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
