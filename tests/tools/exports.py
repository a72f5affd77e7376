# SPDX-License-Identifier: MIT
"""Fresh exports of today's packages: compiled, run, compared with ONNX Runtime. Writes the table of docs/exports.md.

    python3 tests/tools/exports.py BUILD [FAMILY...] [--networks DIR] [--only TEXT] [--part K/N]
                                      [--write docs/exports.md]

FAMILY is scikit-learn, xgboost, lightgbm, pytorch, keras or quantized (default: all whose packages are installed).
BUILD holds the program `loopwright`. `quantized` takes the float networks NAME.onnx, with inputs NAME.in0.npy, of DIR.
Needs onnx, onnxruntime, numpy, and what a family is named for, with its converter: skl2onnx, onnxmltools, torch,
tensorflow-cpu. With --write the sections of other families stay, so families may run in environments of their own;
with --only or --part (every Nth network of pytorch or keras, from the Kth on) the rows of other models, too, so parts
may run side by side. Ended by SIGTERM, it writes the rows that it has.

A model passes if labels and integers are equal and floats within 1e-5 of the reference's, relative to the largest of
the output; the outputs of a quantized ONNX network within one step of their grid (1/128 if they are probabilities). The
reference is ONNX Runtime; for the TFLite files of keras it is TensorFlow Lite with its reference kernels (BUILTIN_REF).
Of integers it is TensorFlow Lite Micro (package tflite-micro), or where that does not run the file, each operator in a
file of its own; integers are equal. A file that no reference runs is listed apart: neither passed nor failed.
"""
import argparse
import ast
import collections
import importlib.metadata
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import warnings

import numpy as np
import onnx
import onnxruntime

warnings.filterwarnings("ignore")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DTYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64,
          "tensor(int32)": np.int32}
RUNS = 5
ONLY, PART = [""], [1, 1]                              # of the command line


def plain(y):
    """Maps from class to probability as rows."""
    return (np.array([list(d.values()) for d in y], np.float32) if isinstance(y, list) and y and isinstance(y[0], dict)
            else np.asarray(y))


def flat(outputs):
    """Outputs; a sequence is an output for each element."""
    return [plain(y) for one in outputs
            for y in (one if isinstance(one, list) and one and isinstance(one[0], np.ndarray) else [one])]


class Model:
    """A file, and inputs for it: a list of lists of arrays."""
    def __init__(self, family, name, path, inputs, step=None):
        self.family, self.name, self.path, self.inputs, self.step = family, name, path, inputs, step

    def build(self, build, work):
        made = subprocess.run([os.path.join(build, "loopwright"), self.path, "-o", work + "/m.c", "--name", "m",
                               "--testbench", "--quiet"],
                              capture_output=True, text=True, timeout=300)
        if made.returncode:
            return "refused: " + made.stderr.strip().splitlines()[-1].split(": ", 1)[-1]
        made = subprocess.run(["cc", "-std=c99", "-O1", "-I" + os.path.join(ROOT, "runtime"), "m.c", "m_main.c", "-lm",
                               "-o", "m"],
                              cwd=work, capture_output=True, text=True, timeout=600)
        return "the C compiler: " + made.stderr[:100] if made.returncode else ""

    def differences(self, session, work, inputs):
        """The largest difference of each output, or a text."""
        names = [i.name for i in session.get_inputs()]
        return self.compare(work, inputs, flat(session.run(None, dict(zip(names, inputs)))))

    def compare(self, work, inputs, wanted):
        for i, x in enumerate(inputs):
            if x.dtype == object:                       # strings: their indices in the header's list
                names = named(work + "/m.h")
                x = np.array([names.index(n) if n in names else -1 for n in x.ravel()], np.int64).reshape(x.shape)
            np.save(work + "/in%d.npy" % i, x)
        paths = [work + "/out%d.npy" % i for i in range(len(wanted))]
        run = subprocess.run([work + "/m"] + [work + "/in%d.npy" % i for i in range(len(inputs))] + paths,
                             capture_output=True, text=True, timeout=100)
        if run.returncode:
            return "the program: status %d" % run.returncode
        worst = 0.0
        for path, y in zip(paths, wanted):
            got = np.load(path)
            if y.dtype.kind in "OU":                    # names of classes: their indices in the header's list
                names = named(work + "/m.h")
                if [names[k] for k in got.ravel()] != [str(n) for n in y.ravel()]:
                    return "classes %s, not %s" % ([names[k] for k in got.ravel()], list(y.ravel()))
                continue
            if got.size != y.size:
                return "shape %s, not %s" % (got.shape, y.shape)
            error = np.abs(got.reshape(y.shape).astype(np.float64) - y.astype(np.float64))
            if y.dtype.kind in "iub" and self.step is None and error.max() > 0:
                return "integers differ by up to %d" % error.max()
            worst = max(worst, float(np.nanmax(error)) / max(1.0, float(np.nanmax(np.abs(y.astype(np.float64))))))
        return worst

    def check(self, build):
        with tempfile.TemporaryDirectory() as work:
            reason = self.build(build, work)
            if reason:
                return False, reason
            options = onnxruntime.SessionOptions()
            options.log_severity_level = 4
            if self.step:
                options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
            session = onnxruntime.InferenceSession(self.path, options, providers=["CPUExecutionProvider"])
            worst = 0.0
            for inputs in self.inputs:
                found = self.differences(session, work, inputs)
                if isinstance(found, str):
                    return False, found
                worst = max(worst, found)
            return worst <= (self.step or 1e-5), "%.2g" % worst


