"""Read the BMP files of MSRC v2: 24 bits a pixel, not compressed."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ._errors import ArffError

__all__ = ["read_bmp"]

_HEADER = struct.Struct("<2s8xI4xiiHHI")


def read_bmp(path: Path) -> NDArray[np.uint8]:
    """Give an image as an array of shape (height, width, 3), in the order R, G, B."""
    content = path.read_bytes()
    if len(content) < _HEADER.size:
        raise ArffError("not a BMP image", path=path)
    magic, start, width, height, _, bits, compression = _HEADER.unpack_from(content)
    if magic != b"BM" or (bits, compression) != (24, 0) or width <= 0 or height == 0:
        raise ArffError("not a BMP image of 24 bits a pixel without compression", path=path)
    stride = (3 * width + 3) // 4 * 4
    if len(content) < start + stride * abs(height):
        raise ArffError("the BMP image is cut short", path=path)
    rows = np.frombuffer(content, np.uint8, stride * abs(height), start).reshape(-1, stride)
    # Rows go upwards unless the height is negative, and colours are stored as B, G, R.
    rows = rows[::-1] if height > 0 else rows
    return np.ascontiguousarray(rows[:, : 3 * width].reshape(-1, width, 3)[:, :, ::-1])
