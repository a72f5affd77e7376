# SPDX-License-Identifier: MIT
"""finish.py HTML: writes the search index as a script, because a page that is opened from a file cannot fetch it; then
checks all links of the site: files, anchors, and that no page loads anything from elsewhere. Status 1 if one is dead.
"""
import html.parser
import json
import pathlib
import sys


class Page(html.parser.HTMLParser):
    """The anchors and links of a page, and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loads = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        has = dict(attrs)
        self.ids.update(has[key] for key in ("id", "name") if has.get(key))
        if tag == "a" and has.get("href"):
            self.links.append(has["href"])
        self.loads += [has[key] for key in ("src", "href") if has.get(key) and (key == "src" or tag == "link")]


def dead_links(folder):
    pages = {p.relative_to(folder).as_posix(): Page(p.read_text()) for p in sorted(folder.rglob("*.html"))}
    for name, page in pages.items():
        for link in page.loads:
            if ":" in link.split("/")[0] or link.startswith("//"):
                yield f"{name}: loads {link}"
        for link in page.links + page.loads:
            path, _, anchor = link.partition("#")
            if ":" in path.split("/")[0]:
                continue
            file = (folder / name).parent.joinpath(path).resolve() if path else folder / name
            if not file.is_file():
                yield f"{name}: no file {path}"
            elif anchor and file.suffix == ".html":
                if anchor not in pages[file.relative_to(folder).as_posix()].ids:
                    yield f"{name}: no anchor {link}"


def write_index(folder):
    entries = json.loads((folder / "search/search_index.json").read_text())["docs"]
    titles = {e["location"]: e["title"] for e in entries if "#" not in e["location"]}
    for e in entries:
        e["page"] = titles.get(e["location"].split("#")[0], "")
        e["text"] = " ".join(e["text"].split())
    (folder / "index.js").write_text("const lwIndex = " + json.dumps(entries, separators=(",", ":")) + ";\n")


if __name__ == "__main__":
    html_folder = pathlib.Path(sys.argv[1]).resolve()
    write_index(html_folder)
    dead = list(dead_links(html_folder))
    print("\n".join(dead) or f"{len(list(html_folder.rglob('*.html')))} pages, no dead links")
    sys.exit(bool(dead))