def named(header):
    """All strings, else the names of the classes."""
    lists = dict(re.findall(r'_(STRINGS|CLASS_NAMES) \\\n *\{ (".*?") \}$', open(header).read(), re.M | re.S))
    return (ast.literal_eval("[" + (lists.get("STRINGS") or lists["CLASS_NAMES"]).replace("\\\n", "") + "]") if lists
            else [])


class TfliteModel(Model):
    """A TFLite file; its inputs are drawn in its own types. The first reference that runs the file decides."""
    def __init__(self, name, path, tolerance):
        super().__init__("keras", name, path, [])
        self.tolerance = tolerance

    def check(self, build):
        from tensorflow.lite.tools import flatbuffer_utils as files
        with tempfile.TemporaryDirectory() as work:
            refusal = self.build(build, work)
            graph, random = files.read_model(self.path).subgraphs[0], np.random.default_rng(0)
            samples = [[drawn(random, graph.tensors[i].shape, type_of(graph.tensors[i])) for i in graph.inputs]
                       for _ in range(3)]
            of_integers = [(micro, ", of TensorFlow Lite Micro"), (each_operator, ", operator by operator"), (lite, "")]
            for reference, text in [(lite, "")] if self.tolerance else of_integers:
                try:
                    wanted = reference(self.path, samples)
                except NotRun as e:
                    reason = str(e)
                    continue
                if refusal:
                    return False, refusal
                found = [self.compare(work, inputs, outputs) for inputs, outputs in zip(samples, wanted)]
                texts = [f for f in found if isinstance(f, str)]
                return not texts and max(found) <= self.tolerance, (texts[0] if texts else "%.2g" % max(found)) + text
            return None, (refusal + "; " if refusal else "") + "no reference runs it: " + reason


class NotRun(Exception):
    """A reference has no kernel for a file, or crashes."""


def apart(function):
    """Returns function(), called in a process of its own, because kernels of references may crash."""
    ours, theirs = multiprocessing.Pipe(False)

    def work():
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            theirs.send((True, function()))
        except Exception as e:                          # of many types
            theirs.send((False, str(e).strip() or type(e).__name__))

    child = multiprocessing.get_context("fork").Process(target=work)
    child.start()
    theirs.close()
    try:
        is_done, found = ours.recv() if ours.poll(100) else (False, "too slow")
    except EOFError:
        child.join()
        is_done, found = False, "the reference crashed (%s)" % signal.Signals(-child.exitcode).name
    child.kill()
    child.join()
    if not is_done:
        raise NotRun(found.splitlines()[0][:90])
    return found


def type_of(tensor):
    from tensorflow.lite.python import schema_py_generated as schema
    name = next(name for name, value in vars(schema.TensorType).items() if value == tensor.type)
    return np.dtype(name.lower())


def lite(path, samples):
    """TensorFlow Lite's reference kernels, or its optimized ones where an operator has no other. BUILTIN_REF registers
    TILE to version 2; version 3 differs in types that the older kernel has, too."""
    import tensorflow as tf
    kinds = tf.lite.experimental.OpResolverType
    reason = None
    for file, kind in ((path, kinds.BUILTIN_REF), (with_old_versions(path), kinds.BUILTIN_REF),
                       (path, kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES)):
        def run():
            it = tf.lite.Interpreter(file, experimental_op_resolver_type=kind)
            it.allocate_tensors()
            outputs = []
            for inputs in samples:
                it.reset_all_variables()
                for i, x in zip(it.get_input_details(), inputs):
                    it.set_tensor(i["index"], x)
                it.invoke()
                outputs.append([it.get_tensor(o["index"]) for o in it.get_output_details()])
            return outputs
        try:
            return apart(run)
        except NotRun as e:
            reason = e
    raise reason


def with_old_versions(path):
    from tensorflow.lite.python import schema_py_generated as schema
    from tensorflow.lite.tools import flatbuffer_utils as files
    model, copy = files.read_model(path), path[:-7] + "_edited.tflite"
    for code in model.operatorCodes:
        if code.builtinCode == schema.BuiltinOperator.TILE:
            code.version = min(code.version, 2)
    files.write_model(model, copy)
    return copy


def micro(path, samples):
    """TensorFlow Lite Micro's reference kernels."""
    def run():
        from tflite_micro.python.tflite_micro import runtime
        with open(path, "rb") as f:
            it = runtime.Interpreter.from_bytes(f.read(), arena_size=1 << 24)
        outputs = []
        for inputs in samples:
            it.reset()
            for k, x in enumerate(inputs):
                it.set_input(x, k)
            it.invoke()
            outputs.append([it.get_output(k) for k in range(count)])
        return outputs
    from tensorflow.lite.tools import flatbuffer_utils as files
    count = len(files.read_model(path).subgraphs[0].outputs)
    return apart(run)


def tile(path, samples):
    """The definition of TILE, whose kernels lack types."""
    from tensorflow.lite.python import schema_py_generated as schema
    from tensorflow.lite.tools import flatbuffer_utils as files
    model = files.read_model(path)
    graph = model.subgraphs[0]
    op, multiples = graph.operators[0], graph.tensors[graph.operators[0].inputs[-1]]
    if model.operatorCodes[op.opcodeIndex].builtinCode != schema.BuiltinOperator.TILE or model.buffers[
        multiples.buffer].data is None:
        raise NotRun("no TILE by constants")
    times = np.frombuffer(bytes(model.buffers[multiples.buffer].data), type_of(multiples))
    return [[np.tile(x, times)] for x, in samples]


