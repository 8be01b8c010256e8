//! From what a file held to the points that are clustered, and the same once more for new points: which way
//! round, what is missing, which weighting.
//!
//! A [`Recipe`] is what was asked for. Following it gives the points and what was [`Learned`] on the way: a
//! value that is kept with a result (as JSON, feature "serde"), so that points of another day are prepared by
//! what was learned from the first ones, not from themselves. It also knows the way back: which row and column
//! of the file an entry came from.

mod prepared;

pub use prepared::Prepared;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::for_matrix;
use crate::matrix::{Csr, Dense, Index, Matrix, Real};
pub use crate::orientation::Orientation;
#[cfg(feature = "read")]
use crate::read::Loaded;
#[cfg(feature = "read")]
use crate::texts::Vocabulary;
use crate::weighting::{Fitted, Weighting};

/// What becomes of entries that are missing (empty fields, NaN).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Missing {
    /// Data with missing entries are refused, by row and column.
    #[default]
    Refuse,
    /// They count as 0.
    Zero,
    /// They have no say: see [`crate::observed`].
    Ignore,
}

/// The choices by name, for help texts and parsers.
pub const MISSING: &[(&str, Missing)] =
    &[("refuse", Missing::Refuse), ("ignore", Missing::Ignore), ("zero", Missing::Zero)];

/// What is to be done to the data.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recipe {
    /// Which are the points.
    pub orientation: Orientation,
    /// What becomes of missing entries.
    pub missing: Missing,
    /// Steps of weighting, in order.
    pub weighting: Vec<Weighting>,
}

/// One step of weighting with what it learned.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Step {
    /// What was asked for.
    pub weighting: Weighting,
    /// What it does to points.
    pub fitted: Fitted,
}

/// What new points need in order to be prepared as the first ones were.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Learned {
    /// Which were the points.
    pub orientation: Orientation,
    /// What became of missing entries.
    pub missing: Missing,
    /// The weighting, in order.
    pub steps: Vec<Step>,
    /// The names of the features, if they had any: new points have theirs put in the same order.
    pub features: Option<Vec<String>>,
    /// How texts became counts.
    #[cfg(feature = "read")]
    pub texts: Option<Vocabulary>,
}

impl Recipe {
    /// Follows the recipe on points in rows (they are not turned here).
    ///
    /// # Errors
    /// Where entries are missing and that is not allowed.
    pub fn fit(&self, points: Matrix) -> Result<(Matrix, Learned)> {
        let mut points = fill(points, self.missing)?;
        if self.missing == Missing::Ignore && !self.weighting.is_empty() {
            return Err(Error::parameter(
                "missing",
                "what was observed is clustered as it is, without a weighting",
            ));
        }
        let mut steps = vec![];
        for &weighting in &self.weighting {
            let fitted = weighting.fit(&points);
            points = fitted.apply(&points)?;
            steps.push(Step { weighting, fitted });
        }
        let learned =
            Learned { orientation: self.orientation, missing: self.missing, steps, ..Learned::default() };
        Ok((points, learned))
    }

    /// Follows the recipe on what a file held.
    ///
    /// # Errors
    /// Where entries are missing and that is not allowed; places are those of the file.
    #[cfg(feature = "read")]
    pub fn prepare(&self, loaded: Loaded) -> Result<(Loaded, Learned)> {
        let mut loaded = loaded.with_points(self.orientation);
        let (absent, _) = missing(&loaded.matrix);
        let (matrix, mut learned) =
            self.fit(loaded.matrix).map_err(|error| self.orientation.locate(error))?;
        loaded.matrix = matrix;
        if absent > 0 {
            let how = if self.missing == Missing::Ignore { "are ignored" } else { "count as 0" };
            loaded.notes.push(format!("{absent} missing entries {how}"));
        }
        learned.features = loaded.vocabulary.clone();
        learned.texts = loaded.texts.clone();
        Ok((loaded, learned))
    }
}

impl Learned {
    /// New points, in rows and with the same features, prepared as the first ones were.
    ///
    /// # Errors
    /// Where entries are missing and that is not allowed, or there are other features.
    pub fn apply(&self, points: Matrix) -> Result<Matrix> {
        let points = fill(points, self.missing)?;
        self.steps.iter().try_fold(points, |points, step| step.fitted.apply(&points))
    }

