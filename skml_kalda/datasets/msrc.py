"""Build msrc-mom and msrc-sift from the MSRC v2 images and their pixel ground truth.

The images belong to Microsoft Research Cambridge and have a non-commercial licence. They are not
part of this package, and what is built from them stays under that licence. Reading them needs
Pillow, and msrc-sift needs OpenCV: both come with the extra ``msrc``.
"""

from __future__ import annotations

import hashlib
import warnings
import zlib
from collections.abc import Iterable, Sequence
from io import BytesIO
from itertools import product
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from skml_kalda._core.messages import required
from skml_kalda.datasets.arff.write import save_arff
from skml_kalda.datasets.errors import ArffError, FetchError
from skml_kalda.datasets.files import download
from skml_kalda.datasets.manifest import find_file, read_manifest

URL = (
    "https://download.microsoft.com/download/3/3/9/339D8A24-47D7-412F-A1E8-1A415BC48A15/"
    "msrc_objcategimagedatabase_v2.zip"
)
MD5 = "8fcd292c7f1e69f91a2ef513746bd52c"
# There are 591 images and as many files of ground truth, of about 200 kB each.
MOST_BYTES = 2**30
IMAGES_FOLDER = "MSRC_ObjCategImageDatabase_v2"
GRID = 8
N_WORDS = 240
STEP, SIZE = 8, 16

# The colours of the classes in the ground truth, as the index of the dataset lists them. Public
# loaders agree on all of them; many leave out horse and mountain, which have few images.
_CODES = (
    "building 800000, grass 008000, tree 808000, cow 000080, horse 800080, sheep 008080, sky "
    "808080, mountain 400000, aeroplane c00000, water 408000, face c08000, car 400080, bicycle "
    "c00080, flower 408080, sign c08080, bird 004000, book 804000, chair 00c000, road 804080, cat "
    "00c080, dog 80c080, body 404000, boat c04000"
)
COLOURS = {name: tuple(bytes.fromhex(code)) for name, code in map(str.split, _CODES.split(","))}
_VOID = (0, 0, 0)
_BUILDING = "building the MSRC datasets"

Image = NDArray[np.uint8]
LICENCE = Path(__file__).parent / "data" / "MSRC-LICENCE.txt"


def build_from_archive(home: Path, names: Sequence[str], *, accept_licence: bool) -> list[Path]:
    """Build the datasets that are not in the data home, from the archive of the images.

    Parameters
    ----------
    home : Path
        The data home.
    names : sequence of str
        "msrc-mom" and "msrc-sift", or one of them.
    accept_licence : bool
        Whether the user accepts `LICENCE`. Without it nothing is downloaded.

    Returns
    -------
    list of pathlib.Path
        The files of the datasets.
    """
    absent = [name for name in names if find_file(read_manifest(name), home) is None]
    images = home / IMAGES_FOLDER
    if absent and not images.is_dir():
        if not accept_licence:
            terms = LICENCE.read_text("utf-8")
            raise FetchError(
                f"the MSRC images are not here, and their licence is not accepted.\n\n{terms}\n"
                "Run this command again with --accept-licence to accept these terms and download "
                "the images, or with the folder that contains them."
            )
        _download_images(home, images)
    if absent:
        build_msrc(images, home, absent)
    return [path for name in names if (path := find_file(read_manifest(name), home))]


def _download_images(home: Path, images: Path) -> None:
    """Download the archive and unpack it into a new folder, which appears once it is complete."""
    archive = home / URL.rpartition("/")[-1]
    download(URL, archive)
    with archive.open("rb") as stream:
        # Against damage, not against forgery: the publisher states no other checksum.
        md5 = hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    if md5 != MD5:
        reason = f"wrong checksum: md5 is {md5}, expected {MD5}; remove the file and run again"
        raise FetchError(reason, path=archive)
    try:
        with ZipFile(archive) as zipped, TemporaryDirectory(dir=home) as fresh:
            size = sum(member.file_size for member in zipped.infolist())
            if size > MOST_BYTES:
                raise FetchError(f"{size} bytes unpacked, more than {MOST_BYTES}", path=archive)
            # zipfile keeps every member in the folder, and reads no more than its stated size.
            zipped.extractall(Path(fresh, "images"))
            Path(fresh, "images").rename(images)
    except (BadZipFile, EOFError, NotImplementedError, RuntimeError, zlib.error) as error:
        raise FetchError(f"cannot be unpacked ({error})", path=archive) from error
    archive.unlink()


def build_msrc(
    images: str | PathLike[str],
    folder: str | PathLike[str],
    names: Sequence[str] = ("msrc-mom", "msrc-sift"),
) -> list[Path]:
    """Build the datasets from a folder that contains NAME.bmp and NAME_GT.bmp, at any depth.

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
    pairs = _pairs(Path(images))
    pixels = [read_image(image) for image, _ in pairs]
    labels = np.array([_classes(truth) for _, truth in pairs])
    about = "MSRC v2 images.\nDerived from the MSRC images, under their licence: no commercial use."
    written = []
    for name in names:
        data, columns = _moments(pixels) if name == "msrc-mom" else _visual_words(pixels)
        written.append(Path(folder) / f"{name}.arff")
        given: dict[str, Any] = {"feature_names": columns, "target_names": list(COLOURS)}
        given |= {"dialect": "mulan", "description": f"{name}: {len(pairs)} {about}"}
        save_arff(written[-1], data, labels, **given)
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
        raise ArffError(f"the ground truth {absent[0]}.bmp has no image", path=images)
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
    rows = []
    for image in images:
        strips = np.array_split(image.astype(float), GRID)
        cells = [cell for strip in strips for cell in np.array_split(strip, GRID, axis=1)]
        rows.append(np.ravel([[cell.mean((0, 1)), cell.var((0, 1))] for cell in cells]))
    parts = product(range(GRID), range(GRID), ("mean", "var"), "rgb")
    return np.array(rows), [f"b{i}{j}_{moment}_{channel}" for i, j, moment, channel in parts]


def _visual_words(images: list[Image]) -> tuple[NDArray[np.int64], list[str]]:
    """Count how often each word of a common vocabulary occurs in each image."""
    from sklearn.cluster import MiniBatchKMeans

    descriptors = [_dense_sift(image) for image in images]
    words = MiniBatchKMeans(N_WORDS, random_state=0, n_init=1).fit(np.concatenate(descriptors))
    counts = [np.bincount(words.predict(one), minlength=N_WORDS) for one in descriptors]
    return np.array(counts), [f"w{i}" for i in range(N_WORDS)]


def _dense_sift(image: Image) -> NDArray[np.float32]:
    cv2 = required("cv2", by=_BUILDING, extra="msrc", library="OpenCV")
    grid = [np.arange(STEP, size - STEP + 1, STEP, dtype=float) for size in image.shape[:2]]
    points = [cv2.KeyPoint(x, y, SIZE) for y, x in product(*grid)]
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    return np.asarray(cv2.SIFT_create().compute(grey, points)[1], np.float32)
