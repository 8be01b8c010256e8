//! Texts → counts of words: a point for every text, a feature for every word (or run of words).
//!
//! Words are those of Unicode, in lower case, with at least two letters (a single one where a letter is a word,
//! as in Chinese); numbers are none. Words that carry no meaning are left out, and so are words of very few or
//! very many texts. What was decided is a [`Vocabulary`], which counts other texts in the same way.

mod stop_words;

use std::collections::{HashMap, HashSet};

use frostem::Stemmer;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

use crate::error::{Error, Result};
use crate::matrix::{Csr, Matrix};

pub use stop_words::LANGUAGES;

/// With fewer texts every word may matter.
const FEW: usize = 20;
/// Texts of a language have at least this share of its stop words.
const RECOGNISED: f64 = 0.15;

/// In how many texts, or in which share of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Frequency {
    /// So many texts.
    Count(usize),
    /// This share of all texts, from 0 to 1.
    Share(f64),
}

impl Frequency {
    /// Of how many texts it speaks, of so many.
    fn of(self, texts: usize) -> f64 {
        match self {
            Frequency::Count(count) => count as f64,
            Frequency::Share(share) => share * texts as f64,
        }
    }
}

/// Which words carry no meaning.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StopWords {
    /// Those of the language that the texts seem to be in.
    #[default]
    Auto,
    /// None.
    None,
    /// Those of one of [`LANGUAGES`].
    Of(String),
    /// These.
    These(Vec<String>),
}

/// How texts become counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Which words are left out from the beginning.
    pub stop_words: StopWords,
    /// Words of fewer texts are left out; by default 2, of few texts 1.
    pub least: Option<Frequency>,
    /// Words of more texts are left out; by default half of them, of few texts none.
    pub most: Option<Frequency>,
    /// Runs of up to so many words are features too.
    pub run: usize,
    /// Only the words of the most texts, so many.
    pub limit: Option<usize>,
    /// Words of one stem count as one: that of one of [`LANGUAGES`], or "auto" for the one that the texts seem to be in.
    #[serde(default)]
    pub stem: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { stop_words: StopWords::Auto, least: None, most: None, run: 1, limit: None, stem: None }
    }
}

/// The words that are counted, and how they are found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Vocabulary {
    /// The settings that chose them; stop words are a language or a list by now.
    pub settings: Settings,
    /// The words, in alphabetical order: the features.
    pub words: Vec<String>,
}

impl Settings {
    /// Counts the texts, and says which words were chosen.
    ///
    /// # Errors
    /// When a setting cannot be, or no word is left.
    pub fn count<T: AsRef<str> + Sync>(&self, texts: &[T]) -> Result<(Matrix, Vocabulary)> {
        self.check()?;
        let stem_of_texts = self.stem.as_deref() == Some("auto");
        let language = match self.stop_words == StopWords::Auto || stem_of_texts {
            true => language_of(texts),
            false => None,
        };
        let stop_words = match &self.stop_words {
            StopWords::Auto => language.map_or(StopWords::None, |name| StopWords::Of(name.into())),
            given => given.clone(),
        };
        if stem_of_texts && language.is_none() {
            let problem = "the language of the texts was not recognised: name it, as in --stem=english";
            return Err(Error::parameter("stem", problem));
        }
        let stem = if stem_of_texts { language.map(str::to_owned) } else { self.stem.clone() };
        let settings = Settings { stop_words, stem, ..self.clone() };
        let terms = Terms::new(&settings)?;
        let counted: Vec<HashMap<String, u32>> =
            texts.par_iter().map(|text| terms.of(text.as_ref())).collect();
        let mut found: HashMap<&str, usize> = HashMap::new();
        for term in counted.iter().flat_map(HashMap::keys) {
            *found.entry(term).or_default() += 1;
        }
        let few = texts.len() < FEW;
        let default = |few_texts, many| if few { few_texts } else { many };
        let least = self.least.unwrap_or(default(Frequency::Count(1), Frequency::Count(2)));
        let most = self.most.unwrap_or(default(Frequency::Share(1.0), Frequency::Share(0.5)));
        let (least, most) = (least.of(texts.len()), most.of(texts.len()));
        let distinct = found.len();
        let mut kept: Vec<(&str, usize)> = found.into_iter().collect();
        kept.retain(|&(_, texts)| texts as f64 >= least && texts as f64 <= most);
        if let Some(limit) = self.limit {
            kept.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
            kept.truncate(limit);
        }
        if kept.is_empty() {
            return Err(Error::Data(format!(
                "no word is left: of {distinct} different words in {} texts none is in {least} to {most} of them \
                 (--min-texts, --max-texts)",
                texts.len()
            )));
        }
        let mut words: Vec<String> = kept.into_iter().map(|(word, _)| word.to_owned()).collect();
        words.sort_unstable();
        let vocabulary = Vocabulary { settings, words };
        Ok((vocabulary.matrix(&counted), vocabulary))
    }

