//! What lasts and what is only said: outputs that fail, signals that are ignored, folders and files that others use,
//! and text that would steer a terminal.
#![cfg(unix)]

use std::fs::{self, File};
use std::io::{Read, pipe};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::support::{contents, folder, listening, npy, object, orthant, run, succeed, texts};

/// A run that would take hours.
const ENDLESS: &str =
    "cluster big.npy -k 8 -a chnmf --tolerance 0 --max-iterations 1000000000 -q --out result";

fn big(folder: &Path) {
    succeed(folder, "generate telescope --noise 0.01 --out big.npy");
}

/// A program at work, which ends with the test however that ends.
struct Running(Option<Child>);

impl Running {
    fn child(&mut self) -> &mut Child {
        self.0.as_mut().expect("it is running")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn begin(command: &mut Command, arguments: &str) -> Running {
    let child = command.args(arguments.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Running(Some(child.spawn().expect("the program starts")))
}

fn send(running: &mut Running, signal: &str) {
    let child = running.child();
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill is there");
    assert!(sent.success());
}

/// Waits until something is so.
fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}: not within a minute");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn has_parts(folder: &Path) -> bool {
    contents(folder).keys().any(|name| name.contains(".part"))
}

/// The end of a program that must not wait for anything.
fn ends(mut running: Running) -> Output {
    until("the end", || running.child().try_wait().unwrap().is_some());
    running.0.take().expect("it was running").wait_with_output().unwrap()
}

/// Writes into it fail: a full device, and a pipe without a reader.
fn failing() -> [Stdio; 2] {
    let full = File::options().write(true).open("/dev/full").unwrap();
    [full.into(), pipe().unwrap().1.into()]
}

const WRITING: &[(&str, &str)] = &[
    ("cluster set.npy -k 6 -a em-onmf", "labels.txt"),
    ("compare set.npy -k 6 --methods em-onmf:residual --runs 1", "compare.csv"),
    ("advise set.npy -k 6 --runs 1 --halves 1", "report.html"),
    ("choose-k set.npy 2..3 --runs 1 --halves 1", "ks.csv"),
    ("reproduce figure1 --quick --runs 1", "index.html"),
];

#[test]
fn a_standard_error_that_fails_costs_nothing() {
    let folder = folder();
    succeed(folder.path(), "cluster set.npy -k 6 -a em-onmf --out model -q");
    let plain = [
        ("generate synthetic --force --out made.npy", "made.npy"),
        ("convert set.npy made.mtx --force", "made.mtx"),
        ("convert set.npy made.blocks --force", "made.blocks"),
        ("predict model set.npy --out made.txt", "made.txt"),
        ("demo --sets 1 --runs 1 --out result", "result"),
    ];
    let into =
        WRITING.iter().map(|(command, file)| (format!("{command} --out result"), format!("result/{file}")));
    let plain = plain.iter().map(|(command, file)| (command.to_string(), file.to_string()));
    for (command, file) in into.chain(plain) {
        for to in failing() {
            let output = orthant(folder.path()).args(command.split_whitespace()).stderr(to).output().unwrap();
            assert!(output.status.success(), "{command}: {:?}", output.status);
            assert!(folder.path().join(&file).exists(), "{command}");
            let _ = fs::remove_dir_all(folder.path().join("result"));
            let _ = fs::remove_dir_all(folder.path().join(&file));
            let _ = fs::remove_file(folder.path().join(&file));
        }
        // Closed from the start.
        let mut closed = Command::new("sh");
        closed.args(["-c", "exec \"$0\" \"$@\" 2>&-", env!("CARGO_BIN_EXE_orthant")]);
        let output = closed.current_dir(folder.path()).args(command.split_whitespace()).output().unwrap();
        assert!(output.status.success() && folder.path().join(&file).exists(), "{command}: closed");
        let _ = fs::remove_dir_all(folder.path().join("result"));
    }
}

#[test]
fn a_standard_output_that_fails_is_told_when_the_result_is_safe() {
    let folder = folder();
    for (command, file) in WRITING {
        let json = if command.starts_with("cluster") { " --json" } else { "" };
        for (to, code) in failing().into_iter().zip([1, 0]) {
            let output = orthant(folder.path())
                .args(format!("{command}{json} -q --out result").split_whitespace())
                .stdout(to)
                .output()
                .unwrap();
            let (_, err) = texts(&output);
            assert_eq!(output.status.code(), Some(code), "{command}: {err}");
            let told =
                if code == 1 { "orthant: error: standard output: No space left on device" } else { "" };
            assert!(err.starts_with(told) && err.lines().count() == code as usize, "{command}: {err}");
            assert!(folder.path().join("result").join(file).exists(), "{command}");
            fs::remove_dir_all(folder.path().join("result")).unwrap();
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn signals_that_were_ignored_from_the_start_stay_ignored() {
    let folder = tempfile::tempdir().unwrap();
    big(folder.path());
    let mut command = Command::new("env");
    command.args(["--ignore-signal=HUP,INT", "--default-signal=TERM", env!("CARGO_BIN_EXE_orthant")]);
    let mut child = begin(command.current_dir(folder.path()), &ENDLESS.replace(" -q", " --json"));
    until("the work begins", || has_parts(folder.path()));
    std::thread::sleep(Duration::from_secs(1));
    for signal in ["-HUP", "-INT", "-HUP"] {
        send(&mut child, signal);
    }
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.child().try_wait().unwrap().is_none(), "an ignored signal ended the work");
    send(&mut child, "-TERM");
    let output = ends(child);
    assert_eq!(output.status.code(), Some(130));
    assert!(folder.path().join("result/labels.txt").exists());
}

#[test]
fn a_folder_on_another_disk_is_replaced_as_any_other() {
    let folder = folder();
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else {
        println!("skipped: there is no /dev/shm to put a folder on another disk");
        return;
    };
    symlink(elsewhere.path(), folder.path().join("result")).unwrap();
    succeed(folder.path(), "cluster set.npy -k 6 -a k-means --out result -q");
    let before = contents(elsewhere.path());
    let refused = run(folder.path(), "cluster set.npy -k 6 --out result -q");
    assert_eq!((refused.status.code(), contents(elsewhere.path())), (Some(2), before));
    succeed(folder.path(), "cluster set.npy -k 6 -a em-onmf --out result --force -q");
    let after = contents(elsewhere.path());
    assert!(after.contains_key("summary.json") && !after.contains_key("centers.npy"), "{:?}", after.keys());
    assert!(folder.path().join("result").is_symlink());
}

/// Runs a script with the folder `result` as a disk of its own, if the system lets us.
#[cfg(target_os = "linux")]
fn on_a_disk_of_its_own(folder: &Path, size: &str, script: &str) {
    const REFUSED: i32 = 77;
    let script = format!("mount -t tmpfs -o size={size} none result || exit {REFUSED}; {script}");
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &script, env!("CARGO_BIN_EXE_orthant")]).current_dir(folder);
    let output = command.output().expect("unshare is there");
    let (out, err) = texts(&output);
    if output.status.code() == Some(REFUSED) || err.contains("unshare failed") {
        println!("skipped: the system does not let us mount: {err}");
        return;
    }
    assert!(output.status.success(), "{script}\n{out}{err}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_mounted_folder_is_replaced_as_any_other_and_a_full_one_keeps_what_it_had() {
    let folder = folder();
    fs::create_dir(folder.path().join("result")).unwrap();
    let first = r#""$0" cluster set.npy -k 6 -a k-means --out result -q || exit 1"#;
    let replaced = r#"
        "$0" cluster set.npy -k 6 -a em-onmf --out result --force -q || exit 2
        test -e result/summary.json && ! test -e result/centers.npy && ! ls -A result | grep part"#;
    on_a_disk_of_its_own(folder.path(), "10m", &format!("{first}{replaced}"));
    // Room for one result, not for two.
    let full = r#"
        cp -r result before && head -c 1m /dev/zero >result/filler 2>/dev/null
        "$0" cluster set.npy -k 6 -a em-onmf --out result --force -q 2>told; test $? = 1 || exit 3
        grep -q "No space left" told && test $(wc -l <told) = 1 || exit 4
        rm result/filler && diff -r before result && ! ls -A result | grep part"#;
    on_a_disk_of_its_own(folder.path(), "200k", &format!("{first}{full}"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_block_folder_that_is_mounted_or_linked_is_replaced_as_any_other() {
    let folder = folder();
    fs::create_dir(folder.path().join("result")).unwrap();
    fs::write(folder.path().join("other.csv"), "1,2\n3,4\n").unwrap();
    let script = r#"
        ln -s result x.blocks && mkdir y.blocks && mount -t tmpfs none y.blocks || exit 1
        for place in x.blocks y.blocks; do
            "$0" convert set.npy $place -q && echo mine >$place/thesis.txt || exit 2
            "$0" convert other.csv $place --force -q || exit 3
            "$0" info $place | grep -q "features  *2$" && test "$(cat $place/thesis.txt)" = mine || exit 4
            test "$(ls -A $place | tr '\n' ' ')" = "000000.data.npy blocks.json thesis.txt " || exit 5
        done
        test -L x.blocks"#;
    on_a_disk_of_its_own(folder.path(), "10m", script);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_is_mounted_by_itself_is_not_replaced_and_costs_neither() {
    let folder = folder();
    fs::create_dir(folder.path().join("result")).unwrap();
    let cluster = r#"
        "$0" cluster set.npy -k 6 -a k-means --out result -q || exit 1
        cp -r result before && echo mine >own.txt && mount --bind own.txt result/labels.txt || exit 2
        "$0" cluster set.npy -k 6 -a em-onmf --out result --force -q 2>told; test $? = 2 || exit 3
        grep -q "result/labels.txt: is in the way and is not replaced: the new files are in result/orthant-" told || exit 4
        test $(wc -l <told) = 1 && test -e result/orthant-*/summary.json || exit 5
        rm -r result/orthant-* && umount result/labels.txt && test "$(cat own.txt)" = mine || exit 6
        diff -r before result && ! ls -A result | grep part || exit 7"#;
    let convert = r#"
        echo mine >own.csv && touch set.csv && mount --bind own.csv set.csv || exit 8
        "$0" convert set.npy set.csv --force -q 2>told; test $? = 2 && test $(wc -l <told) = 1 || exit 9
        grep -q "set.csv: is in the way and is not replaced: the new files are in" told || exit 10
        umount set.csv && test "$(cat own.csv)" = mine && ! test -s set.csv && ! ls -A | grep part"#;
    on_a_disk_of_its_own(folder.path(), "10m", &format!("{cluster}{convert}"));
}

#[test]
fn the_second_of_two_runs_with_one_folder_is_refused_and_the_first_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    big(folder.path());
    let mut child = begin(&mut listening(folder.path()), ENDLESS);
    until("the work begins", || has_parts(folder.path()));
    std::thread::sleep(Duration::from_secs(1));
    for force in ["", " --force"] {
        let second = run(folder.path(), &format!("cluster big.npy -k 8 -a em-onmf -q --out result{force}"));
        let (_, err) = texts(&second);
        assert_eq!(second.status.code(), Some(2), "{err}");
        assert!(err.contains("result: another run is writing it") && err.lines().count() == 1, "{err}");
    }
    send(&mut child, "-INT");
    assert_eq!(ends(child).status.code(), Some(130));
    assert!(folder.path().join("result/labels.txt").exists() && !has_parts(folder.path()));
}

#[test]
fn what_appears_meanwhile_is_not_overwritten_and_the_work_is_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    big(folder.path());
    let mut child = begin(&mut listening(folder.path()), ENDLESS);
    until("the work begins", || has_parts(folder.path()));
    std::thread::sleep(Duration::from_secs(1));
    fs::write(folder.path().join("result/labels.txt"), "mine").unwrap();
    send(&mut child, "-INT");
    let (_, err) = texts(&ends(child));
    assert!(err.contains("result/labels.txt: is in the way"), "{err}");
    let files = contents(&folder.path().join("result"));
    assert_eq!(files["labels.txt"], b"mine");
    let kept = files.keys().find(|name| name.ends_with("/summary.json")).expect("the new result is kept");
    assert!(err.contains(kept.trim_end_matches("/summary.json")), "{err}");
    assert!(!has_parts(folder.path()));
}

#[test]
fn what_a_killed_run_left_is_gone_after_the_next() {
    let folder = tempfile::tempdir().unwrap();
    big(folder.path());
    let child = begin(&mut listening(folder.path()), ENDLESS);
    until("the work begins", || has_parts(folder.path()));
    drop(child);
    assert!(has_parts(folder.path()));
    succeed(folder.path(), "cluster big.npy -k 8 -a em-onmf -q --out result");
    assert!(!has_parts(folder.path()) && folder.path().join("result/labels.txt").exists());
}

#[test]
fn an_end_while_data_are_read_leaves_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Command::new("mkfifo").arg(folder.path().join("data")).status().unwrap().success());
    for command in ["cluster data -k 2 --out deep/er/result -q", "convert data out.mtx -q"] {
        let mut child = begin(&mut listening(folder.path()), command);
        until("it begins", || has_parts(folder.path()));
        send(&mut child, "-INT");
        assert_eq!(ends(child).status.code(), Some(130), "{command}");
        let left: Vec<String> = contents(folder.path()).into_keys().collect();
        assert_eq!(left, ["data"], "{command}");
    }
}

#[test]
fn an_end_while_a_block_folder_is_made_leaves_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let command = "generate large --points 100000000 --out deep/er/made.blocks";
    let mut child = begin(&mut listening(folder.path()), command);
    until("it begins", || folder.path().join("deep/er/made.blocks/.unfinished/journal").exists());
    send(&mut child, "-INT");
    assert_eq!(ends(child).status.code(), Some(130));
    assert!(contents(folder.path()).is_empty());
}

#[test]
fn a_folder_in_the_place_of_a_file_costs_neither() {
    let folder = folder();
    succeed(folder.path(), "cluster set.npy -k 6 -a k-means --out result -q");
    let old = contents(&folder.path().join("result"));
    fs::remove_file(folder.path().join("result/labels.txt")).unwrap();
    fs::create_dir(folder.path().join("result/labels.txt")).unwrap();
    let output = run(folder.path(), "cluster set.npy -k 6 --out result --force -q");
    let (_, err) = texts(&output);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("result/labels.txt: is in the way") && err.lines().count() == 1, "{err}");
    let after = contents(&folder.path().join("result"));
    for (name, bytes) in old.iter().filter(|(name, _)| *name != "labels.txt") {
        assert!(after[name] == *bytes, "{name}");
    }
    assert!(after.keys().any(|name| name.ends_with("/labels.txt") && name.starts_with("orthant-")));
}