def each_operator(path, samples):
    """Each operator in a file of its own, by TensorFlow Lite Micro, or where that has no kernel, by TensorFlow Lite: a
    dense layer with a scale per channel rounds twice in the one and once in the other, so other operators beside it
    leave no reference of the file."""
    from tensorflow.lite.tools import flatbuffer_utils as files
    graph = files.read_model(path).subgraphs[0]
    values = [dict(zip(graph.inputs, inputs)) for inputs in samples]          # by tensor
    for k in range(len(graph.operators)):
        model = files.read_model(path)
        part, model.signatureDefs = model.subgraphs[0], []
        op = part.operators[k]
        reads = [i for i in dict.fromkeys(op.inputs) if i >= 0 and model.buffers[part.tensors[i].buffer].data is None]
        part.operators, part.inputs, part.outputs, file = [op], reads, op.outputs, "%s_%d.tflite" % (path[:-7], k)
        own = [[value[i] for i in reads] for value in values]
        for i, x in zip(reads, own[0]):                 # the file has examples of open shapes
            part.tensors[i].shape, part.tensors[i].shapeSignature = np.array(x.shape, np.int32), None
        files.write_model(model, file)
        outputs = first_of([lite, tile], file, own)
        for i, y in zip(op.outputs, outputs[0]):
            part.tensors[i].shape, part.tensors[i].shapeSignature = np.array(y.shape, np.int32), None
        files.write_model(model, file)
        try:
            outputs = micro(file, own)
        except NotRun:
            pass
        for value, y in zip(values, outputs):
            value.update(zip(op.outputs, y))
    return [[value[i] for i in graph.outputs] for value in values]


def first_of(references, path, samples):
    for reference in references[:-1]:
        try:
            return reference(path, samples)
        except NotRun:
            pass
    return references[-1](path, samples)


def drawn(random, shape, dtype):
    if dtype in (np.int32, np.int64):                   # words, of a vocabulary of 40
        return random.integers(0, 40, shape).astype(dtype)
    if np.issubdtype(dtype, np.integer):
        return random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape).astype(dtype)
    return random.standard_normal(shape).astype(dtype)


def data(classes):
    from sklearn.datasets import make_classification
    x, y = make_classification(400, 8, n_informative=5, n_redundant=0, n_classes=3, random_state=0)
    if classes == "names":
        return x.astype(np.float32), np.array(["walking", "idle", "on stairs"])[y]
    return (x.astype(np.float32), y if classes == 3 else (y > 0).astype(int) if classes == 2
            else (2 * x[:, 0] + x[:, 1] ** 2).astype(np.float32))


def rows(x):
    return [[x[k * 7:k * 7 + 1]] for k in range(RUNS)]


