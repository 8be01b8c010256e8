//! Cubes of pixels and bands, texts and cells: what scenes, corpora and sequencers leave on a disk.
#![cfg(feature = "read")]

use std::path::Path;

#[cfg(feature = "hdf5")]
use orthant::called::Called;
use orthant::image::{ImageShape, Scan};
#[cfg(feature = "hdf5")]
use orthant::matrix::Matrix;
use orthant::read::{Columns, Loaded, Options, from_bytes, read};
use orthant::texts::{Settings, StopWords};

fn npy(fortran: &str, shape: &str, data: &[f64]) -> Vec<u8> {
    let header = format!("{{'descr': '<f8', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data.iter().flat_map(|x| x.to_le_bytes()));
    bytes
}

/// Height 2, width 3, 4 bands: the entry of a pixel's band tells which it is.
fn entry(row: usize, column: usize, band: usize) -> f64 {
    (100 * row + 10 * column + band) as f64
}

#[test]
fn an_array_of_three_dimensions_is_an_image_in_either_order() {
    let (height, width, bands) = (2, 3, 4);
    let c: Vec<f64> = (0..24).map(|i| entry(i / 12, i / 4 % 3, i % 4)).collect();
    let fortran: Vec<f64> = (0..24).map(|i| entry(i % 2, i / 2 % 3, i / 6)).collect();
    for (order, data, scan) in [("False", c, Scan::Rows), ("True", fortran, Scan::Columns)] {
        let loaded = from_bytes(&npy(order, "(2, 3, 4)", &data), &Options::default()).unwrap();
        let image = ImageShape { height, width, scan };
        assert_eq!(loaded.image, Some(image));
        for row in 0..height {
            for column in 0..width {
                let point = loaded.matrix.point(image.pixel(row, column));
                let expected: Vec<f64> = (0..bands).map(|band| entry(row, column, band)).collect();
                assert_eq!(point, expected, "{order}");
            }
        }
    }
}

#[test]
fn pictures_one_after_the_other_are_points() {
    let data: Vec<f64> = (0..45).map(f64::from).collect();
    let loaded = from_bytes(&npy("False", "(5, 3, 3)", &data), &Options::default()).unwrap();
    assert_eq!((loaded.matrix.points(), loaded.matrix.features()), (5, 9));
    assert_eq!(loaded.feature_image, Some(ImageShape { height: 3, width: 3, scan: Scan::Rows }));
    assert_eq!(loaded.matrix.point(1)[..3], [9.0, 10.0, 11.0]);
    let turned: Vec<f64> = (0..45).map(|i| f64::from(i % 5 * 9 + i / 5 % 3 * 3 + i / 15)).collect();
    let fortran = from_bytes(&npy("True", "(5, 3, 3)", &turned), &Options::default()).unwrap();
    let image = fortran.feature_image.unwrap();
    for (row, column) in [(0, 1), (2, 0), (1, 2)] {
        assert_eq!(fortran.matrix.point(3)[image.pixel(row, column)], (27 + 3 * row + column) as f64);
    }
}

#[test]
fn bad_bands_of_an_envi_image_are_left_out_and_wavelengths_are_nanometres() {
    let header = |more: &str| {
        format!(
            "ENVI\nsamples = 2\nlines = 1\nbands = 3\ndata type = 1\ninterleave = bsq\n{more}\n\0\x01\x02\x03\x04\x05\x06"
        )
    };
    let load = |more: &str| from_bytes(header(more).as_bytes(), &Options::default());
    let loaded = load("bbl = {1, 0, 1}\nwavelength = {0.4, 0.5, 0.6}\nwavelength units = Micrometers\nband names = {x, y, z}").unwrap();
    assert_eq!((loaded.matrix.point(0), loaded.matrix.point(1)), (vec![1.0, 5.0], vec![2.0, 6.0]));
    assert_eq!(loaded.wavelengths.unwrap(), [400.0, 600.0]);
    assert_eq!(loaded.vocabulary.unwrap(), ["x", "z"]);
    assert!(loaded.notes[0].contains("1 bands"), "{:?}", loaded.notes);
    let kept = load("wavelength = {400, 500, 600}\nwavelength units = Nanometers").unwrap();
    assert_eq!((kept.matrix.features(), kept.wavelengths.unwrap()[1]), (3, 500.0));
    assert!(
        load("bbl = {0, 0, 0}")
            .unwrap_err()
            .to_string()
            .contains("line 7: the header marks all bands as bad")
    );
}

#[test]
fn tiff_images_have_their_bands_however_they_are_stored() {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    for name in ["contig.tif", "planar.tif", "pages.tif"] {
        let loaded = read(&files.join(name), &Options::default()).unwrap();
        assert_eq!(loaded.image, Some(ImageShape { height: 3, width: 4, scan: Scan::Rows }), "{name}");
        for p in (0..12).filter(|&p| p != 6) {
            let expected: Vec<f64> = (0..5).map(|band| (5 * p + band) as f64).collect();
            assert_eq!(loaded.matrix.point(p), expected, "{name}, pixel {p}");
        }
        // Where no data are marked, they are zero; elsewhere they are what they are.
        let empty = if name == "contig.tif" { 0.0 } else { -1.0 };
        assert_eq!(loaded.matrix.point(6), [empty; 5], "{name}");
    }
    let single = read(&files.join("planar.tif"), &Options::default()).unwrap();
    assert!(matches!(single.matrix, orthant::Matrix::DenseF32(_)));
}

#[test]
fn a_folder_of_10x_has_cells_as_points_and_names_of_genes() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    file("matrix.mtx", "%%MatrixMarket matrix coordinate integer general\n%\n3 2 3\n1 1 4\n3 1 1\n2 2 7\n");
    file("barcodes.tsv", "AAAC-1\nAAAG-1\n");
    let told = read(folder.path(), &Options::default()).unwrap_err().to_string();
    assert!(told.ends_with("features.tsv (or .gz) is missing in the folder"), "{told}");
    file(
        "features.tsv",
        "ENSG1\tTP53\tGene Expression\nENSG2\tCD4\tGene Expression\nENSG3\tCD8A\tGene Expression\n",
    );
    let loaded = read(folder.path(), &Options::default()).unwrap();
    assert_eq!(loaded.format, "10x");
    assert_eq!(loaded.vocabulary.unwrap(), ["TP53", "CD4", "CD8A"]);
    assert_eq!(loaded.names.unwrap(), ["AAAC-1", "AAAG-1"]);
    assert_eq!((loaded.matrix.point(0), loaded.matrix.point(1)), (vec![4.0, 0.0, 1.0], vec![0.0, 7.0, 0.0]));
    file("barcodes.tsv", "AAAC-1\n");
    let told = read(folder.path(), &Options::default()).unwrap_err().to_string();
    assert!(told.contains("has 1 lines for 2 columns"), "{told}");
}