    fn check(&self) -> Result<()> {
        let wrong = |name: &str, problem: String| Err(Error::parameter(name, problem));
        for (name, frequency) in [("min-texts", self.least), ("max-texts", self.most)] {
            match frequency {
                Some(Frequency::Share(share)) if !(0.0..=1.0).contains(&share) => {
                    return wrong(name, format!("a share is between 0 and 1, not {share}"));
                }
                _ => {}
            }
        }
        match self.run {
            1..=5 => Ok(()),
            run => wrong("ngrams", format!("runs of 1 to 5 words can be counted, not of {run}")),
        }
    }

    fn stop_set(&self) -> Result<HashSet<String>> {
        let of = |words: &str| words.split_ascii_whitespace().map(str::to_owned).collect();
        match &self.stop_words {
            StopWords::Auto | StopWords::None => Ok(HashSet::new()),
            StopWords::These(words) => Ok(words.iter().map(|word| word.trim().to_lowercase()).collect()),
            StopWords::Of(name) => match LANGUAGES.iter().find(|language| language.0 == name) {
                Some(language) => Ok(of(language.1)),
                None => Err(Error::parameter("stop-words", unknown_language(name, "auto, none, a file"))),
            },
        }
    }
}

impl Vocabulary {
    /// Counts other texts; words that are not in the vocabulary do not count.
    ///
    /// # Errors
    /// When its settings cannot be.
    pub fn count<T: AsRef<str> + Sync>(&self, texts: &[T]) -> Result<Matrix> {
        self.settings.check()?;
        let terms = Terms::new(&self.settings)?;
        let counted: Vec<_> = texts.par_iter().map(|text| terms.of(text.as_ref())).collect();
        Ok(self.matrix(&counted))
    }

    /// What was decided, in words.
    pub fn in_words(&self) -> String {
        let stop = match &self.settings.stop_words {
            StopWords::Of(language) => format!("without the stop words of {language}"),
            StopWords::These(words) => format!("without {} stop words", words.len()),
            _ => "no stop words left out".into(),
        };
        let stem = match &self.settings.stem {
            Some(language) => format!(", by their stems ({language})"),
            None => String::new(),
        };
        format!("{} different words are counted{stem}, {stop}", self.words.len())
    }

    fn matrix(&self, counted: &[HashMap<String, u32>]) -> Matrix {
        let places: HashMap<&str, i32> = self.words.iter().map(String::as_str).zip(0..).collect();
        let row = |terms: &HashMap<String, u32>| {
            let place =
                |(term, count): (&String, &u32)| Some((*places.get(term.as_str())?, f64::from(*count)));
            let mut row: Vec<(i32, f64)> = terms.iter().filter_map(place).collect();
            row.sort_unstable_by_key(|entry| entry.0);
            row
        };
        let rows: Vec<Vec<(i32, f64)>> = counted.par_iter().map(row).collect();
        let mut offsets = vec![0];
        let (mut columns, mut values) = (vec![], vec![]);
        for row in rows {
            columns.extend(row.iter().map(|entry| entry.0));
            values.extend(row.iter().map(|entry| entry.1));
            offsets.push(columns.len());
        }
        let matrix = Csr::new(self.words.len(), offsets, columns, values);
        Matrix::SparseF64(matrix.expect("places of words are distinct and sorted"))
    }
}

/// The words of a text, in their order.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    // In these scripts a letter is a word, or Unicode does not say where words end.
    let is_word_alone =
        |c: char| ('\u{2e80}'..'\u{a000}').contains(&c) || ('\u{ac00}'..'\u{d7b0}').contains(&c);
    text.unicode_words().filter_map(move |word| {
        let word = word.to_lowercase();
        let word = word.strip_suffix("'s").or(word.strip_suffix("’s")).unwrap_or(&word);
        let letters = word.chars().filter(|c| c.is_alphabetic()).count();
        (letters > 1 || word.chars().all(is_word_alone)).then(|| word.to_owned())
    })
}