#[test]
fn files_beside_a_matrix_are_not_overwritten_unasked() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("set.svmlight"), "1 1:9 2:1\n2 2:8\n1 1:7\n").unwrap();
    fs::write(folder.path().join("out.cluto.rclass"), "mine").unwrap();
    let output = run(folder.path(), "convert set.svmlight out.cluto -q");
    assert_eq!(output.status.code(), Some(2));
    assert!(texts(&output).1.contains("out.cluto.rclass: exists already"));
    assert_eq!(fs::read_to_string(folder.path().join("out.cluto.rclass")).unwrap(), "mine");
    assert!(!folder.path().join("out.cluto").exists());
    succeed(folder.path(), "convert set.svmlight out.cluto -q --force");
    assert_eq!(fs::read_to_string(folder.path().join("out.cluto.rclass")).unwrap(), "1\n2\n1\n");
}

#[test]
fn names_as_long_as_the_system_takes_them_are_taken() {
    let folder = folder();
    let name = |ending: &str| "n".repeat(255 - ending.len()) + ending;
    succeed(folder.path(), &format!("cluster set.npy -k 6 -q --out {}", name("")));
    succeed(folder.path(), &format!("convert set.npy {} -q", name(".mtx")));
    succeed(folder.path(), &format!("convert set.npy {} -q", name(".blocks")));
    succeed(folder.path(), &format!("predict {} set.npy --out {} -q", name(""), name(".txt")));
    succeed(
        folder.path(),
        &format!("cluster set.npy -k 6 -q --checkpoint {} --checkpoint-every 0", name(".saved")),
    );
}

