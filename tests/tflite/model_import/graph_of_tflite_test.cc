// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/model_import/graph_of_tflite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "lowtide/import/import.h"
#include "lowtide/lower/lower.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/tflite/flatbuffer/read_tflite.h"
#include "lowtide/tflite/model_import/tflite_format.h"
#include "tests/tflite/flatbuffer/built_model.h"

namespace lowtide {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tflite_tests::build;
using tflite_tests::BuiltModel;
using tflite_tests::BuiltSubgraph;
using tflite_tests::bytes_of;

Result<GraphOfTflite> import(const std::string& file) {
  const Result<TfliteModel> model = read_tflite(file);
  if (!model) return model.error();
  return graph_of_tflite(*model, file);
}

std::string error_of(const std::string& file) {
  const Result<GraphOfTflite> made = import(file);
  return made ? "imported" : made.error().describe();
}

TensorId named(const Graph& graph, const std::string& name) {
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    if (graph.tensor(id).name == name) return id;
  }
  ADD_FAILURE() << "no tensor " << name;
  return TensorId(0);
}

BuiltSubgraph convolution() {
  return {.tensors = {{"x", {1, 4, 4, 2}, TfliteType::int8, "", {0.5F}, {3}},
                      {"filter", {2, 1, 1, 2}, TfliteType::int8, "\1\2\3\4", {0.25F, 0.125F}, {0, 0}, 0},
                      {"", {2}, TfliteType::int32, bytes_of({7, -9})},
                      {"x", {1, 4, 4, 2}, TfliteType::int8, "", {2.0F}}},
          .operators = {{"CONV_2D", {0, 1, 2}, {3}}},
          .inputs = {0},
          .outputs = {3}};
}

TEST(GraphOfTflite, KeepsOperatorsOptionsAndQuantization) {
  const std::string file = build(convolution());
  const Result<GraphOfTflite> made = import(file);
  ASSERT_TRUE(made.ok()) << made.error().describe();
  const Graph& graph = made->graph;
  const NodeId conv(0);
  EXPECT_EQ(full_name(graph.op(conv)), "tflite::CONV_2D");
  const std::vector<Attribute>& attributes = graph.node(conv).attributes;
  EXPECT_EQ(*find_attribute<std::string>(attributes, "padding"), "SAME");
  EXPECT_EQ(*find_attribute<std::int64_t>(attributes, "stride_w"), 1);
  EXPECT_THAT(*find_attribute<std::vector<double>>(attributes, "in0_scale"), ElementsAre(0.5));
  EXPECT_THAT(*find_attribute<std::vector<std::int64_t>>(attributes, "in0_zero_point"), ElementsAre(3));
  EXPECT_EQ(find_attribute<std::int64_t>(attributes, "in0_axis"), nullptr);
  EXPECT_THAT(*find_attribute<std::vector<double>>(attributes, "in1_scale"), ElementsAre(0.25, 0.125));
  EXPECT_EQ(*find_attribute<std::int64_t>(attributes, "in1_axis"), 0);
  EXPECT_EQ(find_attribute<std::vector<double>>(attributes, "in2_scale"), nullptr);
  EXPECT_THAT(*find_attribute<std::vector<std::int64_t>>(attributes, "out0_zero_point"), ElementsAre(0));
}

TEST(GraphOfTflite, ConstantsAreRangesOfTheFile) {
  const std::string file = build(convolution());
  const Result<GraphOfTflite> made = import(file);
  ASSERT_TRUE(made.ok());
  const Tensor& filter = made->graph.tensor(named(made->graph, "filter"));
  EXPECT_EQ(filter.role, Role::constant);
  ASSERT_TRUE(filter.constant.has_value());
  const ConstantSource& source = made->constants.sources[*filter.constant];
  const auto& range = std::get<ConstantSource::InFile>(source.where);
  EXPECT_EQ(file.substr(static_cast<std::size_t>(range.offset), 4), "\1\2\3\4");
  EXPECT_EQ(source.size, Bytes(4));
  EXPECT_TRUE(check_constants(made->constants).ok());
  const TensorId bias = named(made->graph, "tensor");  // it has no name in the file
  EXPECT_THAT(*made->graph.known_integers(bias), ElementsAre(7, -9));
}

TEST(GraphOfTflite, CompletesNamesThatAreUsedTwice) {
  const Result<GraphOfTflite> made = import(build(convolution()));
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->graph.tensor(made->graph.inputs()[0]).name, "x");
  EXPECT_EQ(made->graph.tensor(made->graph.outputs()[0]).name, "x_2");
}

