"""The classifiers as their definitions say, for `random_problems`, without their code."""

from __future__ import annotations

import numpy as np

import skml_kalda as sk


def nearest(train, rows, k):
    """Return the numbers and distances of the nearest samples: every square is exact here."""
    squares = ((rows[:, None] - train) ** 2).sum(axis=2)
    order = np.argsort(squares, axis=1, kind="stable")[:, :k]
    return order, np.sqrt(np.take_along_axis(squares, order, axis=1))


def votes(kind, distances, k):
    """Return the votes of the k nearest at these distances; the next one is there for tricube."""
    last = distances[:, [-1 if kind == "tricube" else k - 1]]
    share = np.where(last > 0, distances / np.where(last > 0, last, 1), 1)[:, :k]
    if kind == "tricube":
        return (1 - ((1 - 1e-12) * share) ** 3) ** 3
    return 1 / np.maximum(share, 1e-3) if kind == "distance" else np.ones_like(share)


def shares(weights, Y, order):
    """Return the share of each label among the votes of those in whom it is known."""
    known = ~np.isnan(Y[order])
    found = np.einsum("ij,ijk->ik", weights, np.nan_to_num(Y[order]))
    total = np.einsum("ij,ijk->ik", weights, known)
    return np.divide(found, total, out=np.zeros_like(found), where=total > 1e-300)


def neighbour_probabilities(model, X, Y, weight, rows):
    """Return the probabilities of MLkNN or BinaryRelevanceKNN, from their definitions."""
    k = model.k
    if isinstance(model, sk.BinaryRelevanceKNN):
        order, distances = nearest(X, rows, k + (model.weights == "tricube"))
        order = order[:, :k]
        return shares(votes(model.weights, distances, k) * weight[order], Y, order)

    def counts(of, drop):
        order = nearest(X, of, k + drop)[0]
        if drop:
            order = np.array([[j for j in each if j != i][:k] for i, each in enumerate(order)])
        return np.rint(k * shares(np.ones(order.shape), Y, order)).astype(int)

    own, new = counts(X, not model.include_self), counts(rows, drop=False)
    probability = np.empty(new.shape)
    for label in range(Y.shape[1]):
        known = ~np.isnan(Y[:, label])
        sides = []
        for value in (1, 0):
            mine = Y[:, label] == value
            histogram = np.bincount(own[mine, label], weight[mine], k + 1) + model.s
            prior = (model.s + weight[mine].sum()) / (2 * model.s + weight[known].sum())
            sides.append(prior * histogram / histogram.sum())
        probability[:, label] = (sides[0] / (sides[0] + sides[1]))[new[:, label]]
    return probability


def ridge_scores(X, Y, weight, alpha, rows):
    """Return the scores of ridge regression, from its normal equations."""
    m, level = weight @ X / weight.sum(), weight @ Y / weight.sum()
    T = X - m
    W = np.linalg.solve(
        (T.T * weight) @ T + alpha * np.eye(X.shape[1]), (T.T * weight) @ (Y - level)
    )
    return level + (rows - m) @ W


def kalda_differences(model, X, Y, weight, rows, given):
    """Compare log-odds, leave-one-out error and thresholds with refits; return differences."""
    known = ~np.isnan(Y)
    mean = np.array(
        [
            weight[at] @ y[at] / max(weight[at].sum(), 1e-300)
            for y, at in zip(Y.T, known.T, strict=True)
        ]
    )
    Y = np.where(known, Y, mean)
    X, rows = X - X[0], rows - X[0]  # exact, and so far from no origin
    m = weight @ X / weight.sum()
    if model.scale == "standard":
        std = np.sqrt(weight @ (X - m) ** 2 / weight.sum())
        std[std <= 1e-14 * np.abs(m)] = 1
        X, rows, m = X / std, rows / std, m / std
    values = np.linalg.svd(np.sqrt(weight)[:, None] * (X - m), compute_uv=False) ** 2
    alpha = model.shrinkage / (1 - model.shrinkage) * values[values > 1e-10 * values[0]].mean()
    scores, found = ridge_scores(X, Y, weight, alpha, rows), model.decision_function(given)
    n = len(X)
    rest = [np.arange(n) != i for i in range(n)]
    out = np.array([ridge_scores(X[r], Y[r], weight[r], alpha, X[~r])[0] for r in rest])
    level = np.array([weight[r] @ Y[r] / weight[r].sum() for r in rest])
    each = weight[:, None] * known
    error = np.sum(each * (Y - out) ** 2) / np.sum(each * (Y - level) ** 2)
    yield abs(error - model.leave_one_out_error_) / error
    yield float(np.any(model.predict(given) != (model.predict_proba(given) >= model.thresholds_)))
    for s, z, own, y, at, threshold in zip(
        scores.T, found.T, out.T, Y.T, known.T, model.thresholds_, strict=True
    ):
        if np.ptp(z) < 1e-9 or np.ptp(s) < 1e-6:
            continue
        line = np.polyfit(s, z, 1)
        yield np.abs(np.polyval(line, s) - z).max() / np.ptp(z)
        yield float(line[0] < 0)
        p = (1 / (1 + np.exp(-np.polyval(line, own)))).round(7)[at]
        f1 = [2 * y[at][p >= t].sum() / (y[at].sum() + (p >= t).sum()) for t in np.unique(p)]
        reached = (
            2 * y[at][p >= threshold - 1e-7].sum() / (y[at].sum() + (p >= threshold - 1e-7).sum())
        )
        yield max(max(f1) - reached, 0.0) if y[at].any() else float(np.isfinite(threshold))


def draw_classifier(name, rng):
    """Return a classifier with parameters."""
    k, scale = int(rng.integers(1, 8)), [None, "standard"][rng.integers(2)]
    if name == "MLkNN":
        return sk.MLkNN(k, s=rng.choice([0.5, 1.0]), include_self=bool(rng.random() < 0.5))
    if name == "BinaryRelevanceKNN":
        weights = str(rng.choice(["uniform", "distance", "tricube"]))
        return sk.BinaryRelevanceKNN(k, weights=weights)
    fixed = {"relevance": 0.0, "scale": scale, "shrinkage": rng.choice([0.05, 0.2, 0.5, 0.9])}
    return sk.KaLDAClassifier("linear", **fixed, random_state=0)


def difference(model, X, Y, weight, given):
    """Return how far a fitted classifier is from its definition, and how far it may be.

    Votes are exact but for their sums. Ridge scores are compared to 1e-5, and in single precision
    to the rounding of products of X.
    """
    if isinstance(model, sk.KaLDAClassifier):
        size = (np.abs(X).max(axis=0) / (X.std(axis=0) + 1e-6)).max()
        rounding = 10 * np.finfo(np.float32).eps * size if given.dtype == np.float32 else 0
        return max(kalda_differences(model, X, Y, weight, X, given)), 1e-5 + rounding
    expected = neighbour_probabilities(model, X, Y, weight, X)
    wrong = (model.predict(given) != (expected > 0.5)) & (np.abs(expected - 0.5) > 1e-9)
    return max(np.abs(model.predict_proba(given) - expected).max(), float(wrong.any())), 1e-9
