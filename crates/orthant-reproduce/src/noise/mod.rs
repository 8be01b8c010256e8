//! Figures 2 and 4: accuracy against noise on the synthetic sets, and the models in pairs on the same sets.

mod claims;

use anyhow::Result;
use orthant::report::chart::file;
use orthant::report::page::{Table, table};
use orthant::report::{Curve, Mean, Sweep, sweep, sweep_chart};

use crate::estimate::Estimate;
use crate::lab::Lab;
use crate::permutations;
use crate::plan::{Plan, Request};
use crate::protocol::{PAPER, PLAIN, POLISHED};
use crate::sets::Shared;
use crate::sets::synthetic::{NoiseLevel, ON_THE_EDGE};
use crate::shown::{Shown, csv, markdown, mean, number};
use orthant::contender::Contender;

const ONMF: &str = "onp-mf:svd";
const OP_SVD: &str = "o-pnmf:nndsvd";
/// The models of Figure 2.
const MODELS: &[&str] = &["k-means:random", "spherical-k-means:random", ONMF];

/// Some methods on the paper's number of sets a level.
pub fn plan_methods(lab: &Lab, plan: &mut Plan, methods: &[&str]) -> Result<()> {
    plan_on(lab, plan, methods, lab.protocol.sets)
}

fn plan_on(lab: &Lab, plan: &mut Plan, methods: &[&str], sets: usize) -> Result<()> {
    lab.sets.levels.iter().try_for_each(|level| plan_level(lab, plan, level, methods, sets))
}

fn plan_level(lab: &Lab, plan: &mut Plan, level: &NoiseLevel, methods: &[&str], sets: usize) -> Result<()> {
    for set in level.sets.iter().take(sets) {
        let runs = lab.protocol.synthetic_runs;
        plan.add(
            lab.protocol,
            Request { file: level.file(), set, methods, variant: PLAIN, runs, pictured: false },
        )?;
    }
    Ok(())
}

/// A method's name in print.
pub fn title(method: &str) -> String {
    Contender::parse(method).ok().and_then(|all| all.first().map(Contender::title)).unwrap_or(method.into())
}

/// Plans the cells of Figure 2: on more sets than the paper's ten, to compare in pairs.
pub fn plan_figure2(lab: &Lab, plan: &mut Plan) -> Result<()> {
    plan_on(lab, plan, MODELS, usize::MAX)?;
    permutations::plan(lab, plan, ON_THE_EDGE, &[ONMF])
}

/// Plans the cells of Figure 4.
pub fn plan_figure4(lab: &Lab, plan: &mut Plan) -> Result<()> {
    plan_methods(lab, plan, &PAPER[2..])?;
    // Whether ten sets are perfect can only be told from more than ten.
    let small = lab.sets.levels.iter().filter(|level| level.noise == claims::SMALL);
    small.into_iter().try_for_each(|level| plan_level(lab, plan, level, &[ONMF, OP_SVD], usize::MAX))
}

/// Mean accuracy of a method on each of the first sets of a level; nothing where there is no run.
fn by_set(lab: &Lab, level: &NoiseLevel, method: &str, sets: usize) -> Result<Vec<Option<f64>>> {
    let contender = Contender::parse(method)?.remove(0);
    let wanted = if contender.start.is_random() { lab.protocol.synthetic_runs } else { 1 };
    let of = |set: &Shared| -> Result<Option<f64>> {
        let key = lab.protocol.key(&contender, set, &set.fingerprint()?);
        let runs = lab.runs(&level.file(), &key, wanted);
        // An average of some of the starts would be another one.
        Ok((runs.len() == wanted).then(|| mean(&runs, |r| r.accuracy).mean))
    };
    level.sets.iter().take(sets).map(of).collect()
}

/// A method's mean over the first sets of each level.
struct Course {
    method: &'static str,
    title: String,
    levels: Vec<(f64, Mean)>,
}

impl Course {
    fn at(&self, noise: f64) -> f64 {
        self.levels.iter().find(|l| l.0 == noise).map_or(f64::NAN, |l| l.1.mean)
    }

