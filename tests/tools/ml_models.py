# SPDX-License-Identifier: MIT
"""Writes small models of the domain ai.onnx.ml to tests/models, with what ONNX Runtime computes for random inputs.

    python3 tests/tools/ml_models.py [--apart FOLDER]                    needs numpy, onnx, onnxruntime

`ml_trees` has ensembles of random trees: every condition, missing values, one and several targets, all combinations of
classes and base values that ONNX Runtime distinguishes. `ml_models` has the other operators.
"""
import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from runtime_models import FOLDER, Builder, random, real

ML = "ai.onnx.ml"
MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
GRID = np.array([-1.5, -0.5, 0, 0.25, 1, 2], np.float32)           # some features equal a threshold
I64, F32 = TensorProto.INT64, TensorProto.FLOAT


def trees(count, features, depth, modes, missing=lambda: 0):
    """Arrays of the nodes, and the leaves as (tree, node)."""
    nodes, leaves = ({k: [] for k in "treeids nodeids featureids values modes truenodeids falsenodeids "
                      "missing_value_tracks_true".split()}, [])

    def grow(tree, left):
        own, at = len(nodes["nodeids"]), sum(t == tree for t in nodes["treeids"])
        is_leaf = left == 0 or (left < depth and random.random() < 0.2)
        row = (tree, at, 0 if is_leaf else int(random.integers(features)), 0.0 if is_leaf
               else float(random.choice(GRID)),
               "LEAF" if is_leaf else str(random.choice(modes)), 0, 0, 0 if is_leaf else int(missing()))
        for key, value in zip(nodes, row):
            nodes[key].append(value)
        if is_leaf:
            leaves.append((tree, at))
            return at
        nodes["truenodeids"][own] = grow(tree, left - 1)
        nodes["falsenodeids"][own] = grow(tree, left - 1)
        return at

    for tree in range(count):
        grow(tree, depth)
    return {"nodes_" + k: v for k, v in nodes.items()}, leaves


def weights(prefix, leaves, targets, positive=False, scale=0.2):
    """Each leaf has a weight for each of targets(tree)."""
    rows = [(t, n, k) for t, n in leaves for k in targets(t)]
    w = scale * random.standard_normal(len(rows))
    return {prefix + "_treeids": [r[0] for r in rows], prefix + "_nodeids": [r[1] for r in rows],
            prefix + "_ids": [r[2] for r in rows],
            prefix + "_weights": [float(v) for v in (abs(w) if positive else w).astype(np.float32)]}


def classes(b, x, count, targets, labels, positive=False, trees_of=5, modes=("BRANCH_LEQ",), missing=lambda: 0,
            **attrs):
    nodes, leaves = trees(trees_of, 4, 3, list(modes), missing)
    names = ["label_%d" % len(b.nodes), "score_%d" % len(b.nodes)]
    b.node("TreeEnsembleClassifier", [x], names=names, domain=ML, keep=False, classlabels_int64s=labels[:count],
           **nodes,
           **weights("class", leaves, targets, positive), **attrs)
    b.outputs += [helper.make_tensor_value_info(names[0], I64, None),
                  helper.make_tensor_value_info(names[1], F32, None)]


def regress(b, x, count, targets, features=4, modes=("BRANCH_LEQ",), missing=lambda: 0, trees_of=5, **attrs):
    nodes, leaves = trees(trees_of, features, 3, list(modes), missing)
    b.node("TreeEnsembleRegressor", [x], domain=ML, n_targets=count, **nodes, **weights("target", leaves, targets),
           **attrs)


