//! `orthant compare`: all methods side by side.

use anyhow::Result;
use orthant::Error;
use serde_json::{Map, Value, json};

use super::table::{figure, table};
use crate::args::CompareArgs;
use crate::contest::{Figures, mean_and_deviation, spread};
use crate::load::{self, Input};
use crate::naming::Contender;
use crate::output::{Folder, print, print_json};
use crate::progress::{Watch, duration};
use crate::{interrupt, summary};

/// A method and what it reached, or why it could not.
type Row = (Contender, std::result::Result<Figures, String>);

/// Runs the command.
pub fn run(args: &CompareArgs) -> Result<()> {
    let mut contenders = vec![];
    for name in &args.methods {
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
        folder.finish(object.clone())?;
        if let (Some(out), false) = (&args.out, args.work.quiet) {
            eprintln!("written to {}", out.display());
        }
    }
    if args.json {
        print_json(&object)
    } else if args.csv {
        print(&csv)
    } else {
        print(&in_words(&rows, args.max_iterations))
    }
}

/// Runs one contender after another; what one of them refuses does not stop the others.
fn contest(args: &CompareArgs, input: &Input, contenders: Vec<Contender>) -> Result<Vec<Row>> {
    let data = input.open()?;
    interrupt::working();
    let mut watch = Watch::new(args.work.quiet);
    let mut rows: Vec<Row> = vec![];
    let count = contenders.len();
    let mut first_error = None;
    for (number, contender) in contenders.into_iter().enumerate() {
        watch.begin(&format!("{} ({}/{count})", contender.title(), number + 1));
        let job = contender.job(args.k, args.runs, args.seed, args.max_iterations);
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

/// A column of figures: its name, the figures, digits, and whether more is better.
type Column = (&'static str, fn(&Figures) -> &[f64], usize, bool);

const COLUMNS: &[Column] = &[
    ("accuracy", |f| &f.accuracy, 3, true),
    ("NMI", |f| &f.nmi, 3, true),
    ("ARI", |f| &f.ari, 3, true),
    ("relative error", |f| &f.error, 5, false),
];

fn in_words(rows: &[Row], limit: Option<usize>) -> String {
    let done: Vec<&Figures> = rows.iter().filter_map(|row| row.1.as_ref().ok()).collect();
    let columns: Vec<&Column> = COLUMNS.iter().filter(|c| done.iter().any(|f| !c.1(f).is_empty())).collect();
    let best: Vec<f64> = columns
        .iter()
        .map(|(_, figures, _, more)| {
            let means = done.iter().map(|f| mean_and_deviation(figures(f)).0);
            if *more { means.fold(f64::NEG_INFINITY, f64::max) } else { means.fold(f64::INFINITY, f64::min) }
        })
        .collect();
    let mut header = vec!["method"];
    header.extend(columns.iter().map(|c| c.0));
    header.extend(["runs", "iterations", "time a run"]);
    let mut table = table(&header);
    let mut notes = String::new();
    for (contender, figures) in rows {
        let mut cells = vec![comfy_table::Cell::new(contender.title())];
        match figures {
            Ok(f) => {
                for ((_, figures, digits, _), best) in columns.iter().zip(&best) {
                    let mean = mean_and_deviation(figures(f)).0;
                    // Equal in print is equal.
                    let equal = format!("{mean:.digits$}") == format!("{best:.digits$}");
                    cells.push(figure(spread(figures(f), *digits), equal));
                }
                let at_limit = if f.at_limit > 0 { "+" } else { " " };
                let iterations = format!("{:.0}{at_limit}", mean_and_deviation(&f.iterations).0);
                let words = [f.error.len().to_string(), iterations, duration(f.seconds_per_run())];
                cells.extend(words.map(comfy_table::Cell::new));
            }
            Err(problem) => {
                cells.extend((1..header.len()).map(|_| comfy_table::Cell::new("–")));
                notes.push_str(&format!("{}: {problem}\n", contender.title()));
            }
        }
        table.add_row(cells);
    }
    if done.iter().any(|f| f.error.len() > 1) {
        notes.insert_str(0, "Mean ± standard deviation over the runs. ");
    }
    notes.insert_str(0, "* best of the column. ");
    if done.iter().any(|f| f.at_limit > 0) {
        let limit = limit.map_or(String::new(), |limit| format!(" (--max-iterations {limit})"));
        notes.push_str(&format!("+ some runs ended at the limit of iterations{limit}.\n"));
    }
    format!("{table}\n{}", notes.trim_end())
}

fn object(args: &CompareArgs, input: &Input, rows: &[Row], threads: usize) -> Result<Map<String, Value>> {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| drop(object.insert(key.into(), value));
    put("program", json!(format!("orthant {}", env!("CARGO_PKG_VERSION"))));
    put("data", json!(input.path.display().to_string()));
    put("cluster", json!(input.orientation.name()));
    put("k", json!(args.k));
    put("points", json!(input.matrix.points()));
    put("features", json!(input.matrix.features()));
    put("nonzeros", json!(summary::nonzeros(&input.matrix)));
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
        row.insert("polish".into(), if contender.polish { json!(["em"]) } else { json!([]) });
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

/// One line for each method.
fn csv(rows: &[Row]) -> String {
    let mut text = String::from("method,start,polish,runs");
    for name in ["accuracy", "nmi", "ari", "relative_error"] {
        text.push_str(&format!(",{name}_mean,{name}_deviation"));
    }
    text.push_str(",iterations_mean,seconds_per_run,problem\n");
    for (contender, figures) in rows {
        let polish = if contender.polish { "em" } else { "" };
        text.push_str(&format!("{},{},{polish},", contender.method.name, contender.start.name()));
        match figures {
            Ok(f) => {
                text.push_str(&f.error.len().to_string());
                for (_, figures, _, _) in COLUMNS {
                    match figures(f) {
                        [] => text.push_str(",,"),
                        x => {
                            let (mean, deviation) = mean_and_deviation(x);
                            text.push_str(&format!(
                                ",{mean},{}",
                                deviation.map_or(String::new(), |d| d.to_string())
                            ));
                        }
                    }
                }
                let iterations = mean_and_deviation(&f.iterations).0;
                text.push_str(&format!(",{iterations},{},\n", f.seconds_per_run()));
            }
            Err(problem) => {
                text.push_str(&format!("{}\"{}\"\n", ",".repeat(11), problem.replace('"', "\"\"")));
            }
        }
    }
    text
}
