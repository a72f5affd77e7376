#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""More for the fuzzer to start from: small models of single operators that are there already for other tests.

    python3 tests/fuzz/seeds.py onnx|tflite FOLDER [ONNX_DATA]

They are the backend suite's, or some of each of tests/tflite/*.vec."""
import struct
import sys
from pathlib import Path

MOST_BYTES, OF_EACH = 3000, 4


def recorded(vectors):
    """The models in a file of vectors: a length before each, four letters behind its first word."""
    data, at = vectors.read_bytes(), 8
    while (at := data.find(b"TFL3", at)) >= 0:
        yield data[at - 4:at - 4 + struct.unpack_from("<I", data, at - 8)[0]]
        at += 4


kind, folder = sys.argv[1], Path(sys.argv[2])
if kind == "tflite":
    for vectors in sorted(Path(__file__).parents[1].glob("tflite/*.vec")):
        small = [m for m in recorded(vectors) if len(m) < MOST_BYTES]
        for i, model in enumerate(small[:OF_EACH]):
            (folder / f"{vectors.stem}-{i}.tflite").write_bytes(model)
if kind == "onnx":
    for model in sorted(Path(__file__).parents[1].glob("models/*.onnx")):      # of other domains: trees, ONNX Runtime's
        if model.stem.startswith(("ml_", "qlinear", "fused", "heads", "narrow")):
            (folder / model.name).write_bytes(model.read_bytes())
if kind == "onnx" and len(sys.argv) > 3:
    for model in sorted(Path(sys.argv[3]).glob("*/*/model.onnx")):
        if model.stat().st_size < MOST_BYTES:
            (folder / f"{model.parent.name}.onnx").write_bytes(model.read_bytes())
