// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/model/fold_batch_norm.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "lowtide/graph/text.h"
#include "tests/testing/after_pass.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

void expect_folded(std::string_view text, std::string_view expected) {
  const Graph graph = testing::graph_of(text);
  EXPECT_EQ(print_graph(testing::after_pass(graph, fold_batch_norm(graph))), print_graph(testing::graph_of(expected)));
}

constexpr std::string_view kModel = R"(graph "g" {
  input x : f32[1,3,8,8]
  constant w : f32[4,3,3,3]
  constant bias : f32[4]
  constant scale : f32[4]
  constant shift : f32[4]
  constant mean : f32[4]
  constant variance : f32[4]
  c = Conv(x, w, bias) "conv" {pads = [1, 1, 1, 1]} : f32[1,4,8,8]
  y = BatchNormalization(c, scale, shift, mean, variance) "norm" {epsilon = 0.001} : f32[1,4,8,8]
  output y
})";

// kModel with other words in place of the first `words`.
std::string model_with(std::string_view words, std::string_view others) {
  std::string text(kModel);
  return text.replace(text.find(words), words.size(), others);
}

TEST(FoldBatchNorm, MakesTheConstantsOfOneConvolution) {
  expect_folded(kModel, R"(graph "g" {
  input x : f32[1,3,8,8]
  constant w : f32[4,3,3,3]
  constant bias : f32[4]
  constant scale : f32[4]
  constant shift : f32[4]
  constant mean : f32[4]
  constant variance : f32[4]
  tensor y : f32[1,4,8,8]
  w.1 = lowtide::ScaledWeights(w, scale, variance) "norm" {epsilon = 0.001} : f32[4,3,3,3]
  shift.1 = lowtide::ScaledBias(scale, shift, mean, variance, bias) "norm" {epsilon = 0.001} : f32[4]
  y = Conv(x, w.1, shift.1) "norm" {pads = [1, 1, 1, 1]}
  output y
})");
}

TEST(FoldBatchNorm, NeedsNoBiasAndHasADefaultForEpsilon) {
  const std::string text = model_with("Conv(x, w, bias)", "Conv(x, w)");
  const std::optional<Rewritten> rewritten = fold_batch_norm(testing::graph_of(text)).value();
  ASSERT_TRUE(rewritten);
  ASSERT_EQ(rewritten->graph.nodes().size(), 3U);
  EXPECT_EQ(rewritten->graph.node(NodeId(1)).inputs.size(), 4U);
  EXPECT_EQ(rewritten->origins.nodes[NodeId(2)], (std::vector<NodeId>{NodeId(0), NodeId(1)}));
  const std::optional<Rewritten> other =
      fold_batch_norm(testing::graph_of(model_with("{epsilon = 0.001} ", ""))).value();
  ASSERT_TRUE(other);
  EXPECT_EQ(*find_attribute<double>(other->graph.node(NodeId(0)).attributes, "epsilon"), 1e-5);
}

TEST(FoldBatchNorm, KeepsPairsThatItMustNotFold) {
  for (const auto& [words, others] : {
           std::pair("constant mean", "input mean"),  // not known when the model is loaded
           std::pair("constant w ", "input w "),      //
           std::pair("input x", "constant x"),        // the Conv runs when the model is loaded
           std::pair("output y", "output y, c"),      // the result of the Conv is needed
           std::pair("output y", "z = Relu(c) : f32[1,4,8,8]\n output y, z"),
           std::pair("{epsilon = 0.001}", "{training_mode = 1}"), std::pair("\"norm\" {", "\"norm\" after (c) {"),
           std::pair("{epsilon = 0.001}", "{lowtide_since = 6}"),  // is in training, by the attribute is_test
       }) {
    const std::string text = model_with(words, others);
    expect_folded(text, text);
  }
}

}  // namespace
}  // namespace lowtide
