//! Small files of every format with known content, and round trips through every writer.
#![cfg(feature = "read")]

use std::path::Path;

use orthant::matrix::{Csr, Dense};
use orthant::read::{
    FORMATS, Loaded, Options, Precision, from_bytes, lines, numbers, read, write, write_list,
};
use orthant::{ImageShape, Matrix, Scan};

fn load(name: &str, content: impl AsRef<[u8]>) -> Loaded {
    load_with(name, content, &Options::default())
}

fn load_with(name: &str, content: impl AsRef<[u8]>, options: &Options) -> Loaded {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    read(&path, options).unwrap_or_else(|error| panic!("{error}"))
}

fn rows(matrix: &Matrix) -> Vec<Vec<f64>> {
    (0..matrix.points()).map(|j| matrix.point(j)).collect()
}

fn is_sparse(matrix: &Matrix) -> bool {
    matches!(matrix, Matrix::SparseF32(_) | Matrix::SparseF64(_))
}

fn kept(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
}

/// The matrix in tests/files/make.py.
fn sparse_example() -> Vec<Vec<f64>> {
    vec![vec![0.0, 2.5, 0.0, 0.0], vec![1.0, 0.0, 0.0, 3.0], vec![0.0, 0.0, 0.0, 0.5]]
}

#[test]
fn matrix_market_coordinates_come_in_any_order_with_comments_and_blank_lines() {
    let text = "%%MatrixMarket matrix coordinate real general\n% a comment\n\n 3 4 5 \n3 4 .5\n\n1 2 2.5\r\n2 4 3\n2 1 1e0\n1 1 0\n";
    let loaded = load("x.mtx", text);
    assert_eq!(loaded.format, "matrix-market");
    assert_eq!(rows(&loaded.matrix), sparse_example());
    let Matrix::SparseF64(x) = &loaded.matrix else { panic!("sparse float64 is expected") };
    assert_eq!(x.nonzeros(), 4, "the explicit zero is dropped");
}

#[test]
fn matrix_market_symmetry_and_patterns_are_expanded() {
    let head = "%%MatrixMarket MATRIX Coordinate";
    let symmetric = load("x", format!("{head} integer symmetric\n2 2 2\n1 1 5\n2 1 7"));
    assert_eq!(rows(&symmetric.matrix), [[5.0, 7.0], [7.0, 0.0]]);
    let skew = load("x", format!("{head} real skew-symmetric\n2 2 1\n2 1 7"));
    assert_eq!(rows(&skew.matrix), [[0.0, -7.0], [7.0, 0.0]]);
    let pattern = load("x", format!("{head} pattern symmetric\n2 2 2\n2 1\n2 2\n"));
    assert_eq!(rows(&pattern.matrix), [[0.0, 1.0], [1.0, 1.0]]);
}

#[test]
fn matrix_market_arrays_run_down_the_columns() {
    let general = load("x", "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n");
    assert_eq!(rows(&general.matrix), [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]);
    assert!(!is_sparse(&general.matrix));
    let symmetric = load("x", "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n");
    assert_eq!(rows(&symmetric.matrix), [[1.0, 2.0], [2.0, 3.0]]);
    let skew = load("x", "%%MatrixMarket matrix array real skew-symmetric\n2 2\n2\n");
    assert_eq!(rows(&skew.matrix), [[0.0, -2.0], [2.0, 0.0]]);
}

#[test]
fn text_longer_than_one_piece_is_put_together_in_order() {
    // Several pieces of half a megabyte, plain and compressed; rows backwards.
    let n = 100_000;
    let mut text = format!("%%MatrixMarket matrix coordinate real general\n{n} 50 {n}\n");
    for j in (0..n).rev() {
        text += &format!("{} {} {}.25\n", j + 1, j % 50 + 1, j);
    }
    let check = |matrix: &Matrix| {
        let Matrix::SparseF64(x) = matrix else { panic!("sparse float64 is expected") };
        assert_eq!((x.points(), x.nonzeros()), (n, n));
        for j in 0..n {
            assert_eq!(x.point(j), (&[(j % 50) as i32][..], &[j as f64 + 0.25][..]));
        }
    };
    check(&load("x.mtx", &text).matrix);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, text.as_bytes()).unwrap();
    check(&load("x.mtx.gz", gzip.finish().unwrap()).matrix);
    check(&load("x.mtx.zst", zstd::encode_all(text.as_bytes(), 1).unwrap()).matrix);

    let broken = text.replacen("\n50000 50 ", "\n50000 51 ", 1);
    let error = from_bytes(broken.as_bytes(), &Options::default()).unwrap_err().to_string();
    assert_eq!(error, "memory, line 50003: column 51 is not among the promised 1 to 50");
}