def reference_runs(path, inputs):
    """ONNX Runtime's objections to some files come with the first run."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    session.run(None, dict(zip([i.name for i in session.get_inputs()], inputs)))


def fitted(family, name, classes, make, export, folder, form=lambda x, y: (x, y)):
    x, y = form(*data(classes))
    path = os.path.join(folder, "%s.onnx" % re.sub(r"[^\w-]", "_", name))
    try:
        model = export(make().fit(x, y), x)
        onnx.save(model, path)
        reference_runs(path, rows(x)[0])
    except Exception as e:                              # the converter's own limits
        print("   not converted: %s: %s" % (name, str(e).strip().splitlines()[0][:90] if str(e) else type(e).__name__))
        return []
    return [Model(family, name, path, rows(x))]


def scikit_learn(folder, _):
    from sklearn import (cluster, decomposition, ensemble, gaussian_process, linear_model, naive_bayes, neighbors,
                         neural_network, pipeline, preprocessing, svm, tree)
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
    from sklearn.feature_selection import SelectKBest
    from sklearn.impute import SimpleImputer
    from sklearn.multiclass import OneVsRestClassifier
    from skl2onnx import to_onnx
    lr = linear_model.LogisticRegression
    classifiers = [
        tree.DecisionTreeClassifier, lambda: ensemble.RandomForestClassifier(10, max_depth=6, random_state=0),
        lambda: ensemble.ExtraTreesClassifier(10, max_depth=6, random_state=0),
        lambda: ensemble.GradientBoostingClassifier(n_estimators=10),
        lambda: ensemble.AdaBoostClassifier(n_estimators=10), lambda: ensemble.BaggingClassifier(n_estimators=4),
        lambda: ensemble.StackingClassifier([("a", lr()), ("b", tree.DecisionTreeClassifier(max_depth=4))]), lr,
        linear_model.SGDClassifier, linear_model.RidgeClassifier,
        linear_model.Perceptron, svm.LinearSVC, svm.SVC, lambda: svm.SVC(kernel="poly"),
        lambda: svm.SVC(probability=True), lambda: svm.NuSVC(kernel="sigmoid", nu=0.3, probability=True),
        naive_bayes.GaussianNB, naive_bayes.BernoulliNB, neighbors.KNeighborsClassifier,
        lambda: neural_network.MLPClassifier((16,), max_iter=50), LinearDiscriminantAnalysis,
        QuadraticDiscriminantAnalysis, lambda: OneVsRestClassifier(lr()),
        lambda: CalibratedClassifierCV(lr(), cv=2),
        lambda: pipeline.make_pipeline(preprocessing.StandardScaler(), preprocessing.PolynomialFeatures(2), lr()),
        lambda: pipeline.make_pipeline(preprocessing.Normalizer(), SelectKBest(k=4), preprocessing.MinMaxScaler(),
                                       tree.DecisionTreeClassifier(max_depth=3)),
        lambda: pipeline.make_pipeline(SimpleImputer(), preprocessing.RobustScaler(), decomposition.PCA(4), svm.SVC())]
    others = [
        tree.DecisionTreeRegressor, lambda: ensemble.RandomForestRegressor(10, max_depth=6),
        lambda: ensemble.ExtraTreesRegressor(10, max_depth=6),
        lambda: ensemble.GradientBoostingRegressor(n_estimators=10),
        lambda: ensemble.AdaBoostRegressor(n_estimators=5), lambda: ensemble.BaggingRegressor(n_estimators=3),
        linear_model.LinearRegression, linear_model.Ridge, linear_model.Lasso,
        linear_model.ElasticNet, linear_model.HuberRegressor, svm.SVR, svm.NuSVR, svm.LinearSVR,
        neighbors.KNeighborsRegressor, lambda: neural_network.MLPRegressor(hidden_layer_sizes=(16,), max_iter=50),
        gaussian_process.GaussianProcessRegressor, lambda: ensemble.IsolationForest(n_estimators=10),
        lambda: cluster.KMeans(3), svm.OneClassSVM, lambda: decomposition.PCA(3),
        lambda: preprocessing.KBinsDiscretizer(4, encode="ordinal"), preprocessing.PowerTransformer,
        lambda: preprocessing.QuantileTransformer(n_quantiles=20), preprocessing.Binarizer]
    def export(model, x):
        return to_onnx(model, x[:1], target_opset={"": 21, "ai.onnx.ml": 3})
    def title(m):
        m = m()
        kind = (("-" + m.kernel if getattr(m, "kernel", "rbf") != "rbf"
                 and not isinstance(m, gaussian_process.GaussianProcessRegressor) else "")
                 + ("-probability" if getattr(m, "probability", False) is True else ""))
        return "-".join(type(s[1]).__name__ for s in m.steps) if hasattr(m, "steps") else type(m).__name__ + kind
    for classes in (2, 3):
        for m in classifiers:
            yield from fitted("scikit-learn", "%s, %d classes" % (title(m), classes), classes, m, export, folder)
    for m in classifiers:
        yield from fitted("scikit-learn", "%s, 3 names" % title(m), "names", m, export, folder)
    for m in others:
        yield from fitted("scikit-learn", title(m), 0, m, export, folder)
    yield from columns_of_strings(folder)
    from sklearn_models import formed, models
    for name, m, classes, kind in models():
        yield from fitted("scikit-learn", name, classes, m, export, folder, lambda x, y: formed(x, y, classes, kind))


def columns_of_strings(folder):
    """Two columns of strings and two of numbers; the last input has a string that is no category."""
    from sklearn import compose, linear_model, pipeline, preprocessing, tree
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType
    r = np.random.default_rng(3)
    words = np.stack([np.array(["red", "green", "blue"])[r.integers(3, size=200)],
                      np.array(["S", "M", "L", "XL"])[r.integers(4, size=200)]], 1).astype(object)
    x = r.standard_normal((200, 2)).astype(np.float32)
    y = ((words[:, 0] == "red") + x[:, 0] + (words[:, 1] == "L") > 0.6).astype(int)
    kinds = [("color", StringTensorType([1, 1])), ("size", StringTensorType([1, 1])), ("rest", FloatTensorType([1, 2]))]
    inputs = [[words[k:k + 1, :1], words[k:k + 1, 1:], x[k:k + 1]] for k in range(RUNS)]
    inputs[-1][0] = np.array([["purple"]], object)
    encoders = {"OneHotEncoder": preprocessing.OneHotEncoder(handle_unknown="ignore"),
                "OneHotEncoder-drop": preprocessing.OneHotEncoder(handle_unknown="ignore", drop="first"),
                "OrdinalEncoder": preprocessing.OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)}
    for name, encoder in encoders.items():
        for model in (linear_model.LogisticRegression(), tree.DecisionTreeClassifier(max_depth=5, random_state=0)):
            for labels, kind in ((y, "2 classes"), (np.array(["no", "yes"])[y], "2 names")):
                title = "%s of strings-%s, %s" % (name, type(model).__name__, kind)
                both = compose.ColumnTransformer(
                    [("words", encoder, [0, 1]), ("rest", preprocessing.StandardScaler(), [2, 3])])
                fit = pipeline.make_pipeline(both, model).fit(np.concatenate([words, x.astype(object)], 1), labels)
                path = os.path.join(folder, "%s.onnx" % title.replace(" ", "_"))
                onnx.save(to_onnx(fit, initial_types=kinds, target_opset={"": 21, "ai.onnx.ml": 3}), path)
                yield Model("scikit-learn", title, path, inputs)


def boosted(family, make_classifier, make_regressor, convert, folder):
    from onnxmltools.convert.common.data_types import FloatTensorType
    def export(model, x):
        return convert(model, initial_types=[("x", FloatTensorType([1, x.shape[1]]))], target_opset=15)
    for classes, make in ((2, make_classifier), (3, make_classifier), (0, make_regressor)):
        yield from fitted(family, "%s, %s" % (family, "%d classes" % classes if classes else "regressor"), classes,
                          make, export, folder)
        yield from fitted(family, "%s, %s, missing values"
                          % (family, "%d classes" % classes if classes else "regressor"), classes, make, export,
                          folder, with_holes)


def with_holes(x, y):
    return np.where(np.random.default_rng(4).random(x.shape) < 0.15, np.float32(np.nan), x), y


def with_codes(x, y):
    """The last columns are categories."""
    return np.concatenate([x[:, :6], np.round(np.abs(x[:, 6:])).clip(0, 3)], 1).astype(np.float32), y


def xgboost(folder, _):
    import xgboost as x
    from onnxmltools import convert_xgboost
    yield from boosted("xgboost", lambda: x.XGBClassifier(n_estimators=10, max_depth=4),
                       lambda: x.XGBRegressor(n_estimators=10, max_depth=4), convert_xgboost, folder)


def lightgbm(folder, _):
    import lightgbm as l
    from onnxmltools import convert_lightgbm
    yield from boosted("lightgbm", lambda: l.LGBMClassifier(n_estimators=10, verbose=-1),
                       lambda: l.LGBMRegressor(n_estimators=10, verbose=-1), convert_lightgbm, folder)

    class Categories(l.LGBMClassifier):
        def fit(self, x, y):
            return super().fit(x, y, categorical_feature=[6, 7])

    def export(model, x):
        from onnxmltools.convert.common.data_types import FloatTensorType
        model.__class__ = l.LGBMClassifier
        return convert_lightgbm(model, initial_types=[("x", FloatTensorType([1, x.shape[1]]))], target_opset=15)
    for classes in (2, 3):
        yield from fitted("lightgbm", "lightgbm, %d classes, categories" % classes, classes,
                          lambda: Categories(n_estimators=10, verbose=-1), export, folder, with_codes)


def pytorch(folder, _):
    """Each network by the exporter of today with fixed shapes and with an open batch, and by the one of TorchScript."""
    import logging
    import torch
    from torch_layers import nets
    from torch_networks import networks
    logging.disable(logging.WARNING)

    def sample(shape, k):
        draw = np.random.default_rng(k)
        if shape[0] == "i":
            return draw.integers(0, 40, shape[1:])
        if shape[0] == "u8":
            return draw.integers(0, 256, shape[1:], np.uint8)
        return draw.standard_normal(shape[1:]) if shape[0] == "f64" else draw.standard_normal(shape).astype(np.float32)

    def forms(count):
        return {"": {}, ", open batch": {"dynamic_shapes": tuple({0: torch.export.Dim("batch")} for _ in range(count))},
                ", TorchScript": {"dynamo": False}}

    torch.manual_seed(1)
    for number, (name, (network, shapes)) in enumerate({**networks(), **nets()}.items()):
        if number % PART[1] != PART[0] - 1:
            continue
        runs = [[sample(shape, k + 100 * i) for i, shape in enumerate(shapes)] for k in range(RUNS)]
        for form, options in forms(len(shapes)).items():
            if ONLY[0] not in name + form:
                continue
            path = os.path.join(folder, "pytorch_%s.onnx" % re.sub(r"\W+", "_", name + form))
            try:
                torch.onnx.export(network.eval(), tuple(torch.from_numpy(x) for x in runs[0]), path, verbose=False,
                                  **options)
                reference_runs(path, runs[0])
            except Exception as e:      # of many types
                print("not exported: pytorch: %s%s: %s" % (name, form, str(e).strip().splitlines()[0][:120]))
                continue
            yield Model("pytorch", name + form, path, runs)


def keras_networks():
    """Names, shapes of the inputs, functions from inputs to outputs."""
    from keras import layers as l, ops
    seq = lambda *parts: lambda x: seq(*parts[1:])(parts[0](x)) if parts else x
    bn = lambda c, s=1: seq(l.Conv2D(c, 3, s, "same", use_bias=False), l.BatchNormalization(), l.ReLU(6.0))
    head = lambda n=4: seq(l.GlobalAveragePooling2D(), l.Dense(n, "softmax"))

    def residual(x):
        y = seq(bn(8), l.Conv2D(8, 3, padding="same"), l.BatchNormalization())(x)
        return head()(l.ReLU()(l.Add()([y, l.Conv2D(8, 1)(x)])))

    def inception(x):
        parts = [l.Conv2D(4, 1, activation="relu")(x), l.Conv2D(4, 3, padding="same", activation="relu")(x),
                 l.MaxPooling2D(3, 1, "same")(x)]
        return head()(l.Concatenate()(parts))

    def excite(x):
        x = bn(8)(x)
        s = seq(l.GlobalAveragePooling2D(), l.Dense(4, "relu"), l.Dense(8, "sigmoid"), l.Reshape((1, 1, 8)))(x)
        return head()(l.Multiply()([x, s]))

    def unet(x):
        a = bn(4)(x)
        b = bn(8)(l.MaxPooling2D(2)(a))
        return l.Conv2D(2, 1, activation="sigmoid")(l.Concatenate()([a, l.Conv2DTranspose(4, 2, 2)(b)]))

    def attention(x):
        y = l.LayerNormalization()(l.Add()([x, l.MultiHeadAttention(2, 8)(x, x)]))
        return seq(l.Dense(16, "gelu"), l.Dense(12), l.GlobalAveragePooling1D(), l.Dense(3, "softmax"))(y)

    def tcn(x):
        for d in (1, 2, 4):
            x = l.Add()([x, l.Conv1D(8, 3, padding="causal", dilation_rate=d, activation="relu")(x)])
        return seq(l.GlobalAveragePooling1D(), l.Dense(3, "softmax"))(x)

    image, sound, rows = (16, 16, 3), (32, 8), (24,)
    return [
        ("mlp", [rows], seq(l.Dense(32, "relu"), l.Dense(4, "softmax"))),
        ("mlp-tanh", [rows], seq(l.Dense(16, "tanh"), l.Dense(1))),
        ("mlp-selu", [rows], seq(l.Dense(16, "selu"), l.Dense(2, "sigmoid"))),
        ("mlp-elu", [rows], seq(l.Dense(16, "elu"), l.Dense(2))),
        ("mlp-leaky", [rows], seq(l.Dense(16), l.LeakyReLU(0.1), l.Dense(3))),
        ("mlp-prelu", [rows], seq(l.Dense(16), l.PReLU(), l.Dense(3))),
        ("mlp-softplus", [rows], seq(l.Dense(8, "softplus"), l.Dense(2))),
        ("mlp-swish", [rows], seq(l.Dense(16, "swish"), l.Dense(3))),
        ("mlp-hard", [rows], seq(l.Dense(16, "hard_sigmoid"), l.Dense(3))),
        ("mlp-norm", [rows], seq(l.Dense(16), l.BatchNormalization(), l.ReLU(), l.Dropout(0.5), l.Dense(3))),
        ("autoencoder", [rows], seq(l.Dense(12, "relu"), l.Dense(4, "relu"), l.Dense(12, "relu"), l.Dense(24))),
        ("lenet", [image],
         seq(l.Conv2D(6, 5, activation="tanh"), l.AveragePooling2D(2), l.Conv2D(8, 3, activation="tanh"), l.Flatten(),
             l.Dense(4, "softmax"))),
        ("cnn", [image], seq(bn(8), l.MaxPooling2D(2), bn(16), head())),
        ("cnn-strides", [image], seq(bn(8, 2), bn(16, 2), head())),
        ("mobilenet-v1", [image],
         seq(bn(8, 2), l.DepthwiseConv2D(3, padding="same", use_bias=False), l.BatchNormalization(), l.ReLU(6.0),
             l.Conv2D(16, 1), head())),
        ("mobilenet-v2", [image], seq(bn(8), l.Conv2D(24, 1), l.ReLU(6.0), l.DepthwiseConv2D(3, 2, "same"),
                                      l.ReLU(6.0), l.Conv2D(8, 1), head())),
        ("mobilenet-v3", [image],
         seq(l.Conv2D(8, 3, 2, "same"), l.Activation("hard_swish"), l.DepthwiseConv2D(5, padding="same"),
             l.Activation("hard_swish"), head())),
        ("separable", [image], seq(l.SeparableConv2D(8, 3, activation="relu"), head())),
        ("dilated", [image], seq(l.Conv2D(8, 3, dilation_rate=2, activation="relu"), head())),
        ("groups", [(16, 16, 4)], seq(l.Conv2D(8, 3, groups=2, activation="relu"), head())),
        ("residual", [image], residual), ("inception", [image], inception), ("excite", [image], excite),
        ("unet", [image], unet),
        ("upsample", [image], seq(l.Conv2D(4, 3, padding="same"), l.UpSampling2D(2, interpolation="bilinear"),
                                  l.Conv2D(2, 3))),
        ("nearest", [image], seq(l.Conv2D(4, 3), l.UpSampling2D(2), l.Conv2D(2, 3))),
        ("pad-crop", [image], seq(l.ZeroPadding2D(2), l.Conv2D(4, 3), l.Cropping2D(1), head())),
        ("transpose", [(8, 8, 4)], seq(l.Conv2DTranspose(4, 3, 2, "same"), l.Activation("sigmoid"))),
        ("global-max", [image], seq(bn(8), l.GlobalMaxPooling2D(), l.Dense(3))),
        ("conv1d", [sound], seq(l.Conv1D(8, 5, 2, activation="relu"), l.Conv1D(8, 3, activation="relu"),
                                l.GlobalMaxPooling1D(), l.Dense(3, "softmax"))),
        ("conv1d-same", [sound], seq(l.Conv1D(8, 3, padding="same"), l.BatchNormalization(), l.ReLU(),
                                     l.MaxPooling1D(2), l.Flatten(), l.Dense(3))),
        ("tcn", [sound], tcn),
        ("depthwise1d", [sound],
         seq(l.DepthwiseConv1D(3), l.Conv1D(8, 1, activation="relu"), l.GlobalAveragePooling1D(), l.Dense(3))),
        ("lstm", [(10, 6)], seq(l.LSTM(8, unroll=True), l.Dense(3, "softmax"))),
        ("gru", [(10, 6)], seq(l.GRU(8, unroll=True), l.Dense(3, "softmax"))),
        ("rnn", [(10, 6)], seq(l.SimpleRNN(8, unroll=True), l.Dense(3))),
        ("lstm-loop", [(10, 6)], seq(l.LSTM(8), l.Dense(3, "softmax"))),
        ("attention", [(6, 12)], attention),
        ("two-inputs", [rows, (8,)],
         lambda x: l.Dense(3)(l.Concatenate()([l.Dense(8, "relu")(x[0]), l.Dense(4, "relu")(x[1])]))),
        ("two-outputs", [image], lambda x: [seq(bn(8), head())(x), seq(l.Flatten(), l.Dense(2))(x)]),
    ]


def all_keras_networks():
    from keras_networks import keras_layers
    return keras_networks() + keras_layers()


FORMATS = {"float": 1e-5, "dynamic": 1e-5, "float16": 1e-5, "int8": 0, "int16": 0}


def keras(folder, _):
    """Each network is converted in a process of its own, because the converter itself may crash; another one goes on
    after the crash."""
    import tensorflow                                   # noqa: F401: a missing package skips the family
    for name, _, _ in all_keras_networks()[PART[0] - 1::PART[1]]:
        left = [form for form in FORMATS if ONLY[0] in "%s, %s" % (name, form)]
        while left:
            path = os.path.join(folder, "keras_%s_" % name)
            subprocess.run([sys.executable, __file__, folder, *left, "--convert", name], capture_output=True)
            done = [form for form in left if os.path.exists(path + form + ".tflite")
                    or os.path.exists(path + form + ".txt")]
            for form in done:
                if os.path.exists(path + form + ".txt"):
                    print("   not converted: %s, %s: %s" % (name, form, open(path + form + ".txt").read()))
                else:
                    yield TfliteModel("%s, %s" % (name, form), path + form + ".tflite", FORMATS[form])
            if len(done) < len(left):
                print("   not converted: %s, %s: the converter crashed" % (name, left[len(done)]))
            left = left[len(done) + 1:]


def convert(folder, name, forms):
    import tensorflow as tf
    from keras import Input, Model as Network, utils
    tf.get_logger().setLevel("ERROR")
    utils.set_random_seed(1)                            # first: a layer's initializers take their seeds when it is made
    shapes, network = next((s, n) for other, s, n in all_keras_networks() if other == name)
    are_words = [s[0] == "i" for s in shapes]
    shapes = [s[1:] if words else s for s, words in zip(shapes, are_words)]
    inputs = [Input(s, batch_size=1, dtype="int32" if words else "float32") for s, words in zip(shapes, are_words)]
    model = Network(inputs, network(inputs if len(inputs) > 1 else inputs[0]))
    random = np.random.default_rng(0)
    samples = [[drawn(random, (1, *s), np.int32 if words else np.float32) for s, words in zip(shapes, are_words)]
               for _ in range(8)]
    for form in forms:
        path = os.path.join(folder, "keras_%s_%s" % (name, form))
        try:
            file = converted(tf, model, form, samples)
            with open(path + ".tflite", "wb") as f:
                f.write(file)
        except Exception as e:                          # the converter's own limits
            with open(path + ".txt", "w") as f:
                f.write(str(e).strip().splitlines()[0][:90] if str(e) else type(e).__name__)


def converted(tf, model, form, samples):
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    if form != "float":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if form == "float16":
        converter.target_spec.supported_types = [tf.float16]
    if form in ("int8", "int16"):
        converter.representative_dataset = lambda: iter(samples)
        ops = tf.lite.OpsSet
        converter.target_spec.supported_ops = [ops.TFLITE_BUILTINS_INT8 if form == "int8"
                                               else ops.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8]
        converter.inference_input_type = converter.inference_output_type = tf.int8 if form == "int8" else tf.int16
    return converter.convert()


class Samples:
    """The calibration data of onnxruntime.quantization: the inputs of the network."""
    def __init__(self, inputs):
        self.inputs = iter(inputs)

    def get_next(self):
        return next(self.inputs, None)


def sums_saturate():
    """ONNX Runtime adds pairs of products of u8 and s8 in 16 bits, with saturation, on x86 without VNNI: seven bits of
    weights fit."""
    flags = open("/proc/cpuinfo").read() if os.path.exists("/proc/cpuinfo") else ""
    return "avx2" in flags and "vnni" not in flags


def quantized(folder, networks):
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_dynamic, quantize_static
    u8, s8, s16, s4 = QuantType.QUInt8, QuantType.QInt8, QuantType.QInt16, QuantType.QInt4
    kinds = [("u8u8", u8, u8), ("u8s8", u8, s8), ("s8s8", s8, s8)]
    schemes = [("%s %s%s" % (form.name, kind, " per channel" if each else ""),
                dict(quant_format=form, activation_type=a, weight_type=w, per_channel=each, reduce_range=kind == "u8s8"
                     and sums_saturate()))
               for form in (QuantFormat.QDQ, QuantFormat.QOperator) for kind, a, w in kinds for each in (False, True)
               if not (each and kind == "u8u8")]
    schemes += [("QDQ s16s8", dict(quant_format=QuantFormat.QDQ, activation_type=s16, weight_type=s8))]
    for name in ["lenet5", "resnet8", "dscnn", "mobilenet_v1_025", "ecg_cnn1d", "ad01", "lstm"]:
        source = os.path.join(networks or "", name + ".onnx")
        if not os.path.exists(source):
            print("   no network %s in --networks" % name)
            continue
        session = onnxruntime.InferenceSession(source, providers=["CPUExecutionProvider"])
        port = session.get_inputs()[0].name
        samples = [np.load(source[:-5] + ".in%d.npy" % k) for k in range(4)
                   if os.path.exists(source[:-5] + ".in%d.npy" % k)]
        # DynamicQuantizeLSTM has weights of s8 in either scheme.
        has_lstm = any(n.op_type == "LSTM" for n in onnx.load(source).graph.node)
        for scheme, options in schemes + [("dynamic u8", u8), ("dynamic s8", s8)]:
            path = os.path.join(folder, "%s_%s.onnx" % (name, scheme.replace(" ", "_")))
            if ONLY[0] not in "%s, %s" % (name, scheme):
                continue
            try:
                if isinstance(options, dict):
                    quantize_static(source, path, Samples([{port: x} for x in samples]), **options)
                else:
                    quantize_dynamic(source, path, weight_type=options, reduce_range=(options == s8 or has_lstm)
                                     and sums_saturate())
            except Exception as e:
                print("   not quantized: %s, %s: %s" % (name, scheme, str(e)[:80]))
                continue
            yield Model("quantized", "%s, %s" % (name, scheme), path, [[x] for x in samples[:2]], step=1 / 100)


FAMILIES = {"scikit-learn": scikit_learn, "xgboost": xgboost, "lightgbm": lightgbm, "pytorch": pytorch, "keras": keras,
            "quantized": quantized}
PACKAGES = {"scikit-learn": "scikit-learn skl2onnx", "xgboost": "xgboost onnxmltools",
            "lightgbm": "lightgbm onnxmltools", "pytorch": "torch", "keras": "tensorflow keras tflite-micro",
            "quantized": "onnxruntime"}


def versions(family):
    found = []
    for package in PACKAGES[family].split():
        try:
            found.append("%s %s" % (package, importlib.metadata.version(package)))
        except importlib.metadata.PackageNotFoundError:
            found.append(package)
    return ", ".join(found)


def sections(path):
    """The sections of the page as it is, by family."""
    text = open(path).read() if path and os.path.exists(path) else ""
    return {part.split("\n", 1)[0]: ("## " + part).rstrip("\n") + "\n" for part in text.split("\n## ")[1:]}


CELLS = {True: "yes", False: "no", None: "no reference"}


def rows_of(family, section):
    """The rows of a section as results."""
    cells = [line.strip("| ").split(" | ") for line in section.split("\n") if line.startswith("| ")
             and not line.startswith("| model")]
    return [(family, name, next(good for good, cell in CELLS.items() if cell == agrees), text)
            for name, agrees, text in cells]


def merged(family, section, own):
    """The section's rows, with new ones in the place of old ones, and others at the end."""
    new = {r[1]: r for r in own}
    return [new.pop(r[1], r) for r in rows_of(family, section)] + list(new.values())


