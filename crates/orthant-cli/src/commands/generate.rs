//! `orthant generate`: data whose clusters are known.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use orthant::generate::{Generated, Scene, Streamed, generator};
use orthant::image::{ImageShape, Scan};
use orthant::matrix::Mat;
use orthant::read::blocks::{ENDING, With, Writer};
use orthant::read::{self, Loaded};
use serde_json::json;

use crate::args::{GenerateArgs, SceneArgs, What};
use crate::interrupt;
use crate::output::Files;
use crate::terminal::tell;

/// Runs the command.
pub fn run(args: &GenerateArgs) -> Result<()> {
    let What { name, values, scene, out, force } = &args.what;
    let (labels, shape) = (out.with_extension("labels"), out.with_extension("json"));
    if *out == labels || *out == shape {
        bail!("{}: the ending belongs to the files beside the matrix: use .npy or .mtx", out.display());
    }
    if scene.is_none() {
        let mut generator = generator(name)?;
        for (name, value) in values {
            generator.set(name, value)?;
        }
        let ends = |ending: &str| out.to_string_lossy().ends_with(ending);
        if (ends(".npy") || ends(ENDING))
            && let Some(made) = generator.streamed()?
        {
            return write_streamed(&made, out, &labels, *force, ends(ENDING));
        }
    }
    let beside = read::companions(out)?;
    let paths: Vec<&Path> = [out, &labels, &shape].into_iter().chain(&beside).map(PathBuf::as_path).collect();
    let files = Files::open(&paths, *force)?;
    let made = match scene {
        Some(scene) => mixed(scene)?,
        None => {
            let mut generator = generator(name)?;
            for (name, value) in values {
                generator.set(name, value)?;
            }
            generator.generate()?
        }
    };
    write(&made, files, out, &labels, &shape)
}

fn write(made: &Generated, files: Files, out: &Path, labels: &Path, shape: &Path) -> Result<()> {
    let truth: Vec<String> = made.truth.iter().map(|&class| made.classes[class].clone()).collect();
    let loaded =
        Loaded { truth: Some(truth.clone()), image: made.image, ..Loaded::from(made.matrix.clone()) };
    files.matrix(out, &loaded)?;
    files.write(labels, |file| truth.iter().try_for_each(|class| writeln!(file, "{class}")))?;
    if let Some(image) = made.image {
        let scan = if image.scan == Scan::Columns { "columns" } else { "rows" };
        let object = json!({"height": image.height, "width": image.width, "scan": scan});
        files.write(shape, |file| writeln!(file, "{object:#}"))?;
    }
    files.finish()?;
    tell!(
        "{}: {} points, {} features, {} clusters",
        out.display(),
        made.matrix.points(),
        made.matrix.features(),
        made.k()
    );
    tell!("{}: the class of each point", labels.display());
    if made.image.is_some() {
        tell!("{}: the points are the pixels of an image", shape.display());
    }
    Ok(())
}

/// Points that are made as they are written, into an .npy file or a block folder.
fn write_streamed(made: &Streamed, out: &Path, labels: &Path, force: bool, blocks: bool) -> Result<()> {
    let shape = made.source.shape();
    if blocks {
        // Nobody goes on from half of it: Ctrl-C leaves nothing.
        let begin = || Writer::begin(out, shape.sparse, shape.format, "", force);
        let mut writer = interrupt::making(begin, Writer::traces)?;
        let traces = writer.traces();
        for from in (0..shape.points).step_by(4096) {
            let rows = from..(from + 4096).min(shape.points);
            let classes: Vec<String> = rows.clone().map(|point| (made.class)(point)).collect();
            writer.push(&made.source.points(rows)?, Some(&classes), None)?;
        }
        let finished = {
            let _held = interrupt::hold();
            writer.finish(None, &With::default())
        };
        interrupt::forget(&traces);
        finished?;
    } else {
        let files = Files::open(&[out, labels], force)?;
        files.write(out, |to| read::write_points(&*made.source, to, &mut |_| ()))?;
        files.write(labels, |to| (0..shape.points).try_for_each(|j| writeln!(to, "{}", (made.class)(j))))?;
        files.finish()?;
    }
    tell!("{}: {} points, {} features, {} clusters", out.display(), shape.points, shape.features, made.k);
    Ok(())
}

/// A scene from files.
fn mixed(args: &SceneArgs) -> Result<Generated> {
    let read = |path: &Path| -> Result<Mat> {
        let matrix = read::read(path, &read::Options::default())?.matrix;
        let rows: Vec<Vec<f64>> = (0..matrix.points()).map(|j| matrix.point(j)).collect();
        Ok(Mat::from_fn(matrix.points(), matrix.features(), |i, j| rows[i][j]))
    };
    let image = args.image.map(|(height, width)| ImageShape { height, width, scan: args.scan.into() });
    let scene = Scene {
        noise: args.noise,
        least_light: args.least_light,
        seed: args.seed,
        single_precision: args.single,
        image,
        ..Scene::new(read(&args.endmembers)?, read(&args.abundances)?)
    };
    scene
        .generate()
        .with_context(|| format!("{} and {}", args.endmembers.display(), args.abundances.display()))
}
