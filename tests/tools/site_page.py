#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""site_page.py CHROMIUM HTML: opens each page of the site (`make site`) in headless Chromium, from files. Tries the
search, the keys, the menu of a phone, widths of 1280 and 390, and contrast. Prints each fault; status 1 if there is
one. It needs no package."""
import sys
import tempfile
from pathlib import Path

from report_page import CONTRAST, Browser, Page

WIDE = "document.documentElement.scrollWidth > innerWidth"


def search(page):
    page.keys("/")
    page.require("/ goes to the search", "document.activeElement.id", "query")
    page.browser.get("query.value = 'live-set bound'; query.dispatchEvent(new Event('input'))")
    page.require("a search has results", "document.querySelectorAll('#results a').length > 1")
    page.require("the first is the glossary's or has the words",
                 "/live|bound/i.test(document.querySelector('#results li').textContent)")
    page.keys("Escape")
    page.require("Escape closes the results", "results.hidden")
    page.browser.get("query.value = 'xyzzyx'; query.dispatchEvent(new Event('input'))")
    page.require("a search without a result says so", "results.textContent", "No page has these words.")


def phone(page):
    page.browser.open(page.url, 390, 844)
    page.require("a phone hides the list of pages", "getComputedStyle(nav).display", "none")
    page.browser.get("menu.click()")
    page.require("the button shows it", "getComputedStyle(nav).display", "block")


def main(chromium, folder):
    faults, pages = [], sorted(Path(folder).resolve().glob("*.html"))
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(chromium, profile)
        for file in pages:
            page = Page(browser, file.as_uri())
            page.require("contrast of at least 4.5", CONTRAST, "")
            page.require("the page is in the list", "document.querySelectorAll('[aria-current]').length", 1)
            page.require("no table is left as text", r"/\|-+\|/.test(content.innerText.replace(/\s/g, ''))"
                         " && content.querySelectorAll('table').length === 0", False)
            if file.name == "index.html":
                search(page)
                phone(page)
            browser.open(page.url, 390, 844)
            page.require("no sideways scroll at 390", WIDE, False)
            faults += [f"{file.name}: {fault}" for fault in page.wrong + browser.errors]
            browser.errors.clear()
        browser.end()
    print("\n".join(faults) or f"{len(pages)} pages")
    return bool(faults) or not pages


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