def ensemble5(b, x):
    """TreeEnsemble of operator set 5: two trees, one with a set; the second is a single leaf."""
    t = lambda v, dtype=np.float32: numpy_helper.from_array(np.array(v, dtype))
    b.node("TreeEnsemble", [x], domain=ML, n_targets=2, nodes_featureids=[0, 2, 1, 3, 0],
           nodes_splits=t([0, 0.25, -0.5, 0, 0]),
           nodes_modes=t([0, 6, 1, 6, 0], np.uint8), nodes_truenodeids=[1, 0, 2, 3, 5],
           nodes_falsenodeids=[2, 1, 3, 4, 5],
           nodes_trueleafs=[0, 1, 1, 1, 1], nodes_falseleafs=[0, 1, 0, 1, 1], leaf_targetids=[0, 1, 0, 1, 0, 1],
           leaf_weights=t([0.5, -0.25, 1.5, 2.5, -0.75, 0.125]), membership_values=t([1, 3, np.nan, 1, 2, 4, np.nan]),
           tree_roots=[0, 4], aggregate_function=1, post_transform=0)


def ensemble_model():
    b = Builder("ml_ensemble", opset=21, ml=5)
    ensemble5(b, b.input("x", grid(7, 4)))
    b.save(draw=lambda k: {"x": grid(7, 4)})


def named_model():
    """Classes with names, and a ZipMap: the label is an index here, where ONNX Runtime has the name."""
    nodes, leaves = trees(3, 4, 2, ["BRANCH_LEQ"])
    names = ["idle", "walking", "on stairs"]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("TreeEnsembleClassifier", ["x"], ["label", "scores"], domain=ML, classlabels_strings=names,
                          post_transform="SOFTMAX", **nodes,
                          **weights("class", leaves, lambda t: [t])),
         helper.make_node("ZipMap", ["scores"], ["map"], domain=ML, classlabels_strings=names)],
        "ml_names", [info("x", F32, [1, 4])], [info("label", TensorProto.STRING, [1])])
    graph.output.append(
        helper.make_value_info("map",
                               helper.make_sequence_type_proto(helper.make_map_type_proto(TensorProto.STRING,
                                   helper.make_tensor_type_proto(F32, [])))))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(ML, 3)], ir_version=8, producer_name="")
    (FOLDER / "ml_names.onnx").write_bytes(model.SerializeToString(deterministic=True))
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for k in range(3):
        x = grid(1, 4)
        label, scores = session.run(None, {"x": x})
        np.save(FOLDER / f"ml_names.in{k}.npy", x)
        np.save(FOLDER / f"ml_names.out{k}.0.npy", np.array([names.index(n) for n in label], np.int64))
        np.save(FOLDER / f"ml_names.out{k}.1.npy", np.array([[row[n] for n in names] for row in scores], np.float32))


def grid(*shape, nan=False):
    x = np.where(random.random(shape) < 0.5, random.choice(GRID, shape), real(*shape)).astype(np.float32)
    return np.where(random.random(shape) < 0.2, np.float32(np.nan), x) if nan else x


