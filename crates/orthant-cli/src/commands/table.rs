//! Tables on the screen.

use comfy_table::{Cell, CellAlignment, LineStyle, Table, TableStyle};

/// A rule above, below and under the header.
const STYLE: TableStyle = TableStyle::new()
    .top_border(LineStyle::none().fill('─').junction('─'))
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

/// A table with a header; all columns but the first are numbers.
pub fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE);
    table.set_header(header.iter().map(Cell::new));
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// A figure; the best of its column gets a star, the others a blank to keep the digits aligned.
pub fn figure(text: String, best: bool) -> Cell {
    Cell::new(format!("{text}{}", if best { "*" } else { " " }))
}
