# SPDX-License-Identifier: MIT
"""Writes tests/names/hostile.onnx and samples of its input: a network whose nodes, tensors, constants and ports have
names that no identifier of C, comment, string or format may hold as they are. trigraph.onnx has layers whose names end
in a trigraph, and become one if bytes outside ASCII are replaced by question marks.

    python3 tests/tools/names_model.py          needs onnx, numpy"""
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = Path(__file__).resolve().parent.parent / "names"
random = np.random.default_rng(5)
constants, nodes = {}, []


def weight(name, *shape):
    constants[name] = (0.4 * random.standard_normal(shape)).astype(np.float32)
    return name


def add(op, name, inputs, output, **attributes):
    nodes.append(helper.make_node(op, inputs, [output], name=name, **attributes))
    return output


# Digits first; slashes and dots; equal once other characters are replaced; keywords; quotes, escapes, formats and
# trigraphs; the ends of comments; a line break; letters outside ASCII; 300 characters; none at all.
x = "0/in put"
x = add("Conv", "/0/Conv", [x, weight("0.weight", 4, 2, 3, 3), weight("0.bias", 4)], "1", pads=[1] * 4)
x = add("Relu", "3/f2/f2.4/Relu", [x], "/3/f2/f2.4/Relu_output_0")
a = add("Conv", "a/b", [x, weight("a.w", 4, 4, 1, 1)], "a b")
b = add("Conv", "a.b", [x, weight("a_w", 4, 4, 1, 1)], "a_b")
x = add("Add", "while", [a, b], "int")
x = add("Mul", "", [x, weight("%s%n", 4, 1, 1)], "restrict")
x = add("Tanh", 'say "%s\\n" ??/ ??> \\', [x], '"')
x = add("Conv", "*/ #error /*", [x, weight("*/", 4, 1, 3, 3)], "/* // */", group=4)
x = add("Sigmoid", "line\n#error two", [x], "line\r\nbreak")
x = add("Softmax", "größe/ü€", [x], "größe", axis=1)
x = add("Conv", "long" * 75, [x, weight("w" * 300, 3, 4, 1, 1)], "t" * 300)
x = add("Concat", "annotation.simulated_quantize", [x, x], "annotation.simulated_quantize", axis=1)
flat = add("Flatten", "__LINE__", [x], "_Bool")
add("Gemm", "run", [flat, weight("arena", 96, 5), weight("5", 5)], "9/out put.*")
add("Tanh", "lw_exp", [x], "*/out")

graph = helper.make_graph(nodes, "1 */ \"",
                          [helper.make_tensor_value_info("0/in put", TensorProto.FLOAT, [1, 2, 6, 6])],
                          [helper.make_tensor_value_info("9/out put.*", TensorProto.FLOAT, [1, 5]),
                           helper.make_tensor_value_info("*/out", TensorProto.FLOAT, [1, 6, 4, 4])],
                          [numpy_helper.from_array(value, name) for name, value in constants.items()])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
onnx.checker.check_model(model, full_check=True)
FOLDER.mkdir(exist_ok=True)
onnx.save(model, FOLDER / "hostile.onnx")
np.save(FOLDER / "hostile.npy", random.standard_normal((16, 1, 2, 6, 6)).astype(np.float32))


def chain(file, names):
    """Saves a chain of Softmax, a node for each name."""
    values = ["x", *(f"t{i}" for i in range(1, len(names))), "y"]
    layers = [helper.make_node("Softmax", [a], [b], name=name) for a, b, name in zip(values, values[1:], names)]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in "xy"]
    model = helper.make_model(helper.make_graph(layers, "g", ports[:1], ports[1:]),
                              opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, FOLDER / file)


chain("trigraph.onnx", ["a??/", "/é/b"])
# Three of five share the scope net/block/, one only net/; a converter has joined two names.
chain("scopes.onnx", ["net/block/a", "net/block/b;net/block/c", "net/block/d", "net/e", "f"])
