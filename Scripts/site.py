#!/usr/bin/env python3
"""Writes the site; see Scripts/site, which runs this."""

import argparse
import functools
import html
import http.server
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent

# The order of the pages in the list beside each of them. What is in none of these follows under "More".
GROUPS = {
    "Guides": [
        "README", "SwiftDataOnLinux", "FromUserDefaults", "FromCoreData", "FromGRDB", "OnAServer", "InAContainer",
        "BackupAndRestore", "Troubleshooting", "Limits", "SecurityModel", "SECURITY"],
    "Records": [
        "SwiftDataSemantics", "SwiftDataSymbols", "Predicates", "Migration", "History", "CustomStores",
        "CoreDataImport", "Transfer", "Sync", "SyncServer"],
    "Preferences, secrets, caches": [
        "Preferences", "TypedPreferences", "PayloadHistory", "Secrets", "SecretService", "Caches", "Advice"],
    "Linter": ["Lint", "LintRules", "LintCases"],
    "Formats": [
        "RecordStore", "PreferencesFile", "JournalFile", "VaultFile", "DiskCacheFile", "SyncProtocol"],
    "Figures": ["Performance", "PreferencesPerformance", "SecretsPerformance", "Builds"],
    "Project": ["CHANGELOG", "ARCHITECTURE", "CONTRIBUTING", "STYLE", "Testing"],
}
# The libraries that programs import, in the order of the list.
LIBRARIES = [
    "SteadRecords", "SteadPreferences", "SteadDefault", "SteadSecrets", "SteadTransfer", "SteadCaches", "SteadSync",
    "SteadFiles", "SteadFormats", "SteadAdvice", "SteadAdviceCommand", "SteadLint", "SteadLintCommand",
]

STYLE = """
:root { color-scheme: light dark; --text: #1d1d1f; --soft: #f5f5f7; --line: #d2d2d7; --link: #0057b8; --back: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e8e8ed; --soft: #232326; --line: #424245; --link: #6cb4ff; --back: #161617; }
}
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; color: var(--text); background: var(--back); display: flex; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
nav { flex: 0 0 15.5rem; padding: 1.5rem 1rem 3rem 1.5rem; border-right: 1px solid var(--line); font-size: .875rem; }
nav h2 { font-size: .75rem; text-transform: uppercase; letter-spacing: .05em; margin: 1.25rem 0 .25rem; opacity: .7; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li { margin: .15rem 0; }
nav [aria-current] { font-weight: 600; color: var(--text); }
nav .name { font-weight: 700; font-size: 1.1rem; color: var(--text); }
main { flex: 1; min-width: 0; padding: 1.5rem 2.5rem 4rem; max-width: 62rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: .5rem 0 1rem; }
h2 { margin-top: 2.25rem; padding-top: .25rem; border-top: 1px solid var(--line); }
h1 a, h2 a, h3 a { color: inherit; }
pre { background: var(--soft); padding: .9rem 1rem; border-radius: .5rem; overflow-x: auto; line-height: 1.4; }
code { font: .875em ui-monospace, monospace; }
:not(pre) > code { background: var(--soft); padding: .1em .3em; border-radius: .25rem; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { border: 1px solid var(--line); padding: .4rem .6rem; text-align: left; vertical-align: top; }
th { background: var(--soft); }
th:empty { padding: 0; }
img { max-width: 100%; }
@media (max-width: 50rem) {
  body { flex-direction: column-reverse; }
  nav { border-right: 0; border-top: 1px solid var(--line); flex-basis: auto; }
  main { padding: 1rem; flex: none; max-width: 100%; }
}
"""


