"""Images and ground truth as in MSRC v2, but small."""

import struct

import numpy as np
import pytest

VOID, GRASS, COW, BOAT = (0, 0, 0), (0, 128, 0), (0, 0, 128), (192, 64, 0)


def write_bmp(path, pixels, upwards=True, bits=24):
    """Write an image, row by row and byte by byte."""
    height, width, _ = pixels.shape
    body = b""
    for row in pixels[::-1] if upwards else pixels:
        line = b"".join(bytes([blue, green, red]) for red, green, blue in row.tolist())
        body += line + b"\0" * (-len(line) % 4)
    size = struct.pack("<IiiHHIIiiII", 40, width, height if upwards else -height, 1, bits, *[0] * 6)
    path.write_bytes(b"BM" + struct.pack("<IHHI", 54 + len(body), 0, 0, 54) + size + body)


@pytest.fixture
def images(tmp_path):
    """Draw seven images of different sizes, with ground truth, in the folders of MSRC v2."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "images"
    for sub in ("Images", "GroundTruth"):
        (folder / sub).mkdir(parents=True)
    for i in range(7):
        shape = (61 + i, 83, 3)
        write_bmp(folder / "Images" / f"{i}_s.bmp", rng.integers(0, 256, shape))
        truth = np.zeros(shape, int)
        truth[:20], truth[20:30] = GRASS, COW if i % 2 else VOID
        truth[-1, -1] = BOAT if i == 3 else VOID
        write_bmp(folder / "GroundTruth" / f"{i}_s_GT.bmp", truth)
    return folder
