"""The command `orthant` that comes with the package: the same program, in the same compiled file."""

import importlib.metadata
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import orthant
from orthant import ONMF

COMMAND = [sys.executable, "-m", "orthant"]


def run(*words, **options):
    return subprocess.run([*COMMAND, *map(str, words)], capture_output=True, text=True, **options)


def test_the_package_declares_the_command():
    (found,) = [e for e in importlib.metadata.entry_points(group="console_scripts") if e.name == "orthant"]
    assert found.value == "orthant.__main__:main"
    assert found.load().__module__ == "orthant.__main__"


def test_it_is_the_version_of_the_package_and_waits_for_nobody():
    assert run("--version").stdout == f"orthant {orthant.__version__}\n"
    script = "import sys, orthant.__main__; assert not {'sklearn', 'numpy', 'scipy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_it_gives_the_answer_of_the_estimator_and_says_what_was_typed(X, tmp_path):
    np.save(tmp_path / "x.npy", X)
    done = run("cluster", "x.npy", "-k", 5, "-a", "best", "--seed", 3, "--out", "result", "--json", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    model = ONMF(n_clusters=5, random_state=3).fit(X)
    assert json.loads(done.stdout)["relative_error"] == model.relative_error_
    assert_array_equal(orthant.load(tmp_path / "result").labels_, model.labels_)
    assert "orthant cluster x.npy -k 5 -a best --seed 3 --out result" in (tmp_path / "result" / "report.html").read_text()


def test_refusals_and_codes_are_those_of_the_program(tmp_path):
    for words, code, told in [
        (["clusterx"], 2, "orthant: error: unrecognized subcommand 'clusterx'; tip: a similar"),
        (["cluster", "--kk"], 2, "(see 'orthant cluster --help')"),
        (["cluster", "gone.npy", "-k", "2"], 2, "gone.npy"),
    ]:
        done = run(*words, cwd=tmp_path)
        assert (done.returncode, told in done.stderr, done.stderr.count("\n")) == (code, True, 1), done.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as on Unix")
def test_ctrl_c_ends_with_the_best_so_far(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((4000, 60)))
    words = "cluster x.npy -k 20 --effort endless --json --checkpoint work --checkpoint-every 0.01".split()
    with subprocess.Popen(
        [*COMMAND, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as work:
        # What was saved says that it works; before that, Ctrl-C would end it at once.
        while not (tmp_path / "work").exists():
            assert work.poll() is None, work.stderr.read()
            time.sleep(0.01)
        work.send_signal(signal.SIGINT)
        out, told = work.communicate(timeout=100)
    assert work.returncode == 130, told
    assert "Traceback" not in told and "stopping with the best so far" in told
    assert 0 < json.loads(out)["relative_error"] < 1


def test_everything_named_is_there_and_nothing_else():
    for name in orthant.__all__:
        assert getattr(orthant, name) is not None
    assert set(orthant.__all__) <= set(dir(orthant))
    with pytest.raises(AttributeError, match="has no attribute 'onmf'"):
        orthant.onmf


# Work under way, in Python.


class Ended(Exception):
    """The machine goes down."""


def ending_at(last, seen):
    def watch(info):
        seen.append(info["n_iter"])
        if len(seen) == last:
            raise Ended

    return watch


def test_a_fit_goes_on_from_its_checkpoint_to_the_same_bits(X, tmp_path):
    path, parameters, seen = tmp_path / "work.orthant", {"method": "onp-mf", "max_iter": 30}, []
    whole = ONMF(4, **parameters).fit(X)
    with pytest.raises(Ended):
        ONMF(4, callback=ending_at(20, seen), **parameters).fit(X, checkpoint=path, checkpoint_every=1e9)
    assert path.exists(), "it is saved on the way out too"
    seen.clear()
    model = ONMF(4, callback=ending_at(-1, seen), **parameters).fit(X, checkpoint=path)
    assert seen[0] >= 20, "what was saved is not done again"
    assert_array_equal(model.components_, whole.components_)
    assert model.relative_error_ == whole.relative_error_
    assert not path.exists(), "a fit that is complete leaves nothing"


def test_resume_false_begins_anew_and_other_work_is_refused(X, tmp_path):
    path, seen = tmp_path / "work.orthant", []
    with pytest.raises(Ended):
        ONMF(4, method="onp-mf", callback=ending_at(5, [])).fit(X, checkpoint=path, checkpoint_every=0)
    with pytest.raises(ValueError, match="the checkpoint is of other work"):
        ONMF(3, method="onp-mf").fit(X, checkpoint=path)
    ONMF(3, method="onp-mf", callback=ending_at(-1, seen)).fit(X, checkpoint=path, resume=False)
    assert seen[0] == 1


def test_what_another_program_puts_in_the_place_of_a_checkpoint_stays(X, tmp_path):
    path, other = tmp_path / "work.orthant", tmp_path / "other"

    def meddle(info):
        if info["n_iter"] == 5:
            other.write_bytes(b"of another program")
            os.replace(other, path)

    parameters = {"method": "onp-mf", "max_iter": 30}
    whole = ONMF(4, **parameters).fit(X)
    with pytest.warns(RuntimeWarning, match="could not be saved.*another program has written there"):
        model = ONMF(4, callback=meddle, **parameters).fit(X, checkpoint=path, checkpoint_every=0)
    assert path.read_bytes() == b"of another program"
    assert_array_equal(model.components_, whole.components_)
    # Nor is it taken for a checkpoint by the next fit, whichever way that is to begin.
    for resume in (True, False):
        with pytest.raises(ValueError, match="checkpoint"):
            ONMF(4, **parameters).fit(X, checkpoint=path, resume=resume)
        assert path.read_bytes() == b"of another program"
    assert os.listdir(tmp_path) == ["work.orthant"]


def test_a_checkpoint_that_cannot_be_saved_does_not_cost_the_fit(X, tmp_path):
    with pytest.warns(RuntimeWarning, match="could not be saved"):
        model = ONMF(4, method="onp-mf", max_iter=30).fit(X, checkpoint=tmp_path / "none" / "work", checkpoint_every=0)
    assert_array_equal(model.labels_, ONMF(4, method="onp-mf", max_iter=30).fit(X).labels_)


def test_a_fit_that_a_callback_stops_keeps_its_checkpoint(X, tmp_path):
    path = tmp_path / "work.orthant"
    model = ONMF(4, method="onp-mf", callback=lambda info: info["n_iter"] >= 5).fit(X, checkpoint=path)
    assert path.exists() and not model.converged_
    assert ONMF(4, method="onp-mf").fit(X, checkpoint=path).converged_
