//! Cells and genes: AnnData (.h5ad), what Cell Ranger writes (.h5) and loom. Points are cells.

use super::super::compressed::{Compressed, from_columns, from_rows};
use super::super::tenx::note_of_kinds;
use super::super::triples::{Bands, Triples, assemble};
use super::super::values::Number;
use super::super::{Loaded, Precision};
use super::NAME;
use super::arrays::matrix_of;
use super::container::{Container, Members};
use crate::called::Called;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::orientation::Orientation;

/// Columns of genes that are nicer to read than identifiers.
const SYMBOLS: [&str; 5] = ["feature_name", "gene_symbols", "gene_symbol", "gene_short_name", "symbol"];

/// What the file holds, if it is one of the three.
pub(super) fn read(container: &Container) -> Result<Option<Loaded>> {
    let members = container.members("");
    let loaded = if members.has_group("var") || members.has_group("obs") {
        Some(anndata(container)?)
    } else if members.has_array("matrix") && members.has_group("row_attrs") {
        Some(loom(container)?)
    } else {
        tenx(container, &members)?
    };
    let columns = &container.options.columns;
    if loaded.is_some() && (columns.text.is_some() || !columns.drop.is_empty()) {
        let name = if columns.text.is_some() { "text" } else { "drop" };
        return Err(Error::parameter(name, "a file of cells has no such columns"));
    }
    Ok(loaded)
}

fn about_cells(matrix: Matrix, kind: &str) -> Loaded {
    let note = format!("read as {kind}: points are cells, features are genes");
    Loaded { called: Some(Called::CELLS), notes: vec![note], ..Loaded::new(matrix, NAME) }
}

/// AnnData: X (or a layer) with `obs` and `var`, tables of cells and genes.
fn anndata(container: &Container) -> Result<Loaded> {
    let members = container.members("");
    let path = match container.options.variable.as_deref() {
        None if members.has_group("X") || members.has_array("X") => "X".to_string(),
        None => return Err(container.fault("there is no X: name a layer with --variable layers/NAME")),
        Some("raw") if members.has_group("raw") => "raw/X".to_string(),
        Some(name) => {
            let layers = container.members("layers");
            let short = layers.has_group(name) || layers.has_array(name);
            if short { format!("layers/{name}") } else { name.to_string() }
        }
    };
    let (parent, own) = path.rsplit_once('/').unwrap_or(("", &path));
    let beside = container.members(parent);
    let matrix = if beside.has_group(own) {
        sparse(container, &path)?
    } else if beside.has_array(own) {
        matrix_of(container, &path)?.matrix
    } else {
        let known: Vec<String> = ["X".to_string()].into_iter().chain(others(container)).collect();
        return Err(container.fault(format!("no {path:?}: there are {}", known.join(", "))));
    };
    // Raw counts have genes of their own.
    let genes = if parent == "raw" { "raw/var" } else { "var" };
    let mut loaded = about_cells(matrix, "AnnData");
    let others = others(container);
    if path != "X" {
        loaded.notes.push(format!("{path} is read instead of X"));
    } else if !others.is_empty() && has_negative(&loaded.matrix) {
        // As scanpy's scale leaves them.
        let problem = "X has negative entries, as genes that were scaled to one variance do";
        loaded
            .notes
            .push(format!("{problem}: what was before is read by --variable {}", others.join(" or ")));
    }
    loaded.names = match &container.options.columns.id {
        Some(name) => Some(column(container, "obs", name, "id")?),
        None => index(container, "obs")?,
    };
    let ids = index(container, genes)?;
    let symbols = match ids.as_deref() {
        Some([first, ..]) if first.starts_with("ENS") => {
            SYMBOLS.iter().find(|name| has_column(container, genes, name))
        }
        _ => None,
    };
    loaded.vocabulary = match symbols {
        Some(name) => {
            loaded.notes.push(format!("genes are called by {genes}/{name}"));
            Some(column(container, genes, name, "variable")?)
        }
        None => ids,
    };
    if let Some(name) = &container.options.columns.truth {
        loaded.truth = Some(column(container, "obs", name, "truth-column")?);
    }
    counted(container, loaded)
}

/// The matrices of a file of AnnData beside X.
fn others(container: &Container) -> Vec<String> {
    let layers = container.members("layers");
    let raw = container.members("raw");
    let of_raw = (raw.has_group("X") || raw.has_array("X")).then(|| "raw/X".to_string());
    let of_layers = layers.groups.into_iter().chain(layers.arrays).map(|name| format!("layers/{name}"));
    of_layers.chain(of_raw).collect()
}

