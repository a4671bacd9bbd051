// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/kernels/plain/products/dot.h"
#include "lowtide/kernels/plain/products/row_dots.h"
#include "tests/kernels/one_node.h"
#include "tests/kernels/reversed_team.h"

namespace lowtide {
namespace {

using testing::Elements;
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

// The first of two sequences has 2 steps: its third step is 0, and its last state is that of step 2. The second
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

float float_sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

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
  const float cell = float_sigmoid(3) * 10 + float_sigmoid(1) * std::tanh(4.0F);
  EXPECT_THAT(node.result<float>(2), ElementsAre(FloatNear(cell, 1e-5F)));
  EXPECT_THAT(node.result<float>(1), ElementsAre(FloatNear(float_sigmoid(2) * std::tanh(cell), 1e-6F)));
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
  const float cell = (1 - float_sigmoid(1)) * 10 + float_sigmoid(1) * std::tanh(-1.0F);
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

// Sizes of a random network, and its operands.
struct RandomCell {
  std::int64_t length, batch, input, hidden;
  std::vector<float> x, w, r, b, p;
  std::vector<std::int64_t> lengths;
};

RandomCell random_cell(Random& random, std::int64_t gates, std::int64_t directions) {
  const auto up_to = [&](std::uint64_t most) { return 1 + static_cast<std::int64_t>(random.below(most)); };
  RandomCell cell{.length = up_to(20), .batch = up_to(40), .input = up_to(40), .hidden = up_to(40)};
  const auto fill = [&](std::vector<float>& list, std::int64_t count) {
    for (std::int64_t at = 0; at < count; ++at) list.push_back(static_cast<float>(random.below(2001)) / 2000 - 0.5F);
  };
  fill(cell.x, cell.length * cell.batch * cell.input);
  fill(cell.w, directions * gates * cell.hidden * cell.input);
  fill(cell.r, directions * gates * cell.hidden * cell.hidden);
  fill(cell.b, directions * 2 * gates * cell.hidden);
  fill(cell.p, directions * 3 * cell.hidden);
  for (std::int64_t at = 0; at < cell.batch; ++at) {
    cell.lengths.push_back(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(cell.length) + 1)));
  }
  return cell;
}

// The formulas of the standard for one sequence of a direction, in double. y has zeros behind the last step.
std::vector<double> lstm_of(const RandomCell& cell, std::int64_t direction, std::int64_t batch) {
  const std::int64_t n = cell.hidden;
  const auto at = [](const std::vector<float>& list, std::int64_t index) {
    return static_cast<double>(list[static_cast<std::size_t>(index)]);
  };
  const auto sigmoid_of = [](double x) { return 1 / (1 + std::exp(-x)); };
  const std::int64_t valid = cell.lengths[static_cast<std::size_t>(batch)];
  std::vector<double> h(static_cast<std::size_t>(n));
  std::vector<double> c(h);
  std::vector<double> y(static_cast<std::size_t>(cell.length * n));
  for (std::int64_t number = 0; number < valid; ++number) {
    const std::int64_t step = direction == 1 ? valid - 1 - number : number;
    std::vector<double> gates;
    for (std::int64_t row = 0; row < 4 * n; ++row) {
      double sum = at(cell.b, direction * 8 * n + row) + at(cell.b, direction * 8 * n + 4 * n + row);
      for (std::int64_t i = 0; i < cell.input; ++i) {
        sum += at(cell.w, (direction * 4 * n + row) * cell.input + i) *
               at(cell.x, (step * cell.batch + batch) * cell.input + i);
      }
      for (std::int64_t i = 0; i < n; ++i) {
        sum += at(cell.r, (direction * 4 * n + row) * n + i) * h[static_cast<std::size_t>(i)];
      }
      gates.push_back(sum);
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const auto gate = [&](std::int64_t which) { return gates[static_cast<std::size_t>(which * n + i)]; };
      const auto peephole = [&](std::int64_t which) { return at(cell.p, (direction * 3 + which) * n + i); };
      double& state = c[static_cast<std::size_t>(i)];
      const double in = sigmoid_of(gate(0) + peephole(0) * state);
      const double forget = sigmoid_of(gate(2) + peephole(2) * state);
      state = forget * state + in * std::tanh(gate(3));
      h[static_cast<std::size_t>(i)] = sigmoid_of(gate(1) + peephole(1) * state) * std::tanh(state);
    }
    std::copy(h.begin(), h.end(), y.begin() + step * n);
  }
  return y;
}