const TEXTS: [(&str, &str); 4] = [
    ("space", "The rocket is in orbit around the moon, and the orbit is low"),
    ("space", "A telescope sees the moon and a galaxy"),
    ("food", "Bread and cheese: the best dinner is bread with cheese"),
    ("food", "We had soup and bread for dinner"),
];

fn check_texts(loaded: &Loaded, how: &str) {
    let words = loaded.vocabulary.as_ref().unwrap();
    assert!(!words.contains(&"the".to_string()), "{how}");
    let count = |text: usize, word: &str| {
        loaded.matrix.point(text)
            [words.iter().position(|w| w == word).unwrap_or_else(|| panic!("{how}: {word}"))]
    };
    assert_eq!(
        (count(0, "orbit"), count(1, "moon"), count(2, "bread"), count(3, "orbit")),
        (2.0, 1.0, 2.0, 0.0),
        "{how}"
    );
}

#[test]
fn texts_are_counted_from_folders_lines_tables_and_json() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(at("corpus/1-space")).unwrap();
    std::fs::create_dir_all(at("corpus/2-food")).unwrap();
    std::fs::write(at("corpus/1-space/a.txt"), TEXTS[0].1).unwrap();
    std::fs::write(at("corpus/1-space/b.html"), format!("<p>{}</p><style>orbit</style>", TEXTS[1].1))
        .unwrap();
    std::fs::write(at("corpus/2-food/c.md"), format!("# {}", TEXTS[2].1)).unwrap();
    std::fs::write(at("corpus/2-food/d.txt"), TEXTS[3].1).unwrap();
    let loaded = read(&at("corpus"), &Options::default()).unwrap();
    check_texts(&loaded, "folder");
    assert_eq!(loaded.truth.as_ref().unwrap()[2], "2-food");
    assert_eq!(loaded.names.as_ref().unwrap()[1], "1-space/b.html");

    let lines: String = TEXTS.iter().map(|(_, text)| format!("{text}\n\n")).collect();
    std::fs::write(at("lines.txt"), &lines).unwrap();
    check_texts(&read(&at("lines.txt"), &Options::default()).unwrap(), "lines");

    let rows: String = TEXTS
        .iter()
        .zip(1..)
        .map(|((class, text), i)| format!("{i},\"{}\",{class}\n", text.replace(", ", ",\n")))
        .collect();
    std::fs::write(at("table.csv"), format!("nr,body,topic\n{rows}")).unwrap();
    let some = |word: &str| Some(word.to_string());
    let columns = Columns { text: some("body"), truth: some("topic"), id: some("nr"), ..Columns::default() };
    let options = Options { columns: columns.clone(), ..Options::default() };
    let loaded = read(&at("table.csv"), &options).unwrap();
    check_texts(&loaded, "table");
    assert_eq!((loaded.truth.unwrap()[3].as_str(), loaded.names.unwrap()[3].as_str()), ("food", "4"));

    let json: String = TEXTS
        .iter()
        .map(|(class, text)| format!("{{\"topic\": \"{class}\", \"body\": \"{text}\", \"nr\": 7}}\n"))
        .collect();
    std::fs::write(at("texts.jsonl"), &json).unwrap();
    check_texts(&read(&at("texts.jsonl"), &Options::default()).unwrap(), "json");
    let loaded = read(&at("texts.jsonl"), &options).unwrap();
    assert_eq!((loaded.truth.unwrap()[0].as_str(), loaded.names.unwrap()[0].as_str()), ("space", "7"));

    let list = format!("[{}]", json.trim_end().replace('\n', ",\n"));
    std::fs::write(at("texts.json"), list).unwrap();
    check_texts(&read(&at("texts.json"), &Options::default()).unwrap(), "list of objects");
    // The only column of sentences needs no name.
    check_texts(&read(&at("table.csv"), &Options::default()).unwrap(), "table, column not named");

    // What was learned from one file counts another.
    let known = loaded.texts.clone();
    let again = read(&at("lines.txt"), &Options { vocabulary: known.clone(), ..Options::default() }).unwrap();
    assert_eq!((again.matrix, again.texts), (loaded.matrix, known));
    let all = Settings { stop_words: StopWords::None, ..Settings::default() };
    let loaded = read(&at("lines.txt"), &Options { texts: all, ..Options::default() }).unwrap();
    assert!(loaded.vocabulary.unwrap().contains(&"the".to_string()));
}