#[test]
fn one_file_under_two_names_is_one_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    big(folder.path());
    let work = "cluster big.npy -k 8 -a onp-mf --max-iterations 300 -q --json --checkpoint";
    let mut child = begin(&mut listening(folder.path()), &format!("{work} saved --checkpoint-every 0"));
    until("a checkpoint", || folder.path().join("saved").exists());
    send(&mut child, "-INT");
    assert_eq!(ends(child).status.code(), Some(130));
    succeed(folder.path(), &format!("{work} ./saved --resume saved"));
    assert!(!folder.path().join("saved").exists());
}

#[test]
fn pipes_that_nobody_named_are_not_waited_for() {
    let folder = folder();
    let pipe = |name: &str| {
        assert!(Command::new("mkfifo").arg(folder.path().join(name)).status().unwrap().success());
    };
    pipe("set.json");
    let child = begin(&mut orthant(folder.path()), "cluster set.npy -k 6 -a em-onmf --out result -q");
    assert!(ends(child).status.success());
    for file in ["components.npy", "summary.json"] {
        fs::remove_file(folder.path().join("result").join(file)).unwrap();
        pipe(&format!("result/{file}"));
        let output = ends(begin(&mut orthant(folder.path()), "predict result set.npy"));
        assert_eq!(output.status.code(), Some(2));
        assert!(texts(&output).1.contains(&format!("{file}: is not a file")));
    }
    succeed(folder.path(), "convert set.npy set.blocks -q");
    for file in ["000000.data.npy", "truth.txt"] {
        fs::rename(folder.path().join("set.blocks").join(file), folder.path().join("aside")).unwrap();
        pipe(&format!("set.blocks/{file}"));
        for command in ["info set.blocks", "cluster set.blocks -k 6 --memory 20k"] {
            let output = ends(begin(&mut orthant(folder.path()), command));
            assert_eq!(output.status.code(), Some(2));
            assert!(texts(&output).1.contains(&format!("{file}: is not a file")));
        }
        fs::remove_file(folder.path().join("set.blocks").join(file)).unwrap();
        fs::rename(folder.path().join("aside"), folder.path().join("set.blocks").join(file)).unwrap();
    }
    fs::create_dir(folder.path().join("pictures")).unwrap();
    pipe("pictures/one.png");
    let output = ends(begin(&mut orthant(folder.path()), "info pictures"));
    assert!(texts(&output).1.contains("a folder without PNG or JPEG pictures"));
    pipe("result/.orthant-0123456789abcdef.part");
    let child = begin(&mut orthant(folder.path()), "cluster set.npy -k 6 -a em-onmf --out result --force -q");
    assert!(ends(child).status.success());
}

