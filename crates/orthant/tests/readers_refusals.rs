//! Bad files, and the one line that each of them gets: what, where, what to do.
#![cfg(feature = "read")]

use orthant::read::{Options, lines, numbers, read, write};
use orthant::{Error, Matrix};

fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
}

fn array(kind: &str, shape: &str, bytes: usize) -> Vec<u8> {
    npy(&format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"), &vec![0; bytes])
}

fn kept(name: &str) -> Vec<u8> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    std::fs::read(folder.join(name)).unwrap()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, text.as_bytes()).unwrap();
    gzip.finish().unwrap()
}

fn mm(rest: &str) -> Vec<u8> {
    format!("%%MatrixMarket matrix coordinate real general\n{rest}").into_bytes()
}

fn envi(rest: &str) -> Vec<u8> {
    format!("ENVI\nsamples = 2\nlines = 2\n{rest}").into_bytes()
}

fn mat(rest: &[u8]) -> Vec<u8> {
    let mut header = b"MATLAB 5.0 MAT-file, by hand".to_vec();
    header.resize(124, b' ');
    header.extend(b"\0\x01IM");
    [&header, rest].concat()
}

/// File name, content, and what follows the path in the message.
/// What is said with, and without, the feature.
fn hdf5(with: &'static str, without: &'static str) -> &'static str {
    if cfg!(feature = "hdf5") { with } else { without }
}

