"""Check a built site: every internal link has a target, and no page needs the network.

Run ``python docs/_ext/check_site.py build/docs``.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a page loads by itself, and where the address stands.
_LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """The links, the loaded files and the anchors of one page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the addresses and anchors of a tag."""
        values = {name: value for name, value in attrs if value}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.add(values["href"])
        if _LOADED.get(tag) in values and values.get("rel") not in ("canonical", "author"):
            self.loaded.add(values[_LOADED[tag]])


def problems(site: Path) -> list[str]:
    """Return what is wrong with a site, one line each."""
    pages = {
        path: Page(path) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts
    }
    found = []
    for path, page in pages.items():
        name = path.relative_to(site)
        found += [f"{name} loads {url}" for url in sorted(page.loaded) if urlsplit(url).netloc]
        for url in sorted(page.links | page.loaded):
            if not _has_target(url, path, pages):
                found.append(f"{name}: no target {url}")
    return found


def _has_target(url: str, path: Path, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(url)
    if parts.scheme or parts.netloc:
        return True
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return False
    page = pages.get(target)
    return not parts.fragment or page is None or unquote(parts.fragment) in page.anchors


if __name__ == "__main__":
    found = problems(Path(sys.argv[1]).resolve())
    print("\n".join(found) or "every internal link has a target; nothing is loaded from outside")
    sys.exit(bool(found))