#[test]
fn a_file_that_is_too_large_is_a_line_and_not_the_end() {
    let folder = tempfile::tempdir().unwrap();
    big(folder.path());
    let limited = |arguments: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -f 8; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_orthant")]);
        command.current_dir(folder.path()).args(arguments.split_whitespace()).output().unwrap()
    };
    let work = "cluster big.npy -k 8 -a em-onmf --runs 3";
    let output = limited(&format!("{work} --json --checkpoint saved --checkpoint-every 0"));
    let (out, err) = texts(&output);
    assert!(output.status.success() && out.contains("relative_error"), "{:?} {err}", output.status);
    assert_eq!(err.matches("the checkpoint cannot be saved, the work goes on").count(), 1, "{err}");
    let output = limited(&format!("{work} -q --out result"));
    let (_, err) = texts(&output);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("File too large") && err.lines().count() == 1, "{err}");
    assert!(!folder.path().join("result").exists() && !has_parts(folder.path()));
    // Archives are finished even when they are given up, about which nothing is to be said.
    for name in ["small.npz", "small.mtx.gz", "small.npy"] {
        let output = limited(&format!("convert big.npy {name} -q"));
        let (_, err) = texts(&output);
        assert_eq!(output.status.code(), Some(1), "{name}: {err}");
        assert!(err.starts_with("orthant: error: ") && err.lines().count() == 1, "{name}: {err}");
        assert!(!folder.path().join(name).exists() && !has_parts(folder.path()), "{name}");
    }
}

