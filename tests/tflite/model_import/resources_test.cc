// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/model_import/resources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/tflite/flatbuffer/read_tflite.h"
#include "tests/tflite/flatbuffer/built_model.h"

namespace lowtide::model_import_internal {
namespace {

using testing::ElementsAre;
using tflite_tests::build;
using tflite_tests::BuiltModel;
using tflite_tests::BuiltOperator;
using tflite_tests::BuiltSubgraph;
using tflite_tests::BuiltTensor;

using Orders = std::vector<std::vector<std::uint32_t>>;

Orders order_of(const BuiltModel& built) {
  const Result<TfliteModel> model = read_tflite(build(built));
  if (!model) {
    ADD_FAILURE() << model.error().describe();
    return {};
  }
  return ResourceUses(*model).order_of(0);
}

BuiltTensor handle(const std::string& name) { return {name, {}, TfliteType::resource}; }

BuiltOperator variable(const std::string& name, std::int32_t to) { return {"VAR_HANDLE", {}, {to}, {}, name}; }

// Tensors: 0 and 1 are handles, 2 and 3 values.
std::vector<BuiltTensor> tensors() { return {handle("h"), handle("g"), {"a", {4}}, {"b", {4}}, {"x", {4}}}; }

TEST(ResourceUses, ReadsAndWritesOfOneVariableKeepTheirOrder) {
  EXPECT_THAT(order_of({.subgraphs = {{.tensors = tensors(),
                                       .operators = {variable("v", 0),
                                                     variable("v", 1),
                                                     {"READ_VARIABLE", {0}, {2}},
                                                     {"READ_VARIABLE", {1}, {3}},
                                                     {"ASSIGN_VARIABLE", {1, 4}, {}}},
                                       .inputs = {4},
                                       .outputs = {2, 3}}}}),
              ElementsAre(ElementsAre(), ElementsAre(), ElementsAre(), ElementsAre(), ElementsAre(2u, 3u)));
}

TEST(ResourceUses, OtherVariablesAreIndependent) {
  EXPECT_THAT(order_of({.subgraphs = {{.tensors = tensors(),
                                       .operators = {variable("v", 0),
                                                     variable("w", 1),
                                                     {"ASSIGN_VARIABLE", {0, 4}, {}},
                                                     {"READ_VARIABLE", {1}, {3}},
                                                     {"READ_VARIABLE", {0}, {2}}},
                                       .inputs = {4},
                                       .outputs = {2, 3}}}}),
              ElementsAre(ElementsAre(), ElementsAre(), ElementsAre(), ElementsAre(), ElementsAre(2u)));
}

// Whether the read of a variable waits for the assignment to another one, with these containers and names.
bool waits(const std::pair<std::optional<std::string>, std::string>& written,
           const std::pair<std::optional<std::string>, std::string>& read) {
  const auto handle_of = [](const std::pair<std::optional<std::string>, std::string>& one, std::int32_t to) {
    return BuiltOperator{
        .type = "VAR_HANDLE", .inputs = {}, .outputs = {to}, .handle = one.second, .container = one.first};
  };
  return !order_of({.subgraphs = {{.tensors = tensors(),
                                   .operators = {handle_of(written, 0),
                                                 handle_of(read, 1),
                                                 {"ASSIGN_VARIABLE", {0, 4}, {}},
                                                 {"READ_VARIABLE", {1}, {2}}},
                                   .inputs = {4},
                                   .outputs = {2}}}})
              .at(3)
              .empty();
}

TEST(ResourceUses, ContainerAndNameTogetherNameAVariable) {
  EXPECT_TRUE(waits({"a", "v"}, {"a", "v"}));
  EXPECT_FALSE(waits({"a", "v"}, {"b", "v"}));
  EXPECT_FALSE(waits({"a/b", "c"}, {"a", "b/c"}));
  EXPECT_FALSE(waits({"", "v"}, {"a", "v"}));
}

TEST(ResourceUses, WithoutAContainerItMayBeThatOfAny) {
  EXPECT_TRUE(waits({std::nullopt, "v"}, {"a", "v"}));
  EXPECT_TRUE(waits({"a", "v"}, {std::nullopt, "v"}));
  EXPECT_FALSE(waits({std::nullopt, "v"}, {"a", "w"}));
}

TEST(ResourceUses, AHandleFromOutsideMayBeAny) {
  EXPECT_THAT(order_of({.subgraphs = {{.tensors = tensors(),
                                       .operators = {variable("v", 0),
                                                     {"READ_VARIABLE", {0}, {2}},
                                                     {"ASSIGN_VARIABLE", {1, 4}, {}},
                                                     {"READ_VARIABLE", {0}, {3}}},
                                       .inputs = {1, 4},
                                       .outputs = {2, 3}}}}),
              ElementsAre(ElementsAre(), ElementsAre(), ElementsAre(1u), ElementsAre(2u)));
}

TEST(ResourceUses, ASubgraphUsesItsVariablesForItsCaller) {
  const BuiltSubgraph init{.tensors = {handle("h"), {"zero", {4}, TfliteType::int8, "abcd"}},
                           .operators = {variable("v", 0), {"ASSIGN_VARIABLE", {0, 1}, {}}},
                           .inputs = {},
                           .outputs = {}};
  const BuiltSubgraph main{.tensors = tensors(),
                           .operators = {{"CALL_ONCE", {}, {}, {{"init_subgraph_index", 1}}},
                                         variable("v", 0),
                                         {"READ_VARIABLE", {0}, {2}},
                                         {"RELU", {4}, {3}}},
                           .inputs = {4},
                           .outputs = {2, 3}};
  EXPECT_THAT(order_of({.subgraphs = {main, init}}),
              ElementsAre(ElementsAre(), ElementsAre(), ElementsAre(0u), ElementsAre()));
}

TEST(ResourceUses, OperatorsOnOneVariableTensorAreOrdered) {
  const BuiltTensor state{"s", {4}, TfliteType::int8, "", {}, {}, 0, true};
  EXPECT_THAT(order_of({.subgraphs = {{.tensors = {state, {"x", {4}}, {"a", {4}}, {"b", {4}}},
                                       .operators = {{"custom:Delay", {1, 0}, {2}}, {"custom:Delay", {1, 0}, {3}}},
                                       .inputs = {1},
                                       .outputs = {2, 3}}}}),
              ElementsAre(ElementsAre(), ElementsAre(0u)));
}

TEST(ResourceUses, SubgraphsComeAfterThoseThatTheyRun) {
  const auto runs = [](std::vector<std::int64_t> next) {
    BuiltSubgraph graph;
    for (std::int64_t one : next) graph.operators.push_back({"CALL_ONCE", {}, {}, {{"init_subgraph_index", one}}});
    return graph;
  };
  const Result<TfliteModel> model =
      read_tflite(build(BuiltModel{.subgraphs = {runs({1, 3}), runs({3}), runs({1}), runs({})}}));
  ASSERT_TRUE(model.ok());
  EXPECT_THAT(subgraphs_bottom_up(*model), ElementsAre(3u, 1u, 0u));
}

}  // namespace
}  // namespace lowtide::model_import_internal
