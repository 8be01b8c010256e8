//! Makes reports to look at: of generated data, or of files.
//!
//! `cargo run --release --example report -- OUT` or
//! `… -- OUT DATA K METHOD [truth=FILE] [image=HEIGHTxWIDTH] [scan=rows] [columns] [pictures] [runs=N] [em]`

use std::path::Path;

use orthant::algorithms::Polish;
use orthant::findings::Findings;
use orthant::generate::{Generated, Generator, Plane, Swimmer, Synthetic, Telescope};
use orthant::image::{ImageShape, Scan};
use orthant::report::chart::{Axis, Line, Lines, Marker, Series, lines};
use orthant::report::page::{Page, page, section};
use orthant::report::{
    self, Compared, Comparison, Contest, Curve, Features, Gallery, Made, Mean, Report, Sweep, Truth,
};
use orthant::{Error, Job, Matrix, Outcome, cluster, evaluate, matrix::open, read};

fn main() -> orthant::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.as_slice() {
        [out] => generated(Path::new(out)),
        [out, data, k, method, rest @ ..] => file(Path::new(out), data, k, method, rest),
        _ => {
            eprintln!("usage: report OUT [DATA K METHOD [truth=FILE] [image=HEIGHTxWIDTH] ...]");
            std::process::exit(2);
        }
    }
}

fn write(path: &Path, bytes: &[u8]) -> orthant::Result<()> {
    println!("{} {} bytes", path.display(), bytes.len());
    std::fs::write(path, bytes).map_err(|source| Error::Io { path: path.into(), source })
}

fn generated(out: &Path) -> orthant::Result<()> {
    let runs = |job: Job| Job { runs: 12, ..job };
    let synthetic = Synthetic { noise: 0.1, ..Synthetic::default() }.generate()?;
    made(out, "synthetic", &synthetic, &runs(Job::new("em-onmf", 6)?), Features::Named)?;
    made(out, "k-means", &synthetic, &runs(Job::new("k-means", 6)?), Features::Named)?;
    made(
        out,
        "spherical",
        &synthetic,
        &Job { polish: vec![Polish::Em], ..runs(Job::new("spherical-k-means", 6)?) },
        Features::Named,
    )?;
    let swimmer = Swimmer::default().generate()?;
    made(
        out,
        "swimmer",
        &swimmer,
        &Job { polish: vec![Polish::Em], ..Job::new("onp-mf", 17)? },
        Features::Pictures,
    )?;
    let telescope = Telescope { noise: 0.02, seed: 1, ..Telescope::default() }.generate()?;
    made(
        out,
        "telescope",
        &telescope,
        &Job { polish: vec![Polish::Em], ..Job::new("onp-mf", 9)? },
        Features::Bands,
    )?;
    plane(out)?;
    compared(out, &swimmer)
}

fn made(out: &Path, name: &str, made: &Generated, job: &Job, features: Features) -> orthant::Result<()> {
    let data = open(&made.matrix, None)?;
    let outcome = cluster(&*data, job, &mut ())?;
    let scores = evaluate::scores(&outcome.solution.labels, &made.truth)?;
    let command = format!("orthant generate {name} && orthant cluster {name}.npy -k {} --seed 0", job.k);
    let findings = Findings::new(&*data, &outcome.solution)?;
    let report = Report {
        made: Made { command: Some(&command), threads: Some(2), date: Some("today"), ..Made::default() },
        features,
        image: made.image,
        truth: Some(Truth { labels: &made.truth, classes: &made.classes, scores: &scores }),
        ..Report::new(name, &findings, job, &outcome)
    };
    write(&out.join(format!("{name}.html")), report::html(&report)?.as_bytes())?;
    for (file, bytes) in report::pictures(&report)?.iter().take(3) {
        write(&out.join(format!("{name}-{file}")), bytes)?;
    }
    Ok(())
}

