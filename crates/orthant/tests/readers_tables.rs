//! Tables as people have them: wide, with identifiers and classes, with gaps; and the lists that lie beside data.
#![cfg(feature = "read")]

use orthant::image::{ImageShape, Scan};
use orthant::matrix::{Dense, Matrix};
use orthant::read::{Columns, Loaded, Options, from_bytes, list, read, read_stream, write};
use orthant::recipe::{Learned, Missing, Orientation, Recipe};
use orthant::weighting::Weighting;

fn load(text: &str) -> Loaded {
    load_with(text, Columns::default())
}

fn load_with(text: &str, columns: Columns) -> Loaded {
    from_bytes(text.as_bytes(), &Options { columns, ..Options::default() }).unwrap()
}

fn refusal(text: &str, columns: Columns) -> String {
    from_bytes(text.as_bytes(), &Options { columns, ..Options::default() }).unwrap_err().to_string()
}

fn some(word: &str) -> Option<String> {
    Some(word.into())
}

fn rows(loaded: &Loaded) -> Vec<Vec<f64>> {
    (0..loaded.matrix.points()).map(|j| loaded.matrix.point(j)).collect()
}

#[test]
fn a_table_of_any_width_is_read_back_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    // A line of up to a megabyte, with and without titles and names.
    for (points, features) in [(38, 5000), (2, 40_000), (1, 30_000)] {
        let data: Vec<f64> = (0..points * features).map(|i| (i * 7919 % 1009) as f64 / 8.0).collect();
        let matrix = Matrix::DenseF64(Dense::new(points, features, data).unwrap());
        let vocabulary = Some((0..features).map(|f| format!("feature number {f}")).collect());
        let names = Some((0..points).map(|j| format!("point, {j}")).collect());
        for (vocabulary, names) in [(None, None), (vocabulary, names)] {
            for name in ["x.csv", "x.tsv", "x.csv.gz"] {
                let path = folder.path().join(name);
                let written = Loaded {
                    vocabulary: vocabulary.clone(),
                    names: names.clone(),
                    ..Loaded::from(matrix.clone())
                };
                write(&path, &written).unwrap();
                let back = read(&path, &Options::default()).unwrap();
                assert_eq!(back.matrix, matrix, "{name} {points} x {features}");
                assert_eq!((back.vocabulary, back.names), (vocabulary.clone(), names.clone()), "{name}");
            }
        }
    }
}

#[test]
fn a_column_of_identifiers_names_the_points() {
    for title in ["id", "ID", "index", "customer_id", "Unnamed: 0"] {
        let loaded = load(&format!("{title},a,b\n1007,1,2\n1002,3,4\n1003,5,6\n"));
        assert_eq!(loaded.names.as_deref().unwrap(), ["1007", "1002", "1003"], "{title}");
        assert_eq!(loaded.vocabulary.as_deref().unwrap(), ["a", "b"]);
        assert_eq!(rows(&loaded)[1], [3.0, 4.0]);
        assert!(loaded.notes[0].contains("--id none"), "{:?}", loaded.notes);
    }
    // Not where the numbers repeat, nor where it is not wanted.
    assert_eq!(load("id,a\n1,2\n1,4\n").matrix.features(), 2);
    let none = Columns { id: some("none"), ..Columns::default() };
    let kept = load_with("id,a,b\n7,1,2\n8,3,4\n", none);
    assert_eq!((kept.matrix.features(), kept.notes.len()), (3, 0));
    // Numbers that count up are told of, and kept: they might be a feature.
    let counting = load("x,a\n1,0.5\n2,0.25\n3,0.125\n4,7\n");
    assert_eq!(counting.matrix.features(), 2);
    assert!(counting.notes[0].contains("counts the rows"), "{:?}", counting.notes);
    assert!(load("x,a\n1,0.5\n4,0.25\n7,0.125\n").notes.is_empty());
}

#[test]
fn columns_are_named_by_title_or_number() {
    let text = "a,b,c,d\n1,2,3,4\n5,6,7,8\n";
    let columns = Columns { id: some("c"), truth: some("2"), drop: vec!["D".into()], ..Columns::default() };
    let loaded = load_with(text, columns);
    assert_eq!(rows(&loaded), [[1.0], [5.0]]);
    assert_eq!(
        (loaded.names.unwrap(), loaded.truth.unwrap()),
        (vec!["3".into(), "7".into()], vec!["2".to_string(), "6".into()])
    );
    let wrong = refusal(text, Columns { drop: vec!["e".into()], ..Columns::default() });
    assert_eq!(wrong, "drop: no column is called \"e\": there are a, b, c, d");
    let wrong = refusal("1,2\n3,4\n", Columns { id: some("5"), ..Columns::default() });
    assert!(wrong.contains("2 without titles"), "{wrong}");
    let wrong = refusal(
        "%%MatrixMarket matrix array real general\n1 1\n1\n",
        Columns { id: some("1"), ..Columns::default() },
    );
    assert!(wrong.starts_with("id: ") && wrong.contains("no such columns"), "{wrong}");
}

