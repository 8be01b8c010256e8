//! What the program refuses: each with its exit code and its one line, and nothing written.

use std::fs;
use std::path::Path;

use crate::support::{contents, folder, npy, run, succeed, texts};

/// Arguments, and what the line on standard error says.
const BAD: &[(&str, &str)] = &[
    // Usage.
    ("frobnicate", "unrecognized subcommand 'frobnicate'"),
    ("clutser set.npy -k 3", "a similar subcommand exists: 'cluster'"),
    ("cluster", "required arguments were not provided"),
    ("cluster set.npy", "-k <K>"),
    ("cluster set.npy -k 6 --nonsense", "unexpected argument '--nonsense'"),
    ("cluster set.npy -k 6 extra", "unexpected argument 'extra'"),
    ("cluster set.npy -k 6 --algorthm onp-mf", "a similar argument exists: '--algorithm'"),
    // Numbers out of range.
    ("cluster set.npy -k 0", "'-k <K>': a whole number from 1"),
    ("cluster set.npy -k -2", "'-k <K>': a whole number from 1"),
    ("cluster set.npy -k two", "'-k <K>': a whole number from 1"),
    ("cluster set.npy -k 2.5", "'-k <K>': a whole number from 1"),
    ("cluster set.npy -k 99999999999999999999", "'-k <K>': a whole number from 1"),
    ("cluster set.npy -k 451", "-k: 451 clusters need at least 451 nonzero points, there are 450"),
    ("cluster set.npy -k 6 --runs 0", "'--runs <N>': a whole number from 1"),
    ("cluster set.npy -k 6 --runs -1", "'--runs <N>': a whole number from 1"),
    ("cluster set.npy -k 6 --threads 0", "'--threads <N>': a whole number from 1 to 1024"),
    ("cluster set.npy -k 6 --threads 100000", "'--threads <N>': a whole number from 1 to 1024"),
    ("cluster set.npy -k 6 --seed -1", "'--seed <SEED>': a whole number from 0"),
    ("cluster set.npy -k 6 --seed x", "'--seed <SEED>': a whole number from 0"),
    ("cluster set.npy -k 6 --max-iterations 0", "--max-iterations: 0 was given"),
    ("cluster set.npy -k 6 --max-iterations 1.5", "--max-iterations: 1.5 was given, a whole number"),
    ("cluster set.npy -k 6 --algorithm onp-mf --tolerance -1", "--tolerance: -1 was given"),
    ("cluster set.npy -k 6 --tolerance nan", "'--tolerance <X>': a number is needed"),
    ("cluster set.npy -k 6 --rho inf", "'--rho <X>': a number is needed"),
    ("cluster set.npy -k 6 --algorithm onp-mf --growth 0.5", "--growth: 0.5 was given"),
    ("cluster set.npy -k 6 --algorithm em-onmf --rho 1", "--rho: em-onmf has no such parameter"),
    // Words that are not known.
    ("cluster set.npy -k 6 --algorithm magic", "--algorithm: there is no method 'magic'"),
    ("cluster set.npy -k 6 --start magic", "'--start <START>': there are random, residual"),
    ("cluster set.npy -k 6 --start labels:", "'--start <START>': there are random, residual"),
    ("cluster set.npy -k 6 --polish shoe", "'shoe' is none of em, moves, swaps, none"),
    ("cluster set.npy -k 6 --precision f16", "[possible values: f32, f64]"),
    ("cluster set.npy -k 6 --cluster diagonals", "[possible values: rows, columns]"),
    ("cluster set.npy -k 6 --weighting bm25", "'bm25' is none of none, tf-idf, unit, cpm, log1p"),
    ("cluster set.npy -k 6 --missing guess", "[possible values: refuse, ignore, zero]"),
    ("compare set.npy -k 6 --missing ignore", "only 'cluster' and 'predict' do without missing entries"),
    ("cluster nan.csv -k 2 --missing ignore --weighting unit", "without a weighting"),
    ("cluster set.npy -k 6 --max-texts 1.5", "a share of them from 0.0 to 1.0"),
    ("cluster set.npy -k 6 --drop 2", "--drop: set.npy is read as npy, which has no such columns"),
    // What was probably meant.
    ("cluster set.npy -k 6 --algorithm kmeans", "there is no method 'kmeans': is k-means meant?"),
    ("cluster set.npy -k 6 --weighting tfidf", "'tfidf' is not known: is tf-idf meant?"),
    ("cluster set.npy -k 6 --weighting log", "'log' is not known: is log1p meant?"),
    ("cluster set.npy -k 6 --algorithm em", "there is no method 'em': is em-onmf meant?"),
    ("cluster set.npy -k 6 --algorithm kl", "there is no method 'kl': is kl-onmf meant?"),
    ("cluster set.npy -k 2-10", "'orthant choose-k DATA 2..10' says which of them"),
    ("cluster set.npy", "tip: 'orthant choose-k DATA' says how many clusters there are"),
    ("cluster set.npy 6", "tip: the number of clusters is -k 6"),
    ("choose-k set.npy 2 10", "tip: a range is one word, as in 2..20"),
    ("choose-k set.npy -k 2..10", "tip: the range stands alone, as in 2..20"),
    (
        "predict set.npy set.npy",
        "set.npy: is no result: the folder that 'orthant cluster --out' wrote comes first",
    ),
    ("cluster set.npy -k 6 --format word", "--format: \"word\" is not one of"),
    ("cluster set.npy -k 6 --image 3", "height and width are needed"),
    ("cluster set.npy -k 6 --image 0x450", "height and width are needed"),
    ("cluster set.npy -k 6 --image 7x7", "49 pixels, but there are 450 points and 10 features"),
    ("cluster set.npy -k 6 --scan rows", "--image <HEIGHTxWIDTH>"),
    // Data that are not there or not right.
    ("cluster missing.npy -k 6", "missing.npy: No such file or directory"),
    ("cluster no-pictures -k 6", "no-pictures"),
    ("cluster empty.csv -k 6", "empty.csv: the file is empty"),
    ("cluster negative.csv -k 2", "negative.csv: the entry is negative (-3) at row 1, column 2"),
    (
        "cluster negative.csv -k 2 --cluster columns",
        "negative.csv: the entry is negative (-3) at row 1, column 2",
    ),
    ("cluster negative.csv -k 2 --algorithm k-means --polish em", "--polish: em needs nonnegative data"),
    ("cluster nan.csv -k 2", "nan.csv: the entry is missing (empty or NaN) at row 0, column 1"),
    (
        "cluster nan.csv -k 2 --algorithm k-means",
        "nan.csv: the entry is missing (empty or NaN) at row 0, column 1",
    ),
    ("cluster infinite.csv -k 2", "infinite.csv: the entry is inf at row 2, column 0"),
    ("cluster zero.csv -k 2", "zero.csv: every point is zero"),
    ("compare zero.csv -k 2", "zero.csv: every point is zero"),
    ("cluster ragged.csv -k 2", "ragged.csv, line 4"),
    ("cluster words.csv -k 2", "words.csv"),
    ("cluster truncated.npy -k 2", "truncated.npy"),
    ("cluster line.npy -k 2", "line.npy"),
    ("cluster strings.npy -k 2", "strings.npy"),
    ("cluster complex.npy -k 2", "complex.npy"),
    ("cluster cubic.npy -k 2", "cubic.npy"),
    ("cluster magic.npy -k 2", "magic.npy"),
    ("cluster garbage.bin -k 2", "garbage.bin"),
    ("cluster truncated.mtx -k 2", "truncated.mtx"),
    ("cluster truncated.mtx.gz -k 2", "truncated.mtx.gz"),
    ("cluster range.mtx -k 2", "range.mtx, line 3"),
    ("cluster twice.mtx -k 2", "twice.mtx"),
    ("cluster more.mtx -k 2", "more.mtx"),
    ("cluster giant.mtx -k 2", "giant.mtx"),
    ("cluster header.mtx -k 2", "header.mtx, line 1"),
    ("cluster new.mat -k 2", "new.mat"),
    ("cluster set.npy -k 6 --variable x", "--variable: set.npy holds one matrix"),
    // Files beside the data.
    ("cluster set.npy -k 6 --truth missing.txt", "missing.txt: No such file or directory"),
    ("cluster set.npy -k 6 --truth short.txt", "short.txt: has 2 lines for 450 points"),
    (
        "cluster set.npy -k 6 --truth table.csv",
        "table.csv, line 1: has 2 columns: say which one with --truth-column",
    ),
    ("cluster set.npy -k 6 --truth table.csv --truth-column c", "--truth-column: no column is called \"c\""),
    ("cluster set.npy -k 6 --unlabelled 99", "--unlabelled: no point is of class '99'"),
    ("cluster small.csv -k 2 --truth two.txt", "two.txt: has 2 lines for 3 points"),
    (
        "cluster wide.csv -k 2 --truth two.txt --cluster columns",
        "two.txt: is as long as there are features (2)",
    ),
    ("cluster set.npy -k 6 --truth empty.csv", "empty.csv"),
    ("cluster set.npy -k 6 --truth gap.txt", "gap.txt, line 2"),
    ("cluster set.npy -k 6 --names short.txt", "short.txt: has 2 lines for 450 points"),
    ("cluster set.npy -k 6 --vocabulary short.txt", "short.txt: has 2 lines for 10 features"),
    ("cluster set.npy -k 6 --weights short.txt", "short.txt, line 1"),
    ("cluster set.npy -k 6 --weights two.txt", "two.txt: has 2 weights for 450 points"),
    ("cluster small.csv -k 2 --weights minus.txt", "minus.txt, line 2: the weight -1"),
    ("cluster small.csv -k 2 --weights nothing.txt", "every point is zero (or has weight zero)"),
    ("cluster set.npy -k 6 --start labels:missing.txt", "missing.txt"),
    ("cluster set.npy -k 6 --start labels:short.txt", "short.txt: has 2 labels for 450 points"),
    ("cluster set.npy -k 5 --start labels:set.labels", "set.labels: has 6 different labels, but -k is 5"),
    (
        "cluster set.npy -k 6 --start centroids:small.csv",
        "small.csv: is 3 x 3, but 6 centroids of 10 features",
    ),
    // Places to write.
    ("cluster set.npy -k 6 --out result", "result: exists already"),
    ("cluster set.npy -k 6 --out small.csv --force", "small.csv: exists and is not a folder"),
    ("cluster set.npy -k 6 --out small.csv/x", "small.csv/x: cannot be written"),
    ("cluster missing.npy -k 6 --out a/b/c", "missing.npy"),
    ("cluster negative.csv -k 2 --out a/b/c", "negative.csv"),
    ("cluster set.npy -k 451 --out a", "-k: 451 clusters"),
    ("cluster set.npy -k 6 --force", "--out <DIR>"),
    ("cluster set.npy -k 6 --checkpoint small.csv", "small.csv: exists already: go on from it with --resume"),
    ("cluster set.npy -k 6 --checkpoint nowhere/x", "nowhere/x: the folder of the checkpoint does not exist"),
    ("cluster set.npy -k 6 --checkpoint x --checkpoint-every -1", "a number of seconds from 0 is needed"),
    ("cluster set.npy -k 6 --checkpoint-every 1", "--checkpoint <FILE>"),
    ("cluster set.npy -k 6 --resume missing", "missing: No such file"),
    (
        "cluster set.npy -k 6 --resume small.csv",
        "small.csv: the checkpoint is not one that this version wrote",
    ),
    // The other commands.
    ("compare set.npy -k 0", "'-k <K>': a whole number from 1"),
    ("compare set.npy -k 6 --runs 0", "'--runs <N>': a whole number from 1"),
    ("compare set.npy -k 6 --methods magic", "--methods: there is no method 'magic'"),
    ("compare set.npy -k 6 --methods chnmf:magic", "there is no start 'magic'"),
    ("compare set.npy -k 6 --json --csv", "cannot be used with"),
    ("compare set.npy -k 451", "-k: 451 clusters"),
    ("compare nan.csv -k 2", "nan.csv: the entry is missing"),
    ("compare set.npy -k 6 --out result", "result: exists already"),
    ("evaluate set.labels", "<TRUTH>"),
    ("evaluate set.labels short.txt", "short.txt: has 2 lines for 450 points"),
    ("evaluate none.txt short.txt", "none of the 2 points has a cluster"),
    ("evaluate missing.txt set.labels", "missing.txt: No such file"),
    ("predict missing set.npy", "missing/summary.json: No such file"),
    ("predict no-pictures set.npy", "no-pictures/summary.json: No such file"),
    ("predict strange set.npy", "strange/summary.json: is not JSON"),
    ("predict chosen set.npy", "chosen: has no clusters for new points"),
    ("predict foreign set.npy", "foreign/summary.json: 'name' is missing"),
    ("predict result small.csv", "small.csv: the points have 3 features, those of result have 10"),
    ("predict result set.npy --out small.csv", "small.csv: exists already"),
    ("predict narrow negative.csv", "negative.csv: the entry is negative (-3) at row 1, column 2"),
    ("predict narrow nan.csv", "nan.csv: the entry is missing (empty or NaN) at row 0, column 1"),
    ("generate magic", "unrecognized subcommand 'magic'"),
    ("generate synthetic --noise -1 --out new.npy", "--noise: -1 is not a standard deviation"),
    ("generate synthetic --noise x --out new.npy", "--noise: \"x\" is not a number"),
    ("generate synthetic --sizes 0,0 --out new.npy", "--sizes"),
    ("generate synthetic --out set.npy", "set.npy: exists already"),
    ("generate synthetic --out new.xyz", "new.xyz: the ending does not say"),
    ("generate synthetic --out new.labels", "new.labels: the ending belongs to"),
    (
        "generate scene --endmembers missing.npy --abundances set.npy --out new.npy",
        "missing.npy: No such file",
    ),
    ("generate scene --endmembers set.npy --abundances small.csv --out new.npy", "set.npy and small.csv"),
    ("convert set.npy", "<OUT>"),
    ("convert set.npy small.csv", "small.csv: exists already"),
    ("convert set.npy set.npy --force", "set.npy: is both read and written"),
    ("convert set.npy out.xyz", "out.xyz: the ending does not say"),
    ("convert set.npy no-pictures", "no-pictures: is a folder"),
    ("convert ragged.csv out.mtx", "ragged.csv, line 4"),
    ("convert nowhere.mtx out.mtx", "nowhere.mtx: No such file"),
    ("info missing.npy", "missing.npy: No such file"),
    ("info garbage.bin", "garbage.bin"),
    ("methods magic", "there is no method 'magic'"),
    ("demo --out result", "result: exists and is no earlier demo"),
    ("demo --sets 0", "'--sets <N>': a whole number from 1"),
    ("completions tcsh", "[possible values: bash"),
];