/// What is counted in a text.
struct Terms {
    stop: HashSet<String>,
    stemmer: Option<Stemmer>,
    run: usize,
}

impl Terms {
    fn new(settings: &Settings) -> Result<Terms> {
        let known = |name: &String| LANGUAGES.iter().any(|language| language.0 == name);
        let stemmer = match &settings.stem {
            None => None,
            Some(name) => {
                let stemmer = Stemmer::try_from_name(name).ok().filter(|_| known(name));
                Some(stemmer.ok_or_else(|| Error::parameter("stem", unknown_language(name, "auto")))?)
            }
        };
        Ok(Terms { stop: settings.stop_set()?, stemmer, run: settings.run })
    }

    /// How often each word, and each run of words, stands in it; runs go over stop words that are left out.
    fn of(&self, text: &str) -> HashMap<String, u32> {
        let stemmed = |word: String| match &self.stemmer {
            Some(stemmer) => stemmer.stem(&word).into_owned(),
            None => word,
        };
        let words: Vec<String> = words(text).filter(|word| !self.stop.contains(word)).map(stemmed).collect();
        let mut counts = HashMap::new();
        for length in 2..=self.run {
            for run in words.windows(length) {
                *counts.entry(run.join(" ")).or_insert(0) += 1;
            }
        }
        for word in words {
            *counts.entry(word).or_insert(0) += 1;
        }
        counts
    }
}

/// What there is instead of a language that is not known.
fn unknown_language(name: &str, others: &str) -> String {
    let known: Vec<&str> = LANGUAGES.iter().map(|language| language.0).collect();
    format!("there are {others}, {}; not {name:?}", known.join(", "))
}