#[test]
fn a_checkpoint_that_another_program_has_replaced_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    big(folder.path());
    let work = "cluster big.npy -k 8 -a best --effort endless --time 4 -q --checkpoint saved --checkpoint-every 0.05";
    let run = || {
        let mut command = listening(folder.path());
        command.args(work.split_whitespace()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let child = run();
    let saved = folder.path().join("saved");
    let begun = Instant::now();
    while !saved.exists() {
        assert!(begun.elapsed() < Duration::from_secs(30), "no checkpoint was written");
        std::thread::sleep(Duration::from_millis(5));
    }
    fs::write(folder.path().join("other"), "mine").unwrap();
    fs::rename(folder.path().join("other"), &saved).unwrap();
    let (_, err) = texts(&child.wait_with_output().unwrap());
    assert_eq!(err.matches("saved: another program has written there").count(), 1, "{err}");
    assert_eq!(fs::read_to_string(&saved).unwrap(), "mine");
    fs::remove_file(&saved).unwrap();

    // Of two runs with the same one, only the first that writes has it.
    let told: Vec<String> =
        [run(), run()].map(|child| texts(&child.wait_with_output().unwrap()).1).into_iter().collect();
    assert_eq!(told.iter().filter(|err| err.contains("another program")).count(), 1, "{told:?}");
    assert!(!saved.exists(), "there is nothing left to go on from");
}

#[test]
fn nothing_in_a_result_is_believed_unseen() {
    let folder = folder();
    let numbers = |xs: &[f64]| xs.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let matrix = |x: f64| npy("<f8", "(6, 10)", &numbers(&[[1.0; 59].as_slice(), &[x]].concat()));
    let list =
        |n: usize, x: f64| npy("<f8", &format!("({n},)"), &numbers(&[vec![1.0; n - 1], vec![x]].concat()));
    succeed(folder.path(), "cluster set.npy -k 6 -a em-onmf --weighting tf-idf --out result -q");
    let summary = fs::read_to_string(folder.path().join("result/summary.json")).unwrap();
    let changed = |from: &str, to: &str| {
        assert!(summary.contains(from), "{from}");
        summary.replace(from, to).into_bytes()
    };
    let preparation = fs::read_to_string(folder.path().join("result/preparation.json")).unwrap();
    let prepared = |first: &str| {
        let (before, after) = preparation.split_once("\"features\":[").unwrap();
        let (_, rest) = after.split_once(',').unwrap();
        format!("{before}\"features\":{first}{rest}").into_bytes()
    };
    // Versions before had a list for every step with weights of features, and no preparation.json.
    let older: Vec<(&str, Vec<u8>, &str)> = vec![
        ("feature_weights_0.npy", list(10, f64::NAN), "NaN is no weight"),
        ("feature_weights_0.npy", list(10, -1.0), "-1 is no weight"),
        ("feature_weights_0.npy", list(9, 1.0), "has 9 weights for 10 features"),
        ("summary.json", changed("\"tf-idf\"", "\"bm25\""), "the weighting \"bm25\" is not known"),
        ("summary.json", changed("\"tf-idf\"", "7"), "the weighting 7 is not known"),
        ("summary.json", changed("\"rows\"", "\"diagonals\""), "neither rows nor columns"),
    ];
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("components.npy", matrix(f64::NAN), "NaN at row 5, column 9"),
        ("components.npy", matrix(f64::INFINITY), "inf at row 5, column 9"),
        ("components.npy", matrix(-1.0), "-1 at row 5, column 9"),
        ("components.npy", npy("<f8", "(6, 10)", &numbers(&[0.0; 60])), "row 0 is zero"),
        (
            "components.npy",
            npy("<f8", "(6, 10)", &numbers(&[[1.0; 50].as_slice(), &[0.0; 10]].concat())),
            "row 5 is zero",
        ),
        ("components.npy", npy("<f8", "(5, 10)", &numbers(&[1.0; 50])), "is 5 x 10, which is not what"),
        ("preparation.json", prepared("[-1.0,"), "the weight -1 of feature 0"),
        ("preparation.json", prepared("[null,"), "is not what 'orthant cluster' writes"),
        ("summary.json", changed("\"tf-idf\"", "\"unit\""), "its steps are not the weighting"),
        ("preparation.json", prepared("[1.0,1.0,"), "11 weights of features for 10 features"),
        ("summary.json", changed("\"power\"", "\"magic\""), "the rule 'magic' is not known"),
        ("summary.json", changed("\"em-onmf\"", "\"magic\""), "there is no method 'magic'"),
        ("summary.json", changed("\"components.npy\"", "\"../set.npy\""), "is not a file of the folder"),
        ("summary.json", changed("\"k\": 6", "\"k\": -6"), "is 6 x 10, which is not what"),
    ];
    let refused = |cases: Vec<(&str, Vec<u8>, &str)>| {
        for (file, bytes, told) in cases {
            let path = folder.path().join("result").join(file);
            let kept = fs::read(&path).unwrap();
            fs::write(&path, bytes).unwrap();
            let output = run(folder.path(), "predict result set.npy");
            let (out, err) = texts(&output);
            assert_eq!(
                (output.status.code(), out.as_str(), err.lines().count()),
                (Some(2), "", 1),
                "{file}: {err}"
            );
            assert!(err.contains(told), "{file}: {err}");
            fs::write(&path, kept).unwrap();
        }
        succeed(folder.path(), "predict result set.npy");
    };
    refused(cases);
    fs::remove_file(folder.path().join("result/preparation.json")).unwrap();
    fs::write(folder.path().join("result/feature_weights_0.npy"), list(10, 1.0)).unwrap();
    refused(older);
}

