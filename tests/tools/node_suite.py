# SPDX-License-Identifier: MIT
"""Writes the node cases of the installed package onnx as folders, which tests/conformance.py reads.

    python3 tests/tools/node_suite.py DIR

DIR/node/CASE holds model.onnx and test_data_set_K with input_I.pb and output_I.pb. The package holds these cases as
programs; its `backend-test-tools generate-data` writes the others only.
"""
import os
import sys

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases


def message(value, info):
    """The value of a port as the protobuf message of its type."""
    if isinstance(value, onnx.TensorProto):
        return value
    kind = info.type.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.from_list(value, info.name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name)
    if kind == "map_type":
        return numpy_helper.from_dict(value, info.name)
    return numpy_helper.from_array(np.asarray(value), info.name)


def write(case, folder):
    os.makedirs(folder, exist_ok=True)
    onnx.save(case.model, os.path.join(folder, "model.onnx"))
    for k, sides in enumerate(case.data_sets):
        data = os.path.join(folder, "test_data_set_%d" % k)
        os.makedirs(data, exist_ok=True)
        for side, values, ports in zip(("input", "output"), sides, (case.model.graph.input, case.model.graph.output)):
            for i, (value, info) in enumerate(zip(values, ports)):
                with open(os.path.join(data, "%s_%d.pb" % (side, i)), "wb") as f:
                    f.write(message(value, info).SerializeToString())


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    cases = collect_testcases(None)
    for case in cases:
        write(case, os.path.join(sys.argv[1], "node", case.name))
    print("onnx %s: %d cases" % (onnx.__version__, len(cases)))


if __name__ == "__main__":
    main()