// More sequences than run at once, rows that fill no register, and steps of some sequences only.
TEST(Lstm, EqualsTheFormulasInRandomShapes) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Random random(seed);
    const std::int64_t directions = 1 + static_cast<std::int64_t>(seed % 2);
    const RandomCell cell = random_cell(random, 4, directions);
    const auto text = [](std::initializer_list<std::int64_t> extents) {
      std::string list;
      for (std::int64_t extent : extents) list += (list.empty() ? "" : ",") + std::to_string(extent);
      return "[" + list + "]";
    };
    const std::int64_t rows = 4 * cell.hidden;
    const std::string operands = "x : f32" + text({cell.length, cell.batch, cell.input}) + ", w : f32" +
                                 text({directions, rows, cell.input}) + ", r : f32" +
                                 text({directions, rows, cell.hidden}) + ", b : f32" + text({directions, 2 * rows}) +
                                 ", l : i32" + text({cell.batch}) + ", p : f32" + text({directions, 3 * cell.hidden});
    OneNode node = one_node(operands,
                            "LSTM(x, w, r, b, l, _, _, p) {hidden_size = " + std::to_string(cell.hidden) +
                                ", direction = \"" + (directions == 2 ? "bidirectional" : "forward") + "\"}",
                            "f32" + text({cell.length, directions, cell.batch, cell.hidden}));
    std::vector<std::int32_t> lengths(cell.lengths.begin(), cell.lengths.end());
    const std::vector<Elements> reads = {
        floats(cell.x), floats(cell.w), floats(cell.r), floats(cell.b), testing::raw_elements(lengths), {}, {},
        floats(cell.p)};
    node.run_ok(reads);
    const std::vector<float> y = node.result<float>();
    for (std::int64_t direction = 0; direction < directions; ++direction) {
      for (std::int64_t batch = 0; batch < cell.batch; ++batch) {
        const std::vector<double> expected = lstm_of(cell, direction, batch);
        for (std::int64_t at = 0; at < cell.length * cell.hidden; ++at) {
          const std::int64_t row = (at / cell.hidden * directions + direction) * cell.batch + batch;
          ASSERT_NEAR(y[static_cast<std::size_t>(row * cell.hidden + at % cell.hidden)],
                      expected[static_cast<std::size_t>(at)], 1e-4)
              << "seed " << seed;
        }
      }
    }
    for (const int threads : testing::kThreadCounts) {
      testing::ReversedTeam team(threads);
      node.team = &team;
      node.run_ok(reads);
      ASSERT_EQ(node.result<float>(), y) << "the bits of " << threads << " threads, seed " << seed;
    }
  }
}

// A product has the bits of dot(), for each number of rows, columns and elements.
TEST(RowDots, HaveTheBitsOfOneDot) {
  Random random(3);
  const auto fill = [&](std::vector<float>& list, std::int64_t count) {
    for (std::int64_t at = 0; at < count; ++at) list.push_back(static_cast<float>(random.below(2001)) / 1000 - 1);
  };
  SoloTeam team;
  for (const std::int64_t inner : {1, 15, 16, 17, 48, 61}) {
    for (const std::int64_t rows : {1, 3, 4, 9}) {
      for (const std::int64_t count : {1, 2, 5}) {
        std::vector<float> matrix;
        std::vector<float> x;
        fill(matrix, rows * inner);
        fill(x, count * inner);
        std::vector<float> y(static_cast<std::size_t>(count * rows));
        std::vector<kernels_internal::DotColumn> columns;
        for (std::int64_t at = 0; at < count; ++at) columns.push_back({x.data() + at * inner, y.data() + at * rows});
        kernels_internal::write_dots({matrix.data(), inner, {0, rows}}, columns, team);
        for (std::int64_t at = 0; at < count; ++at) {
          for (std::int64_t row = 0; row < rows; ++row) {
            const float expected = kernels_internal::dot(matrix.data() + row * inner, x.data() + at * inner, inner);
            ASSERT_EQ(y[static_cast<std::size_t>(at * rows + row)], expected) << inner << " " << rows << " " << count;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace lowtide