fn write_files(folder: &Path) {
    let file = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).expect("a file is written");
    let floats = |n: usize| vec![0u8; 8 * n];
    file("small.csv", b"1,2,3\n4,5,6\n7,8,10\n");
    file("negative.csv", b"1,2,3\n4,5,-3\n7,8,9\n");
    file("nan.csv", b"1,nan,3\n4,5,6\n7,8,9\n");
    file("infinite.csv", b"1,2,3\n4,5,6\ninf,8,9\n");
    file("zero.csv", b"0,0\n0,0\n0,0\n");
    file("ragged.csv", b"1,2,3\n4,5,6\n7,8,9\n1,2\n3,4,5\n");
    file("words.csv", b"a,b,c\nd,e,f\ng,h,i\n");
    file("empty.csv", b"");
    file("truncated.npy", &npy("<f8", "(100, 10)", &floats(17)));
    file("line.npy", &npy("<f8", "(10,)", &floats(10)));
    file("strings.npy", &npy("<U2", "(2, 2)", &floats(4)));
    file("complex.npy", &npy("<c16", "(2, 2)", &floats(8)));
    file("cubic.npy", &npy("<f8", "(2, 2, 2, 2)", &floats(16)));
    file("magic.npy", b"\x93NUMPX\x01\x00 nothing of the kind \x00\x01");
    file("garbage.bin", &(0..=255u8).rev().collect::<Vec<_>>());
    let head = "%%MatrixMarket matrix coordinate real general\n";
    file("truncated.mtx", format!("{head}3 3 4\n1 1 1.5\n2 2 2.5\n").as_bytes());
    file("range.mtx", format!("{head}3 3 2\n4 1 1.5\n2 2 2.5\n").as_bytes());
    file("twice.mtx", format!("{head}3 3 2\n2 2 1.5\n2 2 2.5\n").as_bytes());
    file("more.mtx", format!("{head}3 3 1\n1 1 1.5\n2 2 2.5\n").as_bytes());
    file("giant.mtx", format!("{head}3 3 999999999999999\n1 1 1.5\n").as_bytes());
    file("header.mtx", b"%%MatrixMarket matrix coordinate quaternion general\n3 3 1\n1 1 1\n");
    let mut new = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".to_vec();
    new.resize(512, b' ');
    new.extend(b"\x89HDF\r\n\x1a\n");
    file("new.mat", &new);
    file("short.txt", b"one\ntwo\n");
    file("two.txt", b"1\n2\n");
    file("minus.txt", b"1\n-1\n1\n");
    file("nothing.txt", b"0\n0\n0\n");
    file("none.txt", b"-1\n-1\n");
    file("gap.txt", b"one\n\nthree\n");
    fs::create_dir(folder.join("no-pictures")).unwrap();
    fs::create_dir(folder.join("strange")).unwrap();
    file("strange/summary.json", b"{");
    let rows: String = (0..450).map(|i| format!("{i},c{}\n", i % 6)).collect();
    file("table.csv", format!("id,class\n{rows}").as_bytes());
    file("wide.csv", b"1,2,3\n4,5,6\n");
    fs::create_dir(folder.join("chosen")).unwrap();
    file("chosen/summary.json", b"{\"program\": \"orthant 0.1.0\", \"candidates\": []}");
    fs::create_dir(folder.join("foreign")).unwrap();
    file("foreign/summary.json", b"{\"answer\": 42}");
    succeed(folder, "convert set.npy whole.mtx.gz -q");
    let whole = fs::read(folder.join("whole.mtx.gz")).unwrap();
    file("truncated.mtx.gz", &whole[..whole.len() / 2]);
    succeed(folder, "cluster set.npy -k 6 -a em-onmf --start residual --out result -q");
    succeed(folder, "cluster small.csv -k 2 --out narrow -q");
}

