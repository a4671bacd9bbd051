// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "tests/kernels/one_node.h"
#include "tests/kernels/reversed_team.h"

namespace lowtide::testing {
namespace {

std::string listed_numbers(const std::vector<std::int64_t>& numbers) {
  std::string text = "[";
  for (std::int64_t number : numbers) text += (text.size() > 1 ? ", " : "") + std::to_string(number);
  return text + "]";
}

// The nodes of one tree: node 0 compares feature 0 with 1, and goes to leaf 1 if that is true, otherwise to leaf 2.
std::string one_branch(const std::string& mode, const std::string& rest) {
  return "{nodes_treeids = [0, 0, 0], nodes_nodeids = [0, 1, 2], nodes_featureids = [0, 0, 0], nodes_modes = [\"" +
         mode +
         "\", \"LEAF\", \"LEAF\"], nodes_values = [1.0, 0.0, 0.0], nodes_truenodeids = [1, 0, 0], "
         "nodes_falsenodeids = [2, 0, 0], " +
         rest + "}";
}
std::string regressor(const std::string& mode, const std::string& rest = "") {
  return "\"ai.onnx.ml\"::TreeEnsembleRegressor(x) " +
         one_branch(mode,
                    "n_targets = 1, target_treeids = [0, 0], target_nodeids = [1, 2], target_ids = [0, 0], "
                    "target_weights = [10.0, 20.0]" +
                        rest);
}

std::vector<float> run_regressor(const std::string& call, const std::vector<float>& x) {
  OneNode node =
      one_node("x : f32[" + std::to_string(x.size()) + ",1]", call, "f32[" + std::to_string(x.size()) + ",1]");
  node.run_ok({floats(x)});
  return node.result<float>();
}

// Why a node is refused when it is prepared.
std::string refusal(const std::string& operands, const std::string& call, const std::string& results) {
  OneNode node = one_node(operands, call, results);
  try {
    node.run_ok({{0}});
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

// The leaf of a true comparison adds 10, the other one 20.
TEST(Trees, CompareWithTheirThreshold) {
  const std::vector<float> x{0, 1, 2, kNan};
  EXPECT_EQ(run_regressor(regressor("BRANCH_LEQ"), x), std::vector<float>({10, 10, 20, 20}));
  EXPECT_EQ(run_regressor(regressor("BRANCH_LT"), x), std::vector<float>({10, 20, 20, 20}));
  EXPECT_EQ(run_regressor(regressor("BRANCH_GTE"), x), std::vector<float>({20, 10, 10, 20}));
  EXPECT_EQ(run_regressor(regressor("BRANCH_GT"), x), std::vector<float>({20, 20, 10, 20}));
  EXPECT_EQ(run_regressor(regressor("BRANCH_EQ"), x), std::vector<float>({20, 10, 20, 20}));
  EXPECT_EQ(run_regressor(regressor("BRANCH_NEQ"), x), std::vector<float>({10, 20, 10, 10}));
}

TEST(Trees, SendMissingValuesWhereTheNodeSays) {
  for (const char* mode : {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ"}) {
    const std::string call = regressor(mode, ", nodes_missing_value_tracks_true = [1, 0, 0]");
    EXPECT_EQ(run_regressor(call, {kNan}), std::vector<float>({10})) << mode;
  }
}

TEST(Trees, CompareInfinitiesAndThresholdsThatAreNone) {
  const std::vector<float> x{-kInfinity, 0, kInfinity, kNan};
  const auto with = [](const std::string& mode, const std::string& threshold) {
    std::string call = regressor(mode);
    return call.replace(call.find("[1.0, 0.0"), 4, "[" + threshold);
  };
  EXPECT_EQ(run_regressor(with("BRANCH_LT", "-inf"), x), std::vector<float>({20, 20, 20, 20}));
  EXPECT_EQ(run_regressor(with("BRANCH_GTE", "-inf"), x), std::vector<float>({10, 10, 10, 20}));
  EXPECT_EQ(run_regressor(with("BRANCH_GT", "inf"), x), std::vector<float>({20, 20, 20, 20}));
  for (const char* mode : {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"}) {
    EXPECT_EQ(run_regressor(with(mode, "nan"), x), std::vector<float>({20, 20, 20, 20})) << mode;
  }
}

// A threshold of f64 lies between two numbers of f32. 16777217 is 2^24 + 1.
TEST(Trees, RoundThresholdsToTheSideThatKeepsComparisons) {
  for (const auto& [mode, expected] :
       {std::pair("BRANCH_LEQ", std::vector<float>({10, 20})), std::pair("BRANCH_LT", std::vector<float>({10, 20})),
        std::pair("BRANCH_GTE", std::vector<float>({20, 10})), std::pair("BRANCH_GT", std::vector<float>({20, 10}))}) {
    std::string call = regressor(mode);
    call.replace(call.find("[1.0, 0.0"), 4, "[16777217.0");
    EXPECT_EQ(run_regressor(call, {16777216, 16777218}), expected) << mode;
  }
}

TEST(Trees, AddBaseAfterTheAverage) {
  const std::string call = regressor("BRANCH_LEQ", ", aggregate_function = \"AVERAGE\", base_values = [0.5]");
  EXPECT_EQ(run_regressor(call, {0, 2}), std::vector<float>({10.5, 20.5}));
}

// The sum s of class 0 stands for class 1 (tree_scores.h). For x = 0 it is 0.25, for x = 2 it is 0.75.
TEST(Trees, GiveTheSumOfTheOnlyClassToTheSecondOne) {
  const std::string classes =
      "classlabels_int64s = [3, 7], class_treeids = [0, 0], class_nodeids = [1, 2], class_ids = [0, 0], ";
  const auto run = [&](const std::string& weights) {
    OneNode node = one_node(
        "x : f32[2,1]",
        "\"ai.onnx.ml\"::TreeEnsembleClassifier(x) " + one_branch("BRANCH_LEQ", classes + "class_weights = " + weights),
        "i64[2], f32[2,2]");
    node.run_ok({floats({0, 2})});
    return std::pair(node.result<std::int64_t>(0), node.result<float>(1));
  };
  const auto [labels, scores] = run("[0.25, 0.75]");
  EXPECT_EQ(labels, std::vector<std::int64_t>({3, 7}));
  EXPECT_EQ(scores, std::vector<float>({0.75, 0.25, 0.25, 0.75}));
  const auto [signed_labels, signed_scores] = run("[-0.25, 0.25]");
  EXPECT_EQ(signed_labels, std::vector<std::int64_t>({3, 7}));
  EXPECT_EQ(signed_scores, std::vector<float>({0.25, -0.25, -0.25, 0.25}));
}

TEST(Trees, RefuseAttributesThatAreNoTrees) {
  const auto refused = [](std::string call, const std::string& from, const std::string& to) {
    call.replace(call.find(from), from.size(), to);
    return refusal("x : f32[1,1]", call, "f32[1,1]");
  };
  const std::string call = regressor("BRANCH_LEQ");
  EXPECT_NE(refused(call, "nodes_truenodeids = [1", "nodes_truenodeids = [0").find("comes back to a node"),
            std::string::npos);
  EXPECT_NE(refused(call, "nodes_truenodeids = [1", "nodes_truenodeids = [9").find("tree 0 has no node 9"),
            std::string::npos);
  EXPECT_NE(refused(call, "nodes_nodeids = [0, 1, 2]", "nodes_nodeids = [0, 1, 1]").find("has two nodes 1"),
            std::string::npos);
  EXPECT_NE(refused(call, "nodes_featureids = [0", "nodes_featureids = [1").find("feature 1 is used"),
            std::string::npos);
  EXPECT_NE(refused(call, "target_ids = [0", "target_ids = [1").find("target 1, which is not in [0, 1)"),
            std::string::npos);
  EXPECT_NE(refused(call, "BRANCH_LEQ", "BRANCH_MAYBE").find("'BRANCH_MAYBE', which is not a mode"), std::string::npos);
  EXPECT_NE(refused(call, "target_weights = [10.0, 20.0]", "target_weights = [10.0]").find("has 1 entry"),
            std::string::npos);
}

// 100,000 nodes in one path, which a recursion could not follow.
TEST(Trees, FollowLongPaths) {
  constexpr std::int64_t kLength = 100'000;
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> on_true;
  std::vector<std::int64_t> on_false;
  std::string modes = "[";
  for (std::int64_t at = 0; at <= kLength; ++at) {
    ids.push_back(at);
    on_true.push_back(at < kLength ? at + 1 : 0);
    on_false.push_back(at < kLength ? kLength : 0);
    modes += at < kLength ? "\"BRANCH_LEQ\", " : "\"LEAF\"]";
  }
  const std::string zeros = listed_numbers(std::vector<std::int64_t>(kLength + 1));
  const std::string call =
      "\"ai.onnx.ml\"::TreeEnsembleRegressor(x) {n_targets = 1, nodes_treeids = " + zeros +
      ", nodes_nodeids = " + listed_numbers(ids) + ", nodes_featureids = " + zeros + ", nodes_values = " + zeros +
      ", nodes_modes = " + modes + ", nodes_truenodeids = " + listed_numbers(on_true) +
      ", nodes_falsenodeids = " + listed_numbers(on_false) +
      ", target_treeids = [0], target_nodeids = [100000], target_ids = [0], target_weights = [3.0]}";
  EXPECT_EQ(run_regressor(call, {-1, 1}), std::vector<float>({3, 3}));
}

// 40 trees of 7 nodes on 5 features, with thresholds and weights that a generator makes.
std::string drawn_trees() {
  std::vector<std::int64_t> trees;
  std::vector<std::int64_t> nodes;
  std::vector<std::int64_t> features;
  std::vector<std::int64_t> values;
  std::vector<std::int64_t> on_true;
  std::vector<std::int64_t> on_false;
  std::vector<std::int64_t> leaf_trees;
  std::vector<std::int64_t> leaves;
  std::string weights = "[";  // their sums depend on the order of the trees
  std::string modes = "[";
  for (std::int64_t tree = 0; tree < 40; ++tree) {
    for (std::int64_t node = 0; node < 7; ++node) {
      const bool is_leaf = node >= 3;
      trees.push_back(tree);
      nodes.push_back(node);
      features.push_back((tree * 3 + node) % 5);
      values.push_back((tree * 7 + node * 5) % 11 - 5);
      on_true.push_back(is_leaf ? 0 : 2 * node + 1);
      on_false.push_back(is_leaf ? 0 : 2 * node + 2);
      modes += std::string(modes.size() > 1 ? ", " : "") + (is_leaf ? "\"LEAF\"" : "\"BRANCH_LEQ\"");
      if (!is_leaf) continue;
      leaf_trees.push_back(tree);
      leaves.push_back(node);
      weights += std::string(weights.size() > 1 ? ", " : "") + std::to_string((tree * 13 + node * 7) % 17) + ".3f";
    }
  }
  return "\"ai.onnx.ml\"::TreeEnsembleRegressor(x) {n_targets = 1, nodes_treeids = " + listed_numbers(trees) +
         ", nodes_nodeids = " + listed_numbers(nodes) + ", nodes_featureids = " + listed_numbers(features) +
         ", nodes_values = " + listed_numbers(values) + ", nodes_modes = " + modes +
         "], nodes_truenodeids = " + listed_numbers(on_true) + ", nodes_falsenodeids = " + listed_numbers(on_false) +
         ", target_treeids = " + listed_numbers(leaf_trees) + ", target_nodeids = " + listed_numbers(leaves) +
         ", target_ids = " + listed_numbers(std::vector<std::int64_t>(leaves.size())) +
         ", target_weights = " + weights + "], base_values = [0.1f]}";
}

TEST(Trees, GiveTheSameBitsForEachNumberOfThreads) {
  std::vector<float> x(501 * 5);
  for (std::size_t at = 0; at < x.size(); ++at) x[at] = static_cast<float>((at * 7919) % 1009) / 100.0F - 5;
  std::vector<float> expected;
  for (int threads : kThreadCounts) {
    OneNode node = one_node("x : f32[501,5]", drawn_trees(), "f32[501,1]");
    ReversedTeam team(threads);
    node.team = &team;
    node.run_ok({floats(x)});
    if (expected.empty()) expected = node.result<float>();
    EXPECT_EQ(node.result<float>(), expected) << threads << " threads";
    EXPECT_EQ(team.calls > 0, threads > 1);
  }
}

// An operand without rows says nothing about the size of a result, and so of scratch.
TEST(Classical, RefusesHugeSizesWithoutRows) {
  const std::string many = std::to_string(std::int64_t{1} << 44);
  const std::string regression =
      "\"ai.onnx.ml\"::LinearRegressor(x) {coefficients = [1.0], intercepts = [0.5], targets = ";
  EXPECT_NE(refusal("x : f32[0,1]", regression + many + "}", "f32[0," + many + "]").find("1 number"),
            std::string::npos);
  EXPECT_NE(refusal("x : f32[0,1]", regressor("BRANCH_LEQ"), "f32[0," + many + "]").find("1 column"),
            std::string::npos);
}

TEST(Classical, RefusesStringsByName) {
  OneNode node = one_node("x : f32[1,1]",
                          "\"ai.onnx.ml\"::LinearClassifier(x) {coefficients = [1.0, 2.0], intercepts = [0.0, 0.0], "
                          "classlabels_strings = [\"a\", \"b\"]}",
                          "i64[1], f32[1,2]");
  EXPECT_NE(node.missing().find("train the classifier with integer labels"), std::string::npos) << node.missing();
}

TEST(Classical, RefusesCoefficientsThatDoNotFit) {
  const std::string call = "\"ai.onnx.ml\"::LinearRegressor(x) {coefficients = [1.0, 2.0, 3.0], targets = 2}";
  EXPECT_NE(refusal("x : f32[1,2]", call, "f32[1,2]").find("3 numbers, which are not 2 x 2"), std::string::npos);
}

// An SVM of four classes, each with one support vector. `more`: its probabilities, in some form.
std::string four_classes(const std::string& more) {
  return "\"ai.onnx.ml\"::SVMClassifier(x) {kernel_type = \"LINEAR\", vectors_per_class = [1, 1, 1, 1], "
         "support_vectors = [1.0, 2.0, 3.0, 4.0], coefficients = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, "
         "1.0, 1.0], rho = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0], classlabels_ints = [0, 1, 2, 3]" +
         more + "}";
}

// Four classes have four probabilities, or six scores of pairs. Integers are numbers like others.
TEST(Svm, CountsProbabilitiesWhateverTheirKindIs) {
  const std::string reals = ", prob_a = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0], prob_b = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]";
  const std::string integers = ", prob_a = [1, 1, 1, 1, 1, 1], prob_b = [0, 0, 0, 0, 0, 0]";
  std::vector<float> expected;
  for (const std::string& more : {reals, integers}) {
    OneNode node = one_node("x : f32[1,1]", four_classes(more), "i64[1], f32[1,4]");
    node.run_ok({{1}});
    if (expected.empty()) expected = node.result<float>(1);
    EXPECT_EQ(node.result<float>(1), expected);
    EXPECT_NE(refusal("x : f32[1,1]", four_classes(more), "i64[1], f32[1,6]"), "");
  }
  one_node("x : f32[1,1]", four_classes(""), "i64[1], f32[1,6]").run_ok({{1}});
}

TEST(Svm, RefusesNegativeNumbersOfVectors) {
  const std::string call =
      "\"ai.onnx.ml\"::SVMRegressor(x) {n_supports = -1, coefficients = [1.0], rho = [0.0], kernel_type = \"LINEAR\"}";
  EXPECT_NE(refusal("x : f32[1,1]", call, "f32[1,1]").find("'n_supports' has -1"), std::string::npos);
}

// Only trees have lists in tensors. Scratch does not count such an attribute of another operator.
TEST(Classical, ReadsTensorsInPlaceOfListsForTreesOnly) {
  const std::string call =
      "\"ai.onnx.ml\"::LinearRegressor(x) {coefficients_as_tensor = [1.0, 2.0], intercepts = [0.5]}";
  EXPECT_NE(refusal("x : f32[1,2]", call, "f32[1,1]").find("0 numbers, which are not 1 x 2"), std::string::npos);
}

// 2^53 + 1 and 2^53 are one number in f64.
TEST(Classical, ReplacesIntegersExactly) {
  const std::int64_t large = std::int64_t{1} << 53;
  OneNode node = one_node(
      "x : i64[2,1]",
      "\"ai.onnx.ml\"::Imputer(x) {imputed_value_int64s = [7], replaced_value_int64 = " + std::to_string(large) + "}",
      "i64[2,1]");
  node.run_ok({{large, large + 1}});
  EXPECT_EQ(node.result<std::int64_t>(), std::vector<std::int64_t>({7, large + 1}));
}

// Reals become integers, towards 0.
TEST(Classical, EncodesRealsByTheirIntegers) {
  OneNode node = one_node("x : f32[3]", "\"ai.onnx.ml\"::OneHotEncoder(x) {cats_int64s = [2, 0]}", "f32[3,2]");
  node.run_ok({floats({2.5F, -0.5F, 3.5F})});
  EXPECT_EQ(node.result<float>(), std::vector<float>({1, 0, 0, 1, 0, 0}));
}

// A category that is none is an error if zeros = 0.
TEST(Classical, EndsARunWithAnUnknownCategory) {
  OneNode node =
      one_node("x : i64[2]", "\"ai.onnx.ml\"::OneHotEncoder(x) {cats_int64s = [4, 5], zeros = 0}", "f32[2,2]");
  node.run_ok({{5, 4}});
  EXPECT_EQ(node.result<float>(), std::vector<float>({0, 1, 1, 0}));
  EXPECT_EQ(node.run({{5, 6}}).code, RunCode::index_out_of_range);
}

}  // namespace
}  // namespace lowtide::testing