fn file(out: &Path, data: &str, k: &str, method: &str, rest: &[String]) -> orthant::Result<()> {
    let number =
        |text: &str| text.parse::<usize>().map_err(|_| Error::Data(format!("'{text}' is not a number")));
    let value = |key: &str| rest.iter().find_map(|a| a.strip_prefix(key)?.strip_prefix('='));
    let has = |word: &str| rest.iter().any(|a| a == word);
    let loaded = read::read(data.as_ref(), &read::Options::default())?;
    let matrix: Matrix = if has("columns") { loaded.matrix.transposed() } else { loaded.matrix };
    let points = open(&matrix, None)?;
    let image = match value("image").and_then(|s| s.split_once('x')) {
        Some((height, width)) => {
            let scan = if value("scan") == Some("rows") { Scan::Rows } else { Scan::Columns };
            Some(ImageShape { height: number(height)?, width: number(width)?, scan })
        }
        None => loaded.image,
    };
    let job = Job {
        polish: if has("em") { vec![Polish::Em] } else { vec![] },
        runs: value("runs").map_or(Ok(1), number)?,
        ..Job::new(method, number(k)?)?
    };
    let outcome: Outcome = cluster(&*points, &job, &mut ())?;
    let truth = match value("truth") {
        Some(path) => Some(evaluate::classes(&read::lines(path.as_ref())?)),
        None => loaded.truth.as_ref().map(|t| evaluate::classes(t)),
    };
    let scores = truth.as_ref().map(|t| evaluate::scores(&outcome.solution.labels, &t.0)).transpose()?;
    let pixels = image.filter(|_| has("features-are-pixels"));
    let findings = Findings::new(&*points, &outcome.solution)?.with_points(&*points)?;
    let report = Report {
        made: Made { command: Some("orthant cluster …"), notes: &loaded.notes, ..Made::default() },
        features: match image {
            Some(_) if has("pictures") => Features::Pictures,
            Some(_) if pixels.is_none() => Features::Bands,
            _ => Features::Named,
        },
        vocabulary: loaded.vocabulary.as_deref(),
        names: loaded.names.as_deref(),
        image: image.filter(|_| pixels.is_none()),
        feature_image: pixels.or(loaded.feature_image),
        wavelengths: loaded.wavelengths.as_deref(),
        truth: truth.as_ref().zip(scores.as_ref()).map(|(t, scores)| Truth {
            labels: &t.0,
            classes: &t.1,
            scores,
        }),
        ..Report::new(
            Path::new(data).file_name().and_then(|n| n.to_str()).unwrap_or(data),
            &findings,
            &job,
            &outcome,
        )
    };
    write(out, report::html(&report)?.as_bytes())
}