#[test]
fn one_column_of_words_is_the_classes_and_several_are_asked_about() {
    for text in
        ["a,b,species\n1,2,x\n3,4,y\n5,6,x\n", "1,2,x\n3,4,y\n5,6,x\n", "a,species,b\n1,x,2\n3,y,4\n5,x,6\n"]
    {
        let loaded = load(text);
        assert_eq!(loaded.truth.as_deref().unwrap(), ["x", "y", "x"], "{text}");
        assert_eq!(rows(&loaded), [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "{text}");
    }
    let both = load("name,a,kind\nfirst,1,x\nsecond,2,y\n");
    assert_eq!((both.names.unwrap()[1].as_str(), both.truth.unwrap()[1].as_str()), ("second", "y"));
    let asked = refusal("a,kind,place\n1,x,here\n2,y,there\n", Columns::default());
    assert!(asked.contains("\"kind\", \"place\"") && asked.contains("--truth-column"), "{asked}");
    // A word where the others have numbers is still a fault with its line.
    let fault = refusal("a,b\n1,2\n3,x\n5,6\n", Columns::default());
    assert!(fault.contains("line 3: field 2 is no number: \"x\""), "{fault}");
}

#[test]
fn a_stream_is_read_like_a_file() {
    let loaded =
        read_stream("standard input".as_ref(), &mut &b"1,2\n3,4\n"[..], &Options::default()).unwrap();
    assert_eq!(rows(&loaded), [[1.0, 2.0], [3.0, 4.0]]);
    let wrong =
        read_stream("standard input".as_ref(), &mut &b"1,2\n3\n"[..], &Options::default()).unwrap_err();
    assert!(wrong.to_string().starts_with("standard input, line 2"), "{wrong}");
}

#[test]
fn what_does_not_fit_into_memory_is_refused_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let matrix = Matrix::DenseF64(Dense::new(1000, 100, vec![1.0; 100_000]).unwrap());
    write(&path, &matrix.clone().into()).unwrap();
    let enough = Options { memory: Some(900_000), ..Options::default() };
    assert_eq!(read(&path, &enough).unwrap().matrix, matrix);
    let error = read(&path, &Options { memory: Some(700_000), ..Options::default() }).unwrap_err();
    assert!(!error.is_bad_input());
    assert!(error.to_string().contains("needs about 800.0 kB of memory"), "{error}");
}

#[test]
fn what_lies_beside_data_is_found_if_it_fits() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    for name in ["x.csv", "x.mtx"] {
        let content = if name == "x.csv" {
            "1,2\n3,4\n"
        } else {
            "%%MatrixMarket matrix array real general\n2 2\n1\n3\n2\n4\n"
        };
        file(name, content);
        file("x.labels", "one\ntwo\n");
        file("x.json", "{\"height\": 1, \"width\": 2, \"scan\": \"rows\"}");
        let loaded = read(&folder.path().join(name), &Options::default()).unwrap();
        assert_eq!(loaded.truth.unwrap(), ["one", "two"]);
        assert_eq!(loaded.image, Some(ImageShape { height: 1, width: 2, scan: Scan::Rows }));
        file("x.labels", "one\ntwo\nthree\n");
        file("x.json", "{\"height\": 5, \"width\": 2, \"scan\": \"rows\"}");
        let loaded = read(&folder.path().join(name), &Options::default()).unwrap();
        assert_eq!((loaded.truth, loaded.image), (None, None));
        assert!(loaded.notes.iter().any(|note| note.contains("3 lines for 2 points")), "{:?}", loaded.notes);
        std::fs::remove_file(folder.path().join("x.json")).unwrap();
        // A pipe beside the data would be waited for in vain.
        #[cfg(target_os = "linux")]
        {
            std::fs::remove_file(folder.path().join("x.labels")).unwrap();
            for pipe in ["x.labels", "x.json"] {
                let made =
                    std::process::Command::new("mkfifo").arg(folder.path().join(pipe)).status().unwrap();
                assert!(made.success());
            }
            assert_eq!(read(&folder.path().join(name), &Options::default()).unwrap().truth, None);
            for pipe in ["x.labels", "x.json"] {
                std::fs::remove_file(folder.path().join(pipe)).unwrap();
            }
        }
    }
}

