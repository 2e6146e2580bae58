"""Random problems: every reducer in every form and precision, every classifier refitted literally.

    python -m benchmarks.random_problems           # 10,000 problems, kept
    python -m benchmarks.random_problems 500       # the first 500, printed
    python -m benchmarks.random_problems 0 4711    # this one alone

A problem draws samples (one-hot, hashed, text-like, rank-deficient, with constant or far-off
columns), labels (some without any, some unknown), weights (some zero), a method with parameters,
and a form. A reducer must project as its fit to the same numbers in dense double precision does,
and a classifier must predict as the formulas written out here say. An outcome is one of

- "agrees": within the tolerance of `tolerance`;
- "tied": another direction of equal eigenvalue, or of equal value of the objective;
- "refused": an error of the package or of scikit-learn's validation, in all forms or in this one;
- "warned": a ConvergenceWarning;
- "ill-posed": nothing regularises, and the condition of S_t leaves the dense fit two digits;
- "silent": none of these.
"""

from __future__ import annotations

import sys
import traceback
import warnings
from collections import Counter, defaultdict

import dask
import dask.array as da
import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel
from threadpoolctl import threadpool_limits

import skml_kalda as sk
from benchmarks.common import environment, write
from benchmarks.literal_classifiers import difference, draw_classifier
from skml_kalda._core.scatter import forced_form

FORMS = ("dense primal", "dense dual", "sparse primal", "sparse dual", "sparse operator", "sparse")
FORMS += ("dense batches", "sparse batches", "dense dask", "sparse dask", "sparse dask operator")
RIDGED = {"LDA": sk.LDA, "RLDA": sk.RLDA, "ULDA": sk.ULDA, "OLDA": sk.OLDA, "OPLS": sk.OPLS}
RIDGED |= {"CCA": sk.CCA, "MLDA": sk.MLDA, "MLR": sk.MLR, "MLSI": sk.MLSI}
RIDGED |= {"TraceRatio": sk.TraceRatio, "SDPLDA": sk.SDPLDA}
OTHERS = ("MDDM", "MLLS", "MMC", "OCM", "kaLDA", "kaLDA free", "KernelKaLDA", "LandmarkFeatures")
CLASSIFIERS = ("MLkNN", "BinaryRelevanceKNN", "KaLDAClassifier")
METHODS = (*RIDGED, *OTHERS, "AlignmentScaler", *CLASSIFIERS)


