// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <cmath>

#include "tests/kernels/one_node.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using testing::floats;
using testing::one_node;
using testing::OneNode;

// An RNN of one number whose activation is Affine with alpha 1 and beta 0: h = x + h.
const char* const kSums = "activations = [\"Affine\"]";

TEST(Rnn, RunsForwardAndBackward) {
  OneNode forward = one_node("x : f32[3,1,1], w : f32[1,1,1], r : f32[1,1,1]",
                             std::string("RNN(x, w, r) {hidden_size = 1, ") + kSums + "}", "f32[3,1,1,1], f32[1,1,1]");
  forward.run_ok({floats({1, 2, 4}), floats({1}), floats({1})});
  EXPECT_THAT(forward.result<float>(0), ElementsAre(1, 3, 7));
  OneNode backward = one_node("x : f32[3,1,1], w : f32[1,1,1], r : f32[1,1,1]",
                              std::string("RNN(x, w, r) {hidden_size = 1, direction = \"reverse\", ") + kSums + "}",
                              "f32[3,1,1,1], f32[1,1,1]");
  backward.run_ok({floats({1, 2, 4}), floats({1}), floats({1})});
  EXPECT_THAT(backward.result<float>(0), ElementsAre(7, 6, 4));
  EXPECT_THAT(backward.result<float>(1), ElementsAre(7));
}

// Of two sequences the first has 2 steps: its third step is 0, and its last state is that of step 2. The second
// direction begins at the last valid step.
TEST(Rnn, StopsAtTheLengthOfEachSequence) {
  OneNode node = one_node("x : f32[3,2,1], w : f32[2,1,1], r : f32[2,1,1], l : i32[2]",
                          "RNN(x, w, r, _, l) {hidden_size = 1, direction = \"bidirectional\", "
                          "activations = [\"Affine\", \"Affine\"]}",
                          "f32[3,2,2,1], f32[2,2,1]");
  node.run_ok({floats({1, 10, 2, 20, 4, 40}), floats({1, 1}), floats({1, 1}), {}, {2, 3}});
  // Per step: forward of both sequences, then backward of both.
  EXPECT_THAT(node.result<float>(0), ElementsAre(1, 10, 3, 70, 3, 30, 2, 60, 0, 70, 0, 40));
  EXPECT_THAT(node.result<float>(1), ElementsAre(3, 70, 3, 70));
}

TEST(Rnn, RefusesALengthBeyondTheOperand) {
  OneNode node = one_node("x : f32[1,1,1], w : f32[1,1,1], r : f32[1,1,1], l : i32[1]",
                          "RNN(x, w, r, _, l) {hidden_size = 1}", "f32[1,1,1,1]");
  EXPECT_EQ(node.run({floats({1}), floats({1}), floats({1}), {}, {2}}), (RunStatus{RunCode::index_out_of_range, 4}));
}

TEST(Rnn, TakesAlphaAndBetaInTheOrderOfTheActivations) {
  OneNode node =
      one_node("x : f32[1,1,1], w : f32[2,1,1], r : f32[2,1,1]",
               "RNN(x, w, r) {hidden_size = 1, direction = \"bidirectional\", activation_alpha = [2.0, 3.0], "
               "activation_beta = [5.0], activations = [\"LeakyRelu\", \"affine\"]}",
               "f32[1,2,1,1]");
  node.run_ok({floats({-1}), floats({1, 1}), floats({0, 0})});
  EXPECT_THAT(node.result<float>(), ElementsAre(-1 * 2, -1 * 3 + 5));
}

TEST(Rnn, RefusesUnknownActivations) {
  OneNode node = one_node("x : f32[1,1,1], w : f32[1,1,1], r : f32[1,1,1]",
                          "RNN(x, w, r) {hidden_size = 1, activations = [\"Cosine\"]}", "f32[1,1,1,1]");
  EXPECT_EQ(node.missing(), "attribute 'activations' has an unknown name or a wrong number of names");
}

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

// All weights are 0, so gates have the values of their biases, in the order input, output, forget, cell.
TEST(Lstm, CombinesItsGates) {
  OneNode node =
      one_node("x : f32[1,1,1], w : f32[1,4,1], r : f32[1,4,1], b : f32[1,8], h : f32[1,1,1], c : f32[1,1,1]",
               "LSTM(x, w, r, b, _, h, c) {hidden_size = 1}", "f32[1,1,1,1], f32[1,1,1], f32[1,1,1]");
  node.run_ok({floats({1}),
               floats({0, 0, 0, 0}),
               floats({0, 0, 0, 0}),
               floats({1, 2, 3, 4, 0, 0, 0, 0}),
               {},
               floats({0}),
               floats({10})});
  const float cell = sigmoid(3) * 10 + sigmoid(1) * std::tanh(4.0F);
  EXPECT_THAT(node.result<float>(2), ElementsAre(FloatNear(cell, 1e-5F)));
  EXPECT_THAT(node.result<float>(1), ElementsAre(FloatNear(sigmoid(2) * std::tanh(cell), 1e-6F)));
}

// The forget gate is 1 - input gate, and gates are clipped to [-1, 1].
TEST(Lstm, CouplesAndClipsGates) {
  OneNode node =
      one_node("x : f32[1,1,1], w : f32[1,4,1], r : f32[1,4,1], b : f32[1,8], h : f32[1,1,1], c : f32[1,1,1]",
               "LSTM(x, w, r, b, _, h, c) {clip = 1.0, hidden_size = 1, input_forget = 1}",
               "f32[1,1,1,1], f32[1,1,1], f32[1,1,1]");
  node.run_ok({floats({1}),
               floats({0, 0, 0, 0}),
               floats({0, 0, 0, 0}),
               floats({5, 0, 3, -9, 0, 0, 0, 0}),
               {},
               floats({0}),
               floats({10})});
  const float cell = (1 - sigmoid(1)) * 10 + sigmoid(1) * std::tanh(-1.0F);
  EXPECT_THAT(node.result<float>(2), ElementsAre(FloatNear(cell, 1e-5F)));
}

TEST(Gru, ResetsTheStateBeforeOrAfterItsProduct) {
  // Biases of the gates update, reset, hidden, first those of the input: z = r = sigmoid(0) = 0.5.
  const std::vector<float> bias{0, 0, 0, 0, 0, 1};
  const std::string operands = "x : f32[1,1,1], w : f32[1,3,1], r : f32[1,3,1], b : f32[1,6], h : f32[1,1,1]";
  OneNode before = one_node(operands, "GRU(x, w, r, b, _, h) {hidden_size = 1}", "f32[1,1,1,1]");
  before.run_ok({floats({0}), floats({0, 0, 0}), floats({0, 0, 3}), floats(bias), {}, floats({2})});
  EXPECT_NEAR(before.result<float>()[0], 0.5F * std::tanh(3 * (0.5F * 2) + 1) + 0.5F * 2, 1e-5F);
  OneNode after =
      one_node(operands, "GRU(x, w, r, b, _, h) {hidden_size = 1, linear_before_reset = 1}", "f32[1,1,1,1]");
  after.run_ok({floats({0}), floats({0, 0, 0}), floats({0, 0, 3}), floats(bias), {}, floats({2})});
  EXPECT_NEAR(after.result<float>()[0], 0.5F * std::tanh(0.5F * (3 * 2 + 1)) + 0.5F * 2, 1e-5F);
}

}  // namespace
}  // namespace lowtide
