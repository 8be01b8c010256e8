//! What the tests share: a folder to work in, small files, and the program.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// The program, in a folder.
pub fn orthant(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orthant"));
    command.current_dir(folder);
    command
}

/// The program with signals as a terminal gives them, even where these tests run with some ignored (in the
/// background of a script SIGINT is, and what is ignored stays so from one program to the next).
pub fn listening(folder: &Path) -> Command {
    if !cfg!(target_os = "linux") {
        return orthant(folder);
    }
    let mut command = Command::new("env");
    command.args(["--default-signal=INT,HUP,TERM", env!("CARGO_BIN_EXE_orthant")]).current_dir(folder);
    command
}

/// Runs the program with arguments as they would be typed (without quotes).
pub fn run(folder: &Path, arguments: &str) -> Output {
    orthant(folder).args(arguments.split_whitespace()).output().expect("the program starts")
}

/// The same, and it must succeed.
pub fn succeed(folder: &Path, arguments: &str) -> (String, String) {
    let output = run(folder, arguments);
    let (out, err) = texts(&output);
    assert!(output.status.success(), "orthant {arguments}\n{out}{err}");
    (out, err)
}

/// Standard output and standard error.
pub fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("output is UTF-8");
    (text(&output.stdout), text(&output.stderr))
}

/// The one object on standard output.
pub fn object(folder: &Path, arguments: &str) -> Value {
    let (out, _) = succeed(folder, arguments);
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("orthant {arguments}: {error}\n{out}"))
}

/// A folder with the paper's synthetic data in it: set.npy with set.labels, which are found by themselves, and the
/// same as bare.npy without labels.
pub fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    succeed(folder.path(), "generate synthetic --noise 0.05 --seed 3 --out set.npy");
    std::fs::copy(folder.path().join("set.npy"), folder.path().join("bare.npy")).expect("a copy");
    folder
}

/// Every file below a folder with what is in it.
pub fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fn visit(folder: &Path, prefix: &str, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(folder).expect("the folder can be read") {
            let path = entry.expect("an entry").path();
            let name = format!("{prefix}{}", path.file_name().unwrap().to_string_lossy());
            if path.is_dir() {
                found.insert(format!("{name}/"), vec![]);
                visit(&path, &format!("{name}/"), found);
            } else {
                // A pipe would be waited for.
                if path.symlink_metadata().is_ok_and(|about| !about.is_file() && !about.is_symlink()) {
                    found.insert(name, vec![]);
                    continue;
                }
                match std::fs::read(&path) {
                    Ok(bytes) => drop(found.insert(name, bytes)),
                    // A program that is at work may have renamed it since.
                    Err(e) if e.kind() == std::io::ErrorKind::NotFound => (),
                    Err(e) => panic!("{name} cannot be read: {e}"),
                }
            }
        }
    }
    let mut found = BTreeMap::new();
    visit(folder, "", &mut found);
    found
}

/// Bytes of an .npy file.
pub fn npy(kind: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let head = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    let length = (10 + head.len() + 1).next_multiple_of(64) - 10;
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((length as u16).to_le_bytes());
    file.extend(format!("{head:<width$}\n", width = length - 1).bytes());
    file.extend(bytes);
    file
}

/// Numbers of a float64 .npy file.
pub fn numbers(file: &[u8]) -> Vec<f64> {
    let start = 10 + u16::from_le_bytes([file[8], file[9]]) as usize;
    file[start..].chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
}