fn has_negative(matrix: &Matrix) -> bool {
    match matrix {
        Matrix::DenseF32(x) => x.data().iter().any(|&x| x < 0.0),
        Matrix::DenseF64(x) => x.data().iter().any(|&x| x < 0.0),
        // Genes that were scaled have no zeros.
        Matrix::SparseF32(_) | Matrix::SparseF64(_) => false,
    }
}

fn has_column(container: &Container, table: &str, name: &str) -> bool {
    let members = container.members(table);
    members.has_group(name) || members.has_array(name)
}

/// The names of the rows of a table of AnnData.
fn index(container: &Container, table: &str) -> Result<Option<Vec<String>>> {
    let named = container.word(table, "_index").into_iter();
    let usual = ["_index", "index"].into_iter().map(str::to_owned);
    let found = named.chain(usual).find(|name| has_column(container, table, name));
    found.map(|name| column(container, table, &name, "id")).transpose()
}

/// A column of a table of AnnData: a list, categories with codes, or values with a mask.
fn column(container: &Container, table: &str, name: &str, parameter: &str) -> Result<Vec<String>> {
    let members = container.members(table);
    let path = format!("{table}/{name}");
    if members.has_array(name) {
        return container.words(&path);
    }
    let inner = container.members(&path);
    if inner.has_array("codes") {
        let categories = container.words(&format!("{path}/categories"))?;
        // A cell without a category has the code −1.
        let word = |code: i64| usize::try_from(code).ok().and_then(|code| categories.get(code));
        let codes = container.integers(&format!("{path}/codes"))?;
        return Ok(codes.into_iter().map(|code| word(code).cloned().unwrap_or("none".into())).collect());
    }
    if inner.has_array("values") {
        return container.words(&format!("{path}/values"));
    }
    let known: Vec<String> = members.groups.into_iter().chain(members.arrays).collect();
    Err(Error::parameter(
        parameter,
        format!("no column of {table} is called {name:?}: there are {}", known.join(", ")),
    ))
}

/// Compressed rows or columns as AnnData stores them.
fn sparse(container: &Container, path: &str) -> Result<Matrix> {
    let kind = ["encoding-type", "h5sparse_format"].iter().find_map(|name| container.word(path, name));
    let shape = ["shape", "h5sparse_shape"].iter().find_map(|name| container.sizes(path, name));
    let by_rows = match kind.as_deref() {
        Some("csr_matrix" | "csr") => true,
        Some("csc_matrix" | "csc") => false,
        other => {
            let kind = other.unwrap_or("an unknown kind");
            return Err(container.fault(format!("{path} is of {kind}: a matrix is wanted")));
        }
    };
    let Some(&[rows, columns]) = shape.as_deref() else {
        return Err(container.fault(format!("{path} does not say its shape")));
    };
    compressed(container, path, (rows, columns), by_rows)
}

/// The arrays data, indices and indptr of a group.
fn compressed(container: &Container, group: &str, shape: (i64, i64), by_rows: bool) -> Result<Matrix> {
    let path = format!("{group}/data");
    let layout = container.layout(&path, &container.array(&path)?)?;
    match container.precision(layout) {
        Precision::F32 => lines::<f32>(container, group, shape, by_rows),
        Precision::F64 => lines::<f64>(container, group, shape, by_rows),
    }
}

fn lines<T: Number>(
    container: &Container,
    group: &str,
    (rows, columns): (i64, i64),
    by_rows: bool,
) -> Result<Matrix> {
    let (Ok(rows), Ok(columns)) = (u64::try_from(rows), u64::try_from(columns)) else {
        return Err(container.fault(format!("{group} has a shape of {rows} x {columns}")));
    };
    let offsets = container.integers(&format!("{group}/indptr"))?;
    let promised = if by_rows { rows } else { columns };
    if (offsets.len() as u64).checked_sub(1) != Some(promised) {
        let problem =
            format!("{group}/indptr has {} numbers, the shape promises {promised} + 1", offsets.len());
        return Err(container.fault(problem));
    }
    let path = format!("{group}/data");
    let given = Compressed {
        offsets,
        indices: container.integers(&format!("{group}/indices"))?,
        values: container.numbers::<T>(&path, &container.array(&path)?)?,
    };
    let matrix = if by_rows { from_rows(given, columns) } else { from_columns(given, rows) };
    matrix.map_err(|problem| container.fault(format!("{group}: {problem}")))
}