def page(results, before, is_part=False):
    text = ("Models made by the packages themselves, emitted, built by a C compiler, run, and compared with ONNX "
            "Runtime %s, or, for TFLite files, with TensorFlow Lite's reference kernels (BUILTIN_REF); those of "
            "integers with TensorFlow Lite Micro's, as a whole or operator by operator. `tests/tools/exports.py` "
            "makes them anew. The difference is relative to the output's largest value, at least 1."
            % onnxruntime.__version__)
    lines = ["<!-- Made by tests/tools/exports.py; not to be edited. -->", "# Exports of today's packages", "",
             *textwrap.wrap(text, 120), ""]
    for family in FAMILIES:
        own = [r for r in results if r[0] == family]
        if own and is_part:
            own = merged(family, before.get(family, ""), own)
        if own:
            found = collections.Counter(good for _, _, good, _ in own)
            apart = ", %d more have no reference" % found[None] if found[None] else ""
            lines += ["## %s" % family, "", "%s: %d of %d agree%s."
                      % (versions(family), found[True], found[True] + found[False], apart), ""]
            lines += ["| model | agrees | difference |", "|---|---|---|"]
            lines += ["| %s | %s | %s |" % (name, CELLS[good], text.replace("|", "/"))
                      for _, name, good, text in own] + [""]
        elif family in before:
            lines += [before[family]]
    return "\n".join(lines)


