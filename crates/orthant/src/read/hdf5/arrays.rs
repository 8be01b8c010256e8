//! MATLAB 7.3, and any other file with an array of two or three dimensions in it.

use super::super::compressed::{Compressed, from_columns};
use super::super::numpy::Shape;
use super::super::values::Number;
use super::super::{Loaded, Precision};
use super::NAME;
use super::container::Container;
use crate::error::{Error, Result};
use crate::matrix::Matrix;

/// Groups within groups that are looked into.
const DEEPEST: usize = 4;
/// Arrays that are looked at.
const MOST: usize = 1000;

/// The variable that was named, or the only matrix.
pub(super) fn read(container: &Container) -> Result<Loaded> {
    if let Some(name) = container.options.columns.first_given() {
        return Err(Error::parameter(name, "arrays in HDF5 have no such columns"));
    }
    let mut found = Found::default();
    found.look(container, "", 0);
    let listed = |paths: &[&String]| paths.iter().map(|path| path.as_str()).collect::<Vec<_>>().join(", ");
    let all: Vec<&String> = found.arrays.iter().map(|(path, _)| path).chain(&found.sparse).collect();
    let chosen = match &container.options.variable {
        Some(name) => {
            let name = name.trim_matches('/');
            let known = all.iter().find(|path| path.as_str() == name).copied();
            known.ok_or_else(|| container.fault(format!("no array {name:?}: there are {}", listed(&all))))?
        }
        None => {
            let wide = found.arrays.iter().filter(|(_, shape)| shape.iter().all(|&size| size > 1));
            let wide: Vec<&String> = wide.map(|(path, _)| path).chain(&found.sparse).collect();
            match (&wide[..], &all[..]) {
                ([one], _) | ([], [one]) => *one,
                ([], []) => return Err(container.fault("it holds no matrix of numbers")),
                ([], several) | (several, _) => {
                    let problem = format!("several matrices: say which with --variable, {}", listed(several));
                    return Err(container.fault(problem));
                }
            }
        }
    };
    match found.sparse.contains(chosen) {
        true => Ok(Loaded::new(sparse(container, chosen)?, NAME)),
        false => matrix_of(container, chosen),
    }
}

/// What may be meant, by its path.
#[derive(Default)]
struct Found {
    arrays: Vec<(String, Vec<u64>)>,
    /// Sparse matrices of MATLAB.
    sparse: Vec<String>,
}

impl Found {
    fn look(&mut self, container: &Container, group: &str, depth: usize) {
        let within = |name: &String| if group.is_empty() { name.clone() } else { format!("{group}/{name}") };
        let members = container.members(group);
        for path in members.arrays.iter().map(within) {
            let Ok(array) = container.array(&path) else { continue };
            let is_matrix = matches!(array.ndim(), 2 | 3) && !array.shape().contains(&0);
            // What MATLAB keeps characters in are numbers too.
            let class = array.attribute("MATLAB_class").and_then(|class| class.read_string());
            let is_text = class.is_ok_and(|class| class == "char" || class == "cell");
            if is_matrix && !is_text && container.layout(&path, &array).is_ok() && self.arrays.len() < MOST {
                self.arrays.push((path, array.shape().to_vec()));
            }
        }
        for path in members.groups.iter().map(within) {
            if container.sizes(&path, "MATLAB_sparse").is_some() {
                self.sparse.push(path);
            } else if depth < DEEPEST && !path.starts_with('#') {
                self.look(container, &path, depth + 1);
            }
        }
    }
}

/// An array as points and features. MATLAB stores column after column, and so its sizes the other way round.
pub(super) fn matrix_of(container: &Container, path: &str) -> Result<Loaded> {
    let array = container.array(path)?;
    let by_columns = array.attribute("MATLAB_class").is_ok();
    let mut sizes = array.shape().to_vec();
    if by_columns {
        sizes.reverse();
    }
    let shape =
        Shape::of(&sizes, by_columns).map_err(|problem| container.fault(format!("{path}: {problem}")))?;
    let layout = container.layout(path, &array)?;
    let matrix = match container.precision(layout) {
        Precision::F32 => shape.matrix(container.numbers::<f32>(path, &array)?),
        Precision::F64 => shape.matrix(container.numbers::<f64>(path, &array)?),
    };
    Ok(shape.loaded(matrix, NAME))
}

/// A sparse matrix of MATLAB: compressed columns.
fn sparse(container: &Container, group: &str) -> Result<Matrix> {
    let rows = container.sizes(group, "MATLAB_sparse").and_then(|sizes| sizes.first().copied()).unwrap_or(0);
    let rows = u64::try_from(rows).unwrap_or(0);
    let path = format!("{group}/data");
    match container.precision(container.layout(&path, &container.array(&path)?)?) {
        Precision::F32 => columns::<f32>(container, group, rows),
        Precision::F64 => columns::<f64>(container, group, rows),
    }
}

fn columns<T: Number>(container: &Container, group: &str, rows: u64) -> Result<Matrix> {
    let path = format!("{group}/data");
    let given = Compressed {
        offsets: container.integers(&format!("{group}/jc"))?,
        indices: container.integers(&format!("{group}/ir"))?,
        values: container.numbers::<T>(&path, &container.array(&path)?)?,
    };
    from_columns(given, rows).map_err(|problem| container.fault(format!("{group}: {problem}")))
}