/// The language whose stop words are the most frequent, if they are frequent enough.
fn language_of<T: AsRef<str> + Sync>(texts: &[T]) -> Option<&'static str> {
    const LOOKED_AT: usize = 2000;
    let mut languages_of: HashMap<&str, Vec<usize>> = HashMap::new();
    for (language, (_, list)) in LANGUAGES.iter().enumerate() {
        for word in list.split_ascii_whitespace() {
            languages_of.entry(word).or_default().push(language);
        }
    }
    let mut hits = vec![0usize; LANGUAGES.len()];
    let mut all = 0;
    // Evenly over all texts: the first may be of one kind.
    for text in texts.iter().step_by(texts.len().div_ceil(LOOKED_AT).max(1)) {
        for word in text.as_ref().unicode_words() {
            all += 1;
            for &language in languages_of.get(word.to_lowercase().as_str()).into_iter().flatten() {
                hits[language] += 1;
            }
        }
    }
    // Reversed, because the last of several maxima is taken.
    let (best, &count) = hits.iter().enumerate().rev().max_by_key(|(_, count)| **count)?;
    (count as f64 >= RECOGNISED * all as f64 && all > 0).then(|| LANGUAGES[best].0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(matrix: &Matrix, vocabulary: &Vocabulary, text: usize, word: &str) -> f64 {
        let place = vocabulary.words.iter().position(|w| w == word);
        place.map_or(0.0, |place| matrix.point(text)[place])
    }

    #[test]
    fn words_are_those_of_unicode_in_lower_case() {
        let found: Vec<String> = words("Müller's CAT can't 42 x2y a 7th, naïve—wörter; 猫 犬").collect();
        assert_eq!(found, ["müller", "cat", "can't", "x2y", "7th", "naïve", "wörter", "猫", "犬"]);
    }

    #[test]
    fn counts_of_few_texts_keep_every_word_but_stop_words() {
        let texts = ["The cat sat on the mat and the cat slept", "A dog is in the house with the other dog"];
        let (matrix, vocabulary) = Settings::default().count(&texts).unwrap();
        assert_eq!(vocabulary.settings.stop_words, StopWords::Of("english".into()));
        assert_eq!(vocabulary.words, ["cat", "dog", "house", "mat", "sat", "slept"]);
        assert_eq!(entry(&matrix, &vocabulary, 0, "cat"), 2.0);
        assert_eq!(entry(&matrix, &vocabulary, 1, "cat"), 0.0);
        assert_eq!(entry(&matrix, &vocabulary, 1, "dog"), 2.0);
    }

    #[test]
    fn words_of_few_and_of_many_texts_are_left_out() {
        let texts: Vec<String> = (0..40)
            .map(|i| format!("common group{} only{i} rare{}", if i < 15 { "a" } else { "b" }, i / 2))
            .collect();
        let words = |settings: Settings| {
            let vocabulary = settings.count(&texts).unwrap().1;
            (vocabulary.words.len(), vocabulary.words.contains(&"common".to_string()))
        };
        // groupa (15 texts) and 20 pairs; groupb is in more than half, only… in one.
        assert_eq!(words(Settings::default()), (21, false));
        let most = Some(Frequency::Share(1.0));
        assert_eq!(words(Settings { most, ..Settings::default() }), (23, true));
        assert_eq!(
            words(Settings { most, least: Some(Frequency::Share(0.3)), ..Settings::default() }),
            (3, true)
        );
        assert_eq!(words(Settings { most, limit: Some(2), ..Settings::default() }), (2, true));
        let none = Settings { least: Some(Frequency::Count(50)), ..Settings::default() };
        assert!(none.count(&texts).unwrap_err().to_string().contains("no word is left"));
    }

    #[test]
    fn a_vocabulary_counts_other_texts_alike() {
        let texts = ["red wine and white wine", "white bread", "a glass of red wine"];
        let settings = Settings { run: 2, ..Settings::default() };
        let (matrix, vocabulary) = settings.count(&texts).unwrap();
        assert_eq!(vocabulary.count(&texts).unwrap(), matrix);
        assert!(vocabulary.words.contains(&"red wine".to_string()));
        let other = vocabulary.count(&["Wine, WINE, beer; red wine"]).unwrap();
        assert_eq!(entry(&other, &vocabulary, 0, "wine"), 3.0);
        assert_eq!(entry(&other, &vocabulary, 0, "red wine"), 1.0);
        assert_eq!(other.point(0).iter().sum::<f64>(), 5.0);
        let kept = serde_json::to_string(&vocabulary).unwrap();
        assert_eq!(serde_json::from_str::<Vocabulary>(&kept).unwrap(), vocabulary);
    }

    #[test]
    fn words_of_one_stem_are_one_where_that_is_wanted() {
        let texts =
            ["The connections of the house were connected", "a connecting house and the houses of it"];
        let settings = Settings { stem: Some("auto".into()), ..Settings::default() };
        let (matrix, vocabulary) = settings.count(&texts).unwrap();
        assert_eq!(vocabulary.settings.stem.as_deref(), Some("english"));
        assert_eq!(vocabulary.words, ["connect", "hous"]);
        assert_eq!(matrix.point(0), [2.0, 1.0]);
        assert_eq!(vocabulary.count(&["connection"]).unwrap().point(0), [1.0, 0.0]);
        // Every language with stop words has stems too.
        for (language, _) in LANGUAGES {
            let settings = Settings { stem: Some((*language).into()), ..Settings::default() };
            assert!(settings.count(&["universities"]).is_ok(), "{language}");
        }
        let of =
            |stem: &str| Settings { stem: Some(stem.into()), ..Settings::default() }.count(&["zzt vrrp"]);
        assert!(of("auto").unwrap_err().to_string().contains("not recognised"));
        assert!(of("klingon").unwrap_err().to_string().contains("english"));
    }

    #[test]
    fn every_language_is_told_from_the_others() {
        let sentences = [
            ("english", "it is not the first time that they have been there with all of us"),
            ("german", "es ist nicht das erste Mal, dass sie mit uns allen dort gewesen sind"),
            ("french", "ce n'est pas la première fois que nous sommes avec eux dans cette ville"),
            ("spanish", "no es la primera vez que ellos han estado con nosotros en la ciudad"),
            ("italian", "non è la prima volta che sono stati con noi nella città per questo"),
            ("portuguese", "não é a primeira vez que eles estão com a gente em uma cidade"),
            ("dutch", "het is niet de eerste keer dat zij met ons in de stad zijn geweest"),
        ];
        assert_eq!(sentences.len(), LANGUAGES.len());
        for (language, sentence) in sentences {
            assert_eq!(language_of(&[sentence]), Some(language), "{sentence}");
        }
        assert_eq!(language_of(&["qwx zzt vrrp glorp"]), None);
    }

    #[test]
    fn settings_that_cannot_be_are_refused() {
        let refused = |settings: Settings| settings.count(&["a few words"]).unwrap_err().to_string();
        assert!(refused(Settings { run: 0, ..Settings::default() }).contains("ngrams"));
        let share = Some(Frequency::Share(1.5));
        assert!(refused(Settings { most: share, ..Settings::default() }).contains("1.5"));
        let stop_words = StopWords::Of("klingon".into());
        assert!(refused(Settings { stop_words, ..Settings::default() }).contains("english"));
    }
}
