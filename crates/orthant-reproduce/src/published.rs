//! What the paper printed, as data: one file a table, with its source.

/// A line of Table 2.
#[derive(Debug, Clone, PartialEq)]
pub struct TextSet {
    pub set: &'static str,
    pub documents: usize,
    pub terms: usize,
    pub classes: usize,
    pub nonzeros: usize,
}

/// A cell of Table 3, in percent.
#[derive(Debug, Clone, PartialEq)]
pub struct Accuracy {
    pub set: &'static str,
    pub method: &'static str,
    /// As printed.
    pub printed: &'static str,
    pub mean: f64,
    /// Where the start is random.
    pub deviation: Option<f64>,
}

const TABLE1: &str = include_str!("../published/table1.csv");
const TABLE2: &str = include_str!("../published/table2.csv");
const LDA: &str = include_str!("../beside/lda.csv");
const TABLE3: &str = include_str!("../published/table3.csv");

/// Table 1: method and seconds.
pub fn table1() -> Vec<(&'static str, f64)> {
    lines(TABLE1).filter_map(|line| Some((line[0], line.get(1)?.parse().ok()?))).collect()
}

/// Table 2: the text sets.
pub fn table2() -> Vec<TextSet> {
    let set = |line: Vec<&'static str>| {
        let number = |i: usize| line.get(i).and_then(|x| x.parse().ok());
        Some(TextSet {
            set: line[0],
            documents: number(1)?,
            terms: number(2)?,
            classes: number(3)?,
            nonzeros: number(4)?,
        })
    };
    lines(TABLE2).filter_map(set).collect()
}

/// Table 3: accuracies.
pub fn table3() -> Vec<Accuracy> {
    let cell = |line: Vec<&'static str>| {
        let &[set, method, printed, deviation] = &line[..] else { return None };
        Some(Accuracy {
            set,
            method,
            printed,
            mean: printed.parse().ok()?,
            deviation: deviation.parse().ok(),
        })
    };
    lines(TABLE3).filter_map(cell).collect()
}

/// Latent Dirichlet allocation of scikit-learn on the text sets (benches/lda.py): set and accuracy of every run.
pub fn lda() -> Vec<(&'static str, f64)> {
    lines(LDA).filter_map(|line| Some((line[0], line.get(3)?.parse().ok()?))).collect()
}

/// Fields of every line after the source and the head.
fn lines(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table.lines().filter(|line| !line.starts_with('#')).skip(1).map(|line| line.split(',').collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::PAPER;
    use orthant::contender::Contender;

    #[test]
    fn the_tables_are_whole() {
        let sets = table2();
        assert_eq!(sets.len(), 12);
        assert_eq!(sets.iter().map(|s| s.nonzeros).sum::<usize>(), 4_882_670);
        let cells = table3();
        assert_eq!(cells.len(), 12 * 8);
        for set in &sets {
            let methods: Vec<&str> = cells.iter().filter(|c| c.set == set.set).map(|c| c.method).collect();
            assert_eq!(methods, PAPER, "{}", set.set);
        }
        // A slip of the pen would change a sum.
        assert!((cells.iter().map(|c| c.mean).sum::<f64>() - 4568.0).abs() < 0.01);
        assert!((cells.iter().filter_map(|c| c.deviation).sum::<f64>() - 286.5).abs() < 0.01);
        assert_eq!(table1().len(), 6);
    }

    #[test]
    fn random_starts_alone_have_deviations_and_all_methods_are_known() {
        for cell in table3() {
            let contender = Contender::parse(cell.method).unwrap().remove(0);
            assert_eq!(cell.deviation.is_some(), contender.start.is_random(), "{cell:?}");
            assert!(cell.printed.split_once('.').is_some_and(|(_, digits)| digits.len() == 1), "{cell:?}");
            assert!((20.0..90.0).contains(&cell.mean), "{cell:?}");
        }
    }
}
