"""Hypothesis strategy for ARFF files of every shape that is seen in the wild."""

from dataclasses import dataclass

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


def quoted(word, mark="'"):
    """Quote a word in the way of Weka (written apart from the package on purpose)."""
    word = word.replace("\\", "\\\\").replace(mark, f"\\{mark}").replace("\t", "\\t")
    return f"{mark}{word}{mark}"


def plain(word):
    return word.isalnum() and word.isascii()


@dataclass
class ArffFile:
    names: list
    kinds: list
    rows: list
    labels: list
    sparse: bool
    line_end: str
    space: str
    comments: bool
    mark: str

    def feature_names(self):
        names = []
        for i, (name, kind) in enumerate(zip(self.names, self.kinds, strict=True)):
            if i not in self.labels:
                one_hot = kind is not None and not set(kind) <= {"0", "1"}
                names += [f"{name}={each}" for each in columns(kind)] if one_hot else [name]
        return names

    def text(self, plain_names=False):
        names = [f"a{i}" for i in range(len(self.names))] if plain_names else self.names
        lines = ["% a comment, 'with' {braces}", "@RELATION 'made up'", ""]
        for name, kind in zip(names, self.kinds, strict=True):
            declared = "NUMERIC" if kind is None else f"{{{','.join(map(self._word, kind))}}}"
            lines.append(f"@Attribute {self._word(name)} {declared}")
        lines += ["", "@DATA", *self._data()]
        return (self.line_end.join(lines) + self.line_end).encode()

    def _word(self, word):
        return word if plain(word) else quoted(word, self.mark)

    def _data(self):
        for row in self.rows:
            if self.comments:
                yield from ("% 1,2,'3", "", "   ")
            yield self._sparse_row(row) if self.sparse else self._dense_row(row)

    def _dense_row(self, row):
        return f",{self.space}".join(self._cell(i, value) for i, value in enumerate(row))

    def _sparse_row(self, row):
        kept = [(i, v) for i, v in enumerate(row) if v != "omitted"]
        entries = f"{self.space},".join(f"{i} {self._cell(i, v)}" for i, v in kept)
        return f"{{{self.space}{entries}{self.space}}}"

    def _cell(self, i, value):
        if value is None:
            return "?"
        return value if self.kinds[i] is None else self._word(value)


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
    sparse = draw(st.booleans())
    cells = [_cells(kind, i in labels, sparse) for i, kind in enumerate(kinds)]
    return ArffFile(
        names=names,
        kinds=kinds,
        rows=draw(st.lists(st.tuples(*cells), max_size=6)),
        labels=labels,
        sparse=sparse,
        line_end=draw(st.sampled_from(["\n", "\r\n"])),
        space=draw(st.sampled_from(["", "", " ", "  "])),
        comments=draw(st.booleans()),
        mark=draw(st.sampled_from(["'", '"'])),
    )


def _cells(kind, is_label, sparse):
    cells = NUMBERS if kind is None else st.sampled_from(kind)
    cells = cells if is_label else cells | st.none()
    return cells | st.just("omitted") if sparse else cells