def checked(family, folder, options):
    """Each model of a family, whether it agrees, and a text."""
    try:
        for model in FAMILIES[family](folder, options.networks):
            if options.only in model.name:
                try:
                    yield (model, *model.check(os.path.abspath(options.build)))
                except subprocess.TimeoutExpired:
                    yield model, False, "too slow"
    except ImportError as e:
        print("skip %s: %s" % (family, e))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("family", nargs="*")
    parser.add_argument("--networks")
    parser.add_argument("--only", default="")
    parser.add_argument("--write")
    parser.add_argument("--convert", help=argparse.SUPPRESS)       # BUILD is the folder, FAMILY the formats
    parser.add_argument("--part", default="1/1")
    options = parser.parse_args()
    ONLY[0], PART[:] = options.only, [int(n) for n in options.part.split("/")]
    if options.convert:
        return convert(options.build, options.convert, options.family)
    results, counts, is_part = [], collections.Counter(), options.only != "" or options.part != "1/1"
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as folder:
        try:
            for family in options.family or FAMILIES:
                for model, good, text in checked(family, folder, options):
                    print("%s %s: %s: %s" % ({True: "ok", False: "not ok", None: "no reference"}[good], family,
                                             model.name, text), flush=True)
                    results.append((family, model.name, good, text))
                    counts[good] += 1
        except KeyboardInterrupt:                       # the rows so far are written
            is_part = True
    if options.write:
        text = page(results, sections(options.write), is_part)
        with open(options.write, "w") as f:
            f.write(text)
    print("%d passed, %d failed, %d without a reference" % (counts[True], counts[False], counts[None]))
    return counts[False] > 0


if __name__ == "__main__":
    sys.exit(main())
