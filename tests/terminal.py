#!/usr/bin/env python3
"""Looks at what the program prints in terminals of 60 and 80 columns: no line of any command is wider, and where something goes on
for a while one bar shows how much of it is done, which never goes back.

    tests/terminal.py target/release/orthant
"""
import fcntl, os, pty, re, struct, sys, tempfile, termios, unicodedata
from pathlib import Path

PROGRAM = str(Path(sys.argv[1]).resolve())
COMMANDS = [
    "generate synthetic --noise 0.1 --seed 7 --out other.npy",
    "info set.npy",
    "info scene.npy",
    "convert set.npy set.csv",
    "convert set.npy set.blocks",
    "cluster set.npy -k 6 --out result",
    "cluster scene.npy -k 4",
    "predict result set.npy --out labels.txt",
    "evaluate result set.labels",
    "evaluate names.txt names.txt",
    "compare set.npy -k 6 --runs 60 --methods best,em-onmf,onp-mf+em,chnmf,spherical-k-means:residual --max-iterations 300",
    "compare set.npy -k 6 --runs 2 --methods em-onmf,k-means --csv",
    "choose-k set.npy 2..12 --runs 100 --out chosen",
    "advise set.npy --runs 100 --out advice",
    "advise set.npy -k 6 --halves 1",
    "methods",
    "methods onp-mf",
    "demo --sets 1 --runs 1 --out demo",
    "reproduce figure1 figure4 --quick --sets 1 --out reproduction",
]
# Lines for programs stay as they are.
AS_THEY_ARE = ["--csv"]
# These take long enough to be watched.
WATCHED = ["compare", "choose-k", "advise", "reproduce"]
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def in_terminal(arguments, columns, folder):
    """What the program prints in a terminal, and its exit code."""
    ready, go = os.pipe()
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.environ["TERM"] = "xterm"
        os.read(ready, 1)
        os.execv(PROGRAM, [PROGRAM, *arguments.split()])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    os.write(go, b".")
    os.close(ready), os.close(go)
    printed = b""
    while True:
        try:
            some = os.read(terminal, 1 << 16)
        except OSError:
            break  # How Linux says that the other side is gone.
        if not some:
            break
        printed += some
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    return printed.decode(), os.waitstatus_to_exitcode(status)


def width(line):
    """Columns that a line takes."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def main():
    watched = set()
    for columns in [60, 80]:
        with tempfile.TemporaryDirectory() as folder:
            names = ["a class with a name of some length", "名前", "averyveryverylongnamewithoutanyblanksthatgoesonandon"]
            Path(folder, "names.txt").write_text("".join(f"{names[i % 3]}{i % 12}\n" for i in range(120)))
            for made in ["generate synthetic --noise 0.05 --seed 3 --out set.npy", "generate telescope --out scene.npy"]:
                assert in_terminal(made, columns, folder)[1] == 0, made
            for arguments in COMMANDS:
                printed, code = in_terminal(arguments, columns, folder)
                assert code == 0, f"orthant {arguments}: {code}\n{printed}"
                lines = re.split(r"[\r\n]+", ESCAPES.sub("", printed))
                wide = [line for line in lines if width(line) > columns]
                if not any(word in arguments for word in AS_THEY_ARE):
                    assert not wide, f"orthant {arguments}, {columns} columns:\n" + "\n".join(wide)
                # A bar that begins anew would be another one.
                shares = [int(found[1]) for line in lines if (found := re.match(r"[█░]+ (\d+) %", line))]
                assert shares == sorted(shares), f"orthant {arguments}: {shares}"
                if len(shares) > 1:
                    watched.add(arguments.split()[0])
    assert watched.issuperset(WATCHED), f"no bar was seen: {set(WATCHED) - watched}"
    print(f"{2 * len(COMMANDS)} passed, 0 failed")


if __name__ == "__main__":
    main()
