# SPDX-License-Identifier: MIT
"""Files of models: paths, bytes, and objects of other packages through their own exporters."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Callable

from ._abi import ArgumentError, LoopwrightError


def _format_of(data: bytes) -> str:
    """Returns the ending of a model's bytes: a flatbuffer has its identifier at byte 4, and protobuf is not text."""
    if data[4:8] == b"TFL3":
        return "tflite"
    is_text = b"\0" not in data and data.lstrip()[:1].isalpha() and b"\n" in data
    return "te" if is_text and b"output" in data else "onnx"


def _scikit(model: Any, path: Path, example: Any) -> None:
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import FloatTensorType
    if not hasattr(model, "n_features_in_"):
        raise LoopwrightError(f"{type(model).__name__} is not fitted: call fit before compile")
    inputs = [("input", FloatTensorType([1, model.n_features_in_]))]
    is_classifier = hasattr(model, "predict_proba")
    options = {id(model): {"zipmap": False}} if is_classifier else None
    onnx: Any = convert_sklearn(model, initial_types=inputs, options=options)      # a model: no intermediate is asked
    if is_classifier:       # the scores; the label is their greatest
        del onnx.graph.output[0]
    path.write_bytes(onnx.SerializeToString())


def _trees(package: str, model: Any, path: Path) -> None:
    """Exports an estimator, or a Booster, of XGBoost or LightGBM."""
    import onnxmltools
    from onnxmltools.convert.common.data_types import FloatTensorType
    counts = {"xgboost": "num_features", "lightgbm": "num_feature"}
    count = getattr(model, counts[package], None)
    features = count() if count else model.n_features_in_
    named = {"zipmap": False} if package == "lightgbm" else {}
    convert = getattr(onnxmltools, f"convert_{package}")
    onnx = convert(model, initial_types=[("input", FloatTensorType([1, features]))], **named)
    if len(onnx.graph.output) == 2:       # the scores; the label is their greatest
        del onnx.graph.output[0]
    path.write_bytes(onnx.SerializeToString())


def _xgboost(model: Any, path: Path, example: Any) -> None:
    _trees("xgboost", model, path)


def _lightgbm(model: Any, path: Path, example: Any) -> None:
    _trees("lightgbm", model, path)


def _keras(model: Any, path: Path, example: Any) -> None:
    import tf2onnx
    onnx, _ = tf2onnx.convert.from_keras(model)
    path.write_bytes(onnx.SerializeToString())


def _torch(model: Any, path: Path, example: Any) -> None:
    import torch
    if example is None:
        raise ArgumentError("a PyTorch module requires `example`, one input tensor or a tuple of them")
    inputs = example if isinstance(example, tuple) else (example,)
    torch.onnx.export(model.eval(), inputs, str(path))


# Packages whose classes are recognized as models, and their exporters. Estimators of XGBoost and LightGBM are also
# estimators of scikit-learn.
_EXPORTERS: list[tuple[str, str, Callable[[Any, Path, Any], None]]] = [
    ("xgboost", "onnxmltools", _xgboost), ("lightgbm", "onnxmltools", _lightgbm), ("sklearn", "skl2onnx", _scikit),
    ("keras", "tf2onnx", _keras), ("torch", "torch", _torch)]


def file_of(model: Any, folder: Path, format: str | None, example: Any) -> str:
    """Returns the path of a model's file; writes a model that is not yet a file to the folder."""
    if isinstance(model, (str, os.PathLike)):
        return os.fspath(model)
    if isinstance(model, (bytes, bytearray)):
        path = folder / f"model.{format or _format_of(bytes(model))}"
        path.write_bytes(model)
        return str(path)
    if hasattr(model, "SerializeToString"):      # onnx.ModelProto
        return file_of(model.SerializeToString(), folder, "onnx", None)
    packages = {base.__module__.split(".")[0] for base in type(model).__mro__}
    for package, exporter, export in _EXPORTERS:
        if package in packages:
            path = folder / "model.onnx"
            try:
                export(model, path, example)
            except ImportError as e:
                raise ArgumentError(f"an object of {package} is exported by {exporter}, which is not installed: "
                                    f"{e}") from e
            except LoopwrightError:
                raise
            except Exception as e:
                raise LoopwrightError(f"{exporter} does not export {type(model).__name__}: {e}") from e
            return str(path)
    raise ArgumentError(f"a model is a path, bytes, or an object of {', '.join(p for p, _, _ in _EXPORTERS)}; "
                        f"{type(model).__name__} is given")
