"""Hypothesis strategy for ARFF files of every shape that is seen in the wild."""

from typing import NamedTuple

from hypothesis import strategies as st

from tests.datasets.arff.liac_oracle import columns

NAMES = st.text(st.sampled_from("ab01 '\"%,{}\\\t?@éß漢-_."), min_size=1, max_size=8)
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**20), 10**20).map(str),
    st.decimals(-1000, 1000, places=6).map(str),
    st.sampled_from(["-0", "+1", ".5", "5.", "1E5", "007", "1e-300"]),
)
BINARY = st.sampled_from([("0", "1"), ("1", "0"), ("0",), ("1",)])


class ArffFile(NamedTuple):
    text: bytes
    for_liac: bytes  # the same with names of attributes that liac-arff can read
    names: list
    labels: list
    feature_names: list
    is_sparse: bool


@st.composite
def arff_files(draw):
    names = draw(st.lists(NAMES, min_size=2, max_size=6, unique=True))
    labels = sorted(draw(st.sets(st.integers(0, len(names) - 1), min_size=1, max_size=2)))
    labels = labels[: len(names) - 1]
    categories = st.lists(NAMES, min_size=1, max_size=4, unique=True).map(tuple)
    kinds = [
        draw(BINARY) if i in labels else draw(st.none() | st.none() | BINARY | categories)
        for i in range(len(names))
    ]
    sparse, comments = draw(st.booleans()), draw(st.booleans())
    cells = [_cells(kind, i in labels, sparse) for i, kind in enumerate(kinds)]
    rows = draw(st.lists(st.tuples(*cells), max_size=6))
    mark, end = draw(st.sampled_from("'\"")), draw(st.sampled_from(["\n", "\r\n"]))
    space = draw(st.sampled_from(["", "", " ", "  "]))

    def word(text):
        """Quote a word in the way of Weka (written apart from the package on purpose)."""
        if text.isalnum() and text.isascii():
            return text
        text = text.replace("\\", "\\\\").replace(mark, f"\\{mark}").replace("\t", "\\t")
        return f"{mark}{text}{mark}"

    def row(values):
        texts = [
            "?" if v is None else word(v) if k else v for v, k in zip(values, kinds, strict=True)
        ]
        if not sparse:
            return f",{space}".join(texts)
        kept = [f"{i} {text}" for i, text in enumerate(texts) if values[i] != "omitted"]
        return f"{{{space}{f'{space},'.join(kept)}{space}}}"

    def text(names):
        declared = [f"{{{','.join(map(word, kind))}}}" if kind else "NUMERIC" for kind in kinds]
        lines = ["% a comment, 'with' {braces}", "@RELATION 'made up'", ""]
        lines += map("@Attribute {} {}".format, map(word, names), declared)
        lines += ["", "@DATA"]
        for values in rows:
            lines += ["% 1,2,'3", "", "   "] * comments + [row(values)]
        return (end.join(lines) + end).encode()

    named = [(names[i], kinds[i]) for i in range(len(names)) if i not in labels]
    feature_names = []
    for name, kind in named:
        one_hot = kind is not None and not set(kind) <= {"0", "1"}
        feature_names += [f"{name}={each}" for each in columns(kind)] if one_hot else [name]
    for_liac = text([f"a{i}" for i in range(len(names))])
    return ArffFile(text(names), for_liac, names, labels, feature_names, sparse and bool(rows))


def _cells(kind, is_label, sparse):
    cells = NUMBERS if kind is None else st.sampled_from(kind)
    cells = cells if is_label else cells | st.none()
    return cells | st.just("omitted") if sparse else cells