#[test]
fn lists_come_as_lines_with_or_without_a_title_and_as_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("labels");
    let three = (3, "points");
    let given = |text: &str, column: Option<&str>| {
        std::fs::write(&path, text).unwrap();
        list(&path, column, three, None)
            .map_err(|error| error.to_string().replace(&path.display().to_string(), ""))
    };
    let expected: Result<Vec<String>, String> = Ok(vec!["x".into(), "y".into(), "x".into()]);
    assert_eq!(given("x\ny\nx\n", None), expected);
    assert_eq!(given("class\nx\ny\nx\n", None), expected);
    assert_eq!(given("\"class\"\n\"x\"\n\"y\"\n\"x\"\n", None), expected);
    assert_eq!(given("id,class\n7,x\n8,y\n9,x\n", Some("class")), expected);
    assert_eq!(given("id\tclass\n7\tx\n8\ty\n9\tx\n", Some("2")), expected);
    // Several lines in one field.
    assert_eq!(given("note,class\n\"a\nb\",x\nc,y\nd,x\n", Some("class")), expected);
    let asked = given("id,class\n7,x\n8,y\n9,x\n", None).unwrap_err();
    assert_eq!(asked, ", line 1: has 2 columns: say which one with --truth-column, \"id\", \"class\"");
    assert_eq!(given("x\ny\n", None).unwrap_err(), ": has 2 lines for 3 points: one each is needed");
    assert_eq!(given("a b\nc d\ne f\n", None).unwrap(), ["a b", "c d", "e f"]);
    // One column as pandas and R write it, with the names of the rows.
    assert_eq!(given(",class\n7,x\n8,y\n9,x\n", None), expected);
    assert_eq!(given("\"\",\"class\"\n\"7\",\"x\"\n\"8\",\"y\"\n\"9\",\"x\"\n", None), expected);
}

#[test]
fn a_map_of_classes_follows_the_pixels() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("map.npy");
    let map = Matrix::DenseF64(Dense::new(2, 3, vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap());
    write(&path, &map.into()).unwrap();
    let of = |scan| list(&path, None, (6, "points"), Some(ImageShape { height: 2, width: 3, scan })).unwrap();
    assert_eq!(of(Scan::Rows), ["0", "1", "2", "3", "4", "5"]);
    assert_eq!(of(Scan::Columns), ["0", "3", "1", "4", "2", "5"]);
    let asked = list(&path, None, (6, "points"), None).unwrap_err().to_string();
    assert!(asked.contains("is 2 x 3") && asked.contains("say --image 2x3, and --scan rows"), "{asked}");
    // A classification of ENVI is a map too.
    std::fs::write(folder.path().join("map.img"), [0u8, 1, 2, 3, 4, 5]).unwrap();
    let header = "ENVI\nsamples = 3\nlines = 2\nbands = 1\ndata type = 1\ninterleave = bsq\nfile type = ENVI Classification\n";
    std::fs::write(folder.path().join("map.hdr"), header).unwrap();
    let columns = ImageShape { height: 2, width: 3, scan: Scan::Columns };
    let found = list(&folder.path().join("map.hdr"), None, (6, "points"), Some(columns)).unwrap();
    assert_eq!(found, ["0", "3", "1", "4", "2", "5"]);
}

#[test]
fn a_recipe_is_followed_on_other_files_by_what_was_learned() {
    let first = load("a,b,c\n1,2,0\n3,0,5\n0,1,1\n");
    let recipe = Recipe { weighting: vec![Weighting::TfIdf, Weighting::Unit], ..Recipe::default() };
    let (prepared, learned) = recipe.prepare(first).unwrap();
    let kept = serde_json::to_string(&learned).unwrap();
    let learned: Learned = serde_json::from_str(&kept).unwrap();
    learned.check(3).unwrap();
    assert!(learned.check(4).is_err());
    // The same points with their columns in another order, and one too many.
    let other = learned.prepare(load("c,x,b,a\n0,9,2,1\n5,9,0,3\n1,9,1,0\n")).unwrap();
    assert_eq!(other.matrix, prepared.matrix);
    let absent = learned.prepare(load("a,b\n1,2\n3,4\n")).unwrap_err().to_string();
    assert!(absent.contains("the feature \"c\""), "{absent}");
}

#[test]
fn missing_entries_are_found_where_the_file_has_them() {
    let text = "a,b,c\n1,2,3\n4,,6\n";
    for orientation in [Orientation::Rows, Orientation::Columns] {
        let refused =
            Recipe { orientation, ..Recipe::default() }.prepare(load(text)).unwrap_err().to_string();
        assert!(refused.contains("row 1, column 1") && refused.contains("--missing zero"), "{refused}");
        let zero = Recipe { orientation, missing: Missing::Zero, ..Recipe::default() };
        let (filled, _) = zero.prepare(load(text)).unwrap();
        assert_eq!(
            filled.matrix.point(1)[usize::from(orientation == Orientation::Rows)],
            if orientation == Orientation::Rows { 0.0 } else { 2.0 }
        );
        assert!(filled.notes[0].starts_with("1 missing"), "{:?}", filled.notes);
    }
}
