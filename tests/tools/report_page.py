#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report_page.py CHROMIUM PAGE...: opens pages of reports in headless Chromium, by the DevTools protocol over pipes.
Tries keys, search, sorting, selection, the address, the clock, a phone's width, contrast, and the page without script.
Prints each fault; status 1 if there is one. It needs no package."""
import fcntl
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
         "--no-first-run", "--hide-scrollbars", "--window-size=1280,900")

CONTRAST = """(() => {
    const parse = c => (c.match(/[\\d.]+/g) || []).map(Number);
    const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= .03928 ? v / 12.92
        : ((v + .055) / 1.055) ** 2.4).reduce((a, v, i) => a + v * [.2126, .7152, .0722][i], 0);
    const back = e => { for (; e; e = e.parentElement) {
        const s = getComputedStyle(e), c = parse(s.backgroundColor);
        if (s.backgroundImage !== "none") return null;
        if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
    const bad = [];
    for (const e of document.querySelectorAll("main *, aside *, header *")) {
        const text = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
        if (!text || e.closest("svg") || !e.getClientRects().length || e.closest(".hidden")) continue;
        const b = back(e), f = parse(getComputedStyle(e).color);
        if (!b) continue;
        const [x, y] = [light(f), light(b)].sort((p, q) => q - p), ratio = (x + .05) / (y + .05);
        if (ratio < 4.5) bad.push(`${e.tagName} "${e.textContent.trim().slice(0, 20)}" ${ratio.toFixed(2)}`);
    }
    return bad.slice(0, 3).join("; ");
})()"""


class Browser:
    def __init__(self, chromium, folder):
        to, self.out = os.pipe()
        self.into, of = os.pipe()

        def connect():
            """The browser reads commands from file 3 and writes answers to file 4."""
            far = [fcntl.fcntl(file, fcntl.F_DUPFD, 10) for file in (to, of)]
            for i, file in enumerate(far):
                os.dup2(file, 3 + i)

        self.process = subprocess.Popen([chromium, *FLAGS, f"--user-data-dir={folder}"], preexec_fn=connect,
                                        pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to)
        os.close(of)
        self.number, self.rest, self.errors, self.session, self.loads = 0, b"", [], None, 0
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.send(f"{domain}.enable")

    def read(self):
        while b"\0" not in self.rest:
            more = os.read(self.into, 1 << 16)
            if not more:
                raise SystemExit("the browser has ended")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        event = json.loads(text)
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        if method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])
        self.loads += method == "Page.loadEventFired"
        return event

    def send(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            event = self.read()
            if event.get("id") == self.number:
                if "error" in event:
                    raise SystemExit(f"{method}: {event['error']['message']}")
                return event["result"]

    def open(self, url, width=1280, height=900):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        for address in ("about:blank", url):
            before = self.loads
            self.send("Page.navigate", url=address)
            while self.loads == before:
                self.read()

    def get(self, expression):
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            self.errors.append(result["exceptionDetails"].get("exception", {}).get("description", expression))
        return result["result"].get("value")

    def key(self, key):
        text = key if len(key) == 1 else ""
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, text=text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key)

    def end(self):
        self.process.kill()
        self.process.wait()


class Page:
    def __init__(self, browser, url):
        self.browser, self.url, self.wrong = browser, url, []
        browser.open(url)

    def require(self, what, expression, expected=True):
        found = self.browser.get(expression)
        if found != expected:
            self.wrong.append(f"{what}: {found!r}, not {expected!r}")

    def keys(self, *keys):
        for key in keys:
            self.browser.key(key)

    def selection(self):
        self.keys("h")
        self.require("h selects the layer with most work", "state.layer === hottest")
        self.require("the address has the layer", "location.hash === '#layer=' + hottest")
        self.require("the table marks it", "document.querySelectorAll('#rows tr[aria-selected=true]').length", 1)
        self.require("its buffers are marked",
                     "!buffers.length || document.querySelectorAll('.buf.in, .buf.out, .buf.tmp').length > 0")
        self.require("the graph marks it", "document.querySelectorAll('.node.chosen').length", 1)
        self.keys("Escape")
        self.require("Escape clears", "state.layer", -1)
        self.keys("j", "j")
        self.require("j goes on", "state.layer", 1)
        self.keys("k")
        self.require("k goes back", "state.layer", 0)

    def tabs(self):
        self.browser.get("select(layers.findIndex(l => l.function))")
        for key, name in (("c", "C"), ("f", "formula"), ("s", "schedule"), ("w", "why")):
            self.keys(key)
            self.require(f"{key} shows the tab", "document.querySelector('[data-tab][aria-selected=true]').textContent",
                         name)
            self.require(f"{name} has a text", "document.querySelector('#one pre').textContent.length > 10")

    def graph(self):
        self.browser.get("scale = view.k")
        self.keys("+")
        self.require("+ zooms", "view.k > scale")
        self.keys("-", "0")
        self.require("0 fits", "Math.abs(view.k - scale) < 1e-6")
        self.keys("h")
        self.browser.get("graph.vertices.find(v => v.layer && v.layer.id === state.layer).g.focus()")
        self.keys("ArrowDown")
        self.require("an arrow follows an edge",
                     "!layers[hottest].readers.length || state.layer === layers[hottest].readers[0]")
        self.require("each layer of the graph has a box", "graph.vertices.reduce((n, v) => n + (v.layer ? 1 : "
                     "v.layers ? v.layers.length : 0), 0) === graphLayers().length")
        self.require("each edge is drawn", "document.querySelectorAll('.edge').length === graph.edges.length")
        self.require("nothing is at a place that is no number", "!document.body.innerHTML.includes('NaN')")

    def others(self):
        self.keys("/")
        self.require("/ goes to the search", "document.activeElement.id", "find")
        self.browser.get("$('find').value = layers[0].name; $('find').oninput({ target: $('find') })")
        self.require("the search filters", "document.querySelectorAll('#rows tbody tr').length "
                     "=== layers.filter(matches).length && matches(layers[0])")
        self.keys("Enter")
        self.require("Enter selects a match", "matches(layers[state.layer])")
        self.keys("Escape")
        self.browser.get("document.querySelector('[data-sort=work]').click()")
        self.require("a head sorts", "+document.querySelector('#rows tbody tr').dataset.layer === "
                     "[...layers].sort((a, b) => b.work - a.work || a.id - b.id)[0].id")
        self.keys("?")
        self.require("? shows the keys", "$('keys').open")
        self.browser.get("$('keys').close()")
        self.require("light text has contrast", CONTRAST, "")
        self.browser.get("document.activeElement.blur()")
        self.keys("d")
        self.require("d changes the theme", "document.documentElement.dataset.theme", "dark")
        self.require("dark text has contrast", CONTRAST, "")
        self.browser.get("const box = $('mhz'); if (box) { box.value = 1; box.onchange({ target: box }); }")
        self.require("the clock changes the time", "!$('mhz') || state.mhz === 1")
        self.require("one thing is not counted as several", "(document.body.innerText.match(/\\b1 "
                     "(operators|layers|constants|functions|buffers)\\b/) || [''])[0]", "")
        for name in ("strip-of", "strip-order", "bars-of", "memory-width"):
            self.browser.get(f"[...$('{name}').children].forEach((b, i) => $('{name}').children[i].click())")

    def phone(self):
        self.browser.open(self.url + "#layer=0", 390, 844)
        self.require("the address selects", "state.layer", 0)
        self.require("a phone scrolls downwards only", "document.documentElement.scrollWidth", 390)
        self.require("the graph has the width of the phone", "graph.width * view.k <= $('net').clientWidth")
        self.browser.get("$('grip').click()")
        self.require("the sheet opens", "$('side').classList.contains('up')")

    def without_script(self):
        self.browser.send("Emulation.setScriptExecutionDisabled", value=True)
        self.browser.open(self.url, 390, 844)
        self.browser.send("Emulation.setScriptExecutionDisabled", value=False)
        self.require("the verdict stands", "document.querySelector('#verdict dl').getClientRects().length > 0")
        self.require("the table stands", "document.querySelectorAll('#rows tbody tr').length > 0")
        self.require("the rest is hidden", "document.querySelector('#net').getClientRects().length", 0)
        self.require("a phone scrolls downwards only without script", "document.documentElement.scrollWidth", 390)


def main():
    chromium, *files = sys.argv[1:]
    wrong = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(chromium, folder)
        try:
            for file in files:
                page = Page(browser, Path(file).resolve().as_uri())
                for part in (page.selection, page.tabs, page.graph, page.others, page.phone, page.without_script):
                    part()
                wrong += [f"{Path(file).name}: {x}" for x in page.wrong + browser.errors]
                browser.errors = []
        finally:
            browser.end()
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
