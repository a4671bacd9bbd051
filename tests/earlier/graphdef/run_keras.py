# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Freezes Keras models as docs/graphdef.md says, and runs them in Lowtide, and in TensorFlow after a rewrite."""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

layers = tf.keras.layers
DEVICE = {"name": "/cpu:0", "type": "CPU", "cores": 1, "frequency": 3000, "bandwidth": 20_000_000, "memory": 1 << 30}


def classifier():
    return tf.keras.Sequential([
        layers.Input((32, 32, 3)), layers.Conv2D(8, 3, strides=2, padding="same", activation="relu"),
        layers.BatchNormalization(), layers.DepthwiseConv2D(3, padding="same"), layers.ReLU(6.0),
        layers.MaxPool2D(), layers.Dropout(0.5), layers.GlobalAveragePooling2D(), layers.Dense(10, "softmax")])


def residual():
    x = layers.Input((24, 24, 4))
    y = layers.Conv2D(4, 3, padding="same")(layers.LayerNormalization()(x))
    y = layers.Add()([x, layers.Activation("swish")(y)])
    y = layers.Concatenate()([layers.UpSampling2D()(layers.AveragePooling2D(2)(y)), y])
    return tf.keras.Model(x, layers.Conv2DTranspose(2, 2, strides=2)(y))


def attention():
    x = layers.Input((6, 16))
    y = layers.MultiHeadAttention(2, 8)(x, x)
    return tf.keras.Model(x, layers.Dense(4, "gelu")(layers.LayerNormalization()(layers.Add()([x, y]))))


def freeze(model, shape, folder):
    call = tf.function(lambda x: model(x, training=False))
    concrete = call.get_concrete_function(tf.TensorSpec(shape, tf.float32, name="x"))
    frozen = convert_variables_to_constants_v2(concrete)
    tf.io.write_graph(frozen.graph, str(folder), "frozen.pb", as_text=False)


def run_in_tensorflow(path, image):
    graph = tf.compat.v1.GraphDef.FromString(path.read_bytes())
    wrapped = tf.compat.v1.wrap_function(lambda: tf.compat.v1.import_graph_def(graph, name=""), [])
    lean = wrapped.prune(wrapped.graph.as_graph_element("x:0"), wrapped.graph.as_graph_element("Identity:0"))
    return lean(tf.constant(image)).numpy()


def call_program(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{words[1:]}: {done.stderr}")


def main():
    program = sys.argv[1]
    tf.keras.utils.set_random_seed(1)
    is_right = True
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "cpu.json").write_text(json.dumps({"devices": [DEVICE]}))
        for make in (classifier, residual, attention):
            model = make()
            image = np.random.default_rng(1).standard_normal((1, *model.input_shape[1:])).astype("float32")
            expected = model(image, training=False).numpy()
            freeze(model, image.shape, folder)
            np.save(folder / "image.npy", image)
            call_program(program, "run", folder / "frozen.pb", "--input", f"x={folder / 'image.npy'}", "--output-dir",
                         folder)
            call_program(program, "rewrite", folder / "frozen.pb", "--planner", "lowtide", "--cluster",
                         folder / "cpu.json", "--fetch", "Identity", "-o", folder / "lean.pb")
            for what, found in (("lowtide run", np.load(folder / "Identity.npy")),
                                ("TensorFlow after rewrite", run_in_tensorflow(folder / "lean.pb", image))):
                is_near = np.allclose(found, expected, rtol=1e-4, atol=1e-5)
                is_right = is_right and is_near
                print(f"{make.__name__}, {what}: {'the same results' if is_near else 'OTHER RESULTS'}", flush=True)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
