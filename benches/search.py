"""How good and how fast the search is: errors against the lowest known (benches/lowest.csv), time against another program.

    python benches/search.py DATA [--program P] [--base OLD] [--effort E] [--sets tr11,k1b] [--method best-kl-onmf] [--keep]

DATA is the folder with text/*.mtx.gz. With --base both programs run in turn, and the geometric mean of the ratios of their
seconds is printed. With --keep errors that are lower than those of the table are written into it, with how they were found.
"""

import argparse
import csv
import json
import math
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
TABLE = HERE / "lowest.csv"
SETS = {
    "tr11": 9, "tr23": 6, "tr41": 10, "tr45": 10, "hitech": 6, "la1": 6, "la2": 6, "reviews": 5, "k1b": 6,
    "ohscal": 10, "classic": 4,
}  # fmt: skip
WEIGHTINGS = ["raw", "unit", "tf-idf", "tf-idf,unit"]


def solve(program, file, k, weighting, args):
    """One run of a program: its error, its objective and its seconds, from the data in memory to the labels."""
    steps = [] if weighting == "raw" else ["--weighting", weighting]
    command = [program, "cluster", str(file), "-k", str(k), "-a", args.method, "--effort", args.effort, "--seed", str(args.seed),
               "--threads", str(args.threads), "--json", "--quiet", *steps]  # fmt: skip
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found["relative_error"], found["objective"], found["seconds"]


def lowest():
    with TABLE.open(newline="") as file:
        return {(row["set"], row["weighting"]): row for row in csv.DictReader(file)}


def write(known):
    with TABLE.open("w", newline="") as file:
        rows = csv.DictWriter(file, ["set", "weighting", "k", "error", "found by"], lineterminator="\n")
        rows.writeheader()
        rows.writerows(known[key] for key in sorted(known))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--program", default=str(HERE.parent / "target/release/orthant"))
    parser.add_argument("--base")
    parser.add_argument("--method", default="best")
    parser.add_argument("--effort", default="normal")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--weightings", default="raw;unit;tf-idf", help="separated by semicolons")
    parser.add_argument("--keep", action="store_true")
    args = parser.parse_args()
    known, ratios, above = lowest(), [], []
    for name in args.sets.split(","):
        for weighting in args.weightings.split(";"):
            file = args.data / "text" / f"{name}.mtx.gz"
            error, objective, seconds = solve(args.program, file, SETS[name], weighting, args)
            said = f"{name:8} {weighting:12} {error:.7f} {objective:.8g} {seconds:7.2f} s"
            if args.base:
                before, _, base = solve(args.base, file, SETS[name], weighting, args)
                ratios.append(seconds / base)
                said += f"; base {before:.7f} {base:7.2f} s, {seconds / base:.2f} times"
            row = known.get((name, weighting))
            if args.method == "best":
                if row:
                    above.append(error - float(row["error"]))
                    said += f"; {above[-1]:+.1e} above the lowest"
                # The table has seven digits: what is equal in these keeps who found it first.
                if args.keep and (not row or round(error, 7) < float(row["error"])):
                    found = f"best, {args.effort}, seed {args.seed}"
                    known[name, weighting] = {
                        "set": name, "weighting": weighting, "k": SETS[name], "error": f"{error:.7f}", "found by": found,
                    }  # fmt: skip
                    write(known)
            print(said, flush=True)
    if ratios:
        print(f"geometric mean of the times: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f} of the base")
    if above:
        print(f"at most {max(above):.1e} above the lowest known")


if __name__ == "__main__":
    main()
