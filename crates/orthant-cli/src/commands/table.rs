//! Tables on the screen. One that is too wide has its titles broken at blanks; if that does not help, its columns stand in several
//! blocks one below the other, each of which begins with the first column. By hand: crates for tables break cells instead, so that
//! figures of a row no longer stand beside each other.

use unicode_width::UnicodeWidthStr;

use crate::terminal::{self, cut};

/// Between two columns.
const GAP: usize = 2;

/// A table with a title for each column; all columns but the first are numbers.
pub struct Table {
    titles: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Without rows yet.
    pub fn new<T: Into<String>>(titles: impl IntoIterator<Item = T>) -> Table {
        Table { titles: titles.into_iter().map(Into::into).collect(), rows: vec![] }
    }

    /// One more row, with as many cells as there are titles.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// As it is printed, no wider than the terminal.
    pub fn fitted(&self) -> String {
        self.within(terminal::columns())
    }

    fn within(&self, room: usize) -> String {
        let widest = |at: usize| self.rows.iter().map(|row| row[at].width()).max().unwrap_or(0);
        let whole: Vec<usize> =
            (0..self.titles.len()).map(|at| widest(at).max(self.titles[at].width())).collect();
        if sum(&whole) <= room {
            return self.block(&(0..whole.len()).collect::<Vec<_>>(), &whole);
        }
        // No name may leave the figures beside it without room.
        let most = |at: usize| if at == 0 { room / 2 } else { room - room / 2 - GAP };
        let longest_word = |at: usize| self.titles[at].split(' ').map(str::width).max().unwrap_or(0);
        let narrow: Vec<usize> =
            (0..self.titles.len()).map(|at| widest(at).max(longest_word(at)).min(most(at))).collect();
        let mut blocks: Vec<Vec<usize>> = vec![];
        for at in 1..narrow.len() {
            match blocks.last_mut() {
                Some(block)
                    if block.iter().chain([&at]).map(|&c| narrow[c] + GAP).sum::<usize>() - GAP <= room =>
                {
                    block.push(at);
                }
                _ => blocks.push(vec![0, at]),
            }
        }
        let printed: Vec<String> = blocks.iter().map(|block| self.block(block, &narrow)).collect();
        printed.join("\n\n")
    }

    /// Some of the columns, with a rule above, below and under the titles.
    fn block(&self, columns: &[usize], widths: &[usize]) -> String {
        let own: Vec<usize> = columns.iter().map(|&at| widths[at]).collect();
        let rule = "─".repeat(sum(&own));
        let titles: Vec<Vec<String>> =
            columns.iter().map(|&at| broken(&self.titles[at], widths[at])).collect();
        let height = titles.iter().map(Vec::len).max().unwrap_or(1);
        let line = |cells: Vec<&str>| {
            let cells = cells.iter().zip(&own).enumerate().map(|(at, (cell, &width))| {
                let cell = cut(cell, width);
                let blanks = " ".repeat(width.saturating_sub(cell.width()));
                if at == 0 { format!("{cell}{blanks}") } else { format!("{blanks}{cell}") }
            });
            cells.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end().to_string()
        };
        let mut lines = vec![rule.clone()];
        // Titles of several lines end where the figures begin.
        for at in 0..height {
            let part = |title: &Vec<String>| (at + title.len()).checked_sub(height);
            lines.push(line(titles.iter().map(|t| part(t).map_or("", |at| t[at].as_str())).collect()));
        }
        lines.push(rule.clone());
        lines.extend(self.rows.iter().map(|row| line(columns.iter().map(|&at| row[at].as_str()).collect())));
        lines.push(rule);
        lines.join("\n")
    }
}

fn sum(widths: &[usize]) -> usize {
    widths.iter().map(|width| width + GAP).sum::<usize>().saturating_sub(GAP)
}

/// A title in lines of a width, broken at blanks.
fn broken(title: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in title.split(' ') {
        let last = lines.last_mut().expect("there is a line");
        if last.is_empty() {
            *last = word.to_string();
        } else if last.width() + 1 + word.width() <= width {
            *last = format!("{last} {word}");
        } else {
            lines.push(word.to_string());
        }
    }
    lines
}

/// A figure; the best of its column gets a star, the others a blank to keep the digits aligned.
pub fn figure(text: String, best: bool) -> String {
    format!("{text}{}", if best { "*" } else { " " })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::new(["method", "accuracy %", "gain over k - 1", "error"]);
        table.row(["a", "91.2", "3.1", "0.12"]);
        table.row(["a longer name", "1.0", "0.2", "0.123"]);
        table
    }

    #[test]
    fn a_table_is_as_wide_as_it_needs_to_be() {
        let lines = [
            "method         accuracy %  gain over k - 1  error",
            "a                    91.2              3.1   0.12",
            "a longer name         1.0              0.2  0.123",
        ];
        let printed = sample().within(80);
        let found: Vec<&str> = printed.lines().filter(|line| !line.starts_with('─')).collect();
        assert_eq!(found, lines);
        assert_eq!(printed.lines().next().unwrap().width(), lines[0].len());
    }

    #[test]
    fn no_line_is_too_wide_and_no_figure_is_lost() {
        let mut table = sample();
        table.row(["名".repeat(60).as_str(), "2", "5", &"9".repeat(70)]);
        for room in [24, 30, 40, 60, 80, 100] {
            let printed = table.within(room);
            assert!(printed.lines().all(|line| line.width() <= room), "{room}:\n{printed}");
            for figure in ["91.2", "3.1", "0.12", "1.0", "0.2", "0.123"] {
                assert!(
                    printed.split_whitespace().any(|word| word == figure),
                    "{room}, {figure}:\n{printed}"
                );
            }
        }
    }

    #[test]
    fn titles_are_broken_before_columns_are_parted() {
        let printed = sample().within(44);
        assert_eq!(printed.matches("a longer name").count(), 1, "{printed}");
        // Three rules, a title in four lines, two rows.
        assert_eq!(printed.lines().count(), 3 + 4 + 2, "{printed}");
        assert_eq!(sample().within(30).matches("a longer name").count(), 2);
    }
}
