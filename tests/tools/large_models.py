#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes large ONNX networks with made weights, for the compiler's own time and memory: ResNet-50, MobileNetV2, and
long chains of layers. Without packages; the same bytes on every run.

    large_models.py FOLDER [resnet50|mobilenet_v2|conv1000|softmax10000|add100000 ...]
"""
import random
import struct
import sys
from pathlib import Path

# ---- ONNX's protobuf
# --------------------------------------------------------------------------------------------------

FLOAT, INTS, INT = 1, 7, 2


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def field(number, value):
    """A number, or a text or message with its length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def attribute(name, value):
    if isinstance(value, int):
        return field(1, name) + field(3, value) + field(20, INT)
    return field(1, name) + b"".join(field(8, i) for i in value) + field(20, INTS)


def value_info(name, shape):
    dims = b"".join(field(1, field(1, d)) for d in shape)
    return field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, dims)))


def made_floats(count, seed):
    """Floats of both signs with magnitudes of 2^-7 to 2^-3: random bits under a mask, as one integer."""
    bits = int.from_bytes(random.Random(seed).randbytes(4 * count), "little")
    keep = int.from_bytes(struct.pack("<I", 0x81FFFFFF) * count, "little")
    exponent = int.from_bytes(struct.pack("<I", 0x3C000000) * count, "little")
    return (bits & keep | exponent).to_bytes(4 * count, "little")


class Net:
    def __init__(self, name, shape):
        self.name, self.input, self.shape = name, shape, list(shape)
        self.nodes, self.weights, self.count = [], [], 0

    def constant(self, shape):
        name, count = f"w{len(self.weights)}", 1
        for d in shape:
            count *= d
        data = made_floats(count, len(self.weights))
        dims = b"".join(field(1, d) for d in shape)
        self.weights.append(dims + field(2, FLOAT) + field(8, name) + field(9, data))
        return name

    def node(self, op, inputs, **attributes):
        self.count += 1
        out = f"t{self.count}"
        body = b"".join(field(1, i) for i in inputs) + field(2, out) + field(3, f"{op.lower()}_{self.count}")
        body += field(4, op) + b"".join(field(5, attribute(k, v)) for k, v in attributes.items())
        self.nodes.append(body)
        return out

    def conv(self, x, channels, out_channels, size, stride=1, group=1):
        w = self.constant([out_channels, channels // group, size, size])
        b = self.constant([out_channels])
        return self.node("Conv", [x, w, b], kernel_shape=[size, size], strides=[stride, stride],
                         pads=[size // 2] * 4, group=group)

    def dense(self, x, channels, out_channels):
        x = self.node("Flatten", [self.node("GlobalAveragePool", [x])], axis=1)
        return self.node("Gemm", [x, self.constant([out_channels, channels]), self.constant([out_channels])], transB=1)

    def model(self, output, shape):
        graph = b"".join(field(1, n) for n in self.nodes) + field(2, self.name)
        graph += b"".join(field(5, w) for w in self.weights)
        graph += field(11, value_info("x", self.input)) + field(12, value_info(output, shape))
        return field(1, 7) + field(7, graph) + field(8, field(1, "") + field(2, 13))


# ---- Networks
# ---------------------------------------------------------------------------------------------------------

def bottleneck(net, x, channels, width, stride):
    """1x1, 3x3 with the stride, 1x1 to four times the width; a projection where the shape changes."""
    y = net.node("Relu", [net.conv(x, channels, width, 1)])
    y = net.node("Relu", [net.conv(y, width, width, 3, stride)])
    y = net.conv(y, width, 4 * width, 1)
    if stride != 1 or channels != 4 * width:
        x = net.conv(x, channels, 4 * width, 1, stride)
    return net.node("Relu", [net.node("Add", [y, x])])


def resnet50():
    net = Net("resnet50", [1, 3, 224, 224])
    x = net.node("Relu", [net.conv("x", 3, 64, 7, 2)])
    x, channels = net.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), 64
    for width, blocks in (64, 3), (128, 4), (256, 6), (512, 3):
        for i in range(blocks):
            x = bottleneck(net, x, channels, width, 2 if i == 0 and width > 64 else 1)
            channels = 4 * width
    return net.model(net.dense(x, channels, 1000), [1, 1000])


def inverted_residual(net, x, channels, out_channels, factor, stride, least, most):
    y, width = x, channels * factor
    if factor > 1:
        y = net.node("Clip", [net.conv(y, channels, width, 1), least, most])
    y = net.node("Clip", [net.conv(y, width, width, 3, stride, width), least, most])
    y = net.conv(y, width, out_channels, 1)
    return net.node("Add", [y, x]) if stride == 1 and channels == out_channels else y


def mobilenet_v2():
    net = Net("mobilenet_v2", [1, 3, 224, 224])
    limit = []
    for name, value in ("least", 0.0), ("most", 6.0):
        net.weights.append(field(2, FLOAT) + field(8, name) + field(9, struct.pack("<f", value)))
        limit.append(name)
    x, channels = net.node("Clip", [net.conv("x", 3, 32, 3, 2)] + limit), 32
    for factor, out, blocks, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                        (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(blocks):
            x = inverted_residual(net, x, channels, out, factor, stride if i == 0 else 1, *limit)
            channels = out
    x = net.node("Clip", [net.conv(x, channels, 1280, 1)] + limit)
    return net.model(net.dense(x, 1280, 1000), [1, 1000])


def conv1000():
    net, x = Net("conv1000", [1, 4, 8, 8]), "x"
    for _ in range(1000):
        x = net.conv(x, 4, 4, 3)
    return net.model(x, [1, 4, 8, 8])


def softmax10000():
    net, x = Net("softmax10000", [1, 8]), "x"
    for _ in range(10000):
        x = net.node("Softmax", [x], axis=1)
    return net.model(x, [1, 8])


def add100000():
    net, x = Net("add100000", [1, 8]), "x"
    for _ in range(100000):
        x = net.node("Add", [x, "x"])
    return net.model(x, [1, 8])


MODELS = {f.__name__: f for f in (resnet50, mobilenet_v2, conv1000, softmax10000, add100000)}


def main():
    names = sys.argv[2:] or list(MODELS)
    if len(sys.argv) < 2 or sys.argv[1].startswith("-") or not set(names) <= set(MODELS):
        sys.exit(f"usage: large_models.py FOLDER [{'|'.join(MODELS)} ...]")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / f"{name}.onnx").write_bytes(MODELS[name]())


if __name__ == "__main__":
    main()