#[test]
fn tables_of_numbers_are_not_taken_for_texts() {
    for table in ["1 2 3\n4 5 6\n", "alpha 1 2\nbeta 3 4\n", "a b c d e\n1 2 3 4 5\n6 7 8 9 10\n"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.txt");
        std::fs::write(&path, table).unwrap();
        assert_eq!(read(&path, &Options::default()).unwrap().format, "csv", "{table}");
    }
}

/// What pandas and polars write.
#[test]
#[cfg(feature = "parquet")]
fn tables_of_parquet_are_read_like_tables_in_text() {
    let kept = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name);
    let with = |columns: Columns| Options { columns, ..Options::default() };
    let some = |word: &str| Some(word.to_string());
    let all = read(&kept("table.parquet"), &Options::default()).unwrap();
    assert!(matches!(all.matrix, Matrix::DenseF64(_)));
    assert_eq!(all.vocabulary.as_deref(), Some(&["a", "n", "is"].map(String::from)[..]));
    // The index of pandas names the rows; the only column of words are the classes.
    assert_eq!(
        (all.names.unwrap(), all.truth.unwrap()),
        (["one", "two", "three"].map(String::from).to_vec(), ["x", "y", "x"].map(String::from).to_vec())
    );
    assert_eq!((all.matrix.point(0), all.matrix.point(2)), (vec![1.5, 1.0, 1.0], vec![3.0, 3.0, 1.0]));
    assert!(all.matrix.point(1)[0].is_nan());
    // From memory, with columns left out or named.
    let bytes = std::fs::read(kept("table.parquet")).unwrap();
    let columns =
        Columns { drop: vec!["a".into()], truth: some("is"), id: some("kind"), ..Columns::default() };
    let some_of = from_bytes(&bytes, &with(columns)).unwrap();
    assert_eq!((some_of.matrix.features(), some_of.matrix.point(2)), (1, vec![3.0]));
    assert_eq!((some_of.truth.unwrap()[1].as_str(), some_of.names.unwrap()[1].as_str()), ("false", "y"));
    let columns = Columns { text: some("body"), truth: some("topic"), id: some("nr"), ..Columns::default() };
    let texts = read(&kept("texts.parquet"), &with(columns)).unwrap();
    assert_eq!(
        (texts.vocabulary.unwrap(), texts.matrix.point(1)),
        (vec!["bread".to_string(), "cheese".to_string()], vec![0.0; 2])
    );
    assert_eq!((texts.truth.unwrap()[0].as_str(), texts.names.unwrap()[1].as_str()), ("food", "8"));
    let wrong = read(&kept("texts.parquet"), &with(Columns { text: some("text"), ..Columns::default() }))
        .unwrap_err();
    assert!(wrong.to_string().contains("no column is called \"text\": there are nr, body, topic"), "{wrong}");
}

