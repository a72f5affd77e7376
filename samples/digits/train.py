#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trains the digit recogniser and writes digits.onnx and heldout.h beside this file.

Only numpy learns here: the network is small enough that its gradients fit on a page. Images
are [batch][height][width][channel]; a convolution is one matrix product per tap,
    y[n,h,w,o] = sum(i,j,c) x[n, h+i-1, w+j-1, c] * k[i,j,c,o],
and its gradients are the same sum turned round. The held-out images are drawn before anything
else happens and are looked at once, after the last step.
"""
import os
import sys

import numpy as np
import onnx
from numpy.lib.stride_tricks import sliding_window_view
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

SEED = 20
HELD_OUT = 360
EPOCHS = 60
BATCH = 32
RATE = 3e-3
WEIGHT_DECAY = 1e-4
SMOOTHING = 0.05        # label smoothing: keeps the scores from saturating
HERE = os.path.dirname(os.path.abspath(__file__))


class Layer:
    """A layer owns `weights`; backward() leaves a gradient of the same name in `gradients`."""
    def __init__(self):
        self.weights, self.gradients = {}, {}


class Conv(Layer):
    """Stride 1, zero padding that keeps the size, no bias: batch norm follows."""
    def __init__(self, rng, size, inputs, outputs):
        super().__init__()
        deviation = np.sqrt(2 / (size * size * inputs))
        self.weights["k"] = rng.normal(0, deviation, (size, size, inputs, outputs))

    def windows(self, x):
        """[n][h][w][c] -> [n][h][w][c][i][j], zeros outside."""
        size = self.weights["k"].shape[0]
        edge = size // 2
        padded = np.pad(x, ((0, 0), (edge, edge), (edge, edge), (0, 0)))
        return sliding_window_view(padded, (size, size), axis=(1, 2))

    def forward(self, x, training):
        self.x = x
        return np.einsum("nhwcij,ijco->nhwo", self.windows(x), self.weights["k"], optimize=True)

    def backward(self, dy):
        k = self.weights["k"]
        self.gradients["k"] = np.einsum("nhwcij,nhwo->ijco", self.windows(self.x), dy, optimize=True)
        return np.einsum("nhwoij,ijco->nhwc", self.windows(dy), k[::-1, ::-1], optimize=True)


class Depthwise(Conv):
    """One filter a channel: y[n,h,w,c] = sum(i,j) x[n, h+i-1, w+j-1, c] * k[i,j,c]."""
    def __init__(self, rng, size, channels):
        super().__init__(rng, size, 1, channels)
        self.weights["k"] = self.weights["k"][:, :, 0]

    def forward(self, x, training):
        self.x = x
        return np.einsum("nhwcij,ijc->nhwc", self.windows(x), self.weights["k"], optimize=True)

    def backward(self, dy):
        k = self.weights["k"]
        self.gradients["k"] = np.einsum("nhwcij,nhwc->ijc", self.windows(self.x), dy, optimize=True)
        return np.einsum("nhwcij,ijc->nhwc", self.windows(dy), k[::-1, ::-1], optimize=True)


class BatchNorm(Layer):
    EPSILON, MOMENTUM = 1e-5, 0.9

    def __init__(self, channels):
        super().__init__()
        self.weights = {"scale": np.ones(channels), "shift": np.zeros(channels)}
        self.mean, self.variance = np.zeros(channels), np.ones(channels)

    def forward(self, x, training):
        if training:
            mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
            self.mean += (1 - self.MOMENTUM) * (mean - self.mean)
            self.variance += (1 - self.MOMENTUM) * (variance - self.variance)
        else:
            mean, variance = self.mean, self.variance
        self.inverse = 1 / np.sqrt(variance + self.EPSILON)
        self.normal = (x - mean) * self.inverse
        return self.normal * self.weights["scale"] + self.weights["shift"]

    def backward(self, dy):
        self.gradients = {"scale": (dy * self.normal).sum((0, 1, 2)), "shift": dy.sum((0, 1, 2))}
        d = dy * self.weights["scale"]
        return self.inverse * (d - d.mean((0, 1, 2))
                               - self.normal * (d * self.normal).mean((0, 1, 2)))


class Relu(Layer):
    def forward(self, x, training):
        self.positive = x > 0
        return x * self.positive

    def backward(self, dy):
        return dy * self.positive


class MaxPool(Layer):
    """2x2 windows, stride 2."""
    def forward(self, x, training):
        n, h, w, c = x.shape
        tiles = x.reshape(n, h // 2, 2, w // 2, 2, c)
        y = tiles.max((2, 4), keepdims=True)
        self.taken = (tiles == y)
        self.taken = self.taken / self.taken.sum((2, 4), keepdims=True)
        return y[:, :, 0, :, 0, :]

    def backward(self, dy):
        d = self.taken * dy[:, :, None, :, None, :]
        n, h, _, w, _, c = d.shape
        return d.reshape(n, 2 * h, 2 * w, c)


class Dense(Layer):
    """Flattens channels first, as ONNX does, so that the exported weights need no reordering."""
    def __init__(self, rng, inputs, outputs):
        super().__init__()
        self.weights = {"w": rng.normal(0, np.sqrt(1 / inputs), (inputs, outputs)),
                        "b": np.zeros(outputs)}

    def forward(self, x, training):
        self.shape = x.shape
        self.flat = x.transpose(0, 3, 1, 2).reshape(len(x), -1)
        return self.flat @ self.weights["w"] + self.weights["b"]

    def backward(self, dy):
        self.gradients = {"w": self.flat.T @ dy, "b": dy.sum(0)}
        n, h, w, c = self.shape
        return (dy @ self.weights["w"].T).reshape(n, c, h, w).transpose(0, 2, 3, 1)


def make_network(rng):
    return [Conv(rng, 3, 1, 16), BatchNorm(16), Relu(),           # 8x8x16
            Depthwise(rng, 3, 16), BatchNorm(16), Relu(),         # 8x8x16
            Conv(rng, 1, 16, 24), BatchNorm(24), Relu(),          # 8x8x24
            MaxPool(),                                            # 4x4x24
            Conv(rng, 3, 24, 32), BatchNorm(32), Relu(),          # 4x4x32
            MaxPool(),                                            # 2x2x32
            Dense(rng, 128, 10)]


def forward(network, x, training=False):
    for layer in network:
        x = layer.forward(x, training)
    return x


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def augment(rng, x):
    """Moves every image by at most one pixel each way."""
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    moved = np.empty_like(x)
    for n, (row, column) in enumerate(rng.integers(0, 3, (len(x), 2))):
        moved[n] = padded[n, row:row + 8, column:column + 8]
    return moved


def train(network, rng, x, label):
    """Adam with a cosine schedule and weight decay on the cross entropy."""
    target = np.eye(10)[label] * (1 - SMOOTHING) + SMOOTHING / 10
    first, second, step = {}, {}, 0
    steps = EPOCHS * (len(x) // BATCH)
    for epoch in range(EPOCHS):
        order, loss = rng.permutation(len(x)), 0.0
        for start in range(0, len(x) - BATCH + 1, BATCH):
            chosen = order[start:start + BATCH]
            score = softmax(forward(network, augment(rng, x[chosen]), training=True))
            loss -= (target[chosen] * np.log(score + 1e-12)).sum() / BATCH
            gradient = (score - target[chosen]) / BATCH
            for layer in reversed(network):
                gradient = layer.backward(gradient)
            step += 1
            rate = RATE * 0.5 * (1 + np.cos(np.pi * step / steps))
            for index, layer in enumerate(network):
                for name, weight in layer.weights.items():
                    g, key = layer.gradients[name], (index, name)
                    first[key] = 0.9 * first.get(key, 0) + 0.1 * g
                    second[key] = 0.999 * second.get(key, 0) + 0.001 * g * g
                    m, v = first[key] / (1 - 0.9 ** step), second[key] / (1 - 0.999 ** step)
                    weight -= rate * (m / (np.sqrt(v) + 1e-8) + WEIGHT_DECAY * weight)
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1}: mean loss {loss / (steps // EPOCHS):.4f}")


def export(network, path):
    """Writes the network as trained, with batch norm unfolded, as a framework's exporter does."""
    nodes, weights, current, count = [], [], "input", {}

    def constant(name, value):
        weights.append(numpy_helper.from_array(np.ascontiguousarray(value, np.float32), name))
        return name

    def node(kind, constants=(), **attributes):
        nonlocal current
        count[kind] = count.get(kind, 0) + 1
        name = f"{kind.lower()}_{count[kind]}"
        inputs = [current] + [constant(f"{name}.{suffix}", value) for suffix, value in constants]
        current = "scores" if kind == "Softmax" else f"{name}_out"
        nodes.append(helper.make_node(kind, inputs, [current], name=name, **attributes))

    for layer in network:
        if isinstance(layer, Conv):
            k, size = layer.weights["k"], layer.weights["k"].shape[0]
            group = k.shape[2] if isinstance(layer, Depthwise) else 1
            oihw = k.transpose(2, 0, 1)[:, None] if group > 1 else k.transpose(3, 2, 0, 1)
            node("Conv", [("weight", oihw)], kernel_shape=[size] * 2, pads=[size // 2] * 4, group=group)
        elif isinstance(layer, BatchNorm):
            node("BatchNormalization",
                 [("scale", layer.weights["scale"]), ("bias", layer.weights["shift"]),
                  ("mean", layer.mean), ("variance", layer.variance)], epsilon=layer.EPSILON)
        elif isinstance(layer, Relu):
            node("Relu")
        elif isinstance(layer, MaxPool):
            node("MaxPool", kernel_shape=[2, 2], strides=[2, 2])
        elif isinstance(layer, Dense):
            node("Flatten", axis=1)
            node("Gemm", [("weight", layer.weights["w"].T), ("bias", layer.weights["b"])], transB=1)
    node("Softmax", axis=1)
    graph = helper.make_graph(
        nodes, "digits",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 1, 8, 8])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 10])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)],
                              producer_name="samples/digits/train.py")
    model.ir_version = 7
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)
    return sum(int(np.prod(tensor.dims)) for tensor in weights)


