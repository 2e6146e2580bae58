"""The archive of the MSRC v2 images: its licence, its download, and the data sets built from it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from skml_kalda.datasets.errors import FetchError
from skml_kalda.datasets.fetch import resume
from skml_kalda.datasets.files import alone
from skml_kalda.datasets.home import find_file
from skml_kalda.datasets.manifest import read_manifest
from skml_kalda.datasets.msrc import IMAGES_FOLDER, build_msrc
from skml_kalda.datasets.unzip import unpack

URL = (
    "https://download.microsoft.com/download/3/3/9/339D8A24-47D7-412F-A1E8-1A415BC48A15/"
    "msrc_objcategimagedatabase_v2.zip"
)
MD5 = "8fcd292c7f1e69f91a2ef513746bd52c"
# There are 591 images and as many files of ground truth, of about 200 kB each.
_MOST_FILES = 10_000
_MOST_BYTES = 2**30

LICENCE = """\
The MSRC v2 images belong to Microsoft. The Microsoft Research Digital Image License Agreement
says in short:

  - You may use, copy and distribute the images for non-commercial purposes only, such as
    teaching and academic research. You may not use the images, or anything derived from them,
    for commercial purposes. The data sets built here are derived from them.
  - If you distribute the images or what is derived from them, you do so under a verbatim copy
    of that agreement, and changed files must say that they were changed, and when.
  - Microsoft may use what you derive from the images without any restriction.
  - The images come as they are, without any warranty.

The agreement itself is binding, not this summary. The download page of the images and the
archive contain it:
  https://www.microsoft.com/en-us/research/project/image-understanding/
"""


def build_from_archive(home: Path, names: Sequence[str], *, accept_licence: bool) -> list[Path]:
    """Build the data sets that are not in the data home, from the archive of the images.

    Each step (the download, the unpacking, each data set) runs only if its result is not here
    yet, so that a run after an interruption continues where the last one stopped.

    Parameters
    ----------
    home : Path
        The data home, which exists.
    names : sequence of str
        "msrc-mom" and "msrc-sift", or one of them.
    accept_licence : bool
        Whether the user accepts `LICENCE`. Without it nothing is downloaded.

    Returns
    -------
    list of pathlib.Path
        The files of the data sets.
    """
    with alone(home, "msrc"):
        found = {name: find_file(read_manifest(name), home) for name in names}
        absent = [name for name, path in found.items() if path is None]
        if absent:
            images = _images(home, accept_licence)
            found |= dict(zip(absent, build_msrc(images, home, absent), strict=True))
    return [path for path in found.values() if path is not None]


def _images(home: Path, accept_licence: bool) -> Path:
    """Return the folder of the images; if it is not there, download and unpack the archive."""
    images = home / IMAGES_FOLDER
    if images.is_dir():
        return images
    if not accept_licence:
        raise FetchError(
            f"the MSRC images are not here, and their licence is not accepted.\n\n{LICENCE}\n"
            "Run this command again with --accept-licence to accept these terms and download the "
            "images, or with the folder that contains them."
        )
    archive = home / URL.rpartition("/")[-1]
    resume(URL, archive, md5=MD5, most_bytes=_MOST_BYTES)
    unpack(archive, images, most_files=_MOST_FILES, most_bytes=_MOST_BYTES)
    archive.unlink()
    return images