/// Cell Ranger: one group with genes × cells in compressed columns; before version 3 one for each genome.
fn tenx(container: &Container, members: &Members) -> Result<Option<Loaded>> {
    let is_matrix = |name: &&String| {
        let inner = container.members(name);
        inner.has_array("barcodes") && inner.has_array("indptr")
    };
    let found: Vec<&String> = members.groups.iter().filter(is_matrix).collect();
    let group = match (&found[..], &container.options.variable) {
        ([], _) => return Ok(None),
        (found, Some(name)) if found.contains(&name) => name,
        ([one], None) => *one,
        (several, _) => {
            let names: Vec<&str> = several.iter().map(|name| name.as_str()).collect();
            return Err(container.fault(format!("say which genome with --variable: {}", names.join(", "))));
        }
    };
    let shape = container.integers(&format!("{group}/shape"))?;
    let &[genes, cells] = &shape[..] else {
        return Err(container.fault(format!("{group}/shape has {} numbers, not 2", shape.len())));
    };
    // Compressed columns of genes × cells are compressed rows of cells × genes.
    let mut loaded =
        about_cells(compressed(container, group, (cells, genes), true)?, "a file of 10x Genomics");
    let inner = container.members(group);
    let names = if inner.has_group("features") { "features/name" } else { "gene_names" };
    loaded.vocabulary = Some(container.words(&format!("{group}/{names}"))?);
    loaded.names = Some(container.words(&format!("{group}/barcodes"))?);
    if container.members(&format!("{group}/features")).has_array("feature_type") {
        let kinds = container.words(&format!("{group}/features/feature_type"))?;
        loaded.notes.extend(note_of_kinds(&kinds));
    }
    without_columns(container, "a file of 10x Genomics")?;
    counted(container, loaded).map(Some)
}

fn without_columns(container: &Container, what: &str) -> Result<()> {
    match container.options.columns.first_given() {
        Some(name) => Err(Error::parameter(name, format!("{what} has no such columns"))),
        None => Ok(()),
    }
}

/// loom: a dense array of genes × cells, nearly all of it zeros, with lists for both.
fn loom(container: &Container) -> Result<Loaded> {
    let layer = container.options.variable.as_ref().map(|name| {
        let short = container.members("layers").has_array(name);
        if short { format!("layers/{name}") } else { name.clone() }
    });
    let path = layer.unwrap_or("matrix".into());
    let loaded = matrix_of(container, &path)?.with_points(Orientation::Columns);
    let mut loaded = about_cells(sparsified(loaded.matrix), "loom");
    let list = |table: &str, names: &[&str]| {
        let found = names.iter().find(|name| container.members(table).has_array(name));
        found.map(|name| container.words(&format!("{table}/{name}"))).transpose()
    };
    loaded.vocabulary =
        list("row_attrs", &["Gene", "gene", "GeneName", "var_names", "gene_names", "Accession"])?;
    let columns = &container.options.columns;
    loaded.names = match &columns.id {
        Some(name) => Some(column(container, "col_attrs", name, "id")?),
        None => list("col_attrs", &["CellID", "cell_id", "obs_names", "cell_names"])?,
    };
    if let Some(name) = &columns.truth {
        loaded.truth = Some(column(container, "col_attrs", name, "truth-column")?);
    }
    counted(container, loaded)
}

/// A dense matrix as a sparse one, where that is smaller.
fn sparsified(matrix: Matrix) -> Matrix {
    let (points, features) = (matrix.points(), matrix.features());
    let precision = match matrix {
        Matrix::DenseF32(_) => Precision::F32,
        Matrix::DenseF64(_) => Precision::F64,
        sparse => return sparse,
    };
    if matrix.nonzeros() > points * features / 3 {
        return matrix;
    }
    let mut entries = Triples::with_capacity(matrix.nonzeros());
    for j in 0..points {
        let point = matrix.point(j);
        let stored = point.iter().enumerate().filter(|x| *x.1 != 0.0);
        stored.for_each(|(f, &value)| entries.push(j as u32, f as u32, value));
    }
    let entries = entries.into_bands(Bands::new(points));
    assemble(points, features, &[entries], precision).expect("every place was given once")
}

/// Lists must be as long as what they name.
fn counted(container: &Container, loaded: Loaded) -> Result<Loaded> {
    let (points, features) = (loaded.matrix.points(), loaded.matrix.features());
    let lists = [
        (&loaded.names, points, "names of cells"),
        (&loaded.truth, points, "classes of cells"),
        (&loaded.vocabulary, features, "names of genes"),
    ];
    for (list, count, what) in lists {
        match list {
            Some(list) if list.len() != count => {
                return Err(container.fault(format!("{} {what}, {count} are needed", list.len())));
            }
            _ => {}
        }
    }
    Ok(loaded)
}
