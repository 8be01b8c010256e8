//! `orthant info`: what a file holds, and what would be refused.

use std::time::Instant;

use anyhow::Result;
use orthant::algorithms::METHODS;
use orthant::image::Scan;
use orthant::matrix::{Data, Format, Matrix, open};
use orthant::read::Loaded;
use serde_json::{Map, Value, json};

use crate::args::{InfoArgs, Orientation};
use crate::load;
use crate::output::{print, print_json};
use crate::progress::duration;

/// Runs the command.
pub fn run(args: &InfoArgs) -> Result<()> {
    load::threads(&args.work)?;
    let begun = Instant::now();
    let loaded =
        load::read(&args.read, args.read.options(&args.texts), args.work.quiet)?.with_points(args.cluster);
    let seconds = begun.elapsed().as_secs_f64();
    let data = open(&loaded.matrix, None)?;
    let mut about = about(&loaded, &*data, args.cluster);
    about.insert("read_seconds".into(), json!(seconds));
    if args.json {
        return print_json(&about);
    }
    let mut text = format!("{}\n", args.read.path.display());
    for (name, value) in &about {
        let value = match (name.as_str(), value) {
            ("refused", Value::Array(refused)) if refused.is_empty() => "no method".into(),
            ("refused", Value::Array(refused)) => refused
                .iter()
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join("\n                        "),
            ("read_seconds", _) => duration(seconds),
            ("bytes", Value::Number(bytes)) => size(bytes.as_f64().unwrap_or(0.0)),
            ("density", _) => format!("{:.4} %", value.as_f64().unwrap_or(0.0) * 100.0),
            (_, Value::String(word)) => word.clone(),
            (_, Value::Number(number)) if number.is_f64() => shortest(number.as_f64().unwrap_or(0.0)),
            (_, other) => other.to_string(),
        };
        text.push_str(&format!("  {:<22}{value}\n", label(name)));
    }
    print(&text)
}

/// A key for people.
fn label(key: &str) -> String {
    match key {
        "bytes" => "memory".into(),
        "read_seconds" => "time to read".into(),
        "refused" => "would be refused by".into(),
        other => other.replace('_', " "),
    }
}

/// Everything there is to tell.
fn about(loaded: &Loaded, data: &dyn Data, orientation: Orientation) -> Map<String, Value> {
    let (shape, facts) = (data.shape(), data.facts());
    let matrix = &loaded.matrix;
    let count = matrix.nonzeros();
    let mut about = Map::new();
    let mut put = |key: &str, value: Value| drop(about.insert(key.into(), value));
    put("format", json!(loaded.format));
    put("points", json!(shape.points));
    put("features", json!(shape.features));
    put("nonzeros", json!(count));
    put("density", json!(count as f64 / (shape.points as f64 * shape.features as f64)));
    let kind = if matches!(matrix, Matrix::SparseF32(_) | Matrix::SparseF64(_)) { "sparse" } else { "dense" };
    put("storage", json!(kind));
    put("precision", json!(if shape.format == Format::F32 { "float32" } else { "float64" }));
    put("bytes", json!(bytes(matrix)));
    if facts.not_finite.is_none() {
        put("norm", json!(facts.norm2.sqrt() / facts.scale));
        put("largest_entry", json!(facts.largest));
        let (least, most) = norms(matrix);
        put("smallest_point_norm", json!(least));
        put("largest_point_norm", json!(most));
    }
    put("zero_points", json!(facts.zero_points.len()));
    put("zero_features", json!(facts.zero_features));
    put("most_clusters", json!(facts.usable_points));
    if let Some(truth) = &loaded.truth {
        put("classes", json!(orthant::evaluate::classes(truth).1.len()));
    }
    if let Some(image) = loaded.image.or(loaded.feature_image) {
        let scan = if image.scan == Scan::Rows { "row after row" } else { "column after column" };
        put("image", json!(format!("{} x {}, {scan}", image.height, image.width)));
    }
    put("refused", json!(refused(data, orientation)));
    about
}

/// What methods would say to these data.
fn refused(data: &dyn Data, orientation: Orientation) -> Vec<String> {
    let facts = data.facts();
    let place = |row: usize, column: usize| {
        let (row, column) = orientation.place(row, column);
        format!("row {row}, column {column}")
    };
    let mut refused = vec![];
    if let Some(entry) = facts.not_finite {
        refused.push(format!(
            "all methods: the entry at {} is {}",
            place(entry.row, entry.column),
            entry.value
        ));
    }
    if let Some(entry) = facts.negative {
        let names: Vec<&str> = METHODS.iter().filter(|m| !m.signed).map(|m| m.name).collect();
        let place = place(entry.row, entry.column);
        refused.push(format!("{}: the entry at {place} is negative ({})", names.join(", "), entry.value));
    }
    if facts.usable_points == 0 && facts.not_finite.is_none() {
        let names: Vec<&str> = METHODS.iter().filter(|m| !m.rule.distance).map(|m| m.name).collect();
        refused.push(format!("{}: every point is zero", names.join(", ")));
    }
    refused
}

/// Memory of the matrix.
fn bytes(matrix: &Matrix) -> usize {
    let sparse = |points: usize, entries: usize, width: usize| (points + 1) * 8 + entries * (4 + width);
    match matrix {
        Matrix::DenseF32(x) => x.data().len() * 4,
        Matrix::DenseF64(x) => x.data().len() * 8,
        Matrix::SparseF32(x) => sparse(x.points(), x.nonzeros(), 4),
        Matrix::SparseF64(x) => sparse(x.points(), x.nonzeros(), 8),
    }
}

/// Smallest and largest norm of a nonzero point.
fn norms(matrix: &Matrix) -> (f64, f64) {
    fn norm<T: Copy + Into<f64>>(values: &[T]) -> f64 {
        let largest = values.iter().fold(0.0f64, |a, &x| a.max(x.into().abs()));
        if largest == 0.0 {
            return 0.0;
        }
        largest * values.iter().map(|&x| (x.into() / largest).powi(2)).sum::<f64>().sqrt()
    }
    let (mut least, mut most) = (f64::INFINITY, 0.0f64);
    for j in 0..matrix.points() {
        let norm = match matrix {
            Matrix::DenseF32(x) => norm(x.point(j)),
            Matrix::DenseF64(x) => norm(x.point(j)),
            Matrix::SparseF32(x) => norm(x.point(j).1),
            Matrix::SparseF64(x) => norm(x.point(j).1),
        };
        if norm > 0.0 {
            least = least.min(norm);
        }
        most = most.max(norm);
    }
    (if least.is_finite() { least } else { 0.0 }, most)
}

fn size(bytes: f64) -> String {
    match bytes {
        b if b < 1e3 => format!("{b} bytes"),
        b if b < 1e6 => format!("{:.1} kB", b / 1e3),
        b if b < 1e9 => format!("{:.1} MB", b / 1e6),
        b => format!("{:.2} GB", b / 1e9),
    }
}

fn shortest(x: f64) -> String {
    if x == 0.0 || (1e-3..1e7).contains(&x.abs()) {
        let digits = (5 - x.abs().max(1.0).log10() as i32).max(0) as usize;
        let text = format!("{x:.digits$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
    } else {
        format!("{x:.5e}")
    }
}
