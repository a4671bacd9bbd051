// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "lowtide/base/random.h"
#include "tests/kernels/kernel_run.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

using testing::TensorData;

constexpr float kInfinite = std::numeric_limits<float>::infinity();

// One attention: the extents of [batches, heads, rows, columns] of each matrix, and how it lies in its tensor.
struct AttentionCase {
  std::int64_t batches = 1;
  std::int64_t heads = 2;
  std::int64_t queries = 5;
  std::int64_t width = 4;
  std::int64_t keys = 6;
  std::int64_t columns = 3;
  bool is_transposed = false;      // heads lie after the rows, and keys as [keys, heads, width]
  std::vector<std::int64_t> mask;  // extents; empty: none
  bool chooses = false;            // the mask is bool
  std::string attributes = "factor = 0.5";
};

std::string text_of(const std::vector<std::int64_t>& extents) {
  std::string text;
  for (std::int64_t extent : extents) text += (text.empty() ? "[" : ",") + std::to_string(extent);
  return text + "]";
}

std::vector<float> random_floats(std::int64_t count, Random& random) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(random.between(-100, 100)) / 32.0F;
  return values;
}

Graph graph_of_case(const AttentionCase& of) {
  const auto [b, h, n, d, m, c] = std::array{of.batches, of.heads, of.queries, of.width, of.keys, of.columns};
  const bool is_flat = of.is_transposed;
  const auto type = [](const std::vector<std::int64_t>& extents) { return " : f32" + text_of(extents); };
  std::string text = "graph \"g\" {\n";
  text += "  input q" + type(is_flat ? std::vector{b, n, h, d} : std::vector{b, h, n, d}) + "\n";
  text += "  input k" + type(is_flat ? std::vector{b, m, h, d} : std::vector{b, h, d, m}) + "\n";
  text += "  input v" + type(is_flat ? std::vector{b, m, h, c} : std::vector{b, h, m, c}) + "\n";
  if (!of.mask.empty()) text += "  input m : " + std::string(of.chooses ? "bool" : "f32") + text_of(of.mask) + "\n";
  text += "  y = lowtide::Attention(q, k, v" + std::string(of.mask.empty() ? "" : ", m") + ") {" + of.attributes;
  if (is_flat)
    text +=
        ", query_order = [0, 2, 1, 3], key_order = [0, 2, 3, 1], value_order = [0, 2, 1, 3], "
        "result_order = [0, 2, 1, 3]";
  text += "}" + type(is_flat ? std::vector{b, n, h, c} : std::vector{b, h, n, c}) + "\n  output y\n}";
  return testing::graph_of(text);
}

// The elements of one case, computed with f64.
class Expected {
 public:
  Expected(const AttentionCase& of, const std::vector<TensorData>& reads) : of_(of) {
    for (std::size_t at = 0; at < 3; ++at) values_[at] = testing::values_of<float>(reads[at]);
    if (of.mask.empty()) return;
    if (of.chooses) {
      for (std::uint8_t value : testing::values_of<std::uint8_t>(reads[3])) mask_.push_back(value);
    } else {
      for (float value : testing::values_of<float>(reads[3])) mask_.push_back(value);
    }
  }

  // The scores of a query, scaled by 0.5 and masked.
  [[nodiscard]] std::vector<double> scores(std::int64_t batch, std::int64_t head, std::int64_t query) const {
    std::vector<double> scores;
    for (std::int64_t key = 0; key < of_.keys; ++key) {
      double sum = 0;
      for (std::int64_t at = 0; at < of_.width; ++at) {
        const std::int64_t of_key = of_.is_transposed ? ((batch * of_.keys + key) * of_.heads + head) * of_.width + at
                                                      : ((batch * of_.heads + head) * of_.width + at) * of_.keys + key;
        sum += double{values_[0][place({batch, head, query}, {of_.queries, of_.width}, at)]} *
               values_[1][static_cast<std::size_t>(of_key)];
      }
      scores.push_back(sum / 2);
      if (mask_.empty()) continue;
      const double mask = mask_at(batch, head, query, key);
      if (!of_.chooses) scores.back() += mask;
      if (of_.chooses && mask != 0) scores.back() = -8;
    }
    return scores;
  }
  [[nodiscard]] double result(std::int64_t batch, std::int64_t head, std::int64_t query, std::int64_t column) const {
    const std::vector<double> all = scores(batch, head, query);
    const double most = *std::ranges::max_element(all);
    double sum = 0;
    double weighted = 0;
    for (std::int64_t key = 0; key < of_.keys; ++key) {
      const double weight = std::exp(all[static_cast<std::size_t>(key)] - most);
      sum += weight;
      weighted += weight * values_[2][place({batch, head, key}, {of_.keys, of_.columns}, column)];
    }
    return weighted / sum;
  }
  [[nodiscard]] std::size_t result_place(std::int64_t batch, std::int64_t head, std::int64_t query,
                                         std::int64_t column) const {
    return place({batch, head, query}, {of_.queries, of_.columns}, column);
  }

 private:
  [[nodiscard]] std::size_t place(std::array<std::int64_t, 3> row_of, std::array<std::int64_t, 2> extents,
                                  std::int64_t column) const {
    const auto [batch, head, row] = row_of;
    const auto [rows, columns] = extents;
    const std::int64_t line =
        of_.is_transposed ? (batch * rows + row) * of_.heads + head : (batch * of_.heads + head) * rows + row;
    return static_cast<std::size_t>(line * columns + column);
  }
  [[nodiscard]] double mask_at(std::int64_t batch, std::int64_t head, std::int64_t query, std::int64_t key) const {
    const std::array<std::int64_t, 4> indices{batch, head, query, key};
    std::size_t at = 0;
    for (std::size_t axis = 0; axis < of_.mask.size(); ++axis) {
      const auto extent = static_cast<std::size_t>(of_.mask[axis]);
      const auto index = static_cast<std::size_t>(indices[axis + 4 - of_.mask.size()]);
      at = at * extent + (extent == 1 ? 0 : index);
    }
    return mask_[at];
  }