    /// What another file held, prepared as the first one was: turned, its features in the same order.
    ///
    /// # Errors
    /// As [`Learned::apply`]; places are those of the file.
    #[cfg(feature = "read")]
    pub fn prepare(&self, loaded: Loaded) -> Result<Loaded> {
        let mut loaded = loaded.with_points(self.orientation);
        if let (Some(wanted), Some(found)) = (&self.features, &loaded.vocabulary)
            && wanted != found
        {
            let order = order(wanted, found)?;
            loaded.matrix = select(&loaded.matrix, &order)?;
            loaded.vocabulary = Some(wanted.clone());
            loaded.wavelengths = loaded.wavelengths.map(|all| order.iter().map(|&f| all[f]).collect());
            loaded.notes.push("its features are put in the order of the result, by name".into());
        }
        loaded.matrix = self.apply(loaded.matrix).map_err(|error| self.orientation.locate(error))?;
        Ok(loaded)
    }

    /// An error unless everything in it can be used, for what was read from a file.
    pub fn check(&self, features: usize) -> Result<()> {
        for step in &self.steps {
            step.fitted.check(features)?;
        }
        match &self.features {
            Some(names) if names.len() != features => {
                Err(Error::Data(format!("{} names of features for {features} features", names.len())))
            }
            _ => Ok(()),
        }
    }
}

/// Where each of the wanted features is found.
#[cfg(feature = "read")]
fn order(wanted: &[String], found: &[String]) -> Result<Vec<usize>> {
    let mut places = std::collections::HashMap::new();
    for (place, name) in found.iter().enumerate() {
        if places.insert(name.as_str(), place).is_some() {
            return Err(Error::Data(format!(
                "the feature {name:?} occurs twice: which is meant is not known"
            )));
        }
    }
    let place = |name: &String| {
        let absent = || Error::Data(format!("the feature {name:?} of the result is not among those given"));
        places.get(name.as_str()).copied().ok_or_else(absent)
    };
    wanted.iter().map(place).collect()
}