/// Points in the plane and the directions found: a page put together from the parts.
fn plane(out: &Path) -> orthant::Result<()> {
    let made = Plane::default().generate()?;
    let data = open(&made.matrix, None)?;
    let outcome = cluster(&*data, &Job::new("em-onmf", 2)?, &mut ())?;
    let means = cluster(&*data, &Job::new("k-means", 2)?, &mut ())?;
    let of = |class: usize| -> Vec<(f64, f64)> {
        let points = (0..made.truth.len()).filter(|j| made.truth[*j] == class);
        points.map(|j| made.matrix.point(j)).map(|p| (p[0], p[1])).collect()
    };
    let longest = (0..2).flat_map(of).map(|p| p.0.hypot(p.1)).fold(0.0, f64::max);
    let mut series: Vec<Series> = (0..2)
        .map(|class| Series {
            name: made.classes[class].clone(),
            points: of(class),
            colour: Some(class),
            line: Line::None,
            marker: Marker::nth(class),
            ..Series::default()
        })
        .collect();
    for i in 0..2 {
        let u = outcome.solution.directions.column(i);
        let points = vec![(0.0, 0.0), (longest * u[0], longest * u[1])];
        let line = if i == 0 { Line::Solid } else { Line::Dashed };
        series.push(Series { name: format!("direction {i}"), points, line, ..Series::default() });
    }
    let centres = (0..2).map(|i| means.solution.centroids.column(i)).map(|c| (c[0], c[1])).collect();
    series.push(Series {
        name: "centres of k-means".into(),
        points: centres,
        colour: Some(4),
        line: Line::None,
        marker: Marker::Diamond,
        ..Series::default()
    });
    let chart = lines(&Lines {
        title: "points in the plane".into(),
        x: Axis::new("first coordinate"),
        y: Axis::new("second coordinate"),
        series,
        equal: true,
        ..Lines::default()
    });
    let body =
        section("plane", "Points and directions", &format!(r#"<figure class="panel">{chart}</figure>"#));
    let shell = Page { title: "Two clusters in the plane".into(), body, ..Page::default() };
    write(&out.join("plane.html"), page(&shell)?.as_bytes())
}

/// Some methods on synthetic sets of growing noise, and the parts each finds of the swimmer.
fn compared(out: &Path, swimmer: &Generated) -> orthant::Result<()> {
    let methods = ["k-means", "spherical-k-means", "em-onmf", "onp-mf"];
    let (mut contest, mut curves, mut rows) = (vec![], vec![], vec![]);
    for name in methods {
        let job = Job { runs: 5, ..Job::new(name, 6)? };
        let mut points = vec![];
        for noise in [0.0, 0.01, 0.05, 0.1, 0.2, 0.5, 1.0] {
            let set = Synthetic { noise, ..Synthetic::default() }.generate()?;
            let outcome = cluster(&*open(&set.matrix, None)?, &job, &mut ())?;
            let scores: orthant::Result<Vec<_>> =
                outcome.runs.iter().map(|r| evaluate::scores(&r.labels, &set.truth)).collect();
            let scores = scores?;
            let of = |f: fn(&evaluate::Scores) -> f64| Mean::of(&scores.iter().map(f).collect::<Vec<_>>());
            if noise == 0.1 {
                let errors: Vec<f64> = outcome.runs.iter().map(|r| r.relative_error).collect();
                contest.push(Compared {
                    method: job.method.title.into(),
                    runs: outcome.runs.len(),
                    accuracy: Some(of(|s| s.accuracy)),
                    nmi: Some(of(|s| s.nmi)),
                    ari: Some(of(|s| s.ari)),
                    purity: Some(of(|s| s.purity)),
                    error: Some(Mean::of(&errors)),
                    best_error: errors.iter().copied().reduce(f64::min),
                    best_accuracy: Some(scores[outcome.best].accuracy),
                    seconds: Some(Mean::of(&[outcome.seconds / outcome.runs.len() as f64])),
                    note: String::new(),
                });
            }
            points.push((noise, of(|s| s.accuracy)));
        }
        curves.push(Curve { method: job.method.title.into(), points, reference: false, behind: false });
        let data = open(&swimmer.matrix, None)?;
        let job = Job { k: 17, runs: 1, ..job };
        let outcome = cluster(&*data, &job, &mut ())?;
        let scores = evaluate::scores(&outcome.solution.labels, &swimmer.truth)?;
        let Some(shape) = swimmer.image else { continue };
        let maps: orthant::Result<Vec<_>> = (0..17)
            .map(|i| {
                let of = |(l, v): (&i32, &f64)| if *l == i { *v } else { 0.0 };
                let values: Vec<f64> =
                    outcome.solution.labels.iter().zip(&outcome.solution.v).map(of).collect();
                Ok((format!("part {i}"), report::picture::gray(&values, shape)?))
            })
            .collect();
        let note = format!("accuracy {:.1} %", 100.0 * scores.accuracy);
        rows.push(report::picture::Row { name: job.method.title.into(), note, maps: maps? });
    }
    let page = Comparison {
        title: "Methods on synthetic data and the swimmer",
        lead: "Four methods on sets of six clusters with growing noise, and on the swimmer, whose 17 parts are known.",
        made: Made { command: Some("orthant demo"), ..Made::default() },
        contests: vec![Contest {
            title: "Noise 0.1".into(),
            methods: contest,
            caption: "Mean ± deviation over the runs, scores in percent. The best of each column is marked."
                .into(),
        }],
        sweeps: vec![Sweep {
            title: "Accuracy against noise".into(),
            x: "noise".into(),
            y: "accuracy".into(),
            curves,
            evenly: true,
            deviations: true,
            caption: "Mean over the runs; bars are deviations.".into(),
        }],
        galleries: vec![Gallery {
            title: "Parts of the swimmer".into(),
            rows,
            caption: "One row a method.".into(),
        }],
        ..Comparison::default()
    };
    write(&out.join("comparison.html"), report::comparison(&page)?.as_bytes())
}
