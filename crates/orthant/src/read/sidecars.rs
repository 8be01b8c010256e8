//! What 'orthant generate' writes beside a matrix: NAME.labels, the class of each point, and NAME.json, the shape of
//! the image whose pixels the points are. Anything else of that name is none of our business.

use std::path::{Path, PathBuf};

use super::Loaded;
use super::in_place::Beside;
use super::lists::lines;
use super::source::bare_name;
use crate::image::{ImageShape, Scan};
use crate::matrix::Shape;

/// Adds what lies beside the file and fits it, where the file itself says nothing of the kind.
pub(super) fn add(loaded: &mut Loaded, path: &Path) {
    let beside = |ending: &str| -> Option<PathBuf> {
        let path = path.with_file_name(Path::new(bare_name(path)).with_extension(ending));
        // Anything but a file might block for ever.
        path.is_file().then_some(path)
    };
    let (points, features) = (loaded.matrix.points(), loaded.matrix.features());
    if loaded.truth.is_none()
        && let Some(path) = beside("labels")
    {
        match lines(&path) {
            Ok(labels) if labels.len() == points => loaded.truth = Some(labels),
            // Scenes are often stored band after band: pixels are columns.
            Ok(labels) if labels.len() == features => loaded.feature_truth = Some(labels),
            Ok(labels) => loaded.notes.push(format!(
                "{} has {} lines for {points} points: it is not used",
                path.display(),
                labels.len()
            )),
            Err(_) => {}
        }
    }
    if loaded.image.is_none()
        && loaded.feature_image.is_none()
        && let Some(shape) = beside("json").and_then(|path| image(&path))
    {
        if shape.pixels() == points {
            loaded.image = Some(shape);
        } else if shape.pixels() == features {
            loaded.feature_image = Some(shape);
        }
    }
}

/// The file with the class of each point, if there is one.
pub(super) fn labels(path: &Path) -> Option<PathBuf> {
    let path = path.with_file_name(Path::new(bare_name(path)).with_extension("labels"));
    path.is_file().then_some(path)
}

/// The same for data that are read where they lie; the classes stay in their file.
pub(super) fn add_to(beside: &mut Beside, path: &Path, shape: Shape) {
    let file = |ending: &str| -> Option<PathBuf> {
        let path = path.with_file_name(Path::new(bare_name(path)).with_extension(ending));
        path.is_file().then_some(path)
    };
    if beside.truth.is_none() {
        beside.truth = labels(path);
    }
    if beside.image.is_none()
        && beside.feature_image.is_none()
        && let Some(found) = file("json").and_then(|path| image(&path))
    {
        if found.pixels() == shape.points {
            beside.image = Some(found);
        } else if found.pixels() == shape.features {
            beside.feature_image = Some(found);
        }
    }
}

fn image(path: &Path) -> Option<ImageShape> {
    let value: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()?;
    let size = |key: &str| value.get(key)?.as_u64().and_then(|x| usize::try_from(x).ok());
    let (height, width) = (size("height")?, size("width")?);
    height.checked_mul(width)?;
    let order = value.get("scan").or(value.get("scan_order"))?.as_str()?;
    let scan = match order {
        order if order.starts_with("column") => Scan::Columns,
        order if order.starts_with("row") => Scan::Rows,
        _ => return None,
    };
    Some(ImageShape { height, width, scan })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Dense, Matrix};
    use crate::orientation::Orientation;

    #[test]
    fn classes_of_columns_are_those_of_points_once_columns_are_points() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("scene.labels"), "a\nb\na\n").unwrap();
        let matrix = Matrix::DenseF64(Dense::new(2, 3, vec![1.0; 6]).unwrap());
        let mut loaded = Loaded::from(matrix);
        add(&mut loaded, &folder.path().join("scene.npy"));
        assert!(loaded.truth.is_none() && loaded.notes.is_empty());
        let turned = loaded.with_points(Orientation::Columns);
        assert_eq!(turned.truth.unwrap(), ["a", "b", "a"]);
    }
}
