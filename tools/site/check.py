# SPDX-License-Identifier: Apache-2.0
"""Checks a built site: every link within it has a target, and no page loads anything from elsewhere."""

import re
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """A page's anchors, its links, and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.names, self.links, self.loads = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.names.update(filter(None, (values.get("id"), values.get("name") if tag == "a" else None)))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        elif tag == "link" and values.get("rel") not in ("canonical", "next", "prev", "index", "search", "author"):
            self.loads.append(values.get("href") or "")
        elif values.get("src"):
            self.loads.append(values["src"])


def faults_of_page(name, page, pages, site):
    for link in page.links + page.loads:
        place = urlsplit(link)
        if place.scheme or place.netloc:
            if link in page.loads and place.scheme != "data":
                yield f"{name}: loads {link}"
            continue
        target = (site / name).parent / unquote(place.path) if place.path else site / name
        there = target.resolve()
        if not there.is_file() or not there.is_relative_to(site.resolve()):
            yield f"{name}: the link {link} leads nowhere"
        elif place.fragment and there.suffix == ".html":
            if unquote(place.fragment) not in pages[there.relative_to(site.resolve()).as_posix()].names:
                yield f"{name}: the link {link} leads to a page without that place"


def faults(site):
    """Returns one line for each fault of the site in a folder."""
    pages = {path.relative_to(site).as_posix(): Page(path.read_text(encoding="utf-8"))
             for path in sorted(site.rglob("*.html"))}
    found = [fault for name, page in pages.items() for fault in faults_of_page(name, page, pages, site)]
    for path in sorted(site.rglob("*.css")):
        text = path.read_text(encoding="utf-8")
        for target in re.findall(r"(?:url\(|@import) *['\"]?((?:https?:)?//[^'\")]+)", text):
            found.append(f"{path.relative_to(site).as_posix()}: loads {target}")
    return found
