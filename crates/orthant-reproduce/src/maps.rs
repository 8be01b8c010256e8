//! Figures 5 to 8: rows of maps, one row a method, each the best of its runs by error.

use anyhow::Result;
use orthant::algorithms::method;
use orthant::evaluate::{Confusion, best_matching};
use orthant::finish::finish;
use orthant::image::ImageShape;
use orthant::matrix::{Mat, open, rule};
use orthant::prepare::Problem;
use orthant::report::page::{Table, escape, table};
use orthant::report::picture::{Row, gray, rows_file, rows_of_maps};

use crate::lab::Lab;
use crate::plan::{Plan, Request, labels_file};
use crate::protocol::PLAIN;
use crate::sets::Set;
use crate::sets::scenes::Picture;
use crate::shown::{csv, markdown, mean, number, percent};
use orthant::contender::Contender;

/// Pixels of the longer side of a map in the page and in the files.
const SIDE: usize = 128;
/// Bands shown of a scene.
const SAMPLES: usize = 4;

/// The file that keeps the cells of an image.
pub fn file(picture: &Picture) -> String {
    format!("images/{}", picture.name)
}

/// Some methods on an image.
pub fn plan_methods(lab: &Lab, plan: &mut Plan, picture: &Picture, methods: &[&str]) -> Result<()> {
    let request = Request {
        file: file(picture),
        set: &picture.set,
        methods,
        variant: PLAIN,
        runs: lab.protocol.runs,
        pictured: true,
    };
    plan.add(lab.protocol, request)
}

/// What the best run of a method found.
pub struct Best {
    pub method: &'static str,
    pub title: String,
    /// Cluster of each point, matched with the class of the same number where there is one.
    labels: Vec<i32>,
    /// v of each point.
    strengths: Vec<f64>,
    /// Of the best run.
    pub error: f64,
    pub accuracy: f64,
    /// Classes that are exactly a cluster.
    pub exact: usize,
    /// For each class: 2·|both| / (|cluster| + |class|) of its cluster.
    pub overlap: Vec<f64>,
    runs: usize,
    /// Mean over all runs, in words.
    mean: String,
    /// How many runs found every class exactly.
    complete: usize,
    at_limit: usize,
}