def tree_model():
    b = Builder("ml_trees", opset=21, ml=3)
    x, nan = b.input("x", grid(7, 4)), b.input("nan", grid(7, 4, nan=True))
    whole, double = b.input("whole", random.integers(-3, 4, (7, 4))), b.input("double", grid(7, 4).astype(np.float64))
    coin = lambda: random.integers(2)
    for mode in MODES:
        regress(b, x, 1, lambda t: [0], modes=[mode])
    regress(b, nan, 1, lambda t: [0], modes=MODES)
    regress(b, nan, 1, lambda t: [0], modes=MODES, missing=coin)
    regress(b, nan, 1, lambda t: [0], modes=["BRANCH_LT"], missing=lambda: 1)
    regress(b, nan, 1, lambda t: [0], modes=["BRANCH_LEQ"], missing=lambda: 1)
    regress(b, double, 2, lambda t: [0, 1], modes=MODES)
    regress(b, x, 3, lambda t: [t % 3], trees_of=6, base_values=[0.5, -1.0, 2.0])
    regress(b, x, 3, lambda t: [min(t, 2)], trees_of=6)
    regress(b, x, 2, lambda t: [0, 1], aggregate_function="AVERAGE", base_values=[0.5, -1.0])
    regress(b, x, 1, lambda t: [0], aggregate_function="MIN")
    regress(b, x, 1, lambda t: [0], aggregate_function="MAX", post_transform="LOGISTIC")
    regress(b, x, 1, lambda t: [0], trees_of=1)
    labels = [5, 3, 9, 12]
    classes(b, x, 3, lambda t: range(3), labels, positive=True)
    classes(b, x, 3, lambda t: [t % 3], labels, trees_of=6, base_values=[0.1, -0.2, 0.3], post_transform="SOFTMAX")
    classes(b, x, 4, lambda t: [t % 3], [0, 1, 2, 3], trees_of=6, post_transform="SOFTMAX_ZERO")
    classes(b, nan, 3, lambda t: [t % 3], labels, modes=MODES, missing=coin, trees_of=6, post_transform="LOGISTIC")
    classes(b, whole, 3, lambda t: [t % 3], labels, modes=MODES, trees_of=6)
    for post in ("NONE", "LOGISTIC", "SOFTMAX"):
        for positive in (True, False):
            classes(b, x, 2, lambda t: [0], labels, positive, post_transform=post)
            classes(b, x, 2, lambda t: [1], labels, positive, post_transform=post)
        classes(b, x, 2, lambda t: [0], labels, post_transform=post, base_values=[0.3])
        classes(b, x, 2, lambda t: [0], labels, post_transform=post, base_values=[0.3, -0.2])
        classes(b, x, 2, lambda t: [0, 1], labels, post_transform=post)
        classes(b, x, 2, lambda t: [0, 1], labels, post_transform=post, base_values=[0.3, -0.2])
    b.save(draw=lambda k: {n: grid(*a.shape, nan=n == "nan").astype(a.dtype) if a.dtype != np.int64
                           else random.integers(-3, 4, a.shape)
                           for n, a in b.arrays.items()})


def other_models():
    b = Builder("ml_models", opset=21, ml=4)
    x, nan, whole = (b.input("x", real(5, 4)), b.input("nan", grid(5, 4, nan=True)),
                     b.input("whole", random.integers(-2, 4, (5, 4))))
    l = lambda *shape: [float(v) for v in real(*shape).ravel()]
    ml = lambda op, inputs, kind=F32, **attrs: b.node(op, inputs, domain=ML, kind=kind, **attrs)

    def both(op, labels, **attrs):
        names = ["label_%d" % len(b.nodes), "score_%d" % len(b.nodes)]
        b.node(op, [x], names=names, domain=ML, keep=False, classlabels_ints=labels, **attrs)
        b.outputs += [helper.make_tensor_value_info(names[0], I64, None),
                      helper.make_tensor_value_info(names[1], F32, None)]
    ml("LinearRegressor", [x], coefficients=l(4), intercepts=[0.5])
    ml("LinearRegressor", [x], coefficients=l(3, 4), intercepts=l(3), targets=3)
    ml("LinearRegressor", [x], coefficients=l(4), post_transform="LOGISTIC")
    for post in ("NONE", "LOGISTIC", "SOFTMAX"):
        both("LinearClassifier", [2, 0, 1], coefficients=l(3, 4), intercepts=l(3), post_transform=post)
        both("LinearClassifier", [0, 1], coefficients=l(4), intercepts=l(1), post_transform=post)
    for kernel, params in (("LINEAR", [1.0, 0.0, 3.0]), ("POLY", [0.5, 1.0, 3.0]), ("RBF", [0.25, 0.0, 3.0]),
                           ("SIGMOID", [0.2, 0.1, 3.0])):
        ml("SVMRegressor", [x], kernel_type=kernel, support_vectors=l(6, 4), coefficients=l(6), rho=[0.25],
           n_supports=6, kernel_params=params)
        both("SVMClassifier", [4, 6, 8], kernel_type=kernel, support_vectors=l(9, 4), coefficients=l(2, 9), rho=l(3),
             vectors_per_class=[2, 4, 3], kernel_params=params)
    ml("SVMRegressor", [x], kernel_type="RBF", support_vectors=l(6, 4), coefficients=l(6), rho=[0.25], n_supports=6,
       one_class=1,
       kernel_params=[0.25, 0.0, 3.0])
    both("SVMClassifier", [4, 6], kernel_type="RBF", kernel_params=[0.25, 0.0, 3.0], support_vectors=l(6, 4),
         coefficients=l(6), rho=l(1),
         vectors_per_class=[2, 4])
    ml("Scaler", [x], offset=l(4), scale=l(4))
    ml("Scaler", [whole], offset=[0.5], scale=[2.0])
    for norm in ("MAX", "L1", "L2"):
        ml("Normalizer", [x], norm=norm)
        ml("Normalizer", [whole], norm=norm)
    ml("ArrayFeatureExtractor", [x, np.array([2, 0, 3], np.int64)])
    ml("Imputer", [nan], imputed_value_floats=l(4), replaced_value_float=float("nan"))
    ml("Imputer", [whole], kind=I64, imputed_value_int64s=[7], replaced_value_int64=-1)
    ml("Binarizer", [x], threshold=0.25)
    ml("FeatureVectorizer", [x, nan], inputdimensions=[4, 4])
    ml("OneHotEncoder", [whole], cats_int64s=[0, 3, -1, 2, 1, -2])
    ml("OneHotEncoder", [whole], cats_int64s=[0, 3], zeros=1)
    ml("LabelEncoder", [whole], kind=I64, keys_int64s=[3, 1, 0], values_int64s=[30, 10, 70], default_int64=-5)
    ml("LabelEncoder", [whole], keys_int64s=[3, 1, 0], values_floats=[0.5, 1.5, 2.5], default_float=9.0)
    ml("LabelEncoder", [nan], kind=I64, keys_floats=[0.25, float("nan"), 1.0], values_int64s=[3, 4, 5], default_int64=0)
    b.save(draw=lambda k: {"x": real(5, 4), "nan": grid(5, 4, nan=True), "whole": random.integers(-2, 4, (5, 4))})


