#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""playground.py CHROMIUM PAGE LOOPWRIGHT equal|used: opens the playground in headless Chromium. `equal` compares files,
messages and status of the compiler in the page with the native one on all recorded models. `used` drops models, and
tries results, quantization, package, link, keys, a phone's width and contrast. Prints each fault; status 1 if there is
one. It needs no package."""
import base64
import hashlib
import json
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from report_page import CONTRAST, Browser

MODELS = [*sorted(p for p in Path("tests/models").glob("*") if p.suffix in (".onnx", ".tflite")),
          Path("samples/digits/digits.onnx")]
DIGITS, CALIBRATION = Path("samples/digits/digits.onnx"), Path("samples/digits/calibration.npy")
WORDS = (["compile", "--target", "cortex-m4", "-o", "m.c"],
         ["compile", "--target", "x86-avx2", "--optimize", "speed", "-o", "m.c"],
         ["compile", "--target", "rv32imc", "--optimize", "size", "--standalone", "-o", "m.c"],
         ["report", "--target", "cortex-m4", "--mhz", "168", "-o", "m.html"])

# In the page: files from base 64, and the results of a run, with a hash for each file.
HELPERS = """const bytesOf = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
async function hashOf(bytes) {
    return [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))].map(b => b.toString(16).padStart(2, "0"))
        .join("");
}
async function results(words, files, pages) {
    const r = await lw(words, files.map(([name, text]) => [name, bytesOf(text)]), pages), hashes = {};
    for (const [name, bytes] of r.files) hashes[name] = await hashOf(bytes);
    return { status: r.status, crash: r.crash, out: r.out, said: r.said, files: hashes };
}
function drop(files) {
    const data = new DataTransfer();
    for (const [name, text] of files) data.items.add(new File([bytesOf(text)], name));
    document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
}"""


def text(path):
    return base64.b64encode(path.read_bytes()).decode()


def given(*paths):
    return json.dumps([[p.name, text(p)] for p in paths])


class Playground(Browser):
    def __init__(self, chromium, folder, page):
        super().__init__(chromium, folder)
        self.requests, self.url = [], page.resolve().as_uri()
        self.send("Network.enable")
        self.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
        self.start(self.url)

    def read(self):
        event = super().read()
        if event.get("method") == "Network.requestWillBeSent":
            self.requests.append(event["params"]["request"]["url"])
        return event

    def start(self, url, width=1280):
        self.open(url, width)
        self.get(HELPERS)
        self.wait("takes.get('package') && /^ready/.test("
                  "$('status').textContent)")

    def wait(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while not self.get(f"Boolean({condition})"):
            if time.monotonic() > end:
                raise SystemExit(f"{condition} does not become true; status: {self.get('$(`status`).textContent')}")
            time.sleep(0.05)

    def change(self, code):
        """Runs code that begins a compilation, and waits for its results."""
        self.get(f"window.before = state.results; {code}")
        self.wait("state.results !== before && $('stop').hidden")

    def drop(self, *paths):
        self.change(f"drop({given(*paths)})")


def native(lw, words, *paths):
    with tempfile.TemporaryDirectory() as folder:
        for p in paths:
            (Path(folder) / p.name).write_bytes(p.read_bytes())
        run = subprocess.run([lw, *words], cwd=folder, capture_output=True, text=True, check=False)
        names = {p.name for p in paths}
        found = {str(p.relative_to(folder)): p.read_bytes() for p in sorted(Path(folder).rglob("*")) if p.is_file()}
        return {"status": run.returncode, "crash": "", "out": run.stdout, "said": run.stderr,
                "files": {n: b for n, b in found.items() if n not in names}}


def hashes(result):
    return {**result, "files": {n: hashlib.sha256(b).hexdigest() for n, b in result["files"].items()}}


def equal(page, lw):
    wrong, runs = [], 0
    for model in MODELS:
        every = [[words[0], model.name, *words[1:]] for words in WORDS]
        here = page.get(f"(async () => {{ const files = {given(model)}, all = []; for (const w of {json.dumps(every)}) "
                        "all.push(await results(w, files)); return all; })()")
        for words, found in zip(every, here):
            runs += 1
            expected = hashes(native(lw, words, model))
            wrong += [f"{' '.join(words)}: {key} is {str(found[key])[:300]}, natively {str(expected[key])[:300]}"
                      for key in expected if found[key] != expected[key]]
    print(f"{runs} runs")
    return wrong


class Use:
    def __init__(self, page, lw, folder):
        self.page, self.lw, self.folder, self.wrong = page, str(lw), Path(folder), []

    def require(self, what, expression, expected=True):
        found = self.page.get(expression)
        if found != expected:
            self.wrong.append(f"{what}: {str(found)[:300]!r}, not {str(expected)[:300]!r}")

    def same(self, what, name, expected):
        self.require(what, f"hashOf(state.results.files.find(f => f[0] === {name!r})[1])",
                     hashlib.sha256(expected["files"][name]).hexdigest())

    def model(self):
        self.page.drop(DIGITS)
        self.require("a dropped model is compiled", "$('status').textContent.startsWith('digits.onnx: ')")
        self.require("the report is shown", "document.querySelector('iframe').srcdoc.includes('id=\"verdict\"')")
        self.require("tabs", "[...$('tabs').children].map(b => b.textContent).join()",
                     "Report,digits.c,digits.h,Targets and options")
        expected = native(self.lw, ["compile", "digits.onnx", "--target", "cortex-m4", "-o", "digits.c"], DIGITS)
        self.same("model.c", "digits.c", expected)
        self.page.get("document.querySelector('#tabs button').focus()")
        self.page.key("ArrowRight")
        self.require("an arrow shows the next tab", "document.querySelector('#panel pre').textContent.startsWith("
                     "'/* digits: digits.onnx for cortex-m4')")
        self.require("and has the focus", "document.activeElement.dataset.tab", "digits.c")
        self.require("the line is for a shell", "$('line').textContent.split('\\n')[0]",
                     "loopwright compile digits.onnx --target cortex-m4 -o digits.c")

    def options(self):
        page = self.page
        page.change("$('more').value = \"--standalone --mhz 90 --name 'digit_net'\"; "
                    "$('for').value = 'board nucleo-f446re'; "
                    "$('for').dispatchEvent(new Event('change', { bubbles: true }))")
        words = ["compile", "digits.onnx", "--board", "nucleo-f446re", "--standalone", "--name", "digit_net", "-o",
                 "digits.c"]
        self.same("options reach the commands that take them", "digits.c", native(self.lw, words, DIGITS))
        self.require("the report has its options", "state.results.data.mhz", 90)
        self.require("the link has options alone", "location.hash",
                     "#for=board+nucleo-f446re&more=--standalone+--mhz+90+--name+%27digit_net%27")
        page.change("$('more').value = '--standalon'; $('form').requestSubmit()")
        self.require("an unknown option is refused", "$('refused').textContent.includes(\"did you mean "
                     "'--standalone'\")")
        page.start(page.url + "#for=target+rv32imc&ram=64K&optimize=size&more=--cpp&for=none")
        self.require("a link sets the options", "['for', 'optimize', 'ram', 'more', 'ports'].map(f => $(f).value)"
                     ".join()", "target rv32imc,size,64K,--cpp,int8")
        page.start(page.url)

    def comparison(self):
        page = self.page
        page.drop(DIGITS)
        page.get("document.querySelector('[data-tab=compare]').click()")
        page.wait("state.results.rows && state.results.left === 0")
        self.require("each target has a row", "new Set(state.results.rows.map(r => r.for)).size >= 6")
        self.require("no row is refused", "state.results.rows.every(r => r.report)")
        page.change("document.querySelector('[data-row=\"4\"]').click()")
        self.require("a name chooses its row", "[$('for').value, $('optimize').value].join() === [before.rows[4].for, "
                     "before.rows[4].optimize[0]].join() && state.tab === 'compare'")
        page.start(page.url)

    def quantization(self):
        self.page.drop(DIGITS, CALIBRATION)
        words = ["quantize", "digits.onnx", "--samples", "calibration.npy", "--ports", "int8", "--target", "cortex-m4",
                 "--report", "digits.html", "-o", "digits_int8.c", "-o", "digits_int8.onnx"]
        expected = native(self.lw, words, DIGITS, CALIBRATION)
        for name in ("digits_int8.c", "digits_int8.h", "digits_int8.onnx"):
            self.same(f"quantized {name}", name, expected)
        self.page.get("document.querySelector('[data-tab=quantization]').click()")
        self.require("the page of the quantization is shown", "document.querySelector('iframe').srcdoc.length > 5000")
        model = self.folder / "digits_int8.onnx"
        model.write_bytes(expected["files"]["digits_int8.onnx"])
        self.package(model, "digits_int8", "arduino")

    def package(self, model, folder, kind):
        self.page.get(f"$('kind').value = {kind!r}; $('pack').click()")
        self.page.wait("$('status').textContent.startsWith('saved ')")
        saved = self.folder / f"{folder}-{kind}.zip"
        end = time.monotonic() + 20
        while not saved.exists() and time.monotonic() < end:
            self.page.get("0")
            time.sleep(0.05)
        expected = native(self.lw, ["package", model.name, "--for", kind, "--target", "cortex-m4", "-o", folder], model)
        with zipfile.ZipFile(saved) as archive:
            if archive.testzip() or {n: archive.read(n) for n in archive.namelist()} != expected["files"]:
                self.wrong.append(f"the saved package differs: {archive.namelist()}, {list(expected['files'])}")

    def refusals(self):
        self.page.change(f"drop([['broken.onnx', {text(DIGITS)[:400]!r}]])")
        self.require("a broken file is refused", "$('refused').textContent.startsWith('broken.onnx: ') && "
                     "$('status').classList.contains('bad') && $('panel').hidden")
        self.require("little memory is a diagnostic",
                     f"results(['compile', 'digits.onnx', '-o', 'd.c'], {given(DIGITS)}, 132)"
                     ".then(r => [r.status, r.crash, /error: out of memory/.test(r.said), "
                     "Object.keys(r.files).length].join())", "1,,true,0")
        for words in (["verify", "digits.onnx"], ["report", "digits.onnx", "--cc", "gcc"],
                      ["evaluate", "digits.onnx", "--test", "calibration.npy"]):
            self.require(f"{words[0]} says that no command can run",
                         f"results({words}, {given(DIGITS, CALIBRATION)}).then(r => r.status + r.said)",
                         "1error: no command can run here, such as a C compiler; use loopwright where a shell "
                         "is\n")

    def looks(self):
        page = self.page
        page.start(page.url, 390)
        self.require("an empty phone scrolls downwards only", "document.documentElement.scrollWidth", 390)
        for theme in ("light", "dark"):
            page.change("$('try-float').click()")
            page.get(f"dark({json.dumps(theme == 'dark')}); $('all-options').open = true")
            for i in range(page.get("$('tabs').children.length")):
                page.get(f"$('tabs').children[{i}].click()")
                self.require(f"tab {i} of a {theme} phone scrolls downwards only",
                             "document.documentElement.scrollWidth", 390)
                self.require(f"{theme} text has contrast", CONTRAST, "")


def used(page, lw, folder):
    use = Use(page, lw, folder)
    for part in (use.model, use.options, use.comparison, use.quantization, use.refusals, use.looks):
        part()
    outside = [u for u in page.requests if not u.startswith((page.url, "blob:", "about:", "data:"))]
    return use.wrong + [f"a request is sent: {u}" for u in outside]


def main():
    chromium, page, lw, what = sys.argv[1:]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Playground(chromium, folder, Path(page))
        try:
            lw = Path(lw).resolve()
            wrong = equal(browser, lw) if what == "equal" else used(browser, lw, folder)
            wrong += browser.errors
        finally:
            browser.end()
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
