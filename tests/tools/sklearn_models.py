# SPDX-License-Identifier: MIT
"""More models of scikit-learn, for exports.py: names, functions that make them, and the form of their data: classes (0:
a number is predicted), `holes` with missing values, `counts` of whole numbers, `codes` of categories in the last
columns."""
import numpy as np
from sklearn import (cluster, compose, cross_decomposition, decomposition, dummy, ensemble, feature_selection,
                     gaussian_process, impute, kernel_approximation,
                     linear_model, mixture, multiclass, multioutput, naive_bayes, neighbors, neural_network, pipeline,
                     preprocessing, svm, tree)
from sklearn.calibration import CalibratedClassifierCV
from sklearn.random_projection import GaussianRandomProjection

HOLES, COUNTS, CODES = "holes", "counts", "codes"


def line(*steps):
    return pipeline.make_pipeline(*steps)


def columns():
    """Numbers are scaled, codes become one-hot."""
    return compose.ColumnTransformer([("numbers", preprocessing.StandardScaler(), [0, 1, 2, 3, 4, 5]),
                                      ("codes", preprocessing.OneHotEncoder(handle_unknown="ignore"), [6, 7])])


def models():
    lr, trees, forest, mlp = (linear_model.LogisticRegression, tree.DecisionTreeClassifier,
                              ensemble.RandomForestClassifier, neural_network.MLPClassifier)
    scaler = preprocessing.StandardScaler
    both = (2, 3)
    found = []

    def add(title, make, classes=both, data=""):
        for n in classes if isinstance(classes, tuple) else (classes,):
            found.append((title + (", %d classes" % n if n else "") + (", " + data if data else ""), make, n, data))

    add("HistGradientBoostingClassifier",
        lambda: ensemble.HistGradientBoostingClassifier(max_iter=10, max_leaf_nodes=8))
    add("HistGradientBoostingClassifier",
        lambda: ensemble.HistGradientBoostingClassifier(max_iter=10, max_leaf_nodes=8), 2, HOLES)
    add("HistGradientBoostingRegressor", lambda: ensemble.HistGradientBoostingRegressor(max_iter=10, max_leaf_nodes=8),
        0)
    add("HistGradientBoostingRegressor", lambda: ensemble.HistGradientBoostingRegressor(max_iter=10, max_leaf_nodes=8),
        0, HOLES)
    add("VotingClassifier-soft",
        lambda: ensemble.VotingClassifier([("a", lr()), ("b", trees(max_depth=4)), ("c", naive_bayes.GaussianNB())],
                                          voting="soft", flatten_transform=False))
    add("VotingClassifier-hard",
        lambda: ensemble.VotingClassifier([("a", lr()), ("b", trees(max_depth=4)), ("c", naive_bayes.GaussianNB())],
                                          flatten_transform=False))
    add("VotingRegressor",
        lambda: ensemble.VotingRegressor(
            [("a", linear_model.Ridge()), ("b", tree.DecisionTreeRegressor(max_depth=4))]), 0)
    add("StackingRegressor",
        lambda: ensemble.StackingRegressor(
            [("a", linear_model.Ridge()), ("b", tree.DecisionTreeRegressor(max_depth=4))]), 0)
    add("StackingClassifier of forest and SVC",
        lambda: ensemble.StackingClassifier([("a", forest(5, max_depth=4)), ("b", line(scaler(), svm.SVC()))], cv=2))
    add("CalibratedClassifierCV-isotonic of forest",
        lambda: CalibratedClassifierCV(forest(5, max_depth=4, random_state=0), method="isotonic", cv=2))
    add("CalibratedClassifierCV of LinearSVC", lambda: CalibratedClassifierCV(svm.LinearSVC(), cv=2))
    add("BaggingClassifier of KNeighbors", lambda: ensemble.BaggingClassifier(neighbors.KNeighborsClassifier(3), 3))
    add("AdaBoostClassifier of trees of depth 3",
        lambda: ensemble.AdaBoostClassifier(trees(max_depth=3), n_estimators=5))
    add("GaussianProcessClassifier", lambda: gaussian_process.GaussianProcessClassifier(), 2)
    add("GaussianProcessRegressor-Matern",
        lambda: gaussian_process.GaussianProcessRegressor(gaussian_process.kernels.Matern(nu=1.5)
                                                          + gaussian_process.kernels.WhiteKernel(0.1)), 0)
    add("KNeighborsClassifier-distance", lambda: neighbors.KNeighborsClassifier(4, weights="distance"))
    add("KNeighborsClassifier-manhattan", lambda: neighbors.KNeighborsClassifier(3, metric="manhattan"), 3)
    add("KNeighborsRegressor-distance", lambda: neighbors.KNeighborsRegressor(4, weights="distance"), 0)
    add("RadiusNeighborsClassifier", lambda: neighbors.RadiusNeighborsClassifier(9.0), 2)
    add("RadiusNeighborsRegressor", lambda: neighbors.RadiusNeighborsRegressor(9.0), 0)
    add("NeighborhoodComponentsAnalysis-KNeighbors",
        lambda: line(neighbors.NeighborhoodComponentsAnalysis(3, max_iter=5), neighbors.KNeighborsClassifier(3)), 2)
    add("MultinomialNB", lambda: naive_bayes.MultinomialNB(), both, COUNTS)
    add("ComplementNB", lambda: naive_bayes.ComplementNB(), both, COUNTS)
    add("CategoricalNB", lambda: naive_bayes.CategoricalNB(), 3, COUNTS)
    add("MLPClassifier-tanh, two layers", lambda: line(scaler(), mlp((12, 8), activation="tanh", max_iter=50)))
    add("MLPClassifier-logistic", lambda: mlp((12,), activation="logistic", max_iter=50), 3)
    add("MLPRegressor-identity",
        lambda: line(scaler(), neural_network.MLPRegressor((8,), activation="identity", max_iter=50)), 0)
    add("OneVsOneClassifier of LinearSVC", lambda: multiclass.OneVsOneClassifier(svm.LinearSVC()), 3)
    add("SVC-linear", lambda: line(scaler(), svm.SVC(kernel="linear")))
    add("NuSVC", lambda: svm.NuSVC(nu=0.3))
    add("SGDClassifier-log", lambda: line(scaler(), linear_model.SGDClassifier(loss="log_loss")))
    add("PassiveAggressiveClassifier", lambda: linear_model.PassiveAggressiveClassifier(), 3)
    add("LogisticRegressionCV", lambda: linear_model.LogisticRegressionCV(Cs=3, cv=2), 3)
    add("LogisticRegression-balanced-l1", lambda: lr(penalty="l1", solver="liblinear", class_weight="balanced"), 2)
    add("ExtraTreesClassifier-balanced", lambda: ensemble.ExtraTreesClassifier(5, max_depth=4, class_weight="balanced",
        random_state=0), 3)
    add("DecisionTreeClassifier", lambda: trees(max_depth=5), 2, HOLES)
    add("RandomForestRegressor", lambda: ensemble.RandomForestRegressor(5, max_depth=5), 0, HOLES)
    add("DummyClassifier", lambda: dummy.DummyClassifier(), 2)
    for name in ("BayesianRidge", "ARDRegression", "LassoLars", "LassoCV", "ElasticNetCV", "RidgeCV", "Lars",
                 "OrthogonalMatchingPursuit", "SGDRegressor", "PassiveAggressiveRegressor", "TheilSenRegressor"):
        add(name, lambda name=name: line(scaler(), getattr(linear_model, name)()), 0)
    add("RANSACRegressor", lambda: linear_model.RANSACRegressor(random_state=0), 0)
    add("PoissonRegressor", lambda: linear_model.PoissonRegressor(), 0, COUNTS)
    add("GammaRegressor", lambda: linear_model.GammaRegressor(), 0, COUNTS)
    add("QuantileRegressor", lambda: linear_model.QuantileRegressor(alpha=0.01), 0)
    add("PLSRegression", lambda: cross_decomposition.PLSRegression(2), 0)
    add("TransformedTarget of log", lambda: compose.TransformedTargetRegressor(linear_model.Ridge(), func=np.log1p,
        inverse_func=np.expm1), 0, COUNTS)
    add("MultiOutputRegressor", lambda: Pairs(multioutput.MultiOutputRegressor(linear_model.Ridge())), 0)
    add("MultiOutputClassifier", lambda: Pairs(multioutput.MultiOutputClassifier(lr())), 2)
    add("GaussianMixture", lambda: mixture.GaussianMixture(3, random_state=0), 0)
    add("GaussianMixture-diag", lambda: mixture.GaussianMixture(2, covariance_type="diag", random_state=0), 0)
    add("MiniBatchKMeans", lambda: line(scaler(), cluster.MiniBatchKMeans(4, random_state=0)), 0)
    add("LocalOutlierFactor", lambda: neighbors.LocalOutlierFactor(novelty=True), 0)
    add("IsolationForest, scaled",
        lambda: line(scaler(), ensemble.IsolationForest(n_estimators=10, max_samples=64, random_state=0)), 0)
    add("SGDOneClassSVM", lambda: linear_model.SGDOneClassSVM(), 0)
    for name, make in (("TruncatedSVD", lambda: decomposition.TruncatedSVD(3)),
                       ("IncrementalPCA", lambda: decomposition.IncrementalPCA(3)),
                       ("PCA-whiten", lambda: decomposition.PCA(3, whiten=True)),
                       ("KernelPCA", lambda: decomposition.KernelPCA(3, kernel="rbf")),
                       ("FastICA", lambda: decomposition.FastICA(3, random_state=0)),
                       ("MaxAbsScaler", preprocessing.MaxAbsScaler),
                       ("VarianceThreshold", feature_selection.VarianceThreshold),
                       ("KBinsDiscretizer-onehot", lambda: preprocessing.KBinsDiscretizer(4, encode="onehot-dense")),
                       ("GaussianRandomProjection", lambda: GaussianRandomProjection(4, random_state=0)),
                       ("Nystroem", lambda: kernel_approximation.Nystroem(n_components=8, random_state=0)),
                       ("RBFSampler", lambda: kernel_approximation.RBFSampler(n_components=8, random_state=0)),
                       ("SplineTransformer", preprocessing.SplineTransformer),
                       ("FunctionTransformer", preprocessing.FunctionTransformer),
                       ("PowerTransformer-box-cox",
                        lambda: line(preprocessing.MinMaxScaler((1, 2)), preprocessing.PowerTransformer("box-cox")))):
        add(name + "-Ridge", lambda make=make: line(make(), linear_model.Ridge()), 0)
    add("KNNImputer-Ridge", lambda: line(impute.KNNImputer(n_neighbors=2), linear_model.Ridge()), 0, HOLES)
    add("SimpleImputer-median-forest", lambda: line(impute.SimpleImputer(strategy="median"), forest(5, max_depth=4)),
        2, HOLES)
    add("FeatureUnion-LogisticRegression",
        lambda: line(pipeline.make_union(decomposition.PCA(2), preprocessing.MinMaxScaler()), lr()))
    add("SelectFromModel-LogisticRegression",
        lambda: line(feature_selection.SelectFromModel(trees(max_depth=4)), lr()), 3)
    add("RFE-SVC", lambda: line(feature_selection.RFE(lr(), n_features_to_select=4), svm.SVC()), 2)
    add("ColumnTransformer-LogisticRegression", lambda: line(columns(), lr()), both, CODES)
    add("ColumnTransformer-GradientBoosting",
        lambda: line(columns(), ensemble.GradientBoostingClassifier(n_estimators=5)), 3, CODES)
    add("ColumnTransformer-passthrough-MLP",
        lambda: line(compose.ColumnTransformer([("codes", preprocessing.OneHotEncoder(), [7])],
                                               remainder="passthrough"), mlp((8,), max_iter=50)), 2, CODES)
    add("OrdinalEncoder-tree",
        lambda: line(compose.ColumnTransformer([("codes", preprocessing.OrdinalEncoder(), [6, 7])],
                                               remainder="passthrough"), trees(max_depth=4)), 2, CODES)
    add("TargetEncoder-Ridge",
        lambda: line(compose.ColumnTransformer([("codes", preprocessing.TargetEncoder(), [6, 7])],
                                               remainder="passthrough"), linear_model.Ridge()), 0, CODES)
    return found


class Pairs:
    """Two numbers are predicted."""
    def __init__(self, model):
        self.model = model

    def fit(self, x, y):
        return self.model.fit(x, np.stack([y, 2 - y], 1))


def formed(x, y, classes, data):
    """The inputs in the form that the model needs, and what is predicted."""
    r = np.random.default_rng(4)
    if data == HOLES:
        x = np.where(r.random(x.shape) < 0.15, np.float32(np.nan), x)
    if data == COUNTS:
        x, y = np.round(np.abs(x)).clip(0, 3), y if classes else np.round(np.abs(y)) + 1
    if data == CODES:
        x = np.concatenate([x[:, :6], np.round(np.abs(x[:, 6:])).clip(0, 3)], 1)
    return x.astype(np.float32), y
