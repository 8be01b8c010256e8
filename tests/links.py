#!/usr/bin/env python3
"""Every link within a folder of pages leads somewhere: to a file that is there, and to a place in it that has that name.

    tests/links.py FOLDER
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and the places that it has."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.places |= {named[key] for key in ("id", "name") if named.get(key)}
        self.links += [named[key] for key in ("href", "src") if named.get(key)]


folder = Path(sys.argv[1]).resolve()
pages = {path: Page(path) for path in sorted(folder.rglob("*.html"))}
dead, seen = [], 0
for path, page in pages.items():
    for link in page.links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        seen += 1
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if not target.exists():
            dead.append(f"{path.relative_to(folder)}: {link}: there is no such file")
        elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
            dead.append(f"{path.relative_to(folder)}: {link}: there is no such place")
print("\n".join(sorted(set(dead))) or f"links: {len(pages)} pages, {seen} links within them lead somewhere")
sys.exit(bool(dead) or not seen)