/// The best run of every method that has one.
pub fn best(lab: &Lab, picture: &Picture, methods: &[&'static str]) -> Result<Vec<Best>> {
    let set = &picture.set;
    let data = set.fingerprint()?;
    let mut found = vec![];
    for &name in methods {
        let contender = Contender::parse(name)?.remove(0);
        let key = lab.protocol.key(&contender, set, &data);
        let wanted = if contender.start.is_random() { lab.protocol.runs } else { 1 };
        let runs = lab.runs(&file(picture), &key, wanted);
        let better = if contender.polish.is_empty() { contender.method } else { method("em-onmf")? };
        let best = runs.iter().reduce(|a, b| if better.better(b.objective, a.objective) { b } else { a });
        let kept = lab.cells.text(&labels_file(&file(picture), &key));
        let (Some(best), Some(text)) = (best, kept) else { continue };
        let labels: Vec<i32> = text.split_whitespace().filter_map(|x| x.parse().ok()).collect();
        if labels.len() != set.matrix.points() {
            continue;
        }
        let (labels, strengths) = strengths(set, labels)?;
        let (exact, overlap) = agreement(set, &labels)?;
        found.push(Best {
            method: name,
            title: contender.title(),
            labels,
            strengths,
            error: best.error,
            accuracy: best.accuracy,
            exact,
            overlap,
            runs: runs.len(),
            mean: percent(mean(&runs, |r| r.accuracy)),
            // Exactly every class: all points right.
            complete: runs.iter().filter(|r| r.accuracy == 1.0).count(),
            at_limit: runs.iter().filter(|r| r.stopped == "max-iterations").count(),
        });
    }
    Ok(found)
}

/// Labels matched with the classes, and v of each point by the rule of ONMF.
fn strengths(set: &Set, labels: Vec<i32>) -> Result<(Vec<i32>, Vec<f64>)> {
    let data = open(&set.matrix, None)?;
    let problem = Problem::new(&*data, set.k, method("em-onmf")?.needs())?;
    let mut slots = data.slots()?;
    let guess = Mat::zeros(set.matrix.features(), set.k);
    let (solution, _) = finish(&problem, &mut *slots, &labels, &guess, rule::Power.into())?;
    let Some(truth) = &set.truth else { return Ok((solution.labels, solution.v)) };
    let matching = best_matching(&Confusion::new(&solution.labels, truth)?);
    // Clusters without a class come after those that have one.
    let mut free = (0..set.k as i32).filter(|i| !matching.contains(&Some(*i as usize)));
    let number: Vec<i32> = (0..set.k)
        .map(|c| match matching.get(c).copied().flatten() {
            Some(class) => class as i32,
            None => free.next().unwrap_or(-1),
        })
        .collect();
    let labels = solution.labels.iter().map(|&l| usize::try_from(l).map_or(-1, |l| number[l])).collect();
    Ok((labels, solution.v))
}

/// How many classes are exactly a cluster, and how far each overlaps with its own.
fn agreement(set: &Set, labels: &[i32]) -> Result<(usize, Vec<f64>)> {
    let Some(truth) = &set.truth else { return Ok((0, vec![])) };
    let mut both = vec![(0usize, 0usize, 0usize); set.k];
    for (label, class) in labels.iter().zip(truth) {
        let label = usize::try_from(*label).ok().filter(|l| *l < set.k);
        if let Some(l) = label {
            both[l].0 += 1;
        }
        if *class < set.k {
            both[*class].1 += 1;
            both[*class].2 += usize::from(label == Some(*class));
        }
    }
    let overlap =
        both.iter().map(|(a, b, c)| if a + b == 0 { 0.0 } else { 2.0 * *c as f64 / (a + b) as f64 });
    Ok((both.iter().filter(|(a, b, c)| a == b && b == c && *c > 0).count(), overlap.collect()))
}

/// A map of all pixels from values of the points.
fn map(set: &Set, values: impl Fn(usize) -> f64) -> Result<orthant::report::picture::Picture> {
    let shape = shape(set);
    let mut all = vec![0.0; shape.pixels()];
    for point in 0..set.matrix.points() {
        all[set.pixels.as_ref().map_or(point, |pixels| pixels[point])] = values(point);
    }
    Ok(gray(&all, shape)?.reduced(SIDE))
}

fn shape(set: &Set) -> ImageShape {
    let points = set.matrix.points();
    set.image.unwrap_or(ImageShape { height: points, width: 1, scan: orthant::image::Scan::Columns })
}

/// The truth: an indicator for each class; above it some bands, where they are a scene's.
fn truth(set: &Set, samples: bool) -> Result<Vec<Row>> {
    let mut rows = vec![];
    if samples {
        let bands = set.matrix.features();
        let mut maps = vec![];
        for i in 0..SAMPLES.min(bands) {
            let band = (2 * i + 1) * bands / (2 * SAMPLES.min(bands));
            maps.push((format!("band {}", band + 1), map(set, |p| set.matrix.point(p)[band])?));
        }
        rows.push(Row { name: "sample bands".into(), note: format!("of {bands}"), maps });
    }
    if let Some(truth) = &set.truth {
        let name =
            |class: usize| set.classes.get(class).cloned().unwrap_or_else(|| format!("class {}", class + 1));
        let maps =
            (0..set.k).map(|class| Ok((name(class), map(set, |p| f64::from(u8::from(truth[p] == class)))?)));
        let maps = maps.collect::<Result<_>>()?;
        rows.push(Row { name: "truth".into(), note: format!("{} classes", set.k), maps });
    }
    Ok(rows)
}

/// One row a method.
fn rows(set: &Set, found: &[Best]) -> Result<Vec<Row>> {
    let mut rows = vec![];
    for best in found {
        let name = |i: usize| set.classes.get(i).cloned().unwrap_or_else(|| format!("cluster {}", i + 1));
        let cluster =
            |i: usize| map(set, |p| if best.labels[p] == i as i32 { best.strengths[p] } else { 0.0 });
        let maps = (0..set.k).map(|i| Ok((name(i), cluster(i)?))).collect::<Result<_>>()?;
        let note = match set.truth {
            Some(_) => format!("accuracy {:.1}, error {:.4}", 100.0 * best.accuracy, best.error),
            None => format!("error {:.4}", best.error),
        };
        rows.push(Row { name: best.title.clone(), note, maps });
    }
    Ok(rows)
}

/// A piece of a page, and files whose names begin as given.
pub struct Gallery {
    pub html: String,
    pub markdown: String,
    pub files: Vec<(String, Vec<u8>)>,
}

/// The rows of maps of an image, with the truth above where wanted, and a table of what was found.
pub fn gallery(
    name: &str,
    picture: &Picture,
    found: &[Best],
    truth_above: bool,
    samples: bool,
) -> Result<Gallery> {
    let set = &picture.set;
    let mut all = if truth_above { truth(set, samples)? } else { vec![] };
    all.extend(rows(set, found)?);
    // As wide as a row of the page, so that a method has one row.
    let width = (840 / set.k.max(1)).clamp(36, 120);
    let mut html = format!("<div style=\"--w:{width}px\">{}</div>", rows_of_maps(&all)?);
    let mut in_markdown = String::from("Not run yet.\n\n");
    if found.is_empty() {
        html += "<p>Not run yet.</p>";
    } else {
        let (columns, rows) = figures(set, found);
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        html += &table(&Table { columns: &columns, rows: &rows, best: &[] });
        in_markdown = markdown(&columns, &rows);
        if set.truth.is_some() && set.k <= FEW {
            html += "<p class=\"note\">The last columns: how far each class and its cluster overlap (1 is the same).</p>";
        }
    }
    let files = vec![
        (format!("{name}.svg"), rows_file(&all, width as f64)?.into_bytes()),
        (format!("{name}.csv"), values(set, found)),
    ];
    Ok(Gallery { html, markdown: in_markdown, files })
}

/// Up to so many classes each has a column.
const FEW: usize = 8;

/// Columns and rows of a table of what was found.
fn figures(set: &Set, found: &[Best]) -> (Vec<String>, Vec<Vec<String>>) {
    let (known, few) = (set.truth.is_some(), set.k <= FEW);
    let mut columns = vec!["method".to_string(), "#runs".into(), "#error of the best".into()];
    if known {
        columns
            .extend(["#accuracy of the best", "#mean accuracy", "#classes found exactly"].map(String::from));
        if few {
            columns.extend((0..set.k).map(|c| format!("#{}", set.classes.get(c).map_or("", String::as_str))));
        }
    }
    let row = |b: &Best| {
        let mut row = vec![b.title.clone(), b.runs.to_string(), format!("{:.5}", b.error)];
        if known {
            row.extend([
                format!("{:.1}", 100.0 * b.accuracy),
                b.mean.clone(),
                format!("{} of {}", b.exact, set.k),
            ]);
            if few {
                row.extend(b.overlap.iter().map(|x| format!("{x:.2}")));
            }
        }
        row
    };
    let rows = found.iter().map(row).collect();
    (columns, rows)
}

fn values(set: &Set, found: &[Best]) -> Vec<u8> {
    let mut head = String::from(
        "method,runs,error_of_best,accuracy_of_best,classes_found_exactly,runs_with_all,runs_at_limit",
    );
    for c in 0..if set.truth.is_some() { set.k } else { 0 } {
        head += &format!(",overlap {}", set.classes.get(c).map_or_else(|| (c + 1).to_string(), Clone::clone));
    }
    let row = |b: &Best| {
        let mut row = vec![b.method.to_string(), b.runs.to_string(), number(b.error), number(b.accuracy)];
        row.extend([b.exact.to_string(), b.complete.to_string(), b.at_limit.to_string()]);
        row.extend(b.overlap.iter().map(|x| number(*x)));
        row
    };
    csv(&head, found.iter().map(row))
}

/// Titles of methods, in a sentence.
pub fn titles<'a>(found: impl Iterator<Item = &'a Best>) -> String {
    let titles: Vec<&str> = found.map(|b| b.title.as_str()).collect();
    if titles.is_empty() { "none".into() } else { titles.join(", ") }
}

/// A heading for an image among several.
pub fn heading(picture: &Picture) -> String {
    let mut title = picture.title.clone();
    if let Some(first) = title.get(..1).map(str::to_uppercase) {
        title.replace_range(..1, &first);
    }
    format!("<h3>{}</h3>", escape(&title))
}
