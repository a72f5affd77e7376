# SPDX-License-Identifier: MIT
"""What commands do with a model in which data decide sizes: rows of tests/sizes.py."""
import os
import shlex
import subprocess
import tempfile

import numpy as np
import onnx
import onnx.parser

MODEL = """<ir_version: 8, opset_import: ["" : 18]> g (float[8,3] x, bool[8] m) => (float[N,4] y, float mean) {
c = Compress<axis=0>(x, m) y = MatMul(c, w) mean = ReduceMean<keepdims=0>(y) }"""
RANGE = """<ir_version: 8, opset_import: ["" : 18]> g (int64 n) => (int64[k] y) {
z = Constant<value_int=0>() o = Constant<value_int=1>() r = Range(z, n, o) y = Neg(r) }"""
SAMPLES = 5

# name | words of the command; DIR: a folder with the model, samples and a runner | status | text that it prints
COMMANDS = """
a gradient through a decided size | DIR/m.onnx --gradient mean:x -o DIR/g.c | 1 | \
    a size that data decide; use layers whose sizes
training through a decided size | DIR/m.onnx --train 'loss=mse output=mean optimizer=sgd(rate=0.1) update=last' \
    -o DIR/t.c | 1 | the gradient goes through
quantizing a decided size | quantize DIR/m.onnx --samples DIR/x.npy --samples DIR/m.npy -o DIR/q.c | 1 | \
    unsupported: data decide the sizes of
evaluating a decided size | evaluate DIR/m.onnx --test DIR/x.npy --test DIR/m.npy --test-labels DIR/labels.npy | 1 | \
    unsupported: the output "y" is
evaluating beside a decided size | evaluate DIR/first.onnx --test DIR/x.npy --test DIR/m.npy --expect DIR/mean.npy \
    | 0 | greatest error 0
measuring a decided size | report DIR/m.onnx --runner DIR/runner | 0 | measured
a device for a decided size | verify DIR/m.onnx --annotate DIR/device --quiet | 0 | verified: 2 of 2
a device for a decided size is noted | verify DIR/m.onnx --annotate DIR/device | 0 | \
    runs on the cpu: data decide the size of
generated masks choose a part of a decided size | verify DIR/m.onnx | 0 | y: [4][4], as expected
a state of a decided size | DIR/m.onnx --state x=y -o DIR/s.c | 1 | the state's input "x" is
a maximum of a name with signs is asked for | DIR/range.onnx -o DIR/r.c | 1 | use --dim 'a<=b=c.0<=N'
a maximum of a name with signs | run DIR/range.onnx --dim '1<=a<=b=c.0<=5' DIR/three.npy | 0 | [0 -1 -2]
"""


def rows():
    for line in COMMANDS.replace("\\\n", "").strip().splitlines():
        name, words, status, text = [part.strip() for part in line.split(" | ")]
        yield name, words, int(status), text


def try_row(build, name, words, status, text):
    del name
    with tempfile.TemporaryDirectory() as folder:
        model = onnx.parser.parse_model(MODEL.replace("\n", " "))
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.ones((3, 4), np.float32), "w"))
        onnx.save(model, os.path.join(folder, "m.onnx"))
        model.graph.output.reverse()
        onnx.save(model, os.path.join(folder, "first.onnx"))
        for file, array in (("x", np.ones((SAMPLES, 8, 3), np.float32)), ("m", np.ones((SAMPLES, 8), bool)),
                            ("labels", np.zeros(SAMPLES, np.int64)), ("mean", np.full(SAMPLES, 3, np.float32))):
            np.save(os.path.join(folder, file), array)
        model = onnx.parser.parse_model(RANGE.replace("\n", " "))
        model.graph.node[2].output[0] = model.graph.node[3].input[0] = "a<=b=c"
        onnx.save(model, os.path.join(folder, "range.onnx"))
        np.save(os.path.join(folder, "three"), np.array(3))
        runner = os.path.join(folder, "runner")
        with open(runner, "w") as f:
            f.write('#!/bin/sh\n"$@" && echo instructions 5\n')
        os.chmod(runner, 0o755)
        with open(os.path.join(folder, "device"), "w") as f:
            f.write("on_device npu y\n")
        words = [w.replace("DIR", folder) for w in shlex.split(words)]
        done = subprocess.run([os.path.join(build, "loopwright")] + words, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=300)
        return "" if done.returncode == status and text in done.stdout else "status %d: %s" % (done.returncode,
                                                                                               done.stdout[-400:])
