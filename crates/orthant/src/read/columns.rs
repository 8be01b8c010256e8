//! Columns of a table that are no features: named by the caller, or known by what they hold.

use std::collections::HashSet;

use crate::error::{Error, Result};

/// Columns by their title, or by their number from 1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns {
    /// The names of the points; "none" if not even a column that looks like it is.
    pub id: Option<String>,
    /// The classes of the points.
    pub truth: Option<String>,
    /// The texts, if the table holds texts instead of numbers.
    pub text: Option<String>,
    /// What is left out.
    pub drop: Vec<String>,
}

impl Columns {
    /// The first of them that was given, by the name of its parameter.
    pub(super) fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("id", self.id.is_some()),
            ("truth-column", self.truth.is_some()),
            ("text", self.text.is_some()),
            ("drop", !self.drop.is_empty()),
        ];
        given.iter().find(|given| given.1).map(|given| given.0)
    }
}

/// The place of a column; `parameter` is what asked for it.
pub(super) fn find(titles: &[String], name: &str, parameter: &str) -> Result<usize> {
    let exact = titles.iter().position(|title| title == name);
    let alike = || titles.iter().position(|title| title.eq_ignore_ascii_case(name));
    let numbered = || name.parse::<usize>().ok().filter(|n| (1..=titles.len()).contains(n)).map(|n| n - 1);
    exact.or_else(alike).or_else(numbered).ok_or_else(|| {
        const SHOWN: usize = 12;
        // A title may hold a line break, a refusal not.
        let named: Vec<String> = titles
            .iter()
            .filter(|title| !title.is_empty())
            .map(|title| title.escape_debug().to_string())
            .collect();
        let more = if named.len() > SHOWN { ", …" } else { "" };
        let known = match named.is_empty() {
            true => format!("there are {} without titles, numbered from 1", titles.len()),
            false => format!("there are {}{more}", named[..named.len().min(SHOWN)].join(", ")),
        };
        Error::parameter(parameter, format!("no column is called {name:?}: {known}"))
    })
}

/// Whether a title is one that people give to numbers that only tell rows apart.
pub(super) fn is_name_of_id(title: &str) -> bool {
    let title = title.trim().to_lowercase();
    let words = ["id", "ids", "idx", "index", "key", "nr", "no", "row", "rowid", "uid", "unnamed: 0"];
    words.contains(&title.as_str()) || ["_id", " id", "-id", ".id"].iter().any(|end| title.ends_with(end))
}

fn whole(field: &[u8]) -> Option<u64> {
    std::str::from_utf8(field).ok()?.trim().parse().ok()
}

/// Whether the fields are whole numbers, all of them different.
pub(super) fn tells_apart<'s>(fields: impl Iterator<Item = &'s [u8]>) -> bool {
    let mut seen = HashSet::new();
    fields.map(whole).all(|number| number.is_some_and(|number| seen.insert(number))) && seen.len() > 1
}

/// Whether the fields are whole numbers that count up by one, from row to row.
pub(super) fn counts<'s>(fields: impl Iterator<Item = &'s [u8]>) -> bool {
    let numbers: Option<Vec<u64>> = fields.map(whole).collect();
    numbers.is_some_and(|numbers| {
        numbers.len() > 2 && numbers.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]))
    })
}
