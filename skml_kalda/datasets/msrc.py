"""Build msrc-mom and msrc-sift from the MSRC v2 images and their pixel ground truth.

The images belong to Microsoft Research Cambridge and have a non-commercial licence. They are not
part of this package, and what is built from them stays under that licence. Reading them needs
Pillow, and msrc-sift needs OpenCV: both come with the extra ``msrc``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skml_kalda._core.messages import required
from skml_kalda.datasets.arff.write import save_arff
from skml_kalda.datasets.errors import ArffError
from skml_kalda.datasets.progress import announce, counted

IMAGES_FOLDER = "MSRC_ObjCategImageDatabase_v2"
GRID = 8
N_WORDS = 240
STEP, SIZE = 8, 16

# The colours of the classes in the ground truth, as the index of the data set lists them. Public
# loaders agree on all of them; many leave out horse and mountain, which have few images.
COLOURS = {
    "building": (128, 0, 0),
    "grass": (0, 128, 0),
    "tree": (128, 128, 0),
    "cow": (0, 0, 128),
    "horse": (128, 0, 128),
    "sheep": (0, 128, 128),
    "sky": (128, 128, 128),
    "mountain": (64, 0, 0),
    "aeroplane": (192, 0, 0),
    "water": (64, 128, 0),
    "face": (192, 128, 0),
    "car": (64, 0, 128),
    "bicycle": (192, 0, 128),
    "flower": (64, 128, 128),
    "sign": (192, 128, 128),
    "bird": (0, 64, 0),
    "book": (128, 64, 0),
    "chair": (0, 192, 0),
    "road": (128, 64, 128),
    "cat": (0, 192, 128),
    "dog": (128, 192, 128),
    "body": (64, 64, 0),
    "boat": (192, 64, 0),
}
_VOID = (0, 0, 0)
_BUILDING = "building the MSRC data sets"

Image = NDArray[np.uint8]


def build_msrc(
    images: str | PathLike[str],
    folder: str | PathLike[str],
    names: Sequence[str] = ("msrc-mom", "msrc-sift"),
) -> list[Path]:
    """Build the data sets from a folder that contains NAME.bmp and NAME_GT.bmp, at any depth.

    Parameters
    ----------
    images : path-like
        The folder of images.
    folder : path-like
        The folder to write the ARFF files into.
    names : sequence of str
        "msrc-mom" (mean and variance of R, G, B over an 8 × 8 grid) and "msrc-sift" (counts of 240
        visual words of dense SIFT).

    Returns
    -------
    list of pathlib.Path
        The files written.
    """
    builders: dict[str, Callable[[list[Image]], tuple[Any, list[str]]]]
    builders = {"msrc-mom": _moments, "msrc-sift": _visual_words}
    pairs = _pairs(Path(images))
    pixels = [read_image(image) for image, _ in counted(pairs, "reading images")]
    labels = np.array([_classes(truth) for _, truth in counted(pairs, "reading ground truth")])
    written = []
    for name in names:
        data, feature_names = builders[name](pixels)
        written.append(Path(folder) / f"{name}.arff")
        save_arff(
            written[-1],
            data,
            labels,
            feature_names=feature_names,
            target_names=list(COLOURS),
            dialect="mulan",
            description=f"{name}: {len(pairs)} MSRC v2 images.\n"
            "Derived from the MSRC images, under their licence: no commercial use.",
        )
    return written


def read_image(path: Path) -> Image:
    """Return the pixels of a BMP file, of shape (height, width, 3), in the order R, G, B."""
    pillow = required("PIL.Image", by=_BUILDING, extra="msrc", library="Pillow")
    content = BytesIO(path.read_bytes())
    try:
        with pillow.open(content, formats=["BMP"]) as image:
            return np.array(image.convert("RGB"))
    except (OSError, ValueError, pillow.DecompressionBombError) as error:
        raise ArffError(f"not a BMP image, or a damaged one ({error})", path=path) from error


def _pairs(images: Path) -> list[tuple[Path, Path]]:
    """Return each image with its ground truth, in the order of their names."""
    found = {path.stem: path for path in sorted(images.rglob("*.bmp"))}
    truths = {stem: path for stem, path in found.items() if stem.endswith("_GT")}
    if not truths:
        raise ArffError("no ground truth (*_GT.bmp) in this folder", path=images)
    absent = [stem for stem in truths if stem.removesuffix("_GT") not in found]
    if absent:
        raise ArffError(f"the ground truth {absent[0]}.bmp has no image beside it", path=images)
    return [(found[stem.removesuffix("_GT")], path) for stem, path in sorted(truths.items())]


def _classes(truth: Path) -> list[int]:
    """Return for each class whether the ground truth shows it."""
    present = set(map(tuple, np.unique(read_image(truth).reshape(-1, 3), axis=0).tolist()))
    unknown = present.difference(COLOURS.values(), [_VOID])
    if unknown:
        warnings.warn(f"{truth}: no class has the colours {sorted(unknown)}", stacklevel=2)
    return [int(colour in present) for colour in COLOURS.values()]


def _moments(images: Iterable[Image]) -> tuple[NDArray[np.float64], list[str]]:
    """Return the mean and variance of R, G, B in each cell of a grid."""
    names = [
        f"b{row}{column}_{moment}_{channel}"
        for row in range(GRID)
        for column in range(GRID)
        for moment in ("mean", "var")
        for channel in "rgb"
    ]
    return np.array([_moments_of(image) for image in images]), names


def _moments_of(image: Image) -> NDArray[np.float64]:
    strips = np.array_split(image.astype(float), GRID)
    cells = [cell for strip in strips for cell in np.array_split(strip, GRID, axis=1)]
    return np.concatenate([[cell.mean((0, 1)), cell.var((0, 1))] for cell in cells]).ravel()


def _visual_words(images: list[Image]) -> tuple[NDArray[np.int64], list[str]]:
    """Count how often each word of a common vocabulary occurs in each image."""
    from sklearn.cluster import MiniBatchKMeans

    descriptors = [_dense_sift(image) for image in counted(images, "msrc-sift: descriptors")]
    announce(f"msrc-sift: learning {N_WORDS} words from {sum(map(len, descriptors))} descriptors")
    words = MiniBatchKMeans(N_WORDS, random_state=0, n_init=1).fit(np.concatenate(descriptors))
    counts = [
        np.bincount(words.predict(one), minlength=N_WORDS)
        for one in counted(descriptors, "msrc-sift: words")
    ]
    return np.array(counts), [f"w{i}" for i in range(N_WORDS)]


def _dense_sift(image: Image) -> NDArray[np.float32]:
    cv2 = required("cv2", by=_BUILDING, extra="msrc", library="OpenCV")
    height, width = image.shape[:2]
    points = [
        cv2.KeyPoint(x, y, SIZE)
        for y in np.arange(STEP, height - STEP + 1, STEP, dtype=float)
        for x in np.arange(STEP, width - STEP + 1, STEP, dtype=float)
    ]
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    return np.asarray(cv2.SIFT_create().compute(grey, points)[1], np.float32)
