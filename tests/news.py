"""Texts like news, made of words of our own: five classes, each of several topics whose words partly belong to other
classes too, among words that all have. Texts differ in length, and some are about two classes.

Usage: python tests/news.py FOLDER    writes FOLDER/CLASS/NUMBER.txt
"""

import random
import sys
from pathlib import Path

CLASSES = {"business": 510, "entertainment": 386, "politics": 417, "sport": 511, "tech": 401}
FUNCTION_WORDS = (
    "the of and to in a is that for it on was with as be by at have from are this not but had has his they which or an "
    "were been their we more he will would there about into than its also after when out up who so if can some what"
).split()
SYLLABLES = [c + v for c in "b d f g k l m n p r s t v br dr gr pl st tr".split() for v in "a e i o u ai ea ou".split()]


def words(source, count, taken):
    """New words of two to four syllables."""
    made = []
    while len(made) < count:
        word = "".join(source.choices(SYLLABLES, k=source.choice([2, 2, 3, 3, 4])))
        if word not in taken:
            taken.add(word)
            made.append(word)
    return made


def zipf(source, vocabulary, count):
    weights = [1 / (rank + 3) for rank in range(len(vocabulary))]
    return source.choices(vocabulary, weights, k=count)


def texts(seed=0, share=1.0):
    """(class, text) of a share of all texts, in a random order."""
    source = random.Random(seed)
    taken = set(FUNCTION_WORDS)
    common = words(source, 2500, taken)
    topics = {}
    for name in CLASSES:
        own = words(source, 150, taken)
        topics[name] = [own[:30] + words(source, 50, taken) for _ in range(5)]
    # Classes share some of their words: firms are in business and tech, elections in politics and business.
    names = list(CLASSES)
    for at, name in enumerate(names):
        for topic in topics[name]:
            topic += source.sample(topics[names[(at + 1) % 5]][0], 8)
    made = []
    for name, count in CLASSES.items():
        for _ in range(round(count * share)):
            length = int(source.lognormvariate(4.6, 0.5)) + 20
            about = source.choice(topics[name])
            other = source.choice(topics[source.choice(names)]) if source.random() < 0.25 else about
            chosen = source.choices(FUNCTION_WORDS, k=length) + zipf(source, common, length // 2)
            chosen += zipf(source, about, length // 7) + zipf(source, other, length // 10)
            source.shuffle(chosen)
            sentences = [" ".join(chosen[i : i + 14]).capitalize() + "." for i in range(0, len(chosen), 14)]
            made.append((name, "\n".join(sentences)))
    source.shuffle(made)
    return made


def write(folder, **options):
    folder = Path(folder)
    for name in CLASSES:
        (folder / name).mkdir(parents=True, exist_ok=True)
    for number, (name, text) in enumerate(texts(**options)):
        (folder / name / f"{number:04}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(sys.argv[1])