/// What anndata, Cell Ranger, loompy and MATLAB write, each with the same cells.
#[test]
#[cfg(feature = "hdf5")]
fn hdf5_files_of_cells_have_names_and_classes() {
    let kept = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name);
    let cells = [[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [4.0, 0.0, 0.0], [0.0, 0.0, 5.0]];
    let variable = |name: &str| Options { variable: Some(name.into()), ..Options::default() };
    let of = |truth: &str| {
        let columns = Columns { truth: Some(truth.into()), ..Columns::default() };
        Options { columns, ..Options::default() }
    };
    for (name, options) in [
        ("cells.h5ad", Options::default()),
        ("cells.h5ad", variable("counts")),
        ("cells.h5ad", variable("layers/counts")),
        ("cells.h5ad", of("kind")),
        ("tenx.h5", Options::default()),
        ("cells.loom", Options::default()),
        ("v73.mat", variable("S")),
    ] {
        let loaded = read(&kept(name), &options).unwrap();
        for (j, cell) in cells.iter().enumerate() {
            assert_eq!(loaded.matrix.point(j), cell, "{name}");
        }
        // A dense array of loom stays so where hardly anything is zero.
        let is_sparse = matches!(loaded.matrix, Matrix::SparseF32(_) | Matrix::SparseF64(_));
        assert_eq!(is_sparse, name != "cells.loom", "{name}");
        if name != "v73.mat" {
            assert_eq!(
                loaded.names.as_deref(),
                Some(&["c1", "c2", "c3", "c4"].map(String::from)[..]),
                "{name}"
            );
            assert_eq!(
                loaded.vocabulary.as_deref(),
                Some(&["G1", "G2", "G3"].map(String::from)[..]),
                "{name}"
            );
            assert_eq!(loaded.called, Some(Called::CELLS));
        }
        if options.columns.truth.is_some() {
            assert_eq!(loaded.truth.unwrap(), ["a", "b", "a", "b"]);
        }
    }
    let refused = |name: &str, options: Options| read(&kept(name), &options).unwrap_err().to_string();
    let problem = refused("cells.h5ad", of("species"));
    assert!(
        problem.contains("no column of obs is called \"species\"") && problem.contains("kind"),
        "{problem}"
    );
    assert!(refused("cells.h5ad", variable("spliced")).contains("layers/counts"));
    assert!(refused("tenx.h5", of("kind")).contains("no such columns"));
    assert!(
        refused("v73.mat", Options::default())
            .contains("several matrices: say which with --variable, scene, S")
    );
    // A scene of MATLAB: sizes are the other way round in the file, 2 x 3 pixels with 4 bands here.
    let scene = read(&kept("v73.mat"), &variable("scene")).unwrap();
    assert_eq!(scene.image, Some(ImageShape { height: 2, width: 3, scan: Scan::Columns }));
    for p in 0..6 {
        let bands: Vec<f64> = (0..4).map(|band| f64::from(band * 6 + p)).collect();
        assert_eq!(scene.matrix.point(p as usize), bands);
    }
}