/// Likewise of a file x.parquet.
fn parquet(with: &'static str) -> &'static str {
    let without = ", byte 0: this program was built without Parquet: build it with cargo install --path crates/orthant-cli \
                   --features parquet, or in Python: import pandas; pandas.read_parquet('x.parquet').to_csv('x.csv', index=False)";
    if cfg!(feature = "parquet") { with } else { without }
}

fn table() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let text = |text: &str| text.as_bytes().to_vec();
    let cut = |mut bytes: Vec<u8>, length: usize| {
        bytes.truncate(length);
        bytes
    };
    vec![
        // Whatever the format.
        ("x.mtx", vec![], ": the file is empty"),
        (
            "x.bin",
            vec![1, 2, 0, 255],
            ": the format is none of those known: matrix-market, npy, npz, hdf5, parquet, matlab, tiff, blocks, 10x, pictures, envi, bag-of-words, cluto, svmlight, jsonl, lines, texts, csv, tsv",
        ),
        (
            "x.txt",
            text("Dear reader,\nthis is a letter.\n"),
            ": the text holds no table of numbers: if it holds texts, name their column with --text, or say --format lines for one a line",
        ),
        ("x.csv", vec![0xff, 0xfe, b'1', 0, b',', 0], ", byte 0: the text is UTF-16: save it as UTF-8"),
        (
            "x.csv.bz2",
            text("BZh91AY&SY"),
            ", byte 0: compressed by bzip2, which is not read here: decompress the file first",
        ),
        (
            "x.mtx.gz",
            cut(gzip("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n"), 40),
            ": the gzip stream is broken or truncated (…",
        ),
        // Matrix Market.
        (
            "x.mtx",
            text("%%MatrixMarket matrix coordinate real\n"),
            ", line 1: the banner should read \"%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric|skew-symmetric\"",
        ),
        (
            "x.mtx",
            text("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n"),
            ", line 1: complex numbers cannot be clustered: write their moduli as real numbers",
        ),
        (
            "x.mtx",
            text("%%MatrixMarket vector coordinate real general\n"),
            ", line 1: the banner announces a \"vector\", only a matrix can be read",
        ),
        (
            "x.mtx",
            text("%%MatrixMarket matrix triangle real general\n"),
            ", line 1: format \"triangle\" is neither coordinate nor array",
        ),
        (
            "x.mtx",
            text("%%MatrixMarket matrix array pattern general\n1 1\n"),
            ", line 1: an array needs values, it cannot be a pattern: write coordinates",
        ),
        (
            "x.mtx",
            text("%%MatrixMarket matrix coordinate real hermitian\n1 1 1\n1 1 1\n"),
            ", line 1: symmetry \"hermitian\" is not known here: general or symmetric are",
        ),
        (
            "x.mtx",
            text("1 1 1\n"),
            ", line 1: the banner should read \"%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric|skew-symmetric\"",
        ),
        ("x.mtx", mm("% only comments\n"), ", line 2: the file ends before its size line"),
        ("x.mtx", mm("2 2\n"), ", line 2: the size line should be \"rows columns entries\", not \"2 2\""),
        (
            "x.mtx",
            mm("2 2 -1\n"),
            ", line 2: the size line should be \"rows columns entries\", not \"2 2 -1\"",
        ),
        (
            "x.mtx",
            mm("2 2 2\n1 1 1\n"),
            ", line 3: the file ends after 1 of 2 entries: it is truncated, or its size line is wrong",
        ),
        ("x.mtx", mm("2 2 1\n1 1 1\n\n2 2 2\n"), ", line 5: more entries than the size line promises (1)"),
        ("x.mtx", mm("2 2 1\n0 1 1\n"), ", line 3: row 0 is not among the promised 1 to 2"),
        ("x.mtx", mm("2 2 1\n1 3 1\n"), ", line 3: column 3 is not among the promised 1 to 2"),
        ("x.mtx", mm("2 2 1\n1 1\n"), ", line 3: the line ends where a number is expected"),
        ("x.mtx", mm("2 2 1\n1 1 1 1\n"), ", line 3: the end of the line is expected, not \"1\""),
        ("x.mtx", mm("2 2 1\n1 1 one\n"), ", line 3: a number is expected, not \"one\""),
        ("x.mtx", mm("2 2 1\n1.5 1 1\n"), ", line 3: the number of a row is expected, not \"1.5\""),
        (
            "x.mtx",
            mm("2 2 3\n1 1 1\n2 2 1\n1 1 0\n"),
            ", line 5: row 1, column 1 is given for the second time: sum or drop one of the two",
        ),
        ("x.mtx", mm("2 2 5\n1 1 1\n"), ", line 2: 5 entries cannot lie in 2 x 2 places"),
        (
            "x.mtx",
            mm("1000000000000 2 1\n1 1 1\n"),
            ", line 2: so many rows (1000000000000) for so few entries (1) are hardly meant: check the size line",
        ),
        (
            "x.mtx",
            mm("2 3000000000 1\n1 1 1\n"),
            ", line 2: 3000000000 columns are more than the 2147483647 that fit",
        ),
        (
            "x.mtx",
            mm("9000000000 2 1000000000000\n1 1 1\n"),
            ", line 2: 1000000000000 entries cannot lie in 9000000000 x 2 places",
        ),
        (
            "x.mtx",
            text("%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n"),
            ", line 2: a symmetric matrix is square, this one is 2 x 3",
        ),
        (
            "x.mtx",
            text("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 2 1\n2 1 1\n"),
            ", line 4: row 1, column 2 is given for the second time: sum or drop one of the two",
        ),
        (
            "x.mtx",
            text("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n"),
            ", line 5: the file holds 3 of the promised 4 values: it is truncated, or its size line is wrong",
        ),
        (
            "x.mtx",
            text("%%MatrixMarket matrix array real general\n1 1\n1\n2\n"),
            ", line 4: more values (2) than the size line promises (1)",
        ),
        ("x.mtx", mm("0 5 0\n"), ": the matrix is empty: 0 rows, 5 columns"),
        // NumPy.
        ("x.npy", text("no numpy\n"), ", byte 0: this is no .npy file: its first bytes are not \\x93NUMPY"),
        (
            "x.npy",
            cut(array("<f8", "(2, 2)", 32), 20),
            ", byte 20: the file ends inside its header: it is truncated",
        ),
        (
            "x.npy",
            array("<f8", "(2, 2)", 31),
            ", byte 100: 2 x 2 numbers take 32 bytes, 31 are there: the file is truncated",
        ),
        (
            "x.npy",
            array("<f8", "(2, 2)", 33),
            ", byte 101: 2 x 2 numbers take 32 bytes, 33 are there: something follows them",
        ),
        (
            "x.npy",
            array("<f8", "(4,)", 32),
            ", byte 10: a one-dimensional array of 4 numbers: reshape it to points x features",
        ),
        (
            "x.npy",
            array("<f8", "()", 8),
            ", byte 10: a single number, where points in rows and features in columns are wanted",
        ),
        (
            "x.npy",
            array("<f8", "(1, 2, 2, 1)", 32),
            ", byte 10: an array of 4 dimensions: reshape it to points x features",
        ),
        (
            "x.npy",
            array("<c16", "(1, 2)", 32),
            ", byte 10: an array of complex numbers (<c16): save its moduli, np.abs(x)",
        ),
        (
            "x.npy",
            array("<U4", "(1, 2)", 32),
            ", byte 10: an array of strings (<U4): save numbers, .astype('float64')",
        ),
        (
            "x.npy",
            array("|O", "(1, 2)", 32),
            ", byte 10: an array of Python objects (|O): save it with .astype('float64')",
        ),
        (
            "x.npy",
            array("<M8[ns]", "(1, 2)", 16),
            ", byte 10: an array of an unknown type (<M8[ns]): save it with .astype('float64')",
        ),
        (
            "x.npy",
            npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1, 1), }", &[0; 8]),
            ", byte 10: an array of records ([...]): save the numeric fields as a plain array",
        ),
        (
            "x.npy",
            npy("{'shape': (1, 1)}", &[0; 8]),
            ", byte 10: the header is no dictionary of descr, fortran_order and shape",
        ),
        ("x.npy", array("<f8", "(0, 5)", 0), ": the matrix is empty: 0 rows, 5 columns"),
        ("x.npz", cut(kept("csc.npz"), 900), ": the zip archive is broken or truncated: …"),
        // MATLAB.
        (
            "x.mat",
            cut(kept("mixture.mat"), 100),
            ", byte 100: the file ends inside its header: it is truncated",
        ),
        (
            "x.mat",
            cut(kept("mixture.mat"), 1100),
            ", byte 1040: an element of 136 bytes is promised, 52 are left: the file is truncated",
        ),
        (
            "x.mat",
            cut(kept("mixture_compressed.mat"), 600),
            ", byte 552: an element of 69 bytes is promised, 40 are left: the file is truncated",
        ),
        (
            "x.mat",
            kept("two.mat"),
            ": several matrices: say which variable is meant, A (2 x 2 double), B (3 x 3 single)",
        ),
        ("x.mat", mat(&[]), ": the file holds no variable"),
        (
            "x.mat",
            [&b"MATLAB 7.3 MAT-file, "[..], &[b' '; 512]].concat(),
            hdf5(
                ": the HDF5 file is broken or truncated: invalid HDF5 magic bytes",
                ", byte 0: this program was built without HDF5 (feature \"hdf5\"): save it in MATLAB with save(file, '-v7'), …",
            ),
        ),
        (
            "x.mat",
            [&[0; 4][..], &[2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0], b"x\0", &[0; 32]].concat(),
            ", byte 0: a MATLAB 4 file, which is not read here: save it in MATLAB with save(file, '-v7')",
        ),
        // CLUTO.
        (
            "x.mat",
            text("two three\n"),
            ", line 1: the first line should be \"rows columns entries\" or \"rows columns\", not \"two three\"",
        ),
        (
            "x.mat",
            text("2 3 2\n1 1\n"),
            ", line 2: the file ends after 1 of 2 rows: it is truncated, or its first line is wrong",
        ),
        ("x.mat", text("1 3 1\n1 1\n2 2\n"), ", line 3: more rows than the first line promises (1)"),
        ("x.mat", text("2 3 3\n1 1\n2 2\n"), ", line 1: promised entries: 3, found: 2"),
        ("x.mat", text("2 3 2\n1 1\n4 2\n"), ", line 3: column 4 is not among the promised 1 to 3"),
        (
            "x.mat",
            text("2 3 2\n1 1\n2\n"),
            ", line 3: the line ends where the value of the column is expected",
        ),
        (
            "x.mat",
            text("2 3 3\n1 1\n2 2 2 2\n"),
            ", line 3: column 2 occurs twice in the row: sum or drop one of the two",
        ),
        (
            "x.mat",
            text("2 3\n1 2 3\n4 5\n"),
            ", line 3: the row has a different number of values (2) than the first line promises (3)",
        ),
        ("x.mat", text("1 2\n1 2\n3 4\n"), ", line 3: more rows than the first line promises (1)"),
        // svmlight.
        ("x.svm", text("1 1:2\n2 3\n"), ", line 2: an index:value pair is expected, not \"3\""),
        ("x.svm", text("1 1:2\n2 1:x\n"), ", line 2: an index:value pair is expected, not \"1:x\""),
        (
            "x.svm",
            text("1 1:2\n2 5:1 5:2\n"),
            ", line 2: index 5 occurs twice in the line: sum or drop one of the two",
        ),
        ("x.svm", text("1 1:2\n2 -5:1\n"), ", line 2: an index:value pair is expected, not \"-5:1\""),
        ("x.svm", text("1 99999999999:2\n"), ", line 1: index 99999999999 is above the 2147483646 that fit"),
        // Bag of words.
        ("docword.x.txt", text("1\n2\n2\n1 1 1\n"), ", line 4: entries promised in line 3: 2, found: 1"),
        ("docword.x.txt", text("1\n2\n1\n2 1 1\n"), ", line 4: document 2 is not among the promised 1 to 1"),
        (
            "docword.x.txt",
            text("1\n2\n2\n1 1 1\n1 1 2\n"),
            ", line 5: word 1 of document 1 is given for the second time: sum or drop one of the two",
        ),
        (
            "docword.x.txt",
            text("1\n2\n900\n1 1 1\n1 1 2\n"),
            ", line 3: promises 900 entries, more than the file can hold: it is truncated",
        ),
        // Tables.
        (
            "x.csv",
            text("1,2\n3,4\n5\n"),
            ", line 3: the line has a different number of fields (1) than most others (2)",
        ),
        (
            "x.csv",
            text("1,2\n3,4\n5,6,7\n"),
            ", line 3: the line has a different number of fields (3) than most others (2)",
        ),
        // The line that differs is named, wherever it is.
        (
            "x.csv",
            text("1,2,3\n4,5\n6,7,8\n9,10,11\n"),
            ", line 2: the line has a different number of fields (2) than most others (3)",
        ),
        (
            "x.csv",
            text("1,2,3\n4,5\n"),
            ", line 2: the line has a different number of fields (2) than most others (3)",
        ),
        (
            "x.csv",
            text("1,2\n3,4,5\n6,7,8\n"),
            ", line 1: the line has a different number of fields (2) than most others (3)",
        ),
        (
            "x.csv",
            text("a,b,c\n1,2\n3,4,5\n"),
            ", line 2: the line has a different number of fields (2) than most others (3)",
        ),
        ("x.csv", text("1,2\n3,x4\n"), ", line 2: field 2 is no number: \"x4\""),
        (
            "x.csv",
            text("a,b\n"),
            ": the text holds no table of numbers: if it holds texts, name their column with --text, or say --format lines for one a line",
        ),
        (
            "x.csv",
            text("a,b,c\n1,2\n3,4\n"),
            ", line 1: the header has a different number of fields (3) than the rows (2)",
        ),
        (
            "x.csv",
            text("# nothing\n\n"),
            ": the text holds no table of numbers: if it holds texts, name their column with --text, or say --format lines for one a line",
        ),
        // ENVI.
        (
            "x.hdr",
            envi("bands = 1\ndata type = 1\n"),
            ": no data file lies beside the header: the same name without .hdr, or with .img, .dat, .raw",
        ),
        (
            "x.hdr",
            envi("bands = 1\ndata type = 1\n\0abc"),
            ", byte 3: 2 x 2 x 1 (lines x samples x bands) take 4 bytes, the file has 3: is the header right?",
        ),
        (
            "x.hdr",
            envi("bands = 1\ndata type = 1\n\0abcde"),
            ", byte 4: 2 x 2 x 1 (lines x samples x bands) take 4 bytes, the file has 5: is the header right?",
        ),
        (
            "x.hdr",
            envi("bands = many\ndata type = 1\n\0abcd"),
            ", line 4: bands should be a whole number, not \"many\"",
        ),
        ("x.hdr", envi("data type = 1\n\0abcd"), ", line 1: the header does not say \"bands\""),
        ("x.hdr", envi("bands = 0\ndata type = 1\n\0abcd"), ", line 4: bands is 0"),
        (
            "x.hdr",
            envi("bands = 1\ndata type = 6\n\0abcd"),
            ", line 5: complex numbers cannot be clustered: save their moduli",
        ),
        ("x.hdr", envi("bands = 1\ndata type = 77\n\0abcd"), ", line 5: data type 77 is not known"),
        (
            "x.hdr",
            envi("bands = 1\ndata type = 1\ninterleave = bob\n\0abcd"),
            ", line 6: interleave is bsq, bil or bip, not \"bob\"",
        ),
        (
            "x.hdr",
            envi("bands = 1\ndata type = 1\nwavelength = {1\n\0abcd"),
            ", line 6: the brace of \"wavelength\" is never closed",
        ),
        ("x.hdr", text("samples = 2\n"), ", line 1: this is no ENVI header: its first line is not ENVI"),
        // Sizes that only the header knows.
        (
            "x.mtx",
            mm("3 400000000 3\n1 1 1\n2 2 1\n3 3 1\n"),
            ": so many columns (400000000) for so few entries (3) are hardly meant",
        ),
        (
            "x.svm",
            text("1 2000000000:1\n"),
            ": so many columns (2000000000) for so few entries (1) are hardly meant",
        ),
        // HDF5; where it is not built in, each with what converts it.
        (
            "x.h5ad",
            cut(kept("cells.h5ad"), 60),
            hdf5(
                ": the HDF5 file is broken or truncated: …",
                ", byte 0: this program was built without HDF5 (feature \"hdf5\"): in Python: import anndata, scipy.sparse; \
                 a = anndata.read_h5ad('x.h5ad'); …",
            ),
        ),
        (
            "x.h5",
            cut(kept("tenx.h5"), 3000),
            hdf5(
                ": …",
                ", byte 0: this program was built without HDF5 (feature \"hdf5\"): a 10x file in Python: …",
            ),
        ),
        ("x.parquet", text("PAR1"), parquet(": the Parquet file cannot be read: …")),
        ("x.parquet", cut(kept("table.parquet"), 900), parquet(": the Parquet file cannot be read: …")),
        (
            "x.parquet",
            kept("texts.parquet"),
            parquet(
                ": columns \"body\", \"topic\" hold words: say what they are with --truth-column, --id or --text, or leave \
                 them out with --drop \"body\"",
            ),
        ),
        ("x.parquet", text("1,2\n"), ", byte 0: this is no Parquet file, whatever its name says"),
        ("x.h5", text("1,2\n"), ", byte 0: this is no HDF5 file, whatever its name says"),
        // TIFF.
        ("x.tif", cut(kept("contig.tif"), 40), ": the TIFF file …"),
        ("x.tif", cut(kept("planar.tif"), 700), ": the TIFF file …"),
        ("x.tif", text("II"), ": the TIFF file …"),
        // Texts.
        (
            "x.jsonl",
            text("{\"a\": 1}\n{\"a\": 2}\n"),
            ": say which column holds the texts with --text: \"a\"",
        ),
        (
            "x.jsonl",
            text("{\"a\": \"five words are in here\"}\n[1]\n"),
            ", line 2: a JSON object is expected in every line",
        ),
        (
            "x.md",
            text("# A title\n"),
            ": is one text: name the folder that holds them all, or --format lines for a text a line",
        ),
        (
            "x.csv",
            text("a,b\nsome words,other words\n"),
            ": the text holds no table of numbers: if it holds texts, name their column with --text, or say --format lines for one a line",
        ),
        // Pictures.
        ("x.png", cut(kept("gradient.jpg"), 100), ": the JPEG picture is broken: …"),
        (
            "x.jpg",
            kept("gradient.jpg"),
            ": is one picture: name the folder that holds them all, each is a point",
        ),
    ]
}