#[test]
fn nothing_from_files_and_arguments_steers_a_terminal() {
    let folder = folder();
    let odd = "odd\u{1b}[31m\u{9b}2J\u{7}.npy";
    fs::copy(folder.path().join("set.npy"), folder.path().join(odd)).unwrap();
    let classes: String = (0..450).map(|i| format!("class\u{1b}]0;{}\u{7}\n", i % 3)).collect();
    fs::write(folder.path().join("classes.txt"), classes).unwrap();
    fs::write(folder.path().join("labels.txt"), "0\n1\n2\n".repeat(150)).unwrap();
    let missing = "missing\u{1b}[2J";
    let commands: &[&[&str]] = &[
        &["info", odd],
        &["info", odd, "--json"],
        &["info", missing],
        &["cluster", odd, "-k", "6", "--out", "result\u{1b}c"],
        &["cluster", odd, "-k", "6", "--truth", "classes.txt", "--json", "--out", "result"],
        &["cluster", odd, "-k", "\u{1b}[2J"],
        &["evaluate", "labels.txt", "classes.txt"],
        &["evaluate", "labels.txt", "classes.txt", "--json"],
        &["compare", odd, "-k", "6", "--methods", "em-onmf", "--runs", "1"],
        &["advise", odd, "-k", "6", "--runs", "1", "--halves", "1"],
        &["predict", "result", missing],
        &["convert", odd, "copy\u{1b}[1m.npy"],
        &[missing],
    ];
    for arguments in commands {
        let output = orthant(folder.path()).args(*arguments).output().unwrap();
        let (out, err) = texts(&output);
        let raw = |text: &str| text.chars().any(|c| c.is_control() && c != '\n' && c != '\t');
        assert!(!raw(&out) && !raw(&err), "{arguments:?}\n{out:?}\n{err:?}");
        assert!(!format!("{out}{err}").is_empty(), "{arguments:?}");
    }
}

