# SPDX-License-Identifier: MIT
"""wheel.py BUILD: writes BUILD/loopwright-VERSION-py3-none-PLATFORM.whl from emitter/python/loopwright, the header and
the shared library. Requires the standard library only. Same input, same bytes: entries are sorted and have one date."""
import base64
import hashlib
import re
import sys
import sysconfig
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

METADATA = """Metadata-Version: 2.1
Name: loopwright
Version: {version}
Summary: Compiles trained networks to C99 for microcontrollers
License: MIT
Requires-Python: >=3.9
Requires-Dist: numpy
Provides-Extra: sklearn
Requires-Dist: skl2onnx; extra == "sklearn"
Provides-Extra: progress
Requires-Dist: tqdm; extra == "progress"
Description-Content-Type: text/markdown

{readme}"""


def contents(build: Path) -> dict[str, bytes]:
    """Returns the files of the package by their names in the wheel."""
    package = ROOT / "emitter/python/loopwright"
    files = {f"loopwright/{p.name}": p.read_bytes() for p in package.iterdir() if p.is_file()}
    files["loopwright/loopwright.h"] = (ROOT / "emitter/loopwright.h").read_bytes()
    files["loopwright/libloopwright.so"] = (build / "libloopwright.so").read_bytes()
    files["loopwright/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    return files


def digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def main() -> None:
    build = Path(sys.argv[1])
    files = contents(build)
    version = re.search(rb'#define LW_VERSION "(.*)"', files["loopwright/loopwright.h"]).group(1).decode()
    tag = "py3-none-" + re.sub(r"\W", "_", sysconfig.get_platform())
    info = f"loopwright-{version}.dist-info"
    readme = (ROOT / "emitter/python/README.md").read_text()
    files[f"{info}/METADATA"] = METADATA.format(version=version, readme=readme).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: wheel.py\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, data in sorted(files.items()))
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    path = build / f"loopwright-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)
    print(path)


if __name__ == "__main__":
    main()