#[test]
fn the_result_does_not_depend_on_the_threads() {
    let mut text = String::from("%%MatrixMarket matrix coordinate real general\n997 1000 200000\n");
    for i in 0..200_000u64 {
        // A permutation of the places, far from sorted.
        let place = i * 7919 % 997_000;
        text += &format!("{} {} {}\n", place % 997 + 1, place / 997 + 1, i + 1);
    }
    let read = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| from_bytes(text.as_bytes(), &Options::default()).unwrap())
    };
    let one = read(1);
    assert_eq!(one, read(2));
    assert_eq!(one, read(5));
}

#[test]
fn svmlight_counts_from_one_unless_there_is_a_zero() {
    let loaded = load("x.txt", "# comment\n+1 2:2.5 # note\n-1 qid:3 4:3 1:1\n\n+1 4:.5\n");
    assert_eq!(loaded.format, "svmlight");
    assert_eq!(rows(&loaded.matrix), sparse_example());
    assert_eq!(loaded.truth.unwrap(), ["+1", "-1", "+1"]);
    let from_zero = load("x.txt", "a 1:2.5\nb 0:1 3:3\na 3:.5\n");
    assert_eq!(rows(&from_zero.matrix), sparse_example());
    let empty_row = load("x.txt", "1,2 1:5\n3\n");
    assert_eq!(rows(&empty_row.matrix), [[5.0], [0.0]]);
    assert_eq!(empty_row.truth.unwrap(), ["1,2", "3"]);
}

#[test]
fn cluto_brings_its_classes_and_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("docs.mat");
    std::fs::write(&path, "3 4 4\n2 2.5\n4 3 1 1\n4 .5\n").unwrap();
    std::fs::write(folder.path().join("docs.mat.rclass"), "sport\nart\nsport\n").unwrap();
    std::fs::write(folder.path().join("docs.clabel"), "a\nb\nc\nd\n").unwrap();
    let loaded = read(&path, &Options::default()).unwrap();
    assert_eq!(loaded.format, "cluto");
    assert_eq!(rows(&loaded.matrix), sparse_example());
    assert_eq!(loaded.truth.unwrap(), ["sport", "art", "sport"]);
    assert_eq!(loaded.vocabulary.unwrap(), ["a", "b", "c", "d"]);

    std::fs::write(folder.path().join("docs.mat.rclass"), "sport\n").unwrap();
    let error = read(&path, &Options::default()).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "docs.mat.rclass: has a different number of lines (1) than the data beside it have rows (3)"
        ),
        "{error}"
    );
}

#[test]
fn cluto_empty_lines_are_empty_rows_and_dense_files_have_no_pairs() {
    let loaded = load("x.mat", "4 2 2\n\n1 5\n\n2 6\n\n");
    assert_eq!(rows(&loaded.matrix), [[0.0, 0.0], [5.0, 0.0], [0.0, 0.0], [0.0, 6.0]]);
    let dense = load("x.mat", "2 2\n1 2\n3 4\n");
    assert_eq!(rows(&dense.matrix), [[1.0, 2.0], [3.0, 4.0]]);
    assert_eq!(load("unnamed", "2 3\n1 2 3\n4 5 6\n").format, "cluto");
    assert_eq!(load("unnamed", "3 9 3\n1 2 4 1\n\n9 3\n").format, "cluto");
    assert_eq!(load("unnamed", "1 2 3\n4 5 6\n").format, "csv", "a table of three columns");
}

