// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/operator_traits.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace lowtide {
namespace {

// Reads the rows of a table from its source: `{"Relu", ...`.
std::vector<std::string> rows(const std::string& table = "kTraitRows") {
  const std::filesystem::path root = std::filesystem::path(LOWTIDE_TEST_FILES).parent_path().parent_path();
  std::stringstream source;
  source << std::ifstream(root / "src/lowtide/graph/operator_traits.cc").rdbuf();
  std::string text = source.str();
  text.erase(0, text.find("auto " + table));
  text.erase(text.find("});"));
  std::vector<std::string> names;
  for (std::size_t at = text.find("{\""); at != std::string::npos; at = text.find("{\"", at + 1)) {
    names.push_back(text.substr(at + 2, text.find('"', at + 2) - at - 2));
  }
  return names;
}

TEST(OperatorTraits, TableIsSortedWithoutRepetition) {
  const std::vector<std::string> names = rows();
  ASSERT_GT(names.size(), 180U);
  for (std::size_t at = 1; at < names.size(); ++at) EXPECT_LT(names[at - 1], names[at]);
}

TEST(OperatorTraits, OperatorsOfOnnxRuntimeAreFoundInItsDomains) {
  const std::vector<std::string> names = rows("kRuntimeRows");
  ASSERT_EQ(names.size(), 14U);
  for (std::size_t at = 1; at < names.size(); ++at) EXPECT_LT(names[at - 1], names[at]);
  for (const std::string& name : names) {
    EXPECT_TRUE(operator_traits("com.microsoft", name).is_pure) << name;
    EXPECT_TRUE(operator_traits("com.microsoft.nchwc", name).is_pure) << name;
  }
  EXPECT_EQ(operator_traits("com.microsoft", "QuickGelu").in_place, InPlaceKind::first_input);
  EXPECT_EQ(operator_traits("com.microsoft", "FusedConv").in_place, InPlaceKind::none);
  EXPECT_FALSE(operator_traits("com.microsoft", "Relu").is_known);
}

TEST(OperatorTraits, EveryRowIsFoundInBothSpellingsOfTheDomain) {
  for (const std::string& name : rows()) {
    EXPECT_TRUE(operator_traits("", name).is_known) << name;
    EXPECT_EQ(&operator_traits("", name), &operator_traits("ai.onnx", name)) << name;
    EXPECT_FALSE(operator_traits("com.example", name).is_known) << name;
  }
}

TEST(OperatorTraits, UnknownOperatorsHaveSafeTraits) {
  for (const char* type : {"", "relu", "Reluu", "Rel", "Zzz", "Aaa"}) {
    const OperatorTraits& traits = operator_traits("", type);
    EXPECT_FALSE(traits.is_known) << type;
    EXPECT_FALSE(traits.is_pure) << type;
    EXPECT_EQ(traits.view, ViewKind::none) << type;
    EXPECT_EQ(traits.in_place, InPlaceKind::none) << type;
  }
}

TEST(OperatorTraits, ViewKindsMatchTheOperators) {
  for (const char* type : {"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity", "Dropout"}) {
    EXPECT_EQ(operator_traits("", type).view, ViewKind::whole) << type;
  }
  EXPECT_EQ(operator_traits("", "Slice").view, ViewKind::slice);
  EXPECT_EQ(operator_traits("", "Split").view, ViewKind::split);
  EXPECT_EQ(operator_traits("", "Concat").view, ViewKind::concat);
  EXPECT_EQ(operator_traits("", "Expand").view, ViewKind::expand);
  EXPECT_EQ(operator_traits("", "Transpose").view, ViewKind::transpose);
}

TEST(OperatorTraits, InPlaceIsForKernelsThatReadBeforeTheyWrite) {
  EXPECT_EQ(operator_traits("", "Relu").in_place, InPlaceKind::first_input);
  EXPECT_EQ(operator_traits("", "Softmax").in_place, InPlaceKind::first_input);
  EXPECT_EQ(operator_traits("", "Add").in_place, InPlaceKind::any_input);
  EXPECT_EQ(operator_traits("lowtide", "Conv").in_place, InPlaceKind::epilogue);
  for (const char* type : {"Conv", "MatMul", "Gather", "Transpose", "CumSum", "MaxPool", "Pad", "TopK"}) {
    EXPECT_EQ(operator_traits("", type).in_place, InPlaceKind::none) << type;
  }
}

TEST(OperatorTraits, RandomAndControlOperatorsAreNotPure) {
  for (const char* type :
       {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial"}) {
    EXPECT_TRUE(operator_traits("", type).is_random) << type;
    EXPECT_FALSE(operator_traits("", type).is_pure) << type;
  }
  for (const char* type : {"If", "Loop", "Scan", "SequenceMap"}) {
    EXPECT_TRUE(operator_traits("", type).is_known) << type;
    EXPECT_FALSE(operator_traits("", type).is_pure) << type;
  }
}

TEST(OperatorTraits, OnlyOneBodyOfAnIfRuns) {
  for (const std::string& name : rows()) {
    EXPECT_EQ(operator_traits("", name).has_exclusive_bodies, name == "If") << name;
  }
  EXPECT_FALSE(operator_traits("com.example", "If").has_exclusive_bodies);
}

}  // namespace
}  // namespace lowtide
