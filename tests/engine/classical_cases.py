# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Random nodes of domain ai.onnx.ml. Each function returns a Case: a node, its inputs, and what to compare with.

ONNX leaves much open, and the onnx reference and ONNX Runtime differ there. So a case names the peers that must agree.
"""
import dataclasses

import numpy as np
from onnx import TensorProto, helper, numpy_helper

REFERENCE, RUNTIME = "reference", "runtime"
TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]
BRANCHES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


@dataclasses.dataclass
class Case:
    kind: str
    inputs: list
    results: list  # numpy dtypes
    words: dict  # attributes
    peers: tuple
    opset: int = 3
    tolerance: float = 1e-5
    peer_type: type = None  # the inputs as the peers get them, which lack some types
    expected: list = None  # the results, if they are known without a peer


def matrix(random, dtype, rows, columns, has_nan):
    """Numbers on a coarse grid, so that thresholds are met exactly."""
    x = random.integers(-8, 9, (rows, columns))
    x = x.astype(dtype) if dtype in (np.int64, np.int32) else (x / 4).astype(dtype)
    if has_nan and x.dtype.kind == "f":
        x[random.random(x.shape) < 0.1] = np.nan
        x[random.random(x.shape) < 0.03] = np.inf
    return x


def agrees_on_nan(words):
    """For the reference, a NaN is not unequal to a threshold, unless the node says so."""
    return "BRANCH_NEQ" not in words["nodes_modes"]


def rows_of(random):
    return int(random.choice([1, 2, 7, 8, 9, 33, 200]))


def grow(random, nodes, tree, modes, most_depth, features):
    """Adds the nodes of a tree, in a random order and with random ids. Returns the ids of its leaves."""
    leaves, made = [], []

    def add(depth):
        node = len(made)
        if depth < most_depth and random.random() < 0.8:
            entry = {"tree": tree, "id": node, "mode": str(random.choice(modes)),
                     "feature": int(random.integers(features)), "value": float(random.integers(-8, 9)) / 4,
                     "missing": int(random.integers(2))}
            made.append(entry)
            entry["true"], entry["false"] = add(depth + 1), add(depth + 1)
        else:
            leaves.append(node)
            made.append({"tree": tree, "id": node, "mode": "LEAF", "feature": 0, "value": 0.0, "missing": 0,
                         "true": 0, "false": 0})
        return node

    add(0)
    ids = [int(one) for one in random.permutation(len(made))]
    for entry in made:
        for word in ("id", "true", "false"):
            entry[word] = ids[entry[word]]
    nodes.extend([made[0], *(made[at] for at in 1 + random.permutation(len(made) - 1))])
    return [ids[leaf] for leaf in leaves]


def trees(random, kind, targets_of_leaf, weight, is_double):
    """The attributes of an ensemble. `kind`: "target" or "class"."""
    features = int(random.integers(1, 6))
    modes = [BRANCHES[0]] if random.random() < 0.4 else (BRANCHES[:4] if random.random() < 0.5 else BRANCHES)
    nodes, weights = [], []
    for tree in range(int(random.choice([1, 3, 8, 19]))):
        for leaf in grow(random, nodes, tree, modes, int(random.integers(0, 5)), features):
            weights += [(tree, leaf, target, weight()) for target in targets_of_leaf()]
    words = {"nodes_treeids": [n["tree"] for n in nodes], "nodes_nodeids": [n["id"] for n in nodes],
             "nodes_featureids": [n["feature"] for n in nodes], "nodes_modes": [n["mode"] for n in nodes],
             "nodes_truenodeids": [n["true"] for n in nodes], "nodes_falsenodeids": [n["false"] for n in nodes],
             f"{kind}_treeids": [w[0] for w in weights], f"{kind}_nodeids": [w[1] for w in weights],
             f"{kind}_ids": [w[2] for w in weights]}
    words["nodes_missing_value_tracks_true"] = [n["missing"] for n in nodes]
    reals = {"nodes_values": [n["value"] for n in nodes], f"{kind}_weights": [w[3] for w in weights]}
    for name, values in reals.items():
        if is_double:
            words[name + "_as_tensor"] = numpy_helper.from_array(np.array(values, np.float64), name)
        else:
            words[name] = [float(np.float32(value)) for value in values]
    return words, features


def base_values(random, words, count, is_double):
    chosen = int(random.choice([0, count]))
    values = random.integers(-4, 5, chosen) / 4
    if chosen and is_double:
        words["base_values_as_tensor"] = numpy_helper.from_array(values, "base")
    elif chosen:
        words["base_values"] = [float(value) for value in values]


def tree_regressor(random):
    targets = int(random.integers(1, 4))
    is_double = random.random() < 0.3
    aggregate = str(random.choice(["SUM", "AVERAGE", "MIN", "MAX"]))
    words, features = trees(random, "target", lambda: range(targets), lambda: random.normal(), is_double)
    dtype = np.float64 if is_double else random.choice([np.float32, np.float32, np.int64, np.int32])
    x = matrix(random, dtype, rows_of(random), features, True)
    base_values(random, words, targets, is_double)
    # The reference has no transforms, adds up integers for operands of integers, and does not read tensors. ONNX
    # Runtime has no integers here, and applies only PROBIT to a single score.
    transform = str(random.choice(TRANSFORMS[:4])) if targets > 1 and random.random() < 0.4 else "NONE"
    is_plain = transform == "NONE" and not is_double and x.dtype.kind == "f" and agrees_on_nan(words)
    peers = (REFERENCE, RUNTIME) if is_plain else (RUNTIME,)
    words |= {"aggregate_function": aggregate, "n_targets": targets, "post_transform": transform}
    return Case("TreeEnsembleRegressor", [x], [np.float32], words, peers,
                peer_type=np.float32 if x.dtype.kind == "i" else None)


def tree_classifier(random):
    classes = int(random.integers(3, 6))
    words, features = trees(random, "class", lambda: range(classes), lambda: random.integers(1, 99) / 64, False)
    x = matrix(random, random.choice([np.float32, np.float64, np.int64, np.int32]), rows_of(random), features, True)
    base_values(random, words, classes, False)
    words |= {"post_transform": str(random.choice(TRANSFORMS[:4])),
              "classlabels_int64s": [int(label) for label in random.permutation(99)[:classes]]}
    # Integers are compared as f32 by all, and a transform that rounds may make scores equal for the reference.
    return Case("TreeEnsembleClassifier", [x], [np.int64, np.float32], words, (RUNTIME,))


def binary_trees(random):
    """Two classes. All weights are for the first one, or for both."""
    has_both = random.random() < 0.3
    is_mixed = random.random() < 0.5
    least = -64 if is_mixed else 1
    words, features = trees(random, "class", lambda: range(2) if has_both else [0],
                            lambda: random.integers(least, 99) / 512, False)
    is_mixed = any(weight < 0 for weight in words["class_weights"])
    x = matrix(random, np.float32, rows_of(random), features, agrees_on_nan(words))
    transform = str(random.choice(TRANSFORMS[:4]))
    words |= {"post_transform": transform, "classlabels_int64s": [3, 7]}
    if has_both:
        peers = (REFERENCE,)  # ONNX Runtime returns labels 0 and 1 here, which are none of this model
    elif transform == "NONE":
        peers = (RUNTIME,) if is_mixed else (REFERENCE, RUNTIME)
    else:
        # ONNX Runtime ignores SOFTMAX here, and LOGISTIC if no weight is negative.
        peers = (REFERENCE, RUNTIME) if transform == "LOGISTIC" and is_mixed else (REFERENCE,)
    return Case("TreeEnsembleClassifier", [x], [np.int64, np.float32], words, peers)


def indexed_trees(random):
    """TreeEnsemble, with sets of values."""
    features, leaves = int(random.integers(1, 5)), 0
    lists = {name: [] for name in ("featureids", "modes", "truenodeids", "falsenodeids", "trueleafs", "falseleafs")}
    splits, members, roots = [], [], []

    def add(depth):
        nonlocal leaves
        if depth > 0 and (depth == 4 or random.random() < 0.3):
            leaves += 1
            return leaves - 1, 1
        at = len(splits)
        mode = int(random.integers(7))
        splits.append(float(random.integers(-8, 9)) / 4)
        lists["featureids"].append(int(random.integers(features)))
        lists["modes"].append(mode)
        if mode == 6:
            # The reference ends a set at a 0 as well.
            members.extend([float(one) / 4 for one in random.permutation(range(1, 9))[:3]] + [np.nan])
        for name in ("truenodeids", "falsenodeids", "trueleafs", "falseleafs"):
            lists[name].append(0)
        for side in ("true", "false"):
            lists[side + "nodeids"][at], lists[side + "leafs"][at] = add(depth + 1)
        return at, 0

    dtype = random.choice([np.float32, np.float64, np.float16])
    for _ in range(int(random.choice([1, 2, 9]))):
        roots.append(add(0)[0])
    targets = int(random.integers(1, 4))
    tensor = lambda values, kind: numpy_helper.from_array(np.array(values, kind), "v")
    words = {"nodes_splits": tensor(splits, dtype), "nodes_modes": tensor(lists.pop("modes"), np.uint8),
             "leaf_weights": tensor(random.integers(-64, 64, leaves) / 16, dtype), "tree_roots": roots,
             "leaf_targetids": [int(one) for one in random.integers(0, targets, leaves)], "n_targets": targets,
             "aggregate_function": int(random.integers(2))}
    words |= {"nodes_" + name: values for name, values in lists.items()}
    words["nodes_missing_value_tracks_true"] = [int(one) for one in random.integers(0, 2, len(splits))]
    if members:
        words["membership_values"] = tensor(members, dtype)
    x = matrix(random, dtype, rows_of(random), features, True)
    return Case("TreeEnsemble", [x], [dtype], words, (REFERENCE,), 5, 2e-3 if dtype == np.float16 else 1e-5)


def linear(random):
    features, targets = int(random.integers(1, 20)), int(random.integers(1, 4))
    x = matrix(random, random.choice([np.float32, np.float64, np.int64, np.int32]), rows_of(random), features, False)
    coefficients = [float(np.float32(one)) for one in random.normal(size=features * targets)]
    words = {"coefficients": coefficients, "intercepts": [float(one) for one in random.integers(-4, 5, targets) / 4]}
    transform = str(random.choice(TRANSFORMS[:4])) if targets > 1 else "NONE"
    words["post_transform"] = transform
    if random.random() < 0.5 or targets == 1:
        words["targets"] = targets
        # ONNX Runtime has only f32. The reference has no transforms, and cuts the coefficients to integers.
        peers = tuple(peer for peer, agrees in ((REFERENCE, transform == "NONE" and x.dtype.kind == "f"),
                                                (RUNTIME, x.dtype == np.float32)) if agrees)
        return Case("LinearRegressor", [x], [np.float32], words, peers)
    words["classlabels_ints"] = [int(label) for label in random.permutation(99)[:targets]]
    return Case("LinearClassifier", [x], [np.int64, np.float32], words, (REFERENCE, RUNTIME), tolerance=1e-4)


def one_row_of_coefficients(random):
    """Two classes with one sum."""
    features = int(random.integers(1, 20))
    x = matrix(random, np.float32, rows_of(random), features, False)
    words = {"coefficients": [float(np.float32(one)) for one in random.normal(size=features)],
             "intercepts": [0.125], "classlabels_ints": [5, 2], "post_transform": str(random.choice(TRANSFORMS[:3]))}
    return Case("LinearClassifier", [x], [np.int64, np.float32], words, (REFERENCE,), tolerance=1e-4)


def svm(random):
    features = int(random.integers(1, 7))
    x = matrix(random, random.choice([np.float32, np.float64, np.int64]), rows_of(random), features, False)
    kernel = str(random.choice(["LINEAR", "POLY", "RBF", "SIGMOID"]))
    words = {"kernel_type": kernel, "kernel_params": [0.125, 0.25, 2.0]}
    reals = lambda count: [float(np.float32(one)) for one in random.normal(size=count)]
    peers = (REFERENCE, RUNTIME)
    if random.random() < 0.5:
        supports = int(random.choice([0, 1, 9]))
        words |= {"n_supports": supports, "coefficients": reals(supports or features), "rho": reals(1),
                  "one_class": int(random.integers(2))}
        if supports:
            words["support_vectors"] = reals(supports * features)
        return Case("SVMRegressor", [x], [np.float32], words, peers if x.dtype == np.float32 else (REFERENCE,),
                    tolerance=1e-3, peer_type=None if x.dtype == np.float32 else np.float64)
    classes = int(random.integers(2, 5))
    sizes = [int(one) for one in random.integers(1, 4, classes)]
    pairs = classes * (classes - 1) // 2
    words |= {"vectors_per_class": sizes, "support_vectors": reals(sum(sizes) * features), "rho": reals(pairs),
              "coefficients": reals(sum(sizes) * (classes - 1)),
              "classlabels_ints": [int(label) for label in random.permutation(99)[:classes]]}
    words["coefficients"][0] = -0.5  # otherwise the reference counts votes as weights
    if random.random() < 0.5:
        # The reference does not minimize the form that makes one probability per class of those of the pairs.
        words |= {"prob_a": [-1.5] * pairs, "prob_b": [0.25] * pairs}
        peers = (RUNTIME,)
    return Case("SVMClassifier", [x], [np.int64, np.float32], words,
                peers if x.dtype == np.float32 else peers[:1], tolerance=5e-3,
                peer_type=None if x.dtype == np.float32 else np.float64)


def scaler(random):
    features = int(random.integers(1, 9))
    x = matrix(random, random.choice([np.float32, np.float64, np.int64, np.int32]), rows_of(random), features, True)
    lists = [[float(one) for one in random.integers(1, 9, features) / 4] for _ in range(2)]
    if random.random() < 0.3:
        lists = [one[:1] for one in lists]
    words = {"offset": lists[0], "scale": lists[1]}
    return Case("Scaler", [x], [np.float32], words, (REFERENCE, RUNTIME) if x.dtype.kind == "f" else (RUNTIME,))


def normalizer(random):
    x = matrix(random, random.choice([np.float32, np.float64, np.int64, np.int32]), rows_of(random), 4, False)
    return Case("Normalizer", [x], [np.float32], {"norm": str(random.choice(["MAX", "L1", "L2"]))}, (REFERENCE,),
                peer_type=np.float64)


def imputer(random):
    if random.random() < 0.3:
        x = matrix(random, np.int64, rows_of(random), 5, False)
        words = {"imputed_value_int64s": [int(one) for one in random.integers(0, 99, 5)], "replaced_value_int64": -3}
        return Case("Imputer", [x], [np.int64], words, (REFERENCE, RUNTIME))
    x = matrix(random, np.float32, rows_of(random), 5, True)
    count = int(random.choice([1, 5]))
    words = {"imputed_value_floats": [float(one) for one in random.integers(0, 99, count)],
             "replaced_value_float": float(random.choice([np.nan, 0.25]))}
    return Case("Imputer", [x], [np.float32], words, (REFERENCE, RUNTIME))


def binarizer(random):
    x = matrix(random, np.float32, rows_of(random), 3, False)
    return Case("Binarizer", [x], [np.float32], {"threshold": 0.25}, (REFERENCE, RUNTIME))


def one_hot(random):
    x = matrix(random, random.choice([np.int64, np.int32, np.float32]), rows_of(random), 3, False)
    x = x[:, 0] if random.random() < 0.5 else x
    words = {"cats_int64s": [int(one) for one in random.permutation(range(-8, 9))[:5]], "zeros": 1}
    # The standard makes integers of reals, and the reference compares them as they are. ONNX Runtime lacks i32.
    peers = {np.int64: (REFERENCE, RUNTIME), np.int32: (REFERENCE,), np.float32: (RUNTIME,)}[x.dtype.type]
    return Case("OneHotEncoder", [x], [np.float32], words, peers)


def label_encoder(random):
    kinds = {np.int64: "int64s", np.float32: "floats"}
    of, to = random.choice([np.int64, np.float32]), random.choice([np.int64, np.float32])
    keys = random.permutation(range(-8, 9))[:6]
    words = {"keys_" + kinds[of]: [of(key).item() for key in keys],
             "values_" + kinds[to]: [to(value).item() for value in random.integers(-99, 99, 6)],
             "default_" + kinds[to][:-1]: to(-7).item()}
    x = np.trunc(matrix(random, of, rows_of(random), 2, False)).astype(of)
    return Case("LabelEncoder", [x], [to], words, (REFERENCE, RUNTIME), 2)


def label_tensors(random):
    of, to = (random.choice([np.int64, np.float32, np.float64, np.int32, np.int16]) for _ in range(2))
    tensor = lambda values, dtype: numpy_helper.from_array(np.asarray(values).astype(dtype), "v")
    keys, values = random.permutation(range(-8, 9))[:6], random.integers(-99, 99, 6)
    words = {"keys_tensor": tensor(keys, of), "values_tensor": tensor(values, to), "default_tensor": tensor([42], to)}
    x = np.trunc(matrix(random, of, rows_of(random), 2, False)).astype(of)
    table = dict(zip(keys.tolist(), values.tolist(), strict=True))
    expected = np.array([[table.get(int(number), 42) for number in row] for row in x]).astype(to)
    return Case("LabelEncoder", [x], [to], words, (), 4, expected=[expected])


def extractor(random):
    x = matrix(random, random.choice([np.float32, np.float64, np.int64, np.int32]), rows_of(random), 6, True)
    places = random.integers(0, 6, int(random.integers(1, 5)))
    x = x[0] if random.random() < 0.2 else x
    return Case("ArrayFeatureExtractor", [x, places], [x.dtype.type], {}, (REFERENCE, RUNTIME))


def vectorizer(random):
    rows = rows_of(random)
    dtype = random.choice([np.float32, np.int64])
    parts = [matrix(random, dtype, rows, int(random.integers(1, 5)), False) for _ in range(3)]
    words = {"inputdimensions": [int(random.integers(1, 5)) for _ in parts]}
    return Case("FeatureVectorizer", parts, [np.float32], words,
                (REFERENCE, RUNTIME) if dtype == np.float32 else (RUNTIME,))


DRAWS = [tree_regressor, tree_classifier, binary_trees, indexed_trees, linear, one_row_of_coefficients, svm, scaler,
         normalizer, imputer, binarizer, one_hot, label_encoder, label_tensors, extractor, vectorizer]
ELEMENTS = {np.dtype(name): getattr(TensorProto, code) for name, code in
            (("float32", "FLOAT"), ("float64", "DOUBLE"), ("float16", "FLOAT16"), ("int64", "INT64"),
             ("int32", "INT32"), ("int16", "INT16"))}


def model_of(case, input_type=None):
    """The model of one node. The extents of the results are not declared."""
    inputs = [helper.make_tensor_value_info(f"x{at}", ELEMENTS[np.dtype(input_type or x.dtype)], x.shape)
              for at, x in enumerate(case.inputs)]
    outputs = [helper.make_tensor_value_info(f"y{at}", ELEMENTS[np.dtype(dtype)], None)
               for at, dtype in enumerate(case.results)]
    node = helper.make_node(case.kind, [one.name for one in inputs], [one.name for one in outputs],
                            domain="ai.onnx.ml", **case.words)
    graph = helper.make_graph([node], "g", inputs, outputs)
    return helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", case.opset)])