#[test]
fn bags_of_words_find_their_vocabulary() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("docword.small.txt");
    std::fs::write(&path, "2\n3\n3\n1 1 4\n2 3 1\n1 2 1\n").unwrap();
    std::fs::write(folder.path().join("vocab.small.txt"), "ant\nbee\ncat\n").unwrap();
    let loaded = read(&path, &Options::default()).unwrap();
    assert_eq!(loaded.format, "bag-of-words");
    assert_eq!(rows(&loaded.matrix), [[4.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    assert_eq!(loaded.vocabulary.unwrap(), ["ant", "bee", "cat"]);
}

#[test]
fn tables_of_every_dialect_are_understood() {
    let expected = [[1.0, 2.5], [3.0, 4.0]];
    let dialects = [
        "1,2.5\n3,4\n",
        "1;2.5\n3;4",
        "1;2,5\n3;4,0\n",
        "1\t2.5\r\n3\t4\r\n",
        "  1   2.5 \n3 4\n",
        "\"1\",\"2.5\"\n3,4\n",
        "# comment\n1, 2.5\n\n3, 4\n",
        "\u{feff}1,2.5\n3,4\n",
    ];
    for text in dialects {
        let loaded = load("x.csv", text);
        assert_eq!(rows(&loaded.matrix), expected, "{text:?}");
        assert_eq!((loaded.vocabulary, loaded.names), (None, None), "{text:?}");
    }
}

#[test]
fn tables_may_name_their_columns_and_rows() {
    let named = [
        ("one,two\n1,2.5\n3,4\n", false),
        ("id,one,two\nfirst,1,2.5\nsecond,3,4\n", true),
        (",one,two\nfirst,1,2.5\nsecond,3,4\n", true),
        ("one two\nfirst 1 2.5\nsecond 3 4\n", true),
        ("\"\"\t\"one\"\t\"two\"\n\"first\"\t1\t2.5\n\"second\"\t3\t4\n", true),
    ];
    for (text, names) in named {
        let loaded = load("x.csv", text);
        assert_eq!(rows(&loaded.matrix), [[1.0, 2.5], [3.0, 4.0]], "{text:?}");
        assert_eq!(loaded.vocabulary.unwrap(), ["one", "two"], "{text:?}");
        let expected = names.then(|| vec!["first".to_owned(), "second".to_owned()]);
        assert_eq!(loaded.names, expected, "{text:?}");
    }
    let rows_only = load("x.csv", "first,1,2\nsecond,3,4\n");
    assert_eq!(rows_only.names.unwrap(), ["first", "second"]);
    assert_eq!(rows_only.vocabulary, None);
    let index = load("x.csv", ",a,b\n0,1,2\n1,3,4\n");
    assert_eq!(index.names.unwrap(), ["0", "1"], "pandas writes its index so");
    let years = Options { header: Some(true), ..Options::default() };
    assert_eq!(load_with("x.csv", "1990,1991\n1,2\n", &years).vocabulary.unwrap(), ["1990", "1991"]);
}

#[test]
fn absent_and_special_values_pass_through() {
    let loaded = load("x.csv", "1,,NA\n-2,nan,inf\n");
    let point = loaded.matrix.point(0);
    assert!(point[1].is_nan() && point[2].is_nan());
    let point = loaded.matrix.point(1);
    assert!(point[0] == -2.0 && point[1].is_nan() && point[2] == f64::INFINITY);
    let sparse =
        load("x.mtx", "%%MatrixMarket matrix coordinate real general\n1 3 3\n1 1 NaN\n1 2 -Inf\n1 3 -1\n");
    assert!(sparse.matrix.point(0)[0].is_nan() && sparse.matrix.point(0)[1] == f64::NEG_INFINITY);
}

#[test]
fn matlab_files_may_hold_other_things_beside_the_matrix() {
    for name in ["mixture.mat", "mixture_compressed.mat"] {
        let loaded = read(&kept(name), &Options::default()).unwrap();
        assert_eq!(loaded.format, "matlab");
        assert_eq!(rows(&loaded.matrix), sparse_example(), "{name}");
        let options = Options { variable: Some("bands".into()), ..Options::default() };
        assert_eq!(rows(&read(&kept(name), &options).unwrap().matrix), [[0.0, 1.0, 2.0, 3.0]]);
    }
    let second = Options { variable: Some("B".into()), ..Options::default() };
    let loaded = read(&kept("two.mat"), &second).unwrap();
    assert!(matches!(loaded.matrix, Matrix::DenseF32(_)), "single stays float32");
}

#[test]
fn matlab_cubes_are_images_column_after_column() {
    let loaded = read(&kept("cube.mat"), &Options::default()).unwrap();
    assert_eq!(loaded.image, Some(ImageShape { height: 2, width: 3, scan: Scan::Columns }));
    // cube[row][column][band] = 12 row + 4 column + band
    let expected: Vec<Vec<f64>> = (0..6)
        .map(|pixel| (0..4).map(|band| (12 * (pixel % 2) + 4 * (pixel / 2) + band) as f64).collect())
        .collect();
    assert_eq!(rows(&loaded.matrix), expected);
}

#[test]
fn scipy_and_numpy_archives_are_read() {
    for name in ["csc.npz", "coo.npz"] {
        let loaded = read(&kept(name), &Options::default()).unwrap();
        assert!(is_sparse(&loaded.matrix));
        assert_eq!(rows(&loaded.matrix), sparse_example(), "{name}");
    }
    let dense = read(&kept("dense.npz"), &Options::default()).unwrap();
    assert_eq!(rows(&dense.matrix), [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]);
}

fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

#[test]
fn numpy_arrays_keep_float32_and_widen_everything_else() {
    let shape = "'fortran_order': False, 'shape': (1, 2), }";
    let kinds: [(&str, &[u8]); 8] = [
        ("|u1", &[1, 255]),
        ("|b1", &[1, 0]),
        ("|i1", &[1, 255]),
        (">i2", &[0, 1, 255, 255]),
        ("<u4", &[1, 0, 0, 0, 2, 0, 0, 0]),
        ("<f2", &[0, 0x3c, 0, 0xc0]),
        (">f8", &[0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0xbf, 0xf0, 0, 0, 0, 0, 0, 0]),
        (">f4", &[0x3f, 0x80, 0, 0, 0xbf, 0x80, 0, 0]),
    ];
    let expected = [255.0, 0.0, -1.0, -1.0, 2.0, -2.0, -1.0, -1.0];
    for ((kind, data), second) in kinds.iter().zip(expected) {
        let loaded = load("x", npy(&format!("{{'descr': '{kind}', {shape}"), data));
        assert_eq!(rows(&loaded.matrix), [[1.0, second]], "{kind}");
        assert_eq!(matches!(loaded.matrix, Matrix::DenseF32(_)), kind.ends_with("f4"), "{kind}");
    }
    let columns = npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", &[1, 2, 3, 4, 5, 6]);
    assert_eq!(rows(&load("x", columns).matrix), [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]);
}

fn envi_header(interleave: &str, data_type: u32, more: &str) -> String {
    format!(
        "ENVI\ndescription = {{ a small\n scene }}\nsamples = 3\nlines = 2\nbands = 2\ndata type = {data_type}\n\
         interleave = {interleave}\nbyte order = 0\n; a comment\nwavelength = {{ 400.5,\n 700 }}\n\
         band names = {{blue, red}}\n{more}\n"
    )
}

#[test]
fn envi_images_of_every_interleave_give_pixels_in_rows() {
    // pixel p has the bands 10 p and 10 p + 1
    let expected: Vec<Vec<f64>> = (0..6).map(|p| vec![10.0 * p as f64, 10.0 * p as f64 + 1.0]).collect();
    let orders: [(&str, [u8; 12]); 3] = [
        ("bip", [0, 1, 10, 11, 20, 21, 30, 31, 40, 41, 50, 51]),
        ("BIL", [0, 10, 20, 1, 11, 21, 30, 40, 50, 31, 41, 51]),
        ("bsq", [0, 10, 20, 30, 40, 50, 1, 11, 21, 31, 41, 51]),
    ];
    for (interleave, data) in orders {
        let folder = tempfile::tempdir().unwrap();
        let (header, raw) = (folder.path().join("scene.hdr"), folder.path().join("scene.img"));
        std::fs::write(&header, envi_header(interleave, 1, "")).unwrap();
        std::fs::write(&raw, data).unwrap();
        for path in [header, raw] {
            let loaded = read(&path, &Options::default()).unwrap();
            assert_eq!(rows(&loaded.matrix), expected, "{interleave}");
            assert_eq!(loaded.image, Some(ImageShape { height: 2, width: 3, scan: Scan::Rows }));
            assert_eq!(loaded.wavelengths.as_deref(), Some(&[400.5, 700.0][..]));
            assert_eq!(loaded.vocabulary.as_ref().unwrap(), &["blue", "red"]);
        }
    }
}

#[test]
fn envi_pixels_to_be_ignored_become_zero_points() {
    let mut bytes = envi_header("bip", 2, "data ignore value = -9999\nheader offset = 2").into_bytes();
    bytes.extend([0, 77, 77]);
    for value in [1i16, 2, -9999, -9999, 5, -9999, 7, 8, 9, 10, 11, 12] {
        bytes.extend(value.to_le_bytes());
    }
    let loaded = from_bytes(&bytes, &Options::default()).unwrap();
    assert_eq!(rows(&loaded.matrix)[..3], [[1.0, 2.0], [0.0, 0.0], [5.0, 0.0]]);
    assert_eq!(
        loaded.notes,
        [
            "pixels that hold only the data ignore value -9999, and so are zero points: 1; other places where it stands for 0: 1"
        ]
    );
}

fn png(width: u32, height: u32, colour: png::ColorType, data: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(colour);
    encoder.write_header().unwrap().write_image_data(data).unwrap();
    bytes
}

#[test]
fn a_folder_of_pictures_is_a_matrix_with_a_picture_a_row() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: Vec<u8>| std::fs::write(folder.path().join(name), bytes).unwrap();
    put("b.png", png(2, 1, png::ColorType::Grayscale, &[7, 9]));
    put("a.PNG", png(2, 1, png::ColorType::Rgb, &[255, 0, 0, 10, 10, 10]));
    put("notes.txt", b"not a picture".to_vec());
    let loaded = read(folder.path(), &Options::default()).unwrap();
    assert_eq!(rows(&loaded.matrix), [[0.2126 * 255.0, 10.0], [7.0, 9.0]]);
    assert_eq!(loaded.names.unwrap(), ["a.PNG", "b.png"]);
    assert_eq!(loaded.feature_image, Some(ImageShape { height: 1, width: 2, scan: Scan::Rows }));
    assert_eq!(loaded.notes.len(), 1);

    put("c.png", png(1, 1, png::ColorType::Grayscale, &[7]));
    let error = read(folder.path(), &Options::default()).unwrap_err().to_string();
    assert!(
        error.ends_with("c.png: the picture is 1 x 1 pixels, a.PNG is 1 x 2: make all one size"),
        "{error}"
    );
}

#[test]
fn jpeg_pictures_decode() {
    let loaded = from_bytes(&std::fs::read(kept("gradient.jpg")).unwrap(), &Options::default()).unwrap();
    let point = loaded.matrix.point(0);
    assert_eq!(point.len(), 64);
    for row in 0..8 {
        for column in 0..8 {
            let expected = ((row + column) * 16) as f64;
            assert!(
                (point[8 * row + column] - expected).abs() <= 8.0,
                "{row} {column} {}",
                point[8 * row + column]
            );
        }
    }
}

#[test]
fn what_is_written_reads_back_the_same() {
    let values = [0.0, 0.1, -1.5, 3.0, 1e300, 5e-324, 123456789.25, 1.0 / 3.0, f64::MAX, 0.0, 2e-5, 1e15];
    let dense = Dense::new(3, 4, values.to_vec()).unwrap();
    let single = Dense::new(3, 4, values.map(|x| (x as f32).clamp(-1e30, 1e30)).to_vec()).unwrap();
    let sparse = Csr::new(5, vec![0, 2, 2, 4], vec![0, 4, 1, 2], vec![0.1, 7.0, 1e-7, 2.0]).unwrap();
    let sparse_single =
        Csr::new(5, vec![0, 2, 2, 4], vec![0, 4, 1, 2], vec![0.1f32, 7.0, 1e-7, 2.0]).unwrap();
    let matrices = [
        Matrix::DenseF64(dense),
        Matrix::DenseF32(single),
        Matrix::SparseF64(sparse),
        Matrix::SparseF32(sparse_single),
    ];
    let folder = tempfile::tempdir().unwrap();
    for matrix in matrices {
        let single = matches!(matrix, Matrix::DenseF32(_) | Matrix::SparseF32(_));
        for format in FORMATS.iter().filter(|format| format.is_writable()) {
            for ending in format.endings {
                for packing in ["", ".gz", ".zst"].iter().take(if format.binary { 1 } else { 3 }) {
                    let path = folder.path().join(format!("matrix{ending}{packing}"));
                    write(&path, &Loaded::from(matrix.clone())).unwrap();
                    let precision = Some(if single { Precision::F32 } else { Precision::F64 });
                    let back = read(&path, &Options { precision, ..Options::default() }).unwrap();
                    let mut expected = rows(&matrix);
                    if back.matrix.features() < matrix.features() {
                        // svmlight does not say how many features there are.
                        assert_eq!(back.format, "svmlight");
                        expected.iter_mut().for_each(|row| row.truncate(back.matrix.features()));
                    }
                    assert_eq!(rows(&back.matrix), expected, "{}", path.display());
                    assert_eq!(matches!(back.matrix, Matrix::DenseF32(_) | Matrix::SparseF32(_)), single);
                }
            }
        }
    }
    assert!(
        std::fs::read_dir(folder.path())
            .unwrap()
            .all(|entry| { !entry.unwrap().file_name().to_string_lossy().ends_with(".part") })
    );
}

#[test]
fn labels_and_names_travel_with_the_formats_that_carry_them() {
    let folder = tempfile::tempdir().unwrap();
    let matrix = Csr::new(2, vec![0, 1, 2], vec![0, 1], vec![1.0, 2.0]).unwrap();
    let list = |words: [&str; 2]| Some(words.map(str::to_owned).to_vec());
    let loaded = Loaded {
        truth: list(["sport", "art"]),
        vocabulary: list(["a \"quoted\" word", "b,c"]),
        names: list(["1", "doc 2"]),
        ..Loaded::from(Matrix::SparseF64(matrix))
    };
    let back = |name: &str| {
        let path = folder.path().join(name);
        write(&path, &loaded).unwrap();
        read(&path, &Options::default()).unwrap()
    };
    let cluto = back("x.mat");
    assert_eq!(
        (&cluto.truth, &cluto.vocabulary, &cluto.names),
        (&loaded.truth, &loaded.vocabulary, &loaded.names)
    );
    let csv = back("x.csv");
    assert_eq!((&csv.vocabulary, &csv.names), (&loaded.vocabulary, &loaded.names));
    assert_eq!(back("x.svm").truth, list(["0", "1"]));
}

#[test]
fn a_failed_write_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.txt");
    std::fs::write(&path, "before").unwrap();
    let result = orthant::read::write_whole(&path, |out| {
        out.write_all(b"half")?;
        Err(std::io::Error::other("the disk is full"))
    });
    assert!(result.is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "before");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn lists_are_one_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list");
    std::fs::write(&path, " sport \r\nart, modern\n3\n\n").unwrap();
    assert_eq!(lines(&path).unwrap(), ["sport", "art, modern", "3"]);
    std::fs::write(&path, "1\n2.5\n").unwrap();
    assert_eq!(numbers(&path).unwrap(), [1.0, 2.5]);
    std::fs::write(&path, npy("{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", &[1, 2, 3]))
        .unwrap();
    assert_eq!(numbers(&path).unwrap(), [1.0, 2.0, 3.0]);
    let list = [0.1, -1.5, 1e300, 5e-324];
    let mut bytes = vec![];
    write_list(&list, &mut bytes).unwrap();
    assert_eq!(bytes.len() % 64, 32, "numbers begin at a multiple of 64 bytes");
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(numbers(&path).unwrap(), list);
}
