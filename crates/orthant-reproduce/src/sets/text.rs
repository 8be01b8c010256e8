//! The text sets of Table 2: NAME.mtx.gz (or another format) with documents in rows, and NAME.labels.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use orthant::read;

use super::{Found, Set};

/// Endings in which a set may lie there.
const ENDINGS: &[&str] = &["mtx.gz", "mtx", "npz", "mat", "npy", "cluto", "svmlight"];

/// The sets of these names from the folder `text` of the data, or from the folder itself.
pub fn texts(data: Option<&Path>, names: &[&str]) -> Result<Vec<(String, Found)>> {
    let mut found = vec![];
    for &name in names {
        let set = match data.and_then(|data| file(data, name)) {
            Some(path) => Ok(Arc::new(text(name, &path)?)),
            None => Err(match data {
                Some(data) => format!("{} holds no text/{name}.mtx.gz", data.display()),
                None => "no data were given (--data DIR)".into(),
            }),
        };
        found.push((name.to_string(), set));
    }
    Ok(found)
}

fn file(data: &Path, name: &str) -> Option<PathBuf> {
    let folders = [data.join("text"), data.to_path_buf()];
    let paths = folders.iter().flat_map(|f| ENDINGS.iter().map(move |e| f.join(format!("{name}.{e}"))));
    paths.into_iter().find(|path| path.is_file())
}

fn text(name: &str, path: &Path) -> Result<Set> {
    let loaded = read::read(path, &read::Options::default())?;
    let labels = path.with_file_name(format!("{name}.labels"));
    let tokens = match loaded.truth {
        Some(truth) if !labels.is_file() => truth,
        _ => read::lines(&labels)?,
    };
    if tokens.len() != loaded.matrix.points() {
        bail!(
            "{}: has {} lines for {} documents: one line each is needed",
            labels.display(),
            tokens.len(),
            loaded.matrix.points()
        );
    }
    let (truth, classes) = orthant::evaluate::classes(&tokens);
    Ok(Set {
        name: name.to_string(),
        matrix: loaded.matrix,
        k: classes.len(),
        truth: Some(truth),
        classes,
        image: None,
        pixels: None,
    })
}
