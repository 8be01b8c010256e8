//! Truth as it stands in files (any words or numbers) → class numbers.

use std::collections::HashMap;

/// Numbers the distinct tokens from 0 and returns each token's number, and each number's name.
///
/// Tokens that are all numbers are put in numeric order, and two spellings of one number (`1`, `1.0`)
/// are one class, named by the first spelling; otherwise the order is that of the characters.
pub fn classes(tokens: &[String]) -> (Vec<usize>, Vec<String>) {
    let number = |token: &String| token.trim().parse::<f64>().ok().filter(|x| !x.is_nan());
    match tokens.iter().map(number).collect::<Option<Vec<f64>>>() {
        Some(values) => {
            // `+ 0.0` makes −0 a plain zero; equal numbers then have equal bits.
            let keys: Vec<u64> = values.iter().map(|x| (x + 0.0).to_bits()).collect();
            numbered(tokens, &keys, |a, b| f64::from_bits(*a).total_cmp(&f64::from_bits(*b)))
        }
        None => numbered(tokens, tokens, |a, b| a.cmp(b)),
    }
}

fn numbered<K: Eq + std::hash::Hash>(
    tokens: &[String],
    keys: &[K],
    order: impl Fn(&K, &K) -> std::cmp::Ordering,
) -> (Vec<usize>, Vec<String>) {
    let mut names: HashMap<&K, &String> = HashMap::new();
    for (key, token) in keys.iter().zip(tokens) {
        names.entry(key).or_insert(token);
    }
    let mut distinct: Vec<&K> = names.keys().copied().collect();
    distinct.sort_by(|a, b| order(a, b));
    let number: HashMap<&K, usize> = distinct.iter().enumerate().map(|(i, &key)| (key, i)).collect();
    let truth = keys.iter().map(|key| number[key]).collect();
    (truth, distinct.iter().map(|key| names[key].trim().to_string()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(tokens: &[&str]) -> Vec<String> {
        tokens.iter().map(|token| token.to_string()).collect()
    }

    #[test]
    fn numbers_are_put_in_numeric_order() {
        let (truth, names) = classes(&strings(&["10", "9", "10", "-1", "2.5"]));
        assert_eq!(truth, [3, 2, 3, 0, 1]);
        assert_eq!(names, ["-1", "2.5", "9", "10"]);
    }

    #[test]
    fn one_word_among_numbers_makes_the_order_alphabetic() {
        let (truth, names) = classes(&strings(&["10", "9", "roof", "9"]));
        assert_eq!(truth, [0, 1, 2, 1]);
        assert_eq!(names, ["10", "9", "roof"]);
    }

    #[test]
    fn two_spellings_of_a_number_are_one_class() {
        let (truth, names) = classes(&strings(&["1", "0", "1.0", "-0"]));
        assert_eq!(truth, [1, 0, 1, 0]);
        assert_eq!(names, ["0", "1"]);
    }

    #[test]
    fn nan_is_a_word_and_nothing_is_fine() {
        let (truth, names) = classes(&strings(&["nan", "2", "nan"]));
        assert_eq!(truth, [1, 0, 1]);
        assert_eq!(names, ["2", "nan"]);
        assert_eq!(classes(&[]), (vec![], vec![]));
    }
}