def machine_model():
    """Support vectors with probabilities, support vector machines without vectors, forests of one class."""
    b = Builder("ml_machines", opset=21, ml=3)
    x = b.input("x", real(5, 4))
    l = lambda *shape: [float(v) for v in real(*shape).ravel()]

    def machine(labels, **attrs):
        names = ["label_%d" % len(b.nodes), "score_%d" % len(b.nodes)]
        b.node("SVMClassifier", [x], names=names, domain=ML, keep=False, classlabels_ints=labels,
               **{"kernel_type": "LINEAR", "kernel_params": [1.0, 0.0, 3.0], **attrs})
        b.outputs += [helper.make_tensor_value_info(names[0], I64, None),
                      helper.make_tensor_value_info(names[1], F32, None)]
    for labels, each in (([4, 6], [2, 4]), ([0, 1, 2], [2, 4, 3]), ([9, 7, 5, 3, 1], [3, 2, 4, 2, 3])):
        k, vectors = len(labels), sum(each)
        for kernel, params in (("LINEAR", [1.0, 0.0, 3.0]), ("RBF", [0.25, 0.0, 3.0])):
            pairs = k * (k - 1) // 2
            machine(labels, kernel_type=kernel, kernel_params=params, support_vectors=l(vectors, 4),
                    coefficients=l(k - 1, vectors), rho=l(pairs),
                    vectors_per_class=each, prob_a=[-abs(v) - 0.5 for v in l(pairs)], prob_b=l(pairs))
    for post in ("NONE", "SOFTMAX", "LOGISTIC"):
        machine([3, 5, 7], coefficients=l(3, 4), rho=[0.25], post_transform=post)
        machine([3, 5], coefficients=l(2, 4), rho=[-0.25], post_transform=post)
        machine([3, 5], coefficients=[abs(v) for v in l(2, 4)], rho=[0.25], post_transform=post)
        machine([3], coefficients=l(1, 4), rho=[0.25], post_transform=post)
        classes(b, x, 1, lambda t: [0], [5], post_transform=post)
        classes(b, x, 1, lambda t: [0], [5], positive=True, post_transform=post, base_values=[-0.5])
    stump = dict(nodes_treeids=[0] * 3, nodes_nodeids=[0, 1, 2], nodes_featureids=[1, 0, 0],
                 nodes_values=[0.25, 0.0, 0.0], nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
                 nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0], classlabels_int64s=[0, 1, 2],
                 class_treeids=[0] * 6, class_nodeids=[1, 1, 1, 2, 2, 2],
                 class_ids=[0, 1, 2] * 2, class_weights=[0.5, 0.375, 0.125, 0.25, 0.0, 0.75])
    b.node("TreeEnsembleClassifier", [x], names=["stump_label", "stump"], domain=ML, keep=False, **stump)
    b.outputs += [helper.make_tensor_value_info("stump_label", I64, None),
                  helper.make_tensor_value_info("stump", F32, None)]
    b.save(draw=lambda k: {"x": real(5, 4)})


