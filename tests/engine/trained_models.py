#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs trained models on pictures and sound, checks what their answers mean, and compares them with ONNX Runtime.

usage: trained_models.py --lowtide PROGRAM [--models FOLDER] [unittest arguments]

The models are in models/ of the project, or in FOLDER, which is that of the environment variable LOWTIDE_MODELS unless
it is given. A test whose model is in neither is skipped.
"""
import argparse
import functools
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnxruntime
from PIL import Image, ImageDraw, ImageFont

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RATE = 16_000  # samples per second
OPTIONS = argparse.Namespace()


def model_file(name):
    """The path of a model. Skips the test if there is none."""
    for folder in (ROOT / "models", OPTIONS.models):
        if folder and (pathlib.Path(folder) / name).exists():
            return pathlib.Path(folder) / name
    raise unittest.SkipTest(f"{name} is not in models/, and --models names no folder with it")


def run_lowtide(model, inputs, *words):
    """The outputs of a model, by name."""
    with tempfile.TemporaryDirectory() as folder:
        command = [OPTIONS.lowtide, "run", model, "--output-dir", folder, "-q", *words]
        for at, (name, value) in enumerate(inputs.items()):
            np.save(f"{folder}/input{at}", value)
            command += ["--input", f"{name}={folder}/input{at}.npy"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return {port.name: np.load(f"{folder}/{port.name.replace('/', '_')}.npy")
                for port in session_of(model).get_outputs()}


@functools.cache
def session_of(model):
    return onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])


def run_onnxruntime(model, inputs):
    session = session_of(model)
    names = [port.name for port in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs), strict=True))


class TrainedModel(unittest.TestCase):
    def run_both(self, model, inputs, *words, tolerance=1e-4):
        """The outputs of Lowtide, which may differ from those of ONNX Runtime by `tolerance` of the largest value."""
        own = run_lowtide(model, inputs, *words)
        for name, expected in run_onnxruntime(model, inputs).items():
            np.testing.assert_allclose(own[name], expected, rtol=0, atol=tolerance * max(1, np.abs(expected).max()),
                                       err_msg=name)
        return own


# The words of a picture of 320 x 320 pixels, and where they begin.
WORDS = (("memory", 30, 30), ("plan", 120, 140), ("arena 64", 40, 240))


def picture_of_text():
    """A picture with black words, and the box of each of them: left, top, right, bottom."""
    picture = Image.new("RGB", (320, 320), "white")
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(40)
    for word, x, y in WORDS:
        draw.text((x, y), word, font=font, fill="black")
    return np.asarray(picture), [draw.textbbox((x, y), word, font=font) for word, x, y in WORDS]


class Text(TrainedModel):
    def test_detector_marks_the_words_and_nothing_else(self):
        pixels, boxes = picture_of_text()
        # PaddleOCR's normalization of the channels blue, green and red.
        scaled = (pixels[:, :, ::-1] / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
        inputs = {"x": scaled.transpose(2, 0, 1)[None].astype(np.float32)}
        outputs = self.run_both(model_file("ppocr_v4_det.onnx"), inputs, "--shape", "x=1x3x320x320")
        text, = outputs.values()
        text = text[0, 0]
        is_outside = np.ones(text.shape, bool)
        for left, top, right, bottom in boxes:
            middle = (top + bottom) // 2
            self.assertGreater(text[middle - 3:middle + 3, left + 8:right - 8].mean(), 0.6)
            is_outside[top - 4:bottom + 4, left - 4:right + 4] = False
        self.assertLess(text[is_outside].max(), 0.2)


# The frequencies of the three strongest resonances of some vowels, in Hz (Peterson and Barney, 1952), and their
# bandwidths.
VOWELS = {"a": (730, 1090, 2440), "e": (530, 1840, 2480), "i": (270, 2290, 3010), "o": (570, 840, 2410),
          "u": (300, 870, 2240)}
BANDWIDTHS = (80, 90, 120)


def resonate(signal, frequency, bandwidth):
    """A resonator with two poles."""
    radius = np.exp(-np.pi * bandwidth / RATE)
    first, second = 2 * radius * np.cos(2 * np.pi * frequency / RATE), -radius * radius
    result = np.zeros(len(signal) + 2)
    for at, sample in enumerate(signal):
        result[at + 2] = (1 - first - second) * sample + first * result[at + 1] + second * result[at]
    return result[2:]


def vowel(name, seconds, pitch):
    """Pulses of a voice through the resonances of a vowel."""
    time = np.arange(int(RATE * seconds)) / RATE
    phase = np.cumsum(pitch * (1 + 0.02 * np.sin(2 * np.pi * 5 * time))) / RATE
    signal = np.diff(np.floor(phase), prepend=0)
    for frequency, bandwidth in zip(VOWELS[name], BANDWIDTHS):
        signal = resonate(signal, frequency, bandwidth)
    signal *= np.clip(np.minimum(np.arange(len(time)), len(time) - np.arange(len(time))) / (0.03 * RATE), 0, 1)
    return 0.3 * signal / np.abs(signal).max()


def speech(names):
    """Vowels with short pauses between them."""
    sounds = []
    for at, name in enumerate(names):
        sounds += [vowel(name, 0.16, 110 + 25 * (at * 7 % 10) / 10), np.zeros(int(0.03 * RATE))]
    return np.concatenate(sounds)


def noise(samples):
    """Silence, as a microphone records it."""
    return np.random.default_rng(1).normal(0, 1e-4, samples)


class Voice(TrainedModel):
    CHUNK, CONTEXT = 512, 64

    def probabilities(self, sound):
        """The probability of speech in each chunk. The state and the end of a chunk go on to the next one."""
        model = model_file("silero_vad_v5.onnx")
        state = np.zeros((2, 1, 128), np.float32)
        context = np.zeros((1, self.CONTEXT), np.float32)
        for begin in range(0, len(sound) - self.CHUNK + 1, self.CHUNK):
            chunk = np.concatenate([context, sound[None, begin:begin + self.CHUNK]], 1).astype(np.float32)
            inputs = {"input": chunk, "state": state, "sr": np.array(RATE, np.int64)}
            shapes = ("--shape", f"input=1x{chunk.shape[1]}", "--shape", "state=2x1x128")
            outputs = self.run_both(model, inputs, *shapes)
            state, context = outputs["stateN"], chunk[:, -self.CONTEXT:]
            yield outputs["output"].item()

    def test_detector_hears_speech_and_not_silence(self):
        voice = speech("aeiou")
        sound = np.concatenate([noise(RATE // 2), voice + noise(len(voice)), noise(RATE // 2)])
        probabilities = np.array(list(self.probabilities(sound)))
        times = np.arange(len(probabilities)) * self.CHUNK
        is_speech = (times >= RATE // 2 + self.CHUNK) & (times + 2 * self.CHUNK <= RATE // 2 + len(voice))
        is_silence = (times + self.CHUNK <= RATE // 2) | (times >= RATE // 2 + len(voice) + 6 * self.CHUNK)
        self.assertGreater(probabilities[is_speech].min(), 0.5)
        self.assertLess(probabilities[is_silence].max(), 0.2)


def mel_spectrogram(sound, bands=32):
    """The logarithm of the energy in bands of the mel scale, 100 times per second, as [frames, bands]."""
    window, hop, size = 400, 160, 512
    frames = np.lib.stride_tricks.sliding_window_view(sound, window)[::hop] * np.hanning(window)
    power = np.abs(np.fft.rfft(frames, size)) ** 2
    edges = 700 * (10 ** (np.linspace(*(2595 * np.log10(1 + np.array([60, 3800]) / 700)), bands + 2) / 2595) - 1)
    bins = np.fft.rfftfreq(size, 1 / RATE)
    rising = (bins[:, None] - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - bins[:, None]) / (edges[2:] - edges[1:-1])
    decibels = 10 * np.log10(np.maximum(power @ np.clip(np.minimum(rising, falling), 0, 1), 1e-10))
    return decibels / 10 + 2  # the scale that the model was trained with


class WakeWord(TrainedModel):
    FRAMES, HOP, COUNT = 76, 8, 16  # of one embedding, between two, and embeddings of one score

    def test_scores_equal_those_of_onnxruntime(self):
        embedding, wake_word = model_file("embedding_model.onnx"), model_file("alexa_v0.1.onnx")
        voice = np.concatenate([noise(RATE // 2), speech("aea"), noise(2 * RATE)])
        frames = mel_spectrogram(voice + noise(len(voice)))
        windows = np.stack([frames[at * self.HOP:at * self.HOP + self.FRAMES] for at in range(self.COUNT)])
        windows = {port.name: windows[..., None].astype(np.float32) for port in session_of(embedding).get_inputs()}
        symbol = session_of(embedding).get_inputs()[0].shape[0]
        embeddings, = self.run_both(embedding, windows, "--dim", f"{symbol}={self.COUNT}").values()
        name = session_of(wake_word).get_inputs()[0].name
        score, = self.run_both(wake_word, {name: embeddings.reshape(1, self.COUNT, -1)}).values()
        self.assertTrue(0 <= score.item() <= 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lowtide", required=True)
    parser.add_argument("--models", type=pathlib.Path, default=os.environ.get("LOWTIDE_MODELS"))
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