    fn sets_at(&self, noise: f64) -> usize {
        self.levels.iter().find(|l| l.0 == noise).map_or(0, |l| l.1.count)
    }
}

fn courses(lab: &Lab, methods: &[&'static str]) -> Result<Vec<Course>> {
    let mut courses = vec![];
    for &method in methods {
        let mut levels = vec![];
        for level in &lab.sets.levels {
            let known: Vec<f64> =
                by_set(lab, level, method, lab.protocol.sets)?.into_iter().flatten().collect();
            if !known.is_empty() {
                levels.push((level.noise, Mean::of(&known)));
            }
        }
        courses.push(Course { method, title: title(method), levels });
    }
    Ok(courses)
}

/// The chart, its file and its values.
fn drawn(name: &str, title: &str, courses: &[Course]) -> (String, Vec<(String, Vec<u8>)>) {
    let curve = |c: &Course| Curve {
        method: c.title.clone(),
        points: c.levels.iter().map(|(noise, m)| (*noise, Mean { mean: 100.0 * m.mean, ..*m })).collect(),
        reference: c.method == POLISHED,
        behind: false,
    };
    let chart = Sweep {
        title: title.into(),
        x: "noise".into(),
        y: "accuracy %".into(),
        curves: courses.iter().map(curve).collect(),
        evenly: true,
        deviations: false,
        caption: String::new(),
    };
    let rows = courses.iter().flat_map(|c| {
        c.levels.iter().map(|(noise, m)| {
            vec![
                c.method.to_string(),
                noise.to_string(),
                number(m.mean),
                number(m.deviation),
                m.count.to_string(),
            ]
        })
    });
    let numbers = csv("method,noise,accuracy,deviation_over_sets,sets", rows);
    let files = vec![
        (format!("{name}.svg"), file(&sweep_chart(&chart)).into_bytes()),
        (format!("{name}.csv"), numbers),
    ];
    (format!("<figure class=\"panel\">{}</figure>{}", sweep(&chart), values_table(courses)), files)
}

/// Columns and rows of the mean accuracies.
fn values(courses: &[Course]) -> (Vec<String>, Vec<Vec<String>>, Vec<f64>) {
    let mut noise: Vec<f64> = courses.iter().flat_map(|c| c.levels.iter().map(|l| l.0)).collect();
    noise.sort_by(f64::total_cmp);
    noise.dedup();
    let mut columns = vec!["method".to_string()];
    columns.extend(noise.iter().map(|x| format!("#{x}")));
    let row = |c: &Course| {
        let cell = |x: &f64| {
            Some(c.at(*x)).filter(|x| x.is_finite()).map_or("–".into(), |x| format!("{:.1}", 100.0 * x))
        };
        std::iter::once(c.title.clone()).chain(noise.iter().map(cell)).collect()
    };
    let rows = courses.iter().map(row).collect();
    (columns, rows, noise)
}

fn values_in_markdown(courses: &[Course]) -> String {
    let (columns, rows, _) = values(courses);
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    format!("Mean accuracy in percent, by level of noise:\n\n{}", markdown(&columns, &rows))
}

fn values_table(courses: &[Course]) -> String {
    let (columns, rows, noise) = values(courses);
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut best = vec![];
    for (column, x) in noise.iter().enumerate() {
        let most = courses.iter().map(|c| c.at(*x)).filter(|x| x.is_finite()).fold(0.0, f64::max);
        let written = format!("{:.1}", 100.0 * most);
        best.extend((0..rows.len()).filter(|&r| rows[r][column + 1] == written).map(|r| (r, column + 1)));
    }
    table(&Table { columns: &columns, rows: &rows, best: &best })
}

/// ONMF against another model on the same sets.
struct Pairs {
    noise: f64,
    other: &'static str,
    differences: Vec<f64>,
}

impl Pairs {
    fn estimate(&self) -> Estimate {
        Estimate::of(&self.differences)
    }

    fn count(&self, holds: impl Fn(f64) -> bool) -> usize {
        self.differences.iter().filter(|d| holds(**d)).count()
    }
}

fn pairs(lab: &Lab) -> Result<Vec<Pairs>> {
    let mut pairs = vec![];
    for level in lab.sets.levels.iter().filter(|level| level.tells()) {
        let onmf = by_set(lab, level, ONMF, usize::MAX)?;
        for &other in &MODELS[..2] {
            let theirs = by_set(lab, level, other, usize::MAX)?;
            let differences = onmf.iter().zip(theirs).filter_map(|(a, b)| Some((*a)? - b?)).collect();
            pairs.push(Pairs { noise: level.noise, other, differences });
        }
    }
    Ok(pairs)
}

/// Figure 2.
pub fn figure2(lab: &Lab) -> Result<Shown> {
    let courses = courses(lab, MODELS)?;
    let (mut html, mut files) =
        drawn("figure2", "k-means, spherical k-means and ONMF on synthetic sets", &courses);
    let pairs = pairs(lab)?;
    let row = |p: &Pairs| {
        vec![
            p.noise.to_string(),
            title(p.other),
            p.differences.len().to_string(),
            p.estimate().points(),
            p.count(|d| d > 0.0).to_string(),
            p.count(|d| d == 0.0).to_string(),
            p.count(|d| d < 0.0).to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = pairs.iter().filter(|p| !p.differences.is_empty()).map(row).collect();
    html += "<h3>ONMF against the other two, in pairs on the same sets</h3><p class=\"note\">Difference in percent \
             points, mean and its standard error; on how many sets ONMF is above, equal, below. On more sets than the \
             paper's ten, which are too few to tell.</p>";
    let columns = ["noise", "ONMF against", "#sets", "#difference", "#above", "#equal", "#below"];
    html += &table(&Table { columns: &columns, rows: &rows, best: &[] });
    let orders = permutations::tables(&permutations::spread(lab, ON_THE_EDGE, &[ONMF])?);
    html +=
        &format!("<h3>One set in other orders of points and features ({ON_THE_EDGE})</h3>{}", orders.html);
    files.push(("figure2-permutations.csv".into(), orders.values));
    let in_markdown = format!(
        "{}ONMF against the other two in pairs on the same sets, percent points ± standard error:\n\n{}{ON_THE_EDGE}: {}",
        values_in_markdown(&courses),
        markdown(&columns, &rows),
        orders.markdown
    );
    files.push(("figure2-pairs.csv".into(), csv("noise,against,sets,difference,above,equal,below", rows)));
    Ok(Shown {
        heading: "Figure 2: k-means, spherical k-means and ONMF against noise".into(),
        html: format!("<p class=\"note\">{}</p>{html}", protocol(lab)),
        files,
        claims: vec![claims::above(lab, &pairs), claims::perfect_model(lab)?],
        markdown: in_markdown,
        ..Shown::default()
    })
}

fn protocol(lab: &Lab) -> String {
    format!(
        "Mean accuracy over {} sets a level, {} random starts each; ONMF is solved by ONP-MF from its one start. 450 \
         points in R¹⁰, 6 clusters. The paper prints its curves as a picture, without numbers to draw beside these.",
        lab.protocol.sets, lab.protocol.synthetic_runs
    )
}

/// Figure 4.
pub fn figure4(lab: &Lab) -> Result<Shown> {
    let mut methods = PAPER[2..].to_vec();
    methods.push(POLISHED);
    let courses = courses(lab, &methods)?;
    let (html, files) = drawn("figure4", "Six ONMF methods on synthetic sets", &courses);
    let mut note = protocol(lab) + " Dashed, beyond the paper: ONP-MF followed by EM.";
    if let Some(limit) = lab.protocol.limit {
        note += &format!(" CHNMF and O-PNMF were stopped after {limit} iterations.");
    }
    Ok(Shown {
        heading: "Figure 4: the six ONMF methods against noise".into(),
        html: format!("<p class=\"note\">{note}</p>{html}"),
        files,
        claims: claims::of_methods(lab, &courses)?,
        markdown: values_in_markdown(&courses),
        ..Shown::default()
    })
}