def narrow_model():
    """Forests over integers of 8 and 16 bits, which a Cast makes floats; thresholds beyond the integers, and equal to
    their ends."""
    kinds = {"i8": np.int8, "u8": np.uint8, "i16": np.int16}
    def whole(dtype):
        i = np.iinfo(dtype)
        return np.where(random.random((9, 4)) < 0.3, random.choice([i.min, i.max], (9, 4)),
                        random.integers(i.min, i.max + 1, (9, 4))).astype(dtype)
    b = Builder("ml_narrow", opset=21, ml=3)
    for name, dtype in kinds.items():
        x, i = b.node("Cast", [b.input(name, whole(dtype))], domain="", keep=False, to=F32), np.iinfo(dtype)
        for mode in MODES:
            nodes, leaves = trees(4, 4, 3, [mode])
            values = random.choice([i.min - 1, i.min - 0.5, i.min, i.min + 1, 0, 3, 10.5, i.max - 1, i.max,
                                    i.max + 0.5, i.max + 1], len(nodes["nodes_values"]))
            b.node("TreeEnsembleRegressor", [x], domain=ML, n_targets=1,
                   **{**nodes, "nodes_values": [float(v) for v in values]}, **weights("target", leaves, lambda t: [0]))
    b.save(draw=lambda k: {name: whole(dtype) for name, dtype in kinds.items()})


def string_model(name, nodes, inputs, outputs, constants, texts):
    """A model whose outputs are strings of the list `texts`, or numbers; strings are recorded as their indices."""
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, name, [info("x", kind, shape) for kind, shape in inputs],
                              [info(n, kind, None) for n, kind in outputs], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(ML, 3), helper.make_opsetid("", 21)],
                              ir_version=8, producer_name="")
    (FOLDER / f"{name}.onnx").write_bytes(model.SerializeToString(deterministic=True))
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for k in range(2):
        x = grid(3, 4) if inputs[0][0] == F32 else random.integers(-1, 4, inputs[0][1])
        np.save(FOLDER / f"{name}.in{k}.npy", x)
        for i, y in enumerate(session.run(None, {"x": x})):
            indices = (np.array([texts.index(t) for t in y.ravel()], np.int64).reshape(y.shape) if y.dtype.kind in "OU"
                       else y)
            np.save(FOLDER / (f"{name}.out{k}.{i}.npy" if len(outputs) > 1 else f"{name}.out{k}.npy"), indices)


