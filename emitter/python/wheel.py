# SPDX-License-Identifier: MIT
"""The backend of pyproject.toml, and wheel.py BUILD: writes BUILD/loopwright-VERSION-py3-none-PLATFORM.whl from the
package, the headers and the shared library. Requires the standard library only. Same input, same bytes: entries are
sorted and have one date."""
import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
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
    for path in sorted((ROOT / "runtime").rglob("*.h")):
        files[f"loopwright/include/{path.relative_to(ROOT / 'runtime')}"] = path.read_bytes()
    files["loopwright/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    return files


def version_of(header: bytes) -> str:
    return re.search(rb'#define LW_VERSION "(.*)"', header).group(1).decode()


def digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def write_wheel(build: Path, folder: Path) -> Path:
    files = contents(build)
    version = version_of(files["loopwright/loopwright.h"])
    tag = "py3-none-" + re.sub(r"\W", "_", sysconfig.get_platform())
    info = f"loopwright-{version}.dist-info"
    readme = (ROOT / "emitter/python/README.md").read_text()
    files[f"{info}/METADATA"] = METADATA.format(version=version, readme=readme).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: wheel.py\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, data in sorted(files.items()))
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    path = folder / f"loopwright-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return path


# ---- The backend's hooks (PEP 517): `pip install .` ------------------------------------------------------------------

SOURCES = ["LICENSE", "Makefile", "README.md", "emitter", "ops", "pyproject.toml", "runtime", "schedules",
           "tests/tests.mk"]


def build_wheel(wheel_directory: str, config_settings: object = None, metadata_directory: object = None) -> str:
    subprocess.run(["make", f"-j{os.cpu_count() or 1}", "shared"], cwd=ROOT, check=True)
    return write_wheel(ROOT / "build", Path(wheel_directory)).name


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    version = version_of((ROOT / "emitter/loopwright.h").read_bytes())
    stem = f"loopwright-{version}"
    readme = (ROOT / "emitter/python/README.md").read_text()
    info = Path(sdist_directory) / "PKG-INFO"
    info.write_text(METADATA.format(version=version, readme=readme))
    with tarfile.open(Path(sdist_directory) / f"{stem}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for name in SOURCES:
            archive.add(ROOT / name, f"{stem}/{name}", filter=lambda t: None if "__pycache__" in t.name else t)
        archive.add(info, f"{stem}/PKG-INFO")
    info.unlink()
    return f"{stem}.tar.gz"


def main() -> None:
    print(write_wheel(Path(sys.argv[1]), Path(sys.argv[1])))


if __name__ == "__main__":
    main()