  const AttentionCase& of_;
  std::array<std::vector<float>, 3> values_;
  std::vector<double> mask_;
};

std::vector<TensorData> operands_of(const Graph& graph, Random& random) {
  std::vector<TensorData> reads;
  for (TensorId id : graph.inputs()) {
    const Tensor& tensor = graph.tensor(id);
    const std::int64_t count = *element_count(tensor.shape);
    if (tensor.dtype == DType::boolean) {
      std::vector<std::uint8_t> chosen(static_cast<std::size_t>(count));
      for (std::uint8_t& value : chosen) value = random.chance(40) ? 1 : 0;
      reads.push_back(testing::tensor_data(DType::boolean, tensor.shape.extents(), chosen));
    } else {
      reads.push_back(testing::tensor_data(DType::f32, tensor.shape.extents(), random_floats(count, random)));
    }
  }
  return reads;
}

// All kernels that the node has.
void expect_attention(const AttentionCase& of, std::uint64_t seed) {
  const Graph graph = graph_of_case(of);
  SCOPED_TRACE(print_graph(graph));
  Random random(seed);
  const std::vector<TensorData> reads = operands_of(graph, random);
  const Expected expected(of, reads);
  const std::vector<Kernel> kernels = offered_kernels(graph, NodeId(0));
  ASSERT_FALSE(kernels.empty());
  for (const Kernel& kernel : kernels) {
    SCOPED_TRACE(kernel.name);
    testing::KernelRun run(graph, kernel.name);
    ASSERT_EQ(run.run(reads), RunStatus());
    const std::vector<float> found = testing::values_of<float>(run.writes[0]);
    for (std::int64_t batch = 0; batch < of.batches; ++batch) {
      for (std::int64_t head = 0; head < of.heads; ++head) {
        for (std::int64_t query = 0; query < of.queries; ++query) {
          for (std::int64_t column = 0; column < of.columns; ++column) {
            const double value = expected.result(batch, head, query, column);
            EXPECT_NEAR(found[expected.result_place(batch, head, query, column)], value, 1e-5 + std::abs(value) * 1e-5);
          }
        }
      }
    }
  }
}

TEST(FusedAttention, ComputesTheFormula) {
  expect_attention({}, 1);
  expect_attention({.is_transposed = true}, 2);
  expect_attention({.attributes = "divisor = 2.0"}, 3);
}

TEST(FusedAttention, BroadcastsItsMask) {
  const std::vector<std::vector<std::int64_t>> masks = {{6}, {5, 6}, {5, 1}, {1, 6}, {2, 1, 6}, {1, 2, 5, 6}, {1}};
  for (const std::vector<std::int64_t>& mask : masks) {
    expect_attention({.mask = mask}, 4);
    expect_attention(
        {.is_transposed = true, .mask = mask, .chooses = true, .attributes = "factor = 0.5, masked = 1, fill = -8.0"},
        5);
  }
}

// 70,000 scores of a query are more than a tile has, and 200 queries of 700 keys need three tiles: 94, 94 and 12 rows.
TEST(FusedAttention, WorksInTiles) {
  expect_attention({.heads = 1, .queries = 2, .width = 2, .keys = 70'000, .columns = 1}, 6);
  expect_attention({.batches = 2, .queries = 200, .width = 8, .keys = 700, .columns = 8, .is_transposed = true}, 7);
}

TEST(FusedAttention, KeepsRandomFormulas) {
  Random random(8);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    AttentionCase of{.batches = random.between(1, 3),
                     .heads = random.between(1, 4),
                     .queries = random.between(1, 40),
                     .width = random.between(1, 40),
                     .keys = random.between(1, 70),
                     .columns = random.between(1, 40),
                     .is_transposed = random.chance(50)};
    if (random.chance(50)) of.mask = {random.chance(50) ? 1 : of.queries, random.chance(50) ? 1 : of.keys};
    expect_attention(of, seed);
  }
}

// A query without keys gets what Softmax gives.
TEST(FusedAttention, GivesNoNumberToAQueryWithoutKeys) {
  const AttentionCase of{.heads = 1, .queries = 1, .mask = {6}};
  const Graph graph = graph_of_case(of);
  Random random(9);
  std::vector<TensorData> reads = operands_of(graph, random);
  reads[3] = testing::tensor_data(DType::f32, {6}, std::vector<float>(6, -kInfinite));
  for (const Kernel& kernel : offered_kernels(graph, NodeId(0))) {
    testing::KernelRun run(graph, kernel.name);
    ASSERT_EQ(run.run(reads), RunStatus());
    EXPECT_TRUE(std::isnan(testing::values_of<float>(run.writes[0])[0])) << kernel.name;
  }
}

TEST(FusedAttention, HasNoKernelIfItsTensorsDoNotFit) {
  const std::string good = print_graph(graph_of_case({}));
  const std::size_t keys = good.find("[1,2,4,6]");
  std::string bad = good;
  bad.replace(keys, 9, "[1,2,5,6]");
  EXPECT_TRUE(offered_kernels(testing::graph_of(bad), NodeId(0)).empty());
  EXPECT_FALSE(offered_kernels(testing::graph_of(good), NodeId(0)).empty());
}

}  // namespace
}  // namespace lowtide