def string_models():
    """ml_strings: labels selected from a constant of strings, and strings encoded as integers. ml_encoder: integers
    encoded as strings."""
    nodes, leaves = trees(3, 4, 2, ["BRANCH_LEQ"])
    texts, node = ["idle", "walking", "on stairs"], helper.make_node
    names = helper.make_tensor("classes", TensorProto.STRING, [3], [t.encode() for t in texts])
    string_model("ml_strings", [
        node("TreeEnsembleClassifier", ["x"], ["index", "scores"], domain=ML, classlabels_int64s=[0, 1, 2], **nodes,
             **weights("class", leaves, lambda t: [t])),
        node("ArrayFeatureExtractor", ["classes", "index"], ["row"], domain=ML),
        node("Reshape", ["row", "flat"], ["label"]),
        node("LabelEncoder", ["label"], ["code"], domain=ML, keys_strings=["on stairs", "idle", "lost"],
             values_int64s=[30, 10, 70], default_int64=-1)],
        [(F32, [3, 4])], [("label", TensorProto.STRING), ("code", I64)],
        [names, numpy_helper.from_array(np.array([-1], np.int64), "flat")], texts)
    string_model("ml_encoder",
                 [node("LabelEncoder", ["x"], ["label"], domain=ML, keys_int64s=[2, 0, 1],
                       values_strings=["c", "a", "b"], default_string="none")],
                 [(I64, [5])], [("label", TensorProto.STRING)], [], ["c", "a", "b", "none"])


def sum_model():
    """Two classes of 150 vectors each: the weights of a class sum to 70, and the score is near 0. Compared within
    2e-6."""
    own = np.random.default_rng(17)
    b = Builder("ml_sums", opset=21, ml=3)
    b.input("x", own.standard_normal((8, 2)).astype(np.float32))
    names = ["label", "score"]
    b.node("SVMClassifier", ["x"], names=names, domain=ML, keep=False, classlabels_ints=[0, 1], kernel_type="RBF",
           kernel_params=[0.01, 0.0, 3.0],
           support_vectors=[float(v) for v in own.standard_normal(600).astype(np.float32)],
           vectors_per_class=[150, 150], rho=[0.125],
           coefficients=[float(v) for v in (own.uniform(0.3, 0.7, 300) * np.repeat([1, -1], 150)).astype(np.float32)])
    b.outputs += [helper.make_tensor_value_info(names[0], I64, None),
                  helper.make_tensor_value_info(names[1], F32, None)]
    b.save(draw=lambda k: {"x": own.standard_normal((8, 2)).astype(np.float32)}, join=False)


# The strings of the model below in the order in which they are entered: labels, constants, values, then by their nodes
TEXTS = ["cold", "hot", "none", "x", "y", "red", "green", "z", "blue", "S", "_Unused", "L"]