class Site:
    def __init__(self, place, base):
        self.place, self.base = place, base
        files = [*ROOT.glob("*.md"), *(ROOT / "Documentation").glob("*.md")]
        self.sources = {path.stem: path for path in files}
        self.anchors = {name: set() for name in self.sources}
        self.bodies, self.titles, self.links, self.wrong = {}, {}, [], []

    # MARK: Names

    def address(self, name):
        """Where a page lies in the site."""
        if name == "README":
            return pathlib.PurePosixPath("index.html")
        return pathlib.PurePosixPath(self.sources[name].relative_to(ROOT).with_suffix(".html").as_posix())

    def way(self, origin, target):
        """The link from a page to a file of the site."""
        return os.path.relpath(target, self.address(origin).parent)

    # MARK: Pages

    def read(self, name):
        source = self.sources[name]
        body = subprocess.run(
            ["cmark-gfm", "--unsafe", "-e", "table", "-e", "autolink", "-e", "strikethrough", source],
            check=True, capture_output=True, text=True).stdout
        body = re.sub(r"<h([1-6])>(.*?)</h\1>", lambda match: self.heading(name, match), body, flags=re.S)
        body = re.sub(r'\b(href|src)="([^"]*)"', lambda match: self.link(name, match), body)
        self.bodies[name] = body.replace("<table>", '<div class="table"><table>').replace("</table>", "</table></div>")

    def heading(self, name, match):
        """A heading with the name that hosts of repositories give it."""
        text = html.unescape(re.sub(r"<[^>]*>", "", match[2]))
        self.titles.setdefault(name, text)
        slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        number, anchor = 0, slug
        while anchor in self.anchors[name]:
            number += 1
            anchor = f"{slug}-{number}"
        self.anchors[name].add(anchor)
        inner = match[2] if "<a " in match[2] else f'<a href="#{anchor}">{match[2]}</a>'
        return f'<h{match[1]} id="{anchor}">{inner}</h{match[1]}>'

    def link(self, name, match):
        address = html.unescape(match[2])
        if re.match(r"[a-z]+:", address):
            return match[0]
        path, _, anchor = address.partition("#")
        if not path:
            self.links.append((name, name, anchor, address))
            return match[0]
        file = (self.sources[name].parent / urllib.parse.unquote(path)).resolve()
        target = next((other for other, source in self.sources.items() if source == file), None)
        if target:
            self.links.append((name, target, anchor, address))
            way = self.way(name, self.address(target)) + (f"#{anchor}" if anchor else "")
            return f'{match[1]}="{html.escape(way)}"'
        if not file.is_file() or ROOT not in file.parents:
            self.wrong.append(f"{self.sources[name].relative_to(ROOT)}: {address} leads nowhere")
            return match[0]
        copy = self.place / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
        return f'{match[1]}="{html.escape(self.way(name, file.relative_to(ROOT).as_posix()))}"'

    def check_links(self):
        for name, target, anchor, address in self.links:
            if anchor and anchor not in self.anchors[target]:
                self.wrong.append(f"{self.sources[name].relative_to(ROOT)}: {address} names no heading")

    # MARK: The list of pages

    def navigation(self, name, libraries):
        grouped = {page for pages in GROUPS.values() for page in pages}
        groups = {**GROUPS, "More": sorted(set(self.sources) - grouped)}
        parts = [f'<a class="name" href="{self.way(name, "index.html")}">Stead</a>']
        for title, pages in groups.items():
            rows = [self.row(name, page) for page in pages if page in self.sources]
            if rows:
                parts.append(f"<h2>{title}</h2><ul>{''.join(rows)}</ul>")
        if libraries:
            rows = [
                f'<li><a href="{self.way(name, f"api/{library}/documentation/{library.lower()}")}/">'
                f"{library}</a></li>" for library in libraries]
            parts.append(f"<h2>Libraries</h2><ul>{''.join(rows)}</ul>")
        return "<nav>" + "".join(parts) + "</nav>"

    def row(self, name, page):
        title = "Start" if page == "README" else html.escape(self.titles[page])
        current = ' aria-current="page"' if page == name else ""
        return f'<li><a href="{self.way(name, self.address(page))}"{current}>{title}</a></li>'

    def write(self, libraries):
        for name in sorted(self.sources):
            self.read(name)
        self.check_links()
        (self.place / "style.css").write_text(STYLE, encoding="utf-8")
        for name, body in self.bodies.items():
            title = "Stead" if name == "README" else f"{self.titles[name]} · Stead"
            page = self.place / self.address(name)
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(
                '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
                '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
                f"<title>{html.escape(title)}</title>\n"
                f'<link rel="stylesheet" href="{self.way(name, "style.css")}"></head>\n'
                f"<body>{self.navigation(name, libraries)}\n<main>\n{body}</main></body></html>\n",
                encoding="utf-8")

    # MARK: Libraries

    def document(self, library, api):
        """The documentation of a library, from what `swift build` has built and its catalog."""
        catalog = ROOT / f"Sources/{library}/{library}.docc"
        with tempfile.TemporaryDirectory() as graphs:
            api.extract(library, pathlib.Path(graphs))
            output = self.place / "api" / library
            output.parent.mkdir(exist_ok=True)
            result = subprocess.run(
                [docc(), "convert", *([catalog] if catalog.is_dir() else []),
                 "--additional-symbol-graph-dir", graphs, "--output-path", output,
                 "--fallback-display-name", library, "--fallback-bundle-identifier", library,
                 "--transform-for-static-hosting", "--hosting-base-path", f"{self.base}/api/{library}"],
                capture_output=True, text=True)
        if result.returncode != 0:
            self.wrong.append(f"{library} could not be documented: {result.stderr.strip()}")
        # Printed, and no failure: what a link may lead to changes with the compiler's version.
        lines = (result.stdout + result.stderr).splitlines()
        print("".join(f"  {line}\n" for line in lines if line.startswith(("warning: ", " --> "))), end="")


def docc():
    """The documentation compiler beside the Swift compiler."""
    found = shutil.which("docc", path=pathlib.Path(shutil.which("swift")).resolve().parent) or shutil.which("docc")
    return found or sys.exit("docc is missing: it is part of the toolchains of swift.org.")


def load_api():
    """Scripts/check-api.py, which extracts the symbols of built modules."""
    spec = importlib.util.spec_from_file_location("check_api", ROOT / "Scripts/check-api.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("place", nargs="?", type=pathlib.Path, default=ROOT / ".build/site")
    parser.add_argument("--base", default="", help="the path at which a server has the site")
    parser.add_argument("--pages", action="store_true", help="leave the libraries out")
    parser.add_argument("--serve", action="store_true", help="serve the site afterwards")
    parser.add_argument("--libraries", default=",".join(LIBRARIES), help="which, with commas between")
    options = parser.parse_args()
    libraries = [] if options.pages else options.libraries.split(",")

    place = options.place.resolve()
    if place.exists():
        if any(place.iterdir()) and not (place / "style.css").is_file():
            sys.exit(f"{place} holds something other than a site. Name another directory.")
        shutil.rmtree(place)
    place.mkdir(parents=True)
    site = Site(place, options.base.rstrip("/"))
    site.write(libraries)
    api = load_api() if libraries else None
    for library in libraries:
        print(f"{library} ...", flush=True)
        site.document(library, api)
    print("\n".join([*site.wrong, f"{len(site.bodies)} pages and {len(libraries)} libraries in {place}"]))
    if options.serve:
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=place)
        print("http://127.0.0.1:8000", flush=True)
        http.server.ThreadingHTTPServer(("127.0.0.1", 8000), handler).serve_forever()
    sys.exit(1 if site.wrong else 0)


if __name__ == "__main__":
    main()