#[test]
fn every_bad_input_gets_its_line_and_leaves_no_trace() {
    let folder = folder();
    write_files(folder.path());
    let before = contents(folder.path());
    let mut wrong = vec![];
    for (arguments, expected) in BAD {
        let output = run(folder.path(), arguments);
        let (out, err) = texts(&output);
        let one_line = err.starts_with("orthant: error: ") && err.trim_end().lines().count() == 1;
        let good = output.status.code() == Some(2) && out.is_empty() && one_line && err.contains(expected);
        if !good || contents(folder.path()) != before {
            wrong.push(format!(
                "orthant {arguments}\n  {:?}, expected: {expected}\n  {err}{out}",
                output.status.code()
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), BAD.len(), wrong.join("\n"));
}

#[test]
fn no_command_shows_the_help_and_fails() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in ["", "generate"] {
        let output = run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(texts(&output).1.contains("Usage: orthant"));
    }
}

/// The crate that reads Parquet panics at pages that are shorter than they claim, and at dictionaries that are not there.
#[test]
fn damaged_parquet_gets_one_line_whatever_its_reader_does() {
    let folder = tempfile::tempdir().unwrap();
    let sound = include_bytes!("../../orthant/tests/files/table.parquet");
    for (at, value) in [(232, 0), (595, 1)] {
        let mut damaged = sound.to_vec();
        damaged[at] = value;
        fs::write(folder.path().join("x.parquet"), damaged).unwrap();
        for arguments in ["info x.parquet", "cluster x.parquet -k 2", "convert x.parquet y.npy"] {
            let output = run(folder.path(), arguments);
            let (out, err) = texts(&output);
            assert_eq!((output.status.code(), out.as_str()), (Some(2), ""), "{arguments}: {err}");
            assert_eq!(err.lines().count(), 1, "{arguments}: {err}");
            assert!(err.starts_with("orthant: error: x.parquet"), "{arguments}: {err}");
        }
    }
    assert_eq!(contents(folder.path()).len(), 1);
}