#[test]
fn numbers_in_a_refusal_are_short() {
    let folder = folder();
    let output = run(folder.path(), "cluster set.npy -k 6 -a onp-mf --rho 0");
    let (_, err) = texts(&output);
    assert!(err.contains("0 was given, a number from 1e-300 to 1e300") && err.len() < 100, "{err}");
}

/// A reader that goes away has seen enough.
#[test]
fn a_reader_that_stops_reading_is_no_error() {
    let folder = folder();
    let mut child = begin(&mut orthant(folder.path()), "cluster set.npy -k 6 --json -q --out result");
    let mut out = child.child().stdout.take().unwrap();
    let mut first = [0u8; 1];
    out.read_exact(&mut first).unwrap();
    drop(out);
    let output = ends(child);
    assert!(output.status.success() && output.stderr.is_empty());
}

/// Estimated before the work where it can be; where it cannot, the first memory that is refused ends the program.
#[test]
fn what_does_not_fit_into_memory_is_a_line_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut wide = String::new();
    for point in 0..300 {
        wide += "1";
        (0..200).for_each(|entry| {
            wide += &format!(" {}:{}", 1 + 15_000 * entry + point, 1 + (entry + point) % 3)
        });
        wide += "\n";
    }
    fs::write(folder.path().join("wide.svmlight"), wide).unwrap();
    let packed = "printf '%%%%MatrixMarket matrix coordinate real general\\n9000000 9000 900000000\\n1 1 1\\n' | gzip >claims.mtx.gz";
    assert!(Command::new("sh").args(["-c", packed]).current_dir(folder.path()).status().unwrap().success());
    let before = contents(folder.path());
    for (command, told) in [
        ("cluster claims.mtx.gz -k 20 --out result -q", "claims.mtx.gz"),
        (
            "cluster wide.svmlight -k 30 -a em-onmf --runs 1 --out result -q",
            "on 300 points of 2985300 features needs about 22",
        ),
        ("choose-k wide.svmlight 30..31 --out result -q", "orthant: error: "),
        ("advise wide.svmlight -k 30 --out result -q", "orthant: error: "),
    ] {
        let mut limited = Command::new("sh");
        limited.args(["-c", "ulimit -v 900000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_orthant")]);
        let output = limited.current_dir(folder.path()).args(command.split_whitespace()).output().unwrap();
        let (_, err) = texts(&output);
        assert!(matches!(output.status.code(), Some(1 | 2)) && err.lines().count() == 1, "{command}: {err}");
        assert!(err.contains(told), "{command}: {err}");
        assert!(contents(folder.path()) == before, "{command} left something");
    }
}

/// The square of data near the ends of the range is no float64; it is told all the same.
#[test]
fn objectives_beyond_the_range_are_written_out() {
    let folder = tempfile::tempdir().unwrap();
    for (size, least) in [("e300", "8.224281128e600"), ("e-300", "8.224281128e-600")] {
        let row = |row: &[&str; 3]| row.map(|x| format!("{x}{size}")).join(",");
        let rows = [["1", "2", ".1"], ["1", "1.5", "0"], ["0", ".1", "2"], [".01", "0", "3"]];
        fs::write(folder.path().join("far.csv"), rows.iter().map(row).collect::<Vec<_>>().join("\n"))
            .unwrap();
        let object = object(folder.path(), "cluster far.csv -k 1 -a em-onmf --json -q");
        // ‖M‖² − σ₁², by another program; the last digits are rounding.
        let told = object["objective"].as_str().unwrap_or_else(|| panic!("{}", object["objective"]));
        let digits = |text: &str| text.split_once('e').map(|(x, e)| (x[..9].to_string(), e.to_string()));
        assert_eq!(digits(told), digits(least));
        assert_eq!(object["objective"], object["runs"][0]["objective"]);
    }
}
