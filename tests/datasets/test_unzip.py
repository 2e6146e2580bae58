"""Archives, good and hostile: either all of one is unpacked, or nothing is."""

import stat
import struct
import zipfile
from zipfile import ZipFile, ZipInfo

import pytest

from skml_kalda.datasets import FetchError
from skml_kalda.datasets.unzip import unpack


def made(path, members, compression=zipfile.ZIP_DEFLATED):
    """Write an archive of names, or of ZipInfo objects, with their content."""
    with ZipFile(path, "w", compression) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def special(name, kind):
    info = ZipInfo(name)
    info.external_attr = (kind | 0o777) << 16
    return info


def unpacked(tmp_path, most_files=10, most_bytes=1000):
    unpack(tmp_path / "a.zip", tmp_path / "out", most_files=most_files, most_bytes=most_bytes)
    return {
        path.relative_to(tmp_path / "out").as_posix(): path.read_bytes()
        for path in (tmp_path / "out").rglob("*")
        if path.is_file()
    }


def assert_nothing_happened(tmp_path):
    assert {path.name for path in tmp_path.iterdir()} == {"a.zip"}
    assert not (tmp_path.parent / "evil").exists()


GOOD = [("top/", b""), ("top/a.bmp", b"first"), ("top/sub/b c.bmp", b""), ("é.txt", b"x" * 500)]


def test_every_file_is_there_as_it_was(tmp_path):
    made(tmp_path / "a.zip", GOOD)
    files = {name: content for name, content in GOOD if not name.endswith("/")}
    assert unpacked(tmp_path) == files
    assert {path.name for path in tmp_path.iterdir()} == {"a.zip", "out"}


@pytest.mark.parametrize(
    "name",
    ["../evil", "a/../../evil", "/evil", "//evil", "a//b", "..", "a/./../../evil", "./../evil"],
)
def test_a_path_that_leads_outside_is_refused(tmp_path, name):
    made(tmp_path / "a.zip", [("good", b"1"), (name, b"2")])
    with pytest.raises(FetchError, match=r"a\.zip: the member .* leads outside the folder"):
        unpacked(tmp_path)
    assert_nothing_happened(tmp_path)


@pytest.mark.parametrize("name", ["C:/evil", "C:evil", "..\\evil", "\\\\host\\evil", "a\nb", "a?b"])
def test_a_name_that_means_something_else_elsewhere_is_refused(tmp_path, name):
    made(tmp_path / "a.zip", [("good", b"1"), (name, b"2")])
    with pytest.raises(FetchError, match="not a path on every system"):
        unpacked(tmp_path)
    assert_nothing_happened(tmp_path)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO, stat.S_IFSOCK])
def test_links_and_devices_are_refused(tmp_path, kind):
    made(tmp_path / "a.zip", [("good", b"1"), (special("link", kind), b"/etc/passwd")])
    with pytest.raises(FetchError, match="the member 'link' is a link or a device"):
        unpacked(tmp_path)
    assert_nothing_happened(tmp_path)


def test_a_file_below_a_link_is_refused_with_the_link(tmp_path):
    link = special("way", stat.S_IFLNK)
    made(tmp_path / "a.zip", [(link, str(tmp_path.parent)), ("way/evil", b"2")])
    with pytest.raises(FetchError, match="the member 'way' is a link"):
        unpacked(tmp_path)
    assert_nothing_happened(tmp_path)


@pytest.mark.parametrize("names", [("a", "a"), ("A", "a")])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_files_of_one_name_are_refused(tmp_path, names):
    made(tmp_path / "a.zip", [(name, b"1") for name in names])
    with pytest.raises(FetchError, match="the member 'a' more than once"):
        unpacked(tmp_path)
    assert_nothing_happened(tmp_path)


def test_a_file_that_is_also_a_folder_is_refused(tmp_path):
    made(tmp_path / "a.zip", [("a", b"1"), ("a/b", b"2")])
    with pytest.raises(FetchError, match="cannot be unpacked"):
        unpacked(tmp_path)
    assert_nothing_happened(tmp_path)


def test_too_many_members_are_refused(tmp_path):
    made(tmp_path / "a.zip", [(str(number), b"") for number in range(11)])
    with pytest.raises(FetchError, match="it has 11 members, more than the 10 expected"):
        unpacked(tmp_path)
    assert_nothing_happened(tmp_path)


def test_a_bomb_is_refused_before_it_is_written(tmp_path):
    made(tmp_path / "a.zip", [("zeros", b"\0" * 10_000_000)])
    assert (tmp_path / "a.zip").stat().st_size < 20_000
    with pytest.raises(FetchError, match="10000000 bytes unpacked, more than the 1000 expected"):
        unpacked(tmp_path)
    assert_nothing_happened(tmp_path)


def test_a_bomb_that_lies_about_its_size_is_cut_off(tmp_path):
    """The size in the directory of the archive is that of one byte; the data are 10 MB."""
    path = made(tmp_path / "a.zip", [("zeros", b"\0" * 10_000_000)])
    content = path.read_bytes()
    assert content.count(struct.pack("<I", 10_000_000)) == 2
    path.write_bytes(content.replace(struct.pack("<I", 10_000_000), struct.pack("<I", 1)))
    with pytest.raises(FetchError, match=r"cannot be unpacked \(Bad CRC-32"):
        unpacked(tmp_path)
    assert_nothing_happened(tmp_path)


@pytest.mark.parametrize("damage", ["cut", "not a zip", "empty", "changed", "encrypted", "method"])
def test_a_damaged_archive_is_refused(tmp_path, damage):
    path = made(tmp_path / "a.zip", [("a", bytes(range(256)))], zipfile.ZIP_STORED)
    content = bytearray(path.read_bytes())
    start = content.index(b"PK\x01\x02")  # the entry of the directory
    if damage == "encrypted":
        content[start + 8] |= 1
    elif damage == "method":
        content[start + 10] = content[8] = 99
    elif damage == "changed":
        content[100] ^= 1
    texts = {"cut": content[:200], "not a zip": b"x" * 500, "empty": b""}
    path.write_bytes(texts.get(damage, content))
    with pytest.raises(FetchError, match=r"a\.zip: cannot be unpacked \("):
        unpacked(tmp_path)
    assert_nothing_happened(tmp_path)


def test_what_an_earlier_attempt_left_is_removed(tmp_path):
    left = tmp_path / ".out.unpacking" / "sub"
    left.mkdir(parents=True)
    (left / "half").write_text("x")
    made(tmp_path / "a.zip", [("a", b"1")])
    assert unpacked(tmp_path) == {"a": b"1"}
    assert {path.name for path in tmp_path.iterdir()} == {"a.zip", "out"}