def write_held_out(path, pixels, label):
    rows = [",".join(str(value) for value in image.ravel()) for image in pixels]
    with open(path, "w", encoding="ascii", newline="\n") as out:
        out.write("/* SPDX-License-Identifier: MIT */\n"
                  "/* Written by train.py: digits outside the training set, as grey levels from 0 to 16, row by "
                  "row, "
                  "with their labels.\n"
                  " * From the UCI set \"Optical Recognition of Handwritten Digits\" (E. Alpaydin, C. Kaynak, 1998; "
                  "CC BY 4.0). */\n"
                  "#ifndef DIGITS_HELDOUT_H\n#define DIGITS_HELDOUT_H\n\n#include <stdint.h>\n\n"
                  f"enum {{ HELDOUT_COUNT = {len(label)}, HELDOUT_PIXELS = 64 }};\n\n"
                  "static const uint8_t heldout_labels[HELDOUT_COUNT] = {\n")
        for start in range(0, len(label), 45):
            out.write(",".join(str(value) for value in label[start:start + 45]) + ",\n")
        out.write("};\n\nstatic const uint8_t heldout_pixels[HELDOUT_COUNT][HELDOUT_PIXELS] = {\n")
        out.writelines("{" + row + "},\n" for row in rows)
        out.write("};\n\n#endif\n")


def main():
    digits = load_digits()
    pixels, label = digits.images.astype(np.uint8), digits.target
    learn, held_out = train_test_split(np.arange(len(label)), test_size=HELD_OUT,
                                       stratify=label, random_state=SEED)
    held_out = np.sort(held_out)
    image = pixels[..., None] / 16.0
    rng = np.random.default_rng(SEED)
    network = make_network(rng)
    train(network, rng, image[learn], label[learn])
    fit = (forward(network, image[learn]).argmax(1) == label[learn]).mean()
    right = int((forward(network, image[held_out]).argmax(1) == label[held_out]).sum())
    parameters = export(network, os.path.join(HERE, "digits.onnx"))
    write_held_out(os.path.join(HERE, "heldout.h"), pixels[held_out], label[held_out])
    print(f"{parameters} parameters; training images {100 * fit:.2f} % right; "
          f"held out {right} of {HELD_OUT} ({100 * right / HELD_OUT:.2f} %)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
