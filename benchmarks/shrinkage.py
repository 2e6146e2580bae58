"""Rules for the shrinkage of kaLDA beside fixed values, and the defaults of its kernel.

Run from the root of the project, with the data sets that are not bundled in
``SKML_KALDA_DATA``: ``python -m benchmarks.shrinkage [set ...]``. A stopped run continues where
it was. Five folds, K − 1 components, a vote of ten neighbours; dense features are standardised on
the training rows, word counts are not; at most 4,000 rows. The rule "CV" is `MultiLabelKaLDACV`
or `KernelKaLDACV` with three inner folds, by macro F1. Scores are macro F1, micro F1 and accuracy
(1 − Hamming loss).
"""

from __future__ import annotations

import json
import sys
import warnings
from functools import lru_cache

import numpy as np
from scipy import sparse
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from benchmarks.common import RESULTS, markdown_table
from skml_kalda import KernelKaLDACV, MultiLabelKaLDACV
from skml_kalda._core.labels import omega_weighted
from skml_kalda._core.neighbors import neighbor_counts
from skml_kalda._core.shrinkage import shrinkage_of
from skml_kalda.datasets import load_dataset
from skml_kalda.reducers.kalda.search.grid import Grid
from skml_kalda.reducers.kalda.search.scoring import OF_MATRICES

DENSE = ("emotions", "yeast", "scene", "msrc-mom", "msrc-sift")
TEXT = ("bibtex", "tmc2007-500")
FIXED = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.99)
RULES = ("OAS", "Ledoit-Wolf", "GCV", "CV")
SCORES = ("f1_macro", "f1_micro", "label_accuracy")
WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)
LANDMARKS = (300, 600, 1000)
NEIGHBORS = 10


@lru_cache(maxsize=1)
def data(name, rows=4000):
    X, Y = load_dataset(name, return_X_y=True)
    X, Y = sparse.csr_array(X, dtype=float), sparse.csr_array(Y, dtype=float)
    if X.shape[0] > rows:
        kept = np.sort(np.random.default_rng(0).choice(X.shape[0], rows, replace=False))
        X, Y = X[kept], Y[kept]
    Y = Y[:, np.flatnonzero(Y.sum(axis=0))]
    return (X if name in TEXT else X.toarray()), Y


def problems():
    """Yield each data set with a reducer, its name in the table, and the rules to try."""
    for name in (*DENSE, *TEXT):
        yield name, MultiLabelKaLDACV(), "linear, free", RULES
        if name in DENSE:
            # Without CV, which would solve the Stiefel problem for every value and fold.
            reducer = MultiLabelKaLDACV(constraint="orthonormal")
            yield name, reducer, "linear, orthonormal", RULES[:-1]
        # With few features the linear kernel gives the linear reducer.
        for kernel in ("rbf", "cosine") if name in DENSE else ("linear", "rbf", "cosine"):
            reducer = KernelKaLDACV(kernels=kernel, gammas=1.0, random_state=0)
            yield name, reducer, f"kernel {kernel}", RULES
        for width in WIDTHS:
            if width != 1:
                reducer = KernelKaLDACV(gammas=width, random_state=0)
                yield name, reducer, f"kernel rbf, width {width:g}", ()
        for number in (n for n in LANDMARKS[:-1] if n < 0.8 * data(name)[1].shape[0]):
            for kernel in ("rbf", "cosine"):
                reducer = KernelKaLDACV(
                    kernels=kernel, gammas=1.0, n_landmarks=number, random_state=0
                )
                yield name, reducer, f"kernel {kernel}, {number} landmarks", ()


def measured(name, reducer, rules):
    """Return the mean scores of each fixed value and each rule, with the value it chose."""
    X, Y = data(name)
    folds = list(KFold(5, shuffle=True, random_state=0).split(X))
    tables = []
    for train, test in folds:
        near, far = X[train], X[test]
        if name in DENSE:
            scaler = StandardScaler().fit(near)
            near, far = scaler.transform(near), scaler.transform(far)
        tables.append(on_fold(reducer, rules, near, Y[train], far, Y[test]))
    mean = np.mean(tables, axis=0)
    values = {"fixed": [round4(row[1:]) for row in mean[: len(FIXED)]]}
    return values | {rule: round4(row) for rule, row in zip(rules, mean[len(FIXED) :], strict=True)}


def round4(row):
    return [round(float(value), 4) for value in row]


