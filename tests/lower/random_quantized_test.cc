// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/graph/builder.h"
#include "lowtide/lower/lower.h"
#include "lowtide/verify/verify.h"
#include "tests/lower/each_pass.h"
#include "tests/testing/random_passes.h"

namespace lowtide {
namespace {

// Makes graphs whose operators are between DequantizeLinear and QuantizeLinear. All tensors are [4,4], so that every
// operator may follow every other one. The operators do not mean anything; only their names and attributes matter.
class RandomQuantizedGraph {
 public:
  explicit RandomQuantizedGraph(Random& random) : random_(random) {
    for (int at = 0; at < 2; ++at) {
      scales_.push_back(builder_.add_tensor({.name = "s" + std::to_string(at)}, Role::constant));
      zeros_.push_back(builder_.add_tensor({.name = "z" + std::to_string(at), .dtype = DType::u8}, Role::constant));
      if (at == 0) builder_.set_known_integers(zeros_[0], {0});
    }
    const TensorId x = builder_.add_tensor({.name = "x", .dtype = DType::u8, .shape = Shape({4, 4})}, Role::input);
    integers_.emplace_back(x, 0U);
  }

  Graph make() {
    for (std::int64_t count = random_.between(1, 10); count > 0; --count) add_operator();
    std::vector<TensorId> outputs = {integers_.back().first};
    if (random_.chance(30)) outputs.push_back(reals_[random_.below(reals_.size())]);
    builder_.set_outputs(std::move(outputs));
    return *std::move(builder_).build();
  }

 private:
  TensorId add(const std::string& type, std::vector<std::optional<TensorId>> inputs, DType dtype) {
    const std::string name = "t" + std::to_string(nodes_++);
    const TensorId result = builder_.add_tensor({.name = name, .dtype = dtype, .shape = Shape({4, 4})});
    GraphBuilder::NodeSpec node{.name = name, .type = type, .inputs = std::move(inputs), .outputs = {result}};
    if (type == "Transpose") node.attributes = {{"perm", std::vector<std::int64_t>{1, 0}}};
    builder_.add_node(std::move(node));
    return result;
  }

  // An older real tensor, or new real numbers of integers.
  TensorId real() {
    if (!reals_.empty() && random_.chance(20)) return reals_[random_.below(reals_.size())];
    const auto [tensor, scale] = integers_[random_.below(integers_.size())];
    return reals_.emplace_back(add("DequantizeLinear", {tensor, scales_[scale], zeros_[scale]}, DType::f32));
  }

  void add_operator() {
    TensorId result = real();
    for (std::int64_t count = random_.between(0, 3); count > 0; --count) {
      static constexpr const char* kTypes[] = {"MatMul", "Add", "Relu", "Identity", "Transpose", "Sigmoid", "Squeeze"};
      const std::string type = kTypes[random_.below(7)];
      std::vector<std::optional<TensorId>> inputs = {result};
      if (type == "MatMul" || type == "Add") inputs.emplace_back(real());
      result = reals_.emplace_back(add(type, std::move(inputs), DType::f32));
    }
    const auto scale = static_cast<unsigned>(random_.below(2));
    integers_.emplace_back(add("QuantizeLinear", {result, scales_[scale], zeros_[scale]}, DType::u8), scale);
  }

  Random& random_;
  GraphBuilder builder_{"g"};
  std::vector<TensorId> scales_;
  std::vector<TensorId> zeros_;
  std::vector<std::pair<TensorId, unsigned>> integers_;  // with their scale
  std::vector<TensorId> reals_;
  int nodes_ = 0;
};

TEST(LowerRandomQuantizedGraphs, PassesGiveAGraphOnlyIfTheyChangeIt) {
  Random random(32);
  std::set<std::string_view> changing;
  for (int round = 0; round < 100; ++round)
    changing.merge(testing::run_each_pass(RandomQuantizedGraph(random).make(), nullptr));
  for (std::string_view pass : {"quantized", "unneeded", "chains", "load_time"})
    EXPECT_TRUE(changing.contains(pass)) << pass;
}

TEST(LowerRandomQuantizedGraphs, KeepTheNodesOfTheModel) {
  Random random(31);
  int products = 0;
  int changed = 0;
  for (int round = 0; round < 1000; ++round) {
    const Graph graph = RandomQuantizedGraph(random).make();
    const Result<Lowered> lowered = lower(
        graph,
        {.passes = testing::random_passes(
             random,
             {{PassId::unneeded, 50}, {PassId::quantized, 100}, {PassId::load_time, 100}, {PassId::chains, 50}})});
    ASSERT_TRUE(lowered.ok()) << lowered.error().describe();
    for (const Violation& violation : verify_lowering(graph, lowered->graph, lowered->load))
      ADD_FAILURE() << "round " << round << ": " << violation.message;
    changed += std::ranges::count(lowered->passes, "quantized") > 0 ? 1 : 0;
    for (NodeId id : all_ids<NodeId>(lowered->graph.nodes().size()))
      products += lowered->graph.op(id).type == "QLinearMatMul" ? 1 : 0;
  }
  EXPECT_GT(changed, 500);
  EXPECT_GT(products, 100);
}

}  // namespace
}  // namespace lowtide
