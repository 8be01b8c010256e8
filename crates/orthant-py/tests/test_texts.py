"""Texts: scikit-learn's counts go into estimators, and what is read here goes into scikit-learn."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

import orthant
from orthant import ONMF

TOPICS = {
    "food": "wine bread cheese butter soup salad dinner kitchen",
    "space": "rocket orbit planet star moon launch telescope galaxy",
    "sport": "goal match player team coach score league ball",
}


@pytest.fixture
def corpus(tmp_path):
    """Texts, their classes, and a folder with them."""
    random = np.random.default_rng(0)
    texts, classes = [], []
    for topic, words in TOPICS.items():
        (tmp_path / "corpus" / topic).mkdir(parents=True)
        for i in range(20):
            text = "The " + " and the ".join(random.choice(words.split(), 7)) + " of it, and that is all."
            (tmp_path / "corpus" / topic / f"{i:02}.txt").write_text(text)
            texts.append(text)
            classes.append(topic)
    return texts, classes, tmp_path


def test_counts_of_scikit_learn_go_in(corpus):
    texts, classes, folder = corpus
    vectorizer = CountVectorizer(stop_words="english")
    X = vectorizer.fit_transform(texts)
    model = ONMF(n_clusters=3, weighting=["tf-idf", "unit"], random_state=0).fit(X)
    assert orthant.metrics.clustering_accuracy(np.unique(classes, return_inverse=True)[1], model.labels_) == 1
    # The weighting is that of TfidfTransformer.
    theirs = ONMF(n_clusters=3, random_state=0).fit(TfidfTransformer().fit_transform(X))
    assert_array_equal(model.labels_, theirs.labels_)
    assert model.relative_error_ == pytest.approx(theirs.relative_error_, rel=1e-12)
    names = vectorizer.get_feature_names_out()
    for i, cluster in enumerate(orthant.findings(model, X, feature_names=names).clusters):
        topic = classes[list(model.labels_).index(i)]
        assert {marker[0] for marker in cluster.markers[:6]} <= set(TOPICS[topic].split())
    page = orthant.report(model, X, folder / "report.html", feature_names=names, title="texts").read_text()
    assert "telescope" in page
    new = vectorizer.transform(["a dinner with wine and unheard bread", "the moon and a rocket"])
    assert_array_equal(model.predict(new), [model.labels_[0], model.labels_[20]])


def test_texts_that_were_read_go_out(corpus):
    texts, classes, folder = corpus
    read = orthant.read(folder / "corpus")
    assert [read.target_names[i] for i in read.target] == classes
    assert read.sample_names[0] == "food/00.txt"
    vectorizer = CountVectorizer(vocabulary=read.feature_names)
    assert_array_equal(vectorizer.transform(texts).toarray(), read.data.toarray())
    model = ONMF(n_clusters=3, weighting=["tf-idf", "unit"]).fit(read.data)
    assert_array_equal(model.predict(vectorizer.transform(texts)), model.labels_)


def test_a_result_of_texts_is_loaded_and_predicts_others(corpus):
    texts, classes, folder = corpus
    program = Path(os.environ.get("ORTHANT_PROGRAM", Path(__file__).parents[3] / "target/release/orthant"))
    if not program.exists():
        pytest.skip(f"there is no program at {program}: cargo build --release")
    (folder / "new").mkdir()
    (folder / "new" / "a.txt").write_text("Stars, a galaxy and an unheard word.")
    (folder / "new" / "b.txt").write_text("The match, the ball, the coach.")
    for options in [[], ["--algorithm", "best"], ["--stem", "--ngrams", "2", "--algorithm", "kl-onmf"]]:
        subprocess.run([program, "cluster", folder / "corpus", "-k", "3", "-q", "--force", "--out", folder / "result", *options], check=True)
        model = orthant.load(folder / "result")
        read = orthant.read(folder / "corpus", like=folder / "result")
        assert list(model.vocabulary_) == read.feature_names
        assert_array_equal(model.predict(read.data), model.labels_)
        ran = subprocess.run([program, "predict", folder / "result", folder / "new"], check=True, capture_output=True, text=True)
        new = orthant.read(folder / "new", like=folder / "result")
        assert [str(label) for label in model.predict(new.data)] == ran.stdout.split()
        assert list(pickle.loads(pickle.dumps(model)).vocabulary_) == read.feature_names
    subprocess.run([program, "convert", folder / "corpus", folder / "counts.npz", "-q"], check=True)
    subprocess.run([program, "cluster", folder / "counts.npz", "-k", "3", "-q", "--out", folder / "numbers"], check=True)
    with pytest.raises(ValueError, match="no result of texts"):
        orthant.read(folder / "corpus", like=folder / "numbers")


def test_tables_of_texts_and_parquet_are_read_alike(corpus):
    polars = pytest.importorskip("polars")
    texts, classes, folder = corpus
    table = polars.DataFrame({"body": texts, "topic": classes, "n": range(len(texts))})
    table.write_csv(folder / "texts.csv")
    table.write_parquet(folder / "texts.parquet")
    expected = orthant.read(folder / "corpus")
    for name in ["texts.csv", "texts.parquet"]:
        read = orthant.read(folder / name, text="body", target="topic", sample_names="n")
        assert_array_equal(read.data.toarray(), expected.data.toarray())
        assert read.feature_names == expected.feature_names and list(read.target) == list(expected.target)
        assert read.sample_names[:2] == ["0", "1"]
    numbers = polars.DataFrame({"a": [1.0, 2.0], "b": [0.0, 3.5]})
    numbers.write_parquet(folder / "numbers.parquet")
    assert_array_equal(orthant.read(folder / "numbers.parquet").data, [[1, 0], [2, 3.5]])


def test_a_damaged_parquet_file_is_an_error_and_nothing_is_printed(tmp_path):
    sound = (Path(__file__).parents[2] / "orthant" / "tests" / "files" / "table.parquet").read_bytes()
    # At these the crate that reads Parquet panics: a page that is shorter than it claims, a dictionary that is not there.
    for at, value in [(232, 0), (595, 1)]:
        (tmp_path / "x.parquet").write_bytes(sound[:at] + bytes([value]) + sound[at + 1 :])
        lines = ["import orthant, sys", "try: orthant.read(sys.argv[1])", "except ValueError as error: print(error)"]
        line = [sys.executable, "-c", "\n".join(lines), tmp_path / "x.parquet"]
        ran = subprocess.run(line, capture_output=True, text=True, check=True)
        assert ran.stderr == "" and "its pages are damaged" in ran.stdout