/// Some of the columns, in the order given.
pub fn select(matrix: &Matrix, columns: &[usize]) -> Result<Matrix> {
    fn dense<T: Real>(x: &Dense<'_, T>, columns: &[usize]) -> Result<Dense<'static, T>> {
        let data = (0..x.points()).flat_map(|j| columns.iter().map(move |&c| (j, c)));
        Dense::new(x.points(), columns.len(), data.map(|(j, c)| x.point(j)[c]).collect::<Vec<T>>())
    }
    fn sparse<T: Real>(x: &Csr<'_, T, i32>, columns: &[usize]) -> Result<Csr<'static, T, i32>> {
        let mut target = vec![None; x.features()];
        for (to, &from) in columns.iter().enumerate() {
            target[from] = Some(to as i32);
        }
        let (mut offsets, mut kept, mut values) = (vec![0], vec![], vec![]);
        for j in 0..x.points() {
            let (own, entries) = x.point(j);
            let moved = own.iter().zip(entries).filter_map(|(c, &x)| Some((target[c.at()]?, x)));
            let mut row: Vec<(i32, T)> = moved.collect();
            row.sort_by_key(|entry| entry.0);
            kept.extend(row.iter().map(|entry| entry.0));
            values.extend(row.iter().map(|entry| entry.1));
            offsets.push(kept.len());
        }
        Csr::new(columns.len(), offsets, kept, values)
    }
    Ok(match matrix {
        Matrix::DenseF32(x) => Matrix::DenseF32(dense(x, columns)?),
        Matrix::DenseF64(x) => Matrix::DenseF64(dense(x, columns)?),
        Matrix::SparseF32(x) => Matrix::SparseF32(sparse(x, columns)?),
        Matrix::SparseF64(x) => Matrix::SparseF64(sparse(x, columns)?),
    })
}

fn is_missing<T: Real>(x: T) -> bool {
    Into::<f64>::into(x).is_nan()
}

/// How many entries are missing, and the first of them.
fn missing(matrix: &Matrix) -> (usize, Option<usize>) {
    fn look<T: Real>(numbers: &[T]) -> (usize, Option<usize>) {
        let count = numbers.iter().filter(|x| is_missing(**x)).count();
        (count, numbers.iter().position(|x| is_missing(*x)))
    }
    for_matrix!(matrix, x => look(x.numbers()))
}

/// Points without missing entries, or with them where they are left to whoever clusters what was observed.
fn fill(mut matrix: Matrix, how: Missing) -> Result<Matrix> {
    fn zero<T: Real>(numbers: &mut [T]) {
        numbers.iter_mut().filter(|x| is_missing(**x)).for_each(|x| *x = T::default());
    }
    let (count, Some(first)) = missing(&matrix) else { return Ok(matrix) };
    match how {
        Missing::Ignore => {}
        Missing::Zero => for_matrix!(&mut matrix, x => zero(x.numbers_mut())),
        Missing::Refuse => {
            let problem = match count {
                1 => "the entry is missing (empty or NaN)".to_string(),
                _ => format!("{count} entries are missing (empty or NaN), the first"),
            };
            let (row, column) = matrix.place(first);
            let advice = "fill them in or leave such rows out; --missing ignore fits what was observed, --missing zero \
                          counts them as 0";
            return Err(Error::Entry { problem, row, column, advice });
        }
    }
    Ok(matrix)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Matrix {
        Matrix::DenseF64(Dense::new(2, 3, vec![1.0, f64::NAN, 3.0, 4.0, 5.0, f64::NAN]).unwrap())
    }

    fn sparse() -> Matrix {
        Matrix::SparseF64(
            Csr::new(3, vec![0, 2, 4], vec![0, 2, 1, 2], vec![1.0, 3.0, f64::NAN, 6.0]).unwrap(),
        )
    }

    #[test]
    fn missing_entries_are_refused_with_their_place_or_count_as_zero() {
        let refusal = Recipe::default().fit(table()).unwrap_err().to_string();
        assert!(refusal.contains("2 entries") && refusal.contains("row 0, column 1"), "{refusal}");
        let refusal = Recipe::default().fit(sparse()).unwrap_err().to_string();
        assert!(refusal.contains("row 1, column 1"), "{refusal}");
        let zero = Recipe { missing: Missing::Zero, ..Recipe::default() };
        assert_eq!(zero.fit(table()).unwrap().0.point(0), [1.0, 0.0, 3.0]);
        assert_eq!(zero.fit(sparse()).unwrap().0.point(1), [0.0, 0.0, 6.0]);
    }

    #[test]
    fn new_points_are_prepared_by_what_was_learned_from_the_first() {
        let recipe = Recipe {
            weighting: vec![Weighting::TfIdf, Weighting::Unit],
            missing: Missing::Zero,
            ..Recipe::default()
        };
        for all in [table(), sparse()] {
            let (points, learned) = recipe.fit(all.clone()).unwrap();
            assert_eq!(learned.apply(all.clone()).unwrap(), points);
            // One point alone has other frequencies, and gets what it got among the others all the same.
            let one = Matrix::DenseF64(Dense::new(1, 3, all.point(1)).unwrap());
            assert_eq!(learned.apply(one).unwrap().point(0), points.point(1));
        }
    }

    #[test]
    fn columns_are_selected_alike_in_dense_and_sparse() {
        let dense = Matrix::DenseF64(Dense::new(2, 3, vec![1.0, 0.0, 3.0, 0.0, 5.0, 6.0]).unwrap());
        let sparse = Matrix::SparseF64(
            Csr::new(3, vec![0, 2, 4], vec![0, 2, 1, 2], vec![1.0, 3.0, 5.0, 6.0]).unwrap(),
        );
        for columns in [vec![2, 0, 1], vec![1], vec![2, 1]] {
            let (a, b) = (select(&dense, &columns).unwrap(), select(&sparse, &columns).unwrap());
            for j in 0..2 {
                let expected: Vec<f64> = columns.iter().map(|&c| dense.point(j)[c]).collect();
                assert_eq!((a.point(j), b.point(j)), (expected.clone(), expected));
            }
        }
    }

    #[test]
    fn the_place_of_an_entry_is_that_of_the_file() {
        let error = || Error::Entry { problem: "x".into(), row: 3, column: 8, advice: "" };
        assert!(Orientation::Columns.locate(error()).to_string().contains("row 8, column 3"));
        assert!(Orientation::Rows.locate(error()).to_string().contains("row 3, column 8"));
    }
}