#[test]
fn every_bad_file_gets_its_line() {
    let mut wrong = String::new();
    for (name, content, expected) in table() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, &content).unwrap();
        let found = match read(&path, &Options::default()) {
            Ok(loaded) => format!("was read as {}", loaded.format),
            Err(error) => {
                assert!(error.is_bad_input());
                error
                    .to_string()
                    .replace(&path.display().to_string(), "")
                    .replace(&folder.path().display().to_string(), "")
            }
        };
        // What a library says of a broken stream is its own affair.
        let right = match expected.strip_suffix('…') {
            Some(start) => found.starts_with(start),
            None => found == expected,
        };
        if !right {
            wrong += &format!(
                "{name} {:?}\n  expected {expected}\n  found    {found}\n",
                String::from_utf8_lossy(&content[..content.len().min(70)])
            );
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn what_is_no_file_is_told_by_the_system_or_as_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let absent = read(&folder.path().join("absent.mtx"), &Options::default()).unwrap_err();
    assert!(matches!(absent, Error::Io { .. }), "{absent}");
    let empty = read(folder.path(), &Options::default()).unwrap_err().to_string();
    assert!(empty.contains("is a folder, but not ") && empty.contains("pictures"), "{empty}");
    let list = lines(folder.path()).unwrap_err().to_string();
    assert!(list.ends_with("is a folder, a file is wanted"), "{list}");
    let format = Options { format: Some("excel".into()), ..Options::default() };
    let unknown = read(folder.path(), &format).unwrap_err().to_string();
    assert!(unknown.starts_with("format: \"excel\" is not one of matrix-market, "), "{unknown}");
}