def text_model():
    """Inputs that are strings, by every operator that reads them; recorded as their indices in TEXTS, 99 is no string
    of the file."""
    b, own = Builder("ml_text", opset=21, ml=4), np.random.default_rng(18)
    S, ml = TensorProto.STRING, dict(domain=ML, keep=False)
    kinds = {"mapped": S, "name": S, "label": S, "swapped": S, "category": I64, "code": I64, "real": F32, "hot": F32,
             "is_none": TensorProto.BOOL, "grams": F32}
    texts = lambda name, values: helper.make_tensor(name, S, [len(values)], [v.encode() for v in values])
    b.inputs = [helper.make_tensor_value_info("color", S, [4]), helper.make_tensor_value_info("size", S, [4])]
    b.weights = [texts("none", ["none"]), numpy_helper.from_array(np.array([[1, -1, 2, 0.5]], np.float32), "w")]
    b.node("LabelEncoder", ["color"], names=["mapped"], keys_strings=["red", "green"], values_strings=["x", "y"],
           default_string="z", **ml)
    b.node("CategoryMapper", ["color"], names=["category"], cats_strings=["green", "blue"], cats_int64s=[5, 7], **ml)
    b.node("CategoryMapper", ["category"], names=["name"], cats_strings=["S", "blue"], cats_int64s=[5, 7], **ml)
    b.node("LabelEncoder", ["size"], names=["code"], keys_strings=["S", "L"], values_int64s=[10, 20], default_int64=-7,
           **ml)
    b.node("LabelEncoder", ["size"], names=["real"], keys_strings=["L", "S"], values_floats=[0.5, 1.5],
           default_float=2.5, **ml)
    b.node("OneHotEncoder", ["color"], names=["hot"], cats_strings=["blue", "red"], **ml)
    b.node("Equal", ["color", "none"], names=["is_none"], domain="", keep=False)
    b.node("Where", ["is_none", "size", "color"], names=["swapped"], domain="", keep=False)
    b.node("TfIdfVectorizer", ["swapped"], names=["grams"], domain="", keep=False, mode="TF", min_gram_length=1,
           max_gram_length=2, max_skip_count=0,
           ngram_counts=[0, 2], ngram_indexes=[0, 1, 2], pool_strings=["red", "S", "red", "green"])
    b.node("LinearClassifier", ["w"], names=["label", "score"], classlabels_strings=["cold", "hot"],
           coefficients=[1.0, 0, 0, 0, 0, 1.0, 0, 0], intercepts=[0.0, 0.0], **ml)
    b.outputs = [helper.make_tensor_value_info(n, k, None) for n, k in kinds.items()]
    model = helper.make_model(helper.make_graph(b.nodes, b.name, b.inputs, b.outputs, b.weights),
                              opset_imports=[helper.make_opsetid(*d) for d in b.domains], ir_version=10,
                              producer_name="")
    (FOLDER / "ml_text.onnx").write_bytes(model.SerializeToString(deterministic=True))
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    words, indices = np.array(TEXTS + ["lilac"], dtype=object), lambda y: np.array([TEXTS.index(t) for t in y.ravel()],
        np.int64).reshape(y.shape) if y.dtype.kind in "OU" else y
    for k in range(3):
        color, size = own.choice([2, 5, 6, 8, 12], 4), own.choice([9, 11, 12], 4)
        color, size = (np.array([5, 6, 2, 8]), np.array([9, 11, 9, 11])) if k == 0 else (color, size)
        known = [np.where(x == 12, 99, x) for x in (color, size)]
        for i, x in enumerate(known):
            np.save(FOLDER / f"ml_text.in{k}.{i}.npy", x.astype(np.int64))
        for i, y in enumerate(session.run(None, {"color": words[color], "size": words[size]})):
            if y.dtype.kind in "OU" and "lilac" in y:
                y = np.where(y == "lilac", 99, indices(np.where(y == "lilac", "none", y))).astype(np.int64)
            np.save(FOLDER / f"ml_text.out{k}.{i}.npy", indices(y))


def map_model():
    """Maps, as rows of their numbers."""
    node, info = helper.make_node, helper.make_value_info
    kind = lambda key: helper.make_map_type_proto(key, helper.make_tensor_type_proto(F32, None))
    graph = helper.make_graph(
        [node("DictVectorizer", ["words"], ["a"], domain=ML, string_vocabulary=["b", "a", "c"]),
         node("CastMap", ["numbers"], ["b"], domain=ML, map_form="SPARSE", max_map=4)],
        "ml_maps", [info("words", kind(TensorProto.STRING)), info("numbers", kind(I64))],
        [helper.make_tensor_value_info("a", F32, None), helper.make_tensor_value_info("b", F32, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(ML, 1)], ir_version=8, producer_name="")
    (FOLDER / "ml_maps.onnx").write_bytes(model.SerializeToString(deterministic=True))
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for k, (words, numbers) in enumerate([({"b": 1.5, "c": -2.0}, {0: 3.0, 2: 4.0}), ({"a": 0.25}, {3: -1.0})]):
        rows = [[words.get(t, 0.0) for t in "bac"], [numbers.get(i, 0.0) for i in range(4)]]
        for i, y in enumerate(session.run(None, {"words": words, "numbers": numbers})):
            np.save(FOLDER / f"ml_maps.in{k}.{i}.npy", np.array([rows[i]], np.float32))
            np.save(FOLDER / f"ml_maps.out{k}.{i}.npy", y)


if __name__ == "__main__":
    tree_model()
    ensemble_model()
    named_model()
    other_models()
    machine_model()
    string_models()
    narrow_model()
    sum_model()
    text_model()
    map_model()
