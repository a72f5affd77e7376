# SPDX-License-Identifier: MIT
"""pages.py ROOT BUILD: writes the sources of the site for mkdocs into BUILD/site.

The map of pages in README.md is the navigation: each of its tables is a section. A page in docs/ that the map does not
name is an error. Links between pages lead to the site's names, and other files that pages link are copied beside them.
"""
import json
import pathlib
import re
import shutil
import sys

import messages

FENCE = re.compile(r"^\s*```")
LINK = re.compile(r"(!?\[[^\]]*\])\(([^()\s]+)\)")


def slug(heading, separator="-"):
    """Returns the anchor of a heading, in GitHub's form, as the sources' links have it."""
    return re.sub(r"[^a-z0-9 _-]", "", heading.lower().strip()).replace(" ", separator)


def site_name(path):
    """Returns the name on the site of a page of the sources: its path without docs/ and README."""
    if path == "README.md":
        return "index.md"
    name = path.removeprefix("docs/").removeprefix("emitter/").removeprefix("tests/models/")
    return name.replace("/README.md", ".md").replace("/", "-")


def sections(readme):
    """Yields (title, pages) for each table below the heading Documentation."""
    text = readme.split("\n## Documentation\n")[1].split("\n## ")[0]
    for table in re.findall(r"(?:^\|.*\n?)+", text, re.M):
        title = table.split("|")[1].strip()
        links = re.findall(r"\]\(([^)#]+)", table)
        yield title[0].upper() + title[1:], list(dict.fromkeys(links))


def title_of(text):
    return re.search(r"^# (.*)$", text, re.M).group(1).replace("`", "")


class Site:
    def __init__(self, root, build):
        self.root, self.out = root, build / "site"
        self.readme = (root / "README.md").read_text()
        self.nav = [("Loopwright", ["README.md"]), *sections(self.readme)]
        samples = sorted(str(p.relative_to(root)) for p in root.glob("samples/*/README.md"))
        self.nav.append(("Samples", samples))
        self.pages = {page for _, pages in self.nav for page in pages}
        missing = {str(p.relative_to(root)) for p in root.glob("docs/*.md")} - self.pages
        if missing:
            sys.exit("README.md: the documentation's tables do not name " + ", ".join(sorted(missing)))
        named = {}
        for page in sorted(self.pages):
            other = named.setdefault(site_name(page), page)
            if other != page:
                sys.exit(f"{page}: {other} has the same name on the site, {site_name(page)}; rename one of them")

    def link(self, page, match):
        text, target = match.groups()
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target) or not path:
            return match.group(0)
        file = (self.root / page).parent.joinpath(path).resolve()
        if file.is_dir() and (file / "README.md").is_file():
            file = file / "README.md"
        name = str(file.relative_to(self.root))
        if name in self.pages:
            if text.strip("[]").endswith(".md"):        # GitHub shows files, the site shows pages
                text = f"[{title_of((self.root / name).read_text())}]"
            return f"{text}({site_name(name)}{'#' + anchor if anchor else ''})"
        if file.is_dir():
            return text[1:-1]
        copy = "files/" + name.replace("/", "-")
        (self.out / "src" / "files").mkdir(exist_ok=True)
        shutil.copy(file, self.out / "src" / copy)
        return f"{text}({copy})"

    def convert(self, page):
        """Returns the page's Markdown without the marks of tests/tools/docs.sh, with the site's links."""
        lines, in_code = [], False
        for line in (self.root / page).read_text().splitlines():
            if FENCE.match(line):
                if not in_code:
                    lines.append("")
                in_code = not in_code
            elif not in_code:
                line = re.sub(r"<!--.*?-->", "", line)
                line = LINK.sub(lambda m: self.link(page, m), line)
                if line.startswith("|"):
                    line = re.sub(r"`[^`]*`", lambda m: m.group(0).replace(r"\|", "|"), line)
            lines.append(line)
        return "\n".join(lines) + "\n" + (messages.tables(self.root) if page == "docs/diagnostics.md" else "")

    def write(self):
        src = self.out / "src"
        shutil.rmtree(self.out, ignore_errors=True)
        src.mkdir(parents=True)
        nav = []
        for title, pages in self.nav:
            entries = []
            for page in pages:
                text = self.convert(page)
                (src / site_name(page)).write_text(text)
                entries.append({"Overview" if page == "README.md" else title_of(text): site_name(page)})
            nav.append({title: entries})
        theme = self.root / "docs/site"
        config = {"site_name": "Loopwright", "docs_dir": "src", "site_dir": "html", "use_directory_urls": False,
                  "theme": {"name": None, "custom_dir": str(theme / "theme")}, "nav": nav, "plugins": ["search"],
                  "markdown_extensions": ["tables", "fenced_code", "sane_lists", {"toc": {"slugify": "@slug"}}]}
        # JSON is YAML, except for the name of a function
        text = json.dumps(config, indent=1).replace('"@slug"', "!!python/name:pages.slug ''")
        (self.out / "mkdocs.yml").write_text(text)


if __name__ == "__main__":
    Site(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()).write()