TEST(GraphOfTflite, MayNameByNumber) {
  const std::string file = build(convolution());
  const Result<TfliteModel> model = read_tflite(file);
  ASSERT_TRUE(model.ok());
  const Result<GraphOfTflite> made = graph_of_tflite(*model, file, {.names_by_number = true});
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->graph.tensor(made->graph.outputs()[0]).name, "0:3");
  EXPECT_EQ(made->graph.node(NodeId(0)).name, "0:0");
}

TEST(GraphOfTflite, LeavesOutWhatNothingUses) {
  BuiltSubgraph graph = convolution();
  graph.tensors.push_back({"unused", {1000}});
  const Result<GraphOfTflite> made = import(build(graph));
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->graph.tensors().size(), 4u);
}

TEST(GraphOfTflite, VariablesAreStates) {
  const Result<GraphOfTflite> made =
      import(build({.tensors = {{"x", {1, 2}, TfliteType::float32},
                                {"feature", {2, 2}, TfliteType::float32, std::string(16, '\0')},
                                {"time", {2, 3}, TfliteType::float32, std::string(24, '\0')},
                                {"state", {1, 6}, TfliteType::float32, "", {}, {}, 0, true},
                                {"y", {1, 2}, TfliteType::float32}},
                    .operators = {{"SVDF", {0, 1, 2, -1, 3}, {4}}},
                    .inputs = {0},
                    .outputs = {4}}));
  ASSERT_TRUE(made.ok()) << made.error().describe();
  EXPECT_EQ(made->graph.tensor(named(made->graph, "state")).role, Role::state);
  EXPECT_TRUE(made->graph.op(NodeId(0)).traits.is_stateful);
  EXPECT_EQ(made->graph.node(NodeId(0)).inputs[3], std::nullopt);
}

BuiltModel branches() {
  const BuiltSubgraph then_branch{.tensors = {{"a", {4}}, {"b", {4}}},
                                  .operators = {{"RELU", {0}, {1}}},
                                  .inputs = {0},
                                  .outputs = {1},
                                  .name = "then"};
  const BuiltSubgraph else_branch{.tensors = {{"a", {4}}, {"b", {4}}},
                                  .operators = {{"LOGISTIC", {0}, {1}}},
                                  .inputs = {0},
                                  .outputs = {1},
                                  .name = "else"};
  const BuiltSubgraph main{.tensors = {{"c", {1}, TfliteType::boolean}, {"x", {4}}, {"y", {4}}},
                           .operators = {{"IF", {0, 1}, {2}, {{"then_subgraph_index", 1}, {"else_subgraph_index", 2}}}},
                           .inputs = {0, 1},
                           .outputs = {2}};
  return {.subgraphs = {main, then_branch, else_branch}};
}

TEST(GraphOfTflite, SubgraphsBecomeBodies) {
  const Result<GraphOfTflite> made = import(build(branches()));
  ASSERT_TRUE(made.ok()) << made.error().describe();
  const Node& node = made->graph.node(NodeId(0));
  ASSERT_EQ(node.bodies.size(), 2u);
  EXPECT_EQ(node.bodies[0].name, "then_branch");
  EXPECT_EQ(node.bodies[1].name, "else_branch");
  EXPECT_EQ(node.bodies[1].graph->inputs().size(), 1u);
  EXPECT_EQ(full_name(node.bodies[1].graph->op(NodeId(0))), "tflite::LOGISTIC");
}

TEST(GraphOfTflite, GraphsWithBodiesArePlannedAndVerified) {
  const Result<GraphOfTflite> made = import(build(branches()));
  ASSERT_TRUE(made.ok());
  const Result<PlannedGraph> planned = plan_graph(made->graph, dense_target());
  ASSERT_TRUE(planned.ok()) << planned.error().describe();
  EXPECT_TRUE(planned->violations.empty());
  // y, and beside it the operand and the result of a branch in one place: 64 + 64, or + 128 without sharing.
  EXPECT_LE(arena_bytes(planned->plan), Bytes(192));
}

TEST(GraphOfTflite, DequantizedConstantsAreLoadTimeWork) {
  const Result<GraphOfTflite> made = import(build({.tensors = {{"half", {4}, TfliteType::float16, std::string(8, '\0')},
                                                               {"w", {4}, TfliteType::float32},
                                                               {"x", {4}, TfliteType::float32},
                                                               {"y", {4}, TfliteType::float32}},
                                                   .operators = {{"DEQUANTIZE", {0}, {1}}, {"ADD", {2, 1}, {3}}},
                                                   .inputs = {2},
                                                   .outputs = {3}}));
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->graph.nodes().size(), 2u);  // as the runtime sees it
  const Result<Lowered> lowered = lower(made->graph);
  ASSERT_TRUE(lowered.ok());
  EXPECT_EQ(lowered->graph.nodes().size(), 1u);  // as Lowtide lowers it
  EXPECT_EQ(lowered->load.nodes().size(), 1u);
}

