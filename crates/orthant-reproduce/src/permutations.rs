//! Methods without a random start whose answer hangs on rounding: the same data in other orders.
//!
//! The order of points and features means nothing, but it changes the last digits of sums. Where singular values are
//! equal, or a start is near a tie, those digits decide what is found: such a method is shown with its spread.

use anyhow::Result;
use orthant::contender::Contender;
use orthant::report::page::{Table, table as in_html};

use crate::lab::Lab;
use crate::noise::title;
use crate::plan::{Plan, Request};
use crate::protocol::PLAIN;
use crate::shown::{csv, markdown};

/// Methods that begin with an SVD.
pub const PERMUTED: &[&str] = &["chnmf:nndsvd", "o-pnmf:nndsvd", "onp-mf:svd"];

/// The accuracies of a method on all orders of a data set.
pub struct Spread {
    pub method: &'static str,
    pub accuracies: Vec<f64>,
    orders: usize,
}

impl Spread {
    /// In how many orders everything is found.
    pub fn complete(&self) -> usize {
        self.accuracies.iter().filter(|a| **a == 1.0).count()
    }

    /// Whether all orders have been run.
    pub fn whole(&self) -> bool {
        self.accuracies.len() == self.orders
    }
}

fn file(name: &str) -> String {
    format!("permutations/{}", name.replace(' ', "-"))
}

/// Plans methods on all orders of a data set.
pub fn plan(lab: &Lab, plan: &mut Plan, name: &str, methods: &[&str]) -> Result<()> {
    for set in lab.sets.permuted(name) {
        plan.add(
            lab.protocol,
            Request { file: file(name), set, methods, variant: PLAIN, runs: 1, pictured: false },
        )?;
    }
    Ok(())
}

/// What methods found.
pub fn spread(lab: &Lab, name: &str, methods: &[&'static str]) -> Result<Vec<Spread>> {
    let mut all = vec![];
    for &method in methods {
        let contender = Contender::parse(method)?.remove(0);
        let (mut accuracies, mut orders) = (vec![], 0);
        for set in lab.sets.permuted(name) {
            orders += 1;
            let key = lab.protocol.key(&contender, set, &set.fingerprint()?);
            accuracies.extend(lab.runs(&file(name), &key, 1).iter().map(|run| run.accuracy));
        }
        all.push(Spread { method, accuracies, orders });
    }
    Ok(all)
}

/// A row each: for the page, as Markdown, as values.
pub struct Tables {
    pub html: String,
    pub markdown: String,
    pub values: Vec<u8>,
}

/// The tables.
pub fn tables(spreads: &[Spread]) -> Tables {
    let row = |s: &Spread| {
        let mut sorted = s.accuracies.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |i: usize| sorted.get(i).map_or("–".into(), |a| format!("{:.1}", 100.0 * a));
        let last = sorted.len().saturating_sub(1);
        vec![
            title(s.method),
            s.accuracies.len().to_string(),
            at(0),
            at(last / 2),
            at(last),
            s.complete().to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = spreads.iter().map(row).collect();
    let columns = ["method", "#orders", "#lowest accuracy", "#median", "#highest", "#all found in"];
    let html = in_html(&Table { columns: &columns, rows: &rows, best: &[] });
    let note = "<p class=\"note\">Accuracy in percent over orders of the same data, the first as they are. Nothing but \
                rounding differs.</p>";
    Tables {
        html: format!("{note}{html}"),
        markdown: format!(
            "The same data in other orders of points and features, accuracy in percent:\n\n{}",
            markdown(&columns, &rows)
        ),
        values: csv("method,orders,lowest,median,highest,complete", rows),
    }
}
