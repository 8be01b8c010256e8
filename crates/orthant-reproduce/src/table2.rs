//! Table 2: the text sets as they are, beside what the paper printed.

use anyhow::Result;
use orthant::report::page::{Table, escape, table};

use crate::lab::Lab;
use crate::plan::Plan;
use crate::published;
use crate::shown::{Shown, csv, markdown};

/// Nothing has to be computed.
pub fn plan(_lab: &Lab, _plan: &mut Plan) -> Result<()> {
    Ok(())
}

/// The table.
pub fn show(lab: &Lab) -> Result<Shown> {
    let (mut rows, mut equal) = (vec![], 0);
    for paper in published::table2() {
        let printed = [paper.documents, paper.terms, paper.classes, paper.nonzeros];
        let Some((_, set)) = lab.sets.texts().find(|(name, _)| *name == paper.set) else {
            let mut row = vec![paper.set.to_string()];
            row.extend(printed.iter().flat_map(|p| [p.to_string(), "–".to_string()]));
            row.push("not here".into());
            rows.push(row);
            continue;
        };
        let ours = [set.matrix.points(), set.matrix.features(), set.k, set.matrix.nonzeros()];
        let mut row = vec![paper.set.to_string()];
        row.extend(printed.iter().zip(ours).flat_map(|(p, o)| [p.to_string(), o.to_string()]));
        row.push(if printed == ours { "equal" } else { "not equal" }.into());
        equal += usize::from(printed == ours);
        rows.push(row);
    }
    // Disagreements first.
    rows.sort_by_key(|row| row.last().is_some_and(|word| word == "equal"));
    let columns = [
        "set",
        "#documents, paper",
        "#ours",
        "#terms, paper",
        "#ours",
        "#classes, paper",
        "#ours",
        "#nonzeros, paper",
        "#ours",
        "",
    ];
    let mut html = format!("<p>{equal} of {} sets are equal in everything.</p>", rows.len());
    html += &table(&Table { columns: &columns, rows: &rows, best: &[] });
    if rows.iter().any(|row| row[0] == "k1b" && row.last().is_some_and(|word| word == "not equal")) {
        html += "<p class=\"note\">k1b: the printed number of nonzeros is that of a copy without the 20 terms that \
                 occur in every document (20 × 2340 = 46800 entries); the printed accuracy of ONP-MF comes from the \
                 set with them.</p>";
    }
    for (name, why) in lab.sets.missing_texts() {
        html += &format!("<p class=\"note\">{}: {}.</p>", escape(name), escape(why));
    }
    let head = "set,documents_paper,documents,terms_paper,terms,classes_paper,classes,nonzeros_paper,nonzeros,agreement";
    Ok(Shown {
        heading: "Table 2: the text sets".into(),
        html,
        files: vec![("table2.csv".into(), csv(head, rows.clone()))],
        markdown: markdown(&columns, &rows),
        ..Shown::default()
    })
}