TEST(GraphOfTflite, ReshapesAreViews) {
  const Result<GraphOfTflite> made =
      import(build({.tensors = {{"x", {64}},
                                {"y", {64}},
                                {"shape", {2}, TfliteType::int32, bytes_of({8, 8})},
                                {"z", {8, 8}},
                                {"out", {8, 8}}},
                    .operators = {{"RELU", {0}, {1}}, {"RESHAPE", {1, 2}, {3}}, {"CUMSUM", {3, 2}, {4}}},
                    .inputs = {0},
                    .outputs = {4}}));
  ASSERT_TRUE(made.ok()) << made.error().describe();
  const Result<PlannedGraph> planned = plan_graph(made->graph, dense_target());
  ASSERT_TRUE(planned.ok());
  EXPECT_TRUE(planned->violations.empty());
  EXPECT_EQ(arena_bytes(planned->plan), Bytes(128));  // y and z are one buffer, and out is another
}

TEST(GraphOfTflite, CustomOperatorsAreNoViews) {
  const Result<GraphOfTflite> made = import(build({.tensors = {{"x", {64}}, {"y", {64}}, {"z", {64}}},
                                                   .operators = {{"RESHAPE", {0}, {1}}, {"custom:RESHAPE", {1}, {2}}},
                                                   .inputs = {0},
                                                   .outputs = {2}}));
  ASSERT_TRUE(made.ok()) << made.error().describe();
  EXPECT_EQ(full_name(made->graph.op(NodeId(0))), "tflite::RESHAPE");
  EXPECT_EQ(full_name(made->graph.op(NodeId(1))), "tflite.custom::RESHAPE");
  EXPECT_NE(made->graph.op(NodeId(0)).traits.view, ViewKind::none);
  EXPECT_EQ(made->graph.op(NodeId(1)).traits.view, ViewKind::none);
}

TEST(GraphOfTflite, RefusesTypesWithoutASize) {
  EXPECT_THAT(error_of(build({.tensors = {{"x", {4}, TfliteType::string}, {"y", {4}, TfliteType::string}},
                              .operators = {{"custom:Upper", {0}, {1}}},
                              .inputs = {0},
                              .outputs = {1}})),
              HasSubstr("tensor 0 'x': its element type STRING has no size"));
}

class FileOf {
 public:
  explicit FileOf(const std::string& bytes) : path_(testing::TempDir() + "lowtide_model_import.tflite") {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~FileOf() { std::remove(path_.c_str()); }
  FileOf(const FileOf&) = delete;
  FileOf& operator=(const FileOf&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(TfliteFormat, ImportModelReadsItWhereItIsGiven) {
  BuiltSubgraph graph = convolution();
  graph.tensors[0].signature = {-1, 4, 4, 2};
  const FileOf file(build(graph));
  const Result<ImportedModel> model = import_model(file.path(), {.formats = tflite_formats()});
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(model->format, "tflite");
  EXPECT_EQ(model->nodes, 1);
  EXPECT_EQ(model->sha256.size(), 64u);
  EXPECT_THAT(model->notes, ElementsAre(HasSubstr("input 'x' may have other extents")));
  const Result<ImportedModel> without = import_model(file.path());
  ASSERT_FALSE(without.ok());
  EXPECT_EQ(without.error().code, ErrorCode::unsupported);
  EXPECT_THAT(without.error().message, HasSubstr("lowtide_WITH_TFLITE=ON"));
}

TEST(TfliteFormat, SizesCannotBeChanged) {
  const FileOf file(build(convolution()));
  const auto error = [&](ImportOptions options) {
    options.formats = tflite_formats();
    const Result<ImportedModel> model = import_model(file.path(), options);
    return model ? "imported" : model.error().message;
  };
  EXPECT_EQ(error({.dims = {}, .shapes = {{"x", {1, 4, -1, 2}}}}), "imported");
  EXPECT_THAT(error({.dims = {}, .shapes = {{"x", {2, 4, 4, 2}}}}), HasSubstr("has the shape [1,4,4,2] in the file"));
  EXPECT_THAT(error({.dims = {}, .shapes = {{"z", {1}}}}), HasSubstr("the model has no input 'z'"));
  EXPECT_THAT(error({.dims = {{"batch", 2}}, .shapes = {}}), HasSubstr("no symbol 'batch'"));
}

}  // namespace
}  // namespace lowtide