def on_fold(reducer, rules, near, labels, far, true):
    """Return rows of shrinkage and scores: the fixed values, then the rules."""
    occupied = labels[:, np.flatnonzero(labels.sum(axis=0))]
    reducer._draw_seed()
    (space,) = reducer._spaces(near)
    scatter, project = reducer._embed(space, near, occupied, reducer._shared([space], near))
    chosen = chosen_by(rules, reducer, scatter, project, near, labels)
    grid = Grid([None], [NEIGHBORS], [*FIXED, *chosen], [0.5], reducer.constraint)
    G, blocks = grid._directions(scatter)
    near, far = project(near, G), project(far, G)
    table = []
    for block in blocks:
        votes = neighbor_counts(near[:, block.columns], labels, far[:, block.columns], [NEIGHBORS])
        ((_, counts),) = votes
        predicted = 2 * counts > NEIGHBORS
        scores = [OF_MATRICES[score](true.toarray() > 0, predicted) for score in SCORES]
        table.append([grid.shrinkage[block.shrinkage], *scores])
    return np.array(table)


def chosen_by(rules, reducer, scatter, project, near, labels):
    if not rules:
        return []
    values, basis = scatter.spectrum
    weighted = omega_weighted(labels, np.ones(labels.shape[0]))
    # Rotated rows, weighted by their labels: their covariance is S_t, on its range.
    rows = project(near, basis if isinstance(basis, np.ndarray) else basis @ np.eye(len(values)))
    rows = rows - weighted.weight @ rows / weighted.weight.sum()
    rows = (rows * np.sqrt(weighted.weight)[:, None])[weighted.weight > 0]
    chosen = [
        oracle_approximating(scatter, values),
        ledoit_wolf_shrinkage(rows, assume_centered=True),
        shrinkage_of(scatter, "auto"),
    ]
    if "CV" in rules:
        search = reducer.set_params(shrinkages=FIXED, n_neighbors=NEIGHBORS, cv=3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # classes without rows
            chosen.append(search.fit(near, labels).best_params_["shrinkage"])
    return chosen


def oracle_approximating(scatter, values):
    """Return the shrinkage of Chen et al., which minimises the mean square for Gaussian rows."""
    p = scatter.n_features
    n = np.trace(scatter.gram)  # Σ ρ_i‖y_i/ρ_i‖²: the number of labelled rows
    spread = np.sum(values**2) / p**2
    level = (np.sum(values) / p) ** 2
    excess = (n + 1) * (spread - level / p)
    return 1.0 if excess <= 0 else min(1.0, float((spread + level) / excess))


def regrets(results, space, score):
    """Yield the mean distance of each rule and each fixed value to the best fixed value."""
    found = [each[space] for each in results.values() if space in each]
    for place in (*RULES, *range(len(FIXED))):
        if place in RULES and place not in found[0]:
            yield "–"
            continue
        rows = [each[place][1:] if place in RULES else each["fixed"][place] for each in found]
        best = [max(row[score] for row in each["fixed"]) for each in found]
        yield f"{100 * np.mean([b - row[score] for b, row in zip(best, rows, strict=True)]):.1f}"


def table(heads, rows):
    return markdown_table(["features", *heads], [[name, *cells] for name, cells in rows.items()])


def summary(results):
    """Write the mean regret of every rule and fixed value, and the best scores."""
    lines = ["# Shrinkage: mean regret against the best fixed value, in hundredths", ""]
    spaces = dict.fromkeys(space for each in results.values() for space in each)
    for score, title in enumerate(("Macro F1", "Micro F1", "Accuracy")):
        rows = {space: list(regrets(results, space, score)) for space in spaces}
        lines += [f"## {title}", "", table([*RULES, *map("{:g}".format, FIXED)], rows)]
    best = {space: [at_best(each.get(space)) for each in results.values()] for space in spaces}
    return "\n".join(
        [*lines, "## Macro / micro F1 of the best fixed value", "", table(results, best)]
    )


def at_best(result):
    if result is None:
        return "–"
    return " / ".join(f"{max(row[i] for row in result['fixed']):.3f}" for i in (0, 1))


def write(results):
    layout = {"fixed": FIXED, "scores": SCORES, "rules": "mean shrinkage, then scores"}
    sets = ",\n".join(
        f'"{name}": {{\n' + ",\n".join(f'"{s}": {json.dumps(r)}' for s, r in each.items()) + "}"
        for name, each in results.items()
    )
    path = RESULTS / "shrinkage.json"
    path.write_text(f'{{"layout": {json.dumps(layout)},\n"results": {{\n{sets}}}}}\n')
    path.with_suffix(".md").write_text(summary(results))


def main(names):
    """Measure what is not in the results yet, on all sets or on those named."""
    path = RESULTS / "shrinkage.json"
    results = json.loads(path.read_text())["results"] if path.exists() else {}
    for name, reducer, space, rules in problems():
        if (names and name not in names) or space in results.get(name, {}):
            continue
        results.setdefault(name, {})[space] = measured(name, reducer, rules)
        print(name, space, json.dumps(results[name][space]), flush=True)
        write(results)


if __name__ == "__main__":
    main(sys.argv[1:])