#[test]
fn a_variable_that_is_not_there_or_no_matrix_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = |name: &str, variable: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, kept(name)).unwrap();
        let options = Options { variable: Some(variable.into()), ..Options::default() };
        read(&path, &options).unwrap_err().to_string().replace(&path.display().to_string(), "")
    };
    let listed =
        ": no variable is called \"x\": there are A (2 x 2 double), B (3 x 3 single), z (2 x 2 double)";
    assert_eq!(refusal("two.mat", "x"), listed);
    assert_eq!(
        refusal("two.mat", "z"),
        ": variable z (2 x 2 double): its numbers are complex, save their moduli: abs(x)"
    );
    assert_eq!(refusal("mixture.mat", "title"), ": variable title (1 x 7 char): a numeric matrix is wanted");
    assert_eq!(refusal("dense.npz", "Y"), ": no array is called \"Y\": there are X, other");
    let flat = ": array other: a one-dimensional array of 3 numbers: reshape it to points x features";
    assert_eq!(refusal("dense.npz", "other"), flat);
}

#[test]
fn lists_name_the_line_that_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list");
    let told = |result: Option<Error>| result.unwrap().to_string().replace(&path.display().to_string(), "");
    std::fs::write(&path, "a\n\nb\n").unwrap();
    assert_eq!(told(lines(&path).err()), ", line 2: the line is empty, and others follow");
    std::fs::write(&path, "1\ntwo\n").unwrap();
    assert_eq!(told(numbers(&path).err()), ", line 2: a number is expected, not \"two\"");
    std::fs::write(&path, b"a\n\xff\n").unwrap();
    assert_eq!(told(lines(&path).err()), ", line 2: the line is not UTF-8: convert the file");
    std::fs::write(&path, array("<f8", "(2, 2)", 32)).unwrap();
    assert_eq!(
        told(numbers(&path).err()),
        ", byte 10: an array of 2 x 2: a list with one number each is wanted"
    );
}

#[test]
fn a_format_that_cannot_be_written_is_told() {
    let matrix = Matrix::DenseF64(orthant::matrix::Dense::new(1, 1, vec![1.0]).unwrap());
    let told =
        |name: &str| write(std::path::Path::new(name), &matrix.clone().into()).unwrap_err().to_string();
    assert!(
        told("x.xls").starts_with("x.xls: the ending does not say which format to write: use one of .mtx ")
    );
    let packed = "x.npy.gz: npy files are not compressed from outside: leave the last ending out";
    assert_eq!(told("x.npy.gz"), packed);
}