def draw_samples(rng, n, kind):
    """Draw samples on a grid of 1/256, so that an offset rounds nothing off."""
    p = int(rng.integers(2, 25) if kind != "wide" else rng.integers(n, 3 * n))
    X = rng.normal(size=(n, p)) * 2.0 ** rng.integers(-2, 3, p)
    if kind == "one-hot":
        levels = rng.integers(2, 6, int(rng.integers(1, 6)))
        X = np.hstack([np.eye(m)[rng.integers(m, size=n)] for m in levels])
    elif kind == "hashed":
        X = rng.poisson(0.2, (n, 40)) @ (
            np.eye(p)[rng.integers(p, size=40)] * rng.choice([-1, 1], (40, 1))
        )
    elif kind == "text":
        p = int(rng.integers(10, 120))
        X = rng.poisson(2 / np.arange(1, p + 1) ** 0.8, (n, p)) * rng.uniform(1, 3, p)
    elif kind == "deficient":
        X = rng.normal(size=(n, max(p // 2, 1))).round(2) @ rng.integers(-2, 3, (max(p // 2, 1), p))
    elif kind == "repeated":
        X = X[rng.integers(max(n // 2, 2), size=n)]
    elif kind == "few columns":
        p = int(rng.integers(200, 600))
        X = (rng.random((n, p)) < 0.1) * rng.poisson(1.5, (n, p)) * (rng.random(p) < 20 / p)
    if rng.random() < 0.1:
        X = X * 2.0 ** rng.integers(0, 12, X.shape[1])
    return np.round(X * 256) / 256


def draw_problem(seed):
    """Return samples, labels, weights, the method, the form and whether in single precision."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 70))
    kinds = ["dense", "wide", "one-hot", "hashed", "text", "deficient", "repeated"]
    kind = kinds[rng.integers(len(kinds))]
    if rng.random() < 0.04 and METHODS[seed % len(METHODS)] not in CLASSIFIERS:
        n, kind = int(rng.integers(100, 500)), "few columns"
    X = draw_samples(rng, n, kind)
    K = int(rng.integers(2, 8))
    scores = X @ rng.normal(size=(X.shape[1], K))
    scores += 0.7 * (scores.std() + 0.1) * rng.normal(size=(n, K))
    Y = (scores > np.quantile(scores, rng.uniform(0.5, 0.85), axis=0)).astype(float)
    Y[:K] = np.eye(K)
    if rng.random() < 0.2:  # one class per sample
        Y = np.eye(K)[scores.argmax(axis=1)]
        Y[:K] = np.eye(K)
    if rng.random() < 0.15:
        Y[K:][rng.random((n - K, K)) < 0.2] = np.nan
    single = bool(rng.random() < 0.3)
    if rng.random() < 0.3:
        X[:, rng.integers(X.shape[1])] = rng.choice([0.0, 3.7, 4.0])
    if rng.random() < 0.4:
        power = rng.integers(0, 4 if single else 9, X.shape[1])
        X = X + rng.integers(-1, 2, X.shape[1]) * 10.0**power * (rng.random(X.shape[1]) < 0.5)
    weight = rng.choice([0.0, 0.5, 1.0, 2.0, 3.0], n) if rng.random() < 0.3 else None
    if weight is not None:
        weight[:K] = 1
        X[weight == 0] *= rng.choice([0.0, 1.0, 100.0])
    return X, Y, weight, METHODS[seed % len(METHODS)], single, rng


def draw_reducer(name, rng):
    """Return a reducer with parameters."""
    k = [None, None, 1, 2][rng.integers(4)]
    tol = {"tol": float(rng.choice([1e-4, 1e-8]))}
    ridge = [0.0, 0.01, 0.1, 1.0, "auto"][rng.integers(5)]
    label_weights = ["binary", "entropy", "correlation", "fuzzy"][rng.integers(4)]
    latent = {
        "beta": rng.choice([0.2, 0.5, 1.0]),
        "form": ["direct", "inverse"][rng.random() < 0.2],
    }
    more = {"MLDA": {"weights": label_weights}, "MLSI": latent}
    shrinkage = [None, 0.05, 0.3, 1.0, "auto"][rng.integers(5)]
    kalda = {"shrinkage": shrinkage, "weights": str(rng.choice(["labels", "rows"]))}
    if name in ("TraceRatio", "SDPLDA"):
        return RIDGED[name](k, ridge=ridge)
    if name in RIDGED:
        return RIDGED[name](k, ridge=ridge, **more.get(name, {}), **tol)
    if name == "kaLDA":
        return sk.MultiLabelKaLDA(k, **kalda, **tol)
    label_kernel = "linear" if rng.random() < 0.8 else linear_kernel
    kernel = str(rng.choice(["rbf", "linear", "cosine", "laplacian"]))
    return {
        "MDDM": lambda: sk.MDDM(
            k, projection=rng.choice(["p", "f"]), label_kernel=label_kernel, **tol
        ),
        "MLLS": lambda: sk.MLLS(k, alpha=rng.choice([0.1, 10]), beta=rng.choice([0.1, 1]), **tol),
        "MMC": lambda: sk.MMC(k),
        "OCM": lambda: sk.OCM(k),
        "kaLDA free": lambda: sk.MultiLabelKaLDA(k, constraint="none", **kalda, **tol),
        "KernelKaLDA": lambda: sk.KernelKaLDA(
            k, kernel=kernel, **kalda | {"shrinkage": shrinkage or 0.1}
        ),
        "LandmarkFeatures": lambda: sk.LandmarkFeatures(kernel=kernel),
        "AlignmentScaler": lambda: sk.AlignmentScaler(with_std=bool(rng.random() < 0.5)),
    }[name]()


def fit_in_form(reducer, X, Y, weight, form, rng):
    """Fit a reducer in a form; return how it projects the samples that count."""
    if isinstance(reducer, sk.LandmarkFeatures) and weight is not None:  # it takes no weights
        X, Y, weight = X[weight > 0], Y[weight > 0], None
    weights = {} if isinstance(reducer, sk.LandmarkFeatures) else {"sample_weight": weight}
    store, *way = form.split()
    stored = sparse.csr_array(X) if store == "sparse" else X
    if "batches" in way and hasattr(reducer, "partial_fit"):
        cuts = np.sort(rng.choice(np.arange(1, len(X)), 2, replace=False))
        for rows in np.split(np.arange(len(X)), cuts):
            given = {} if weight is None else {"sample_weight": weight[rows]}
            reducer.partial_fit(stored[rows], Y[rows], **given)
    elif "dask" in way and hasattr(reducer, "partial_fit"):
        blocks = da.from_array(X, chunks=(len(X) // 2 + 1, -1))
        if store == "sparse":
            blocks = blocks.map_blocks(sparse.csr_array)
        with (
            dask.config.set(scheduler="synchronous"),
            forced_form("operator" if "operator" in way else None),
        ):
            reducer.fit(blocks, Y, **weights)
    else:
        with forced_form(way[0] if {"primal", "dual", "operator"} & set(way) else None):
            reducer.fit(stored, Y, **weights)
    Z = reducer.transform(stored if weight is None else stored[np.flatnonzero(weight)])
    return np.asarray(Z.toarray() if sparse.issparse(Z) else Z, dtype=np.float64)


def condition(X, Y, weight):
    """Return the condition of S_t on its range, of the samples that count or have labels."""
    counted = np.ones(len(X), bool) if weight is None else weight > 0
    found = 1.0
    for rows in (counted, counted & (np.nansum(Y, axis=1) > 0)):
        centred = X[rows] - X[rows].mean(axis=0)
        for each in (centred, centred / (centred.std(axis=0) + 1e-9)):  # ranks have no units
            values = np.linalg.svd(each, compute_uv=False) ** 2
            values = values[values > 1e-14 * values[0]]
            found = max(found, values[0] / values[-1]) if len(values) else found
    return found


def tolerance(reducer, form, X, Y, weight, Z, single):
    """Return the largest difference of inner products, relative to the largest of them.

    It is 1e-6, and 1e-4 in single precision; ten times `tol` where the method iterates; and the
    rounding of products of X with the directions, and of S_t where nothing regularises.
    """
    stated = 1e-6
    free = {0.0, None} & {getattr(reducer, name, 1.0) for name in ("ridge", "shrinkage")}
    if free or isinstance(reducer, sk.KernelKaLDA | sk.LandmarkFeatures | sk.MLLS | sk.MMC):
        stated += 1e3 * np.finfo(np.float64).eps * condition(X, Y, weight)
    iterates = form in ("sparse", "sparse dask") or "operator" in form
    if iterates or getattr(reducer, "constraint", "") == "orthonormal":
        stated = max(stated, 10 * getattr(reducer, "tol", 0.0))
    G = getattr(reducer, "components_", np.zeros((1, X.shape[1])))
    counted = slice(None) if weight is None else weight > 0
    terms = (np.abs(X[counted]) @ np.abs(G.T)).max() / max(np.abs(Z).max(), 1e-300)
    if isinstance(reducer, sk.AlignmentScaler):
        terms = 10 * (np.abs(X[counted]).max(axis=0) / (X[counted].std(axis=0) + 1e-6)).max()
    rounding = 10 * np.finfo(np.float32 if single else np.float64).eps * terms
    return max(stated, 1e-4 if single else 0) + rounding  # of the product of X and the directions


def with_found_ridge(reducer, fitted):
    """Return the reducer with the ridge that was chosen: the forms estimate it differently."""
    for name in ("ridge", "shrinkage"):
        if getattr(reducer, name, None) == "auto" and hasattr(fitted, f"{name}_"):
            reducer = clone(reducer).set_params(**{name: float(getattr(fitted, f"{name}_"))})
    return reducer


def attempt(task):
    """Run a task; return its result, its error and whether it warned of no convergence."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            result, error = task(), None
        except Exception as raised:
            result, error = None, raised
    return result, error, any(issubclass(each.category, ConvergenceWarning) for each in said)


def is_documented(error):
    """Whether an error comes from the package or the validation of scikit-learn."""
    last = traceback.extract_tb(error.__traceback__)[-1].filename
    ours = "skml_kalda" in last or "sklearn/utils" in last
    return ours and isinstance(error, ValueError | MemoryError | AttributeError)


def of_reducer(seed):
    """Return the form, the outcome and the difference of a reducer."""
    X, Y, weight, name, single, rng = draw_problem(seed)
    reducer, form = draw_reducer(name, rng), FORMS[rng.integers(len(FORMS))]
    X = X.astype(np.float32) if single else X
    found = clone(reducer)
    Z, error, warned = attempt(lambda: fit_in_form(found, X, Y, weight, form, rng))
    label = f"{form}, {'single' if single else 'double'}"
    refused, full = error, X.astype(np.float64)
    reference = clone(reducer) if refused else with_found_ridge(reducer, found)
    expected, error, unsure = attempt(lambda: fit_in_form(reference, full, Y, weight, "dense", rng))
    if refused is not None:
        outcome = "refused" if error is not None else "refused in this form"
        return label, outcome if is_documented(refused) else "silent", repr(refused)
    if error is not None:
        return label, "silent", f"only the dense form raises {error!r}"
    products = expected @ expected.T
    off = np.abs(Z @ Z.T - products).max() / max(np.abs(products).max(), 1e-300)
    mean, spread = getattr(reference, "mean_", np.zeros(1)), full.std(axis=0).max()
    apart = np.abs(getattr(found, "mean_", np.zeros(1)) - mean) / (spread + np.abs(mean) + 1e-300)
    bound = tolerance(reference, form, full, Y, weight, expected, single)
    if off > 1e-4 and bound > 1e-2:
        return label, "ill-posed", off
    if off <= bound and apart.max() <= (1e-6 if single else 1e-9):
        return label, "agrees", off / bound
    if warned or unsure:
        return label, "warned", off
    return (
        label,
        "tied" if is_tied(reference, found, full, Y, weight, bound, rng) else "silent",
        off,
    )


def is_tied(reference, found, X, Y, weight, bound, rng):
    """Whether another solution is as good: equal objectives, or equal eigenvalues at the cut."""
    if hasattr(reference, "objective_") and reference.constraint == "orthonormal":
        return abs(reference.objective_ - found.objective_) <= bound * reference.objective_
    values = getattr(reference, "eigenvalues_", None)
    if values is None or not np.allclose(
        values, found.eigenvalues_, atol=bound * abs(values).max()
    ):
        return False
    more = clone(reference).set_params(n_components=len(values) + 1)
    _, error, _ = attempt(lambda: fit_in_form(more, X, Y, weight, "dense", rng))
    return error is None and more.eigenvalues_[-2] - more.eigenvalues_[-1] <= bound * values[0]


def of_classifier(seed):
    """Return the form, the outcome and the difference of a classifier."""
    X, Y, weight, name, single, rng = draw_problem(seed)
    store, model = ["dense", "sparse"][rng.integers(2)], draw_classifier(name, rng)
    given = X.astype(np.float32 if single else np.float64)
    given = sparse.csr_array(given) if store == "sparse" else given
    label = f"{store}, {'single' if single else 'double'}"
    _, error, warned = attempt(lambda: model.fit(given, Y, sample_weight=weight))
    if error is not None:
        return label, "refused" if is_documented(error) else "silent", repr(error)
    weight = np.ones(len(X)) if weight is None else weight
    rows = np.flatnonzero(weight)
    off, bound = difference(model, X[rows], Y[rows], weight[rows], given[rows])
    if off <= bound:
        return label, "agrees", off / bound
    return label, "warned" if warned else "silent", off


def solve(seed):
    """Return the method, the form, the outcome and the difference of a problem."""
    name = METHODS[seed % len(METHODS)]
    return (name, *(of_classifier if name in CLASSIFIERS else of_reducer)(seed))


def main(n=10_000, only=None):
    """Solve the problems, keep a row for each method, and fail if one differs silently."""
    outcomes, forms = defaultdict(Counter), defaultdict(Counter)
    worst, silent = defaultdict(float), []
    for seed in range(n) if only is None else [only]:
        name, form, outcome, off = solve(seed)
        outcomes[name][outcome] += 1
        forms[form][outcome] += 1
        if outcome == "agrees":
            worst[name] = max(worst[name], off)
        if outcome == "silent":
            silent.append({"problem": seed, "method": name, "form": form, "difference": str(off)})
        if outcome not in ("agrees", "refused", "ill-posed") or only is not None:
            print(seed, name, form, outcome, off, flush=True)
        if n == 10_000 and only is None and (seed + 1) % 500 == 0:
            keep(seed + 1, outcomes, forms, worst, silent)
    print(dict(sum(outcomes.values(), Counter())))
    sys.exit(bool(silent))


def keep(n, outcomes, forms, worst, silent):
    """Keep the outcomes of the first n problems, by method and by form."""
    rows = [
        {"method": name, **found, "largest difference": f"{worst[name]:.0e} of the tolerance"}
        for name, found in outcomes.items()
    ]
    facts = {"environment": environment("dask"), "problems": n}
    facts |= {"outcomes": dict(sum(outcomes.values(), Counter())), "silent": silent}
    forms = {form: dict(found) for form, found in sorted(forms.items())}
    write("random-problems", facts | {"forms": forms, "rows": rows})


if __name__ == "__main__":
    with threadpool_limits(1):
        main(*map(int, sys.argv[1:]))
