// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/flatbuffer/read_tflite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tflite/flatbuffer/built_model.h"

namespace lowtide {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tflite_tests::build;
using tflite_tests::BuiltModel;
using tflite_tests::BuiltSubgraph;
using tflite_tests::BuiltTensor;
using tflite_tests::bytes_of;

// x -> CONV_2D -> y, with a 1 x 1 filter that has a scale per channel.
BuiltSubgraph convolution() {
  return {.tensors = {{"x", {1, 4, 4, 2}, TfliteType::int8, "", {0.5F}, {3}},
                      {"filter", {2, 1, 1, 2}, TfliteType::int8, "\1\2\3\4", {0.25F, 0.125F}, {0, 0}, 0},
                      {"bias", {2}, TfliteType::int32, bytes_of({7, -9})},
                      {"y", {1, 2, 2, 2}}},
          .operators = {{"CONV_2D", {0, 1, 2}, {3}, {{"stride_w", 2}, {"stride_h", 2}}}},
          .inputs = {0},
          .outputs = {3}};
}

std::string error_of(const std::string& file) {
  const Result<TfliteModel> model = read_tflite(file);
  return model ? "read" : std::string(to_string(model.error().code)) + ": " + model.error().describe();
}

TEST(ReadTflite, ReadsTensorsAndOperators) {
  const std::string file = build(convolution());
  const Result<TfliteModel> model = read_tflite(file);
  ASSERT_TRUE(model.ok()) << model.error().describe();
  ASSERT_EQ(model->subgraphs.size(), 1u);
  const TfliteSubgraph& main = model->subgraphs[0];
  EXPECT_EQ(main.name, "main");
  EXPECT_THAT(main.inputs, ElementsAre(0u));
  EXPECT_THAT(main.outputs, ElementsAre(3u));
  EXPECT_EQ(main.tensors[0].name, "x");
  EXPECT_THAT(main.tensors[0].shape, ElementsAre(1, 4, 4, 2));
  EXPECT_THAT(main.tensors[0].quantization.scales, ElementsAre(0.5));
  EXPECT_THAT(main.tensors[0].quantization.zero_points, ElementsAre(3));
  EXPECT_THAT(main.tensors[1].quantization.scales, ElementsAre(0.25, 0.125));
  EXPECT_EQ(main.operators[0].type, "CONV_2D");
  EXPECT_THAT(main.operators[0].inputs, ElementsAre(0u, 1u, 2u));
  const TfliteBytes& bias = model->buffers[main.tensors[2].buffer];
  EXPECT_EQ(file.substr(static_cast<std::size_t>(bias.offset), static_cast<std::size_t>(bias.size)), bytes_of({7, -9}));
}

TEST(ReadTflite, ReadsOptionsWithTheirDefaults) {
  const Result<TfliteModel> model = read_tflite(build(convolution()));
  ASSERT_TRUE(model.ok());
  const TfliteOperator& conv = model->subgraphs[0].operators[0];
  EXPECT_EQ(*find_option<std::string>(conv, "padding"), "SAME");
  EXPECT_EQ(*find_option<std::string>(conv, "fused_activation_function"), "RELU6");
  EXPECT_EQ(*find_option<std::int64_t>(conv, "stride_w"), 2);
  EXPECT_EQ(*find_option<std::int64_t>(conv, "dilation_w_factor"), 1);  // the file omits it
}

TEST(ReadTflite, OmittedInputsAreAbsent) {
  BuiltSubgraph graph = convolution();
  graph.operators[0].inputs = {0, 1, -1};
  const Result<TfliteModel> model = read_tflite(build(graph));
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->subgraphs[0].operators[0].inputs[2], std::nullopt);
}

TEST(ReadTflite, AVectorHasOnlyOneAxis) {
  BuiltSubgraph graph = convolution();
  graph.tensors[2].scales = {0.5F, 0.25F};
  graph.tensors[2].axis = 3;  // that of the filter of another operator
  const Result<TfliteModel> model = read_tflite(build(graph));
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(model->subgraphs[0].tensors[2].quantization.axis, 0);
}

TEST(ReadTflite, TheLargerOfTwoCodesCounts) {
  const Result<TfliteModel> model = read_tflite(build(BuiltModel{.subgraphs = {convolution()}, .has_old_codes = true}));
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->subgraphs[0].operators[0].type, "CONV_2D");
}

TEST(ReadTflite, CustomOperatorsHaveTheirNames) {
  const Result<TfliteModel> model = read_tflite(build({.tensors = {{"x", {4}}, {"y", {4}}},
                                                       .operators = {{"custom:Window", {0}, {1}, {}, "", "ab"}},
                                                       .inputs = {0},
                                                       .outputs = {1}}));
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->subgraphs[0].operators[0].type, "Window");
  EXPECT_EQ(model->subgraphs[0].operators[0].builtin, kTfliteCustom);
  EXPECT_EQ(model->subgraphs[0].operators[0].custom_options.size, 2);
}

TEST(ReadTflite, BytesMayBeAfterTheFlatbuffer) {
  const std::string file = build(BuiltModel{.subgraphs = {convolution()}, .has_bytes_outside = true});
  const Result<TfliteModel> model = read_tflite(file);
  ASSERT_TRUE(model.ok()) << model.error().describe();
  const TfliteBytes& bias = model->buffers[model->subgraphs[0].tensors[2].buffer];
  EXPECT_EQ(static_cast<std::size_t>(bias.offset + bias.size), file.size());
  EXPECT_EQ(file.substr(static_cast<std::size_t>(bias.offset)), bytes_of({7, -9}));
  EXPECT_THAT(error_of(file.substr(0, file.size() - 1)), HasSubstr("malformed: buffer 2: it has the 8 bytes from"));
}

TEST(ReadTflite, FindsMetadataAndSubgraphs) {
  const BuiltSubgraph body{.tensors = {{"a", {4}}, {"b", {4}}},
                           .operators = {{"RELU", {0}, {1}}},
                           .inputs = {0},
                           .outputs = {1},
                           .name = "body"};
  const BuiltSubgraph main{.tensors = {{"c", {1}, TfliteType::boolean}, {"x", {4}}, {"y", {4}}},
                           .operators = {{"IF", {0, 1}, {2}, {{"then_subgraph_index", 1}, {"else_subgraph_index", 1}}}},
                           .inputs = {0, 1},
                           .outputs = {2}};
  const Result<TfliteModel> model =
      read_tflite(build(BuiltModel{.subgraphs = {main, body}, .metadata = {{"m", "xy"}}}));
  ASSERT_TRUE(model.ok()) << model.error().describe();
  ASSERT_EQ(model->subgraphs[0].operators[0].calls.size(), 2u);
  EXPECT_EQ(model->subgraphs[0].operators[0].calls[1].name, "else_subgraph_index");
  EXPECT_EQ(model->subgraphs[0].operators[0].calls[1].subgraph, 1u);
  EXPECT_EQ(model->metadata[0].name, "m");
  EXPECT_EQ(model->buffers[model->metadata[0].buffer].size, 2);
}

struct Contradiction {
  const char* error;
  void (*change)(BuiltSubgraph& graph);
};

const std::vector<Contradiction>& contradictions() {
  static const std::vector<Contradiction> all = {
      {"operator 0 CONV_2D: it names tensor 4, and the subgraph has 4",
       [](BuiltSubgraph& graph) { graph.operators[0].inputs[2] = 4; }},
      {"operator 0 CONV_2D: it names tensor -2", [](BuiltSubgraph& graph) { graph.operators[0].inputs[2] = -2; }},
      {"subgraph 0 'main': it names tensor 9", [](BuiltSubgraph& graph) { graph.inputs = {9}; }},
      {"tensor 2 'bias': its shape and type need 12 bytes, and buffer 2 has 8",
       [](BuiltSubgraph& graph) { graph.tensors[2].shape = {3}; }},
      {"tensor 2 'bias': it has buffer 99", [](BuiltSubgraph& graph) { graph.tensors[2].buffer = 99; }},
      {"tensor 0 'x': it has the extent -4",
       [](BuiltSubgraph& graph) {
         graph.tensors[0].shape = {1, -4, 4, 2};
       }},
      {"tensor 1 'filter': it has 2 scales, and axis 3 has extent 3",
       [](BuiltSubgraph& graph) {
         graph.tensors[1] = {"filter", {1, 1, 1, 3}, TfliteType::int8, "abc", {1, 2}, {}, 3};
       }},
      {"it has a scale per index of axis 4, and its rank is 4",
       [](BuiltSubgraph& graph) { graph.tensors[1].axis = 4; }},
      {"it has 2 scales and 3 zero points",
       [](BuiltSubgraph& graph) {
         graph.tensors[1].zero_points = {0, 0, 0};
       }},
      {"outputs: it reads tensor 2 'bias', and no operator before writes it",
       [](BuiltSubgraph& graph) {
         graph.tensors[2].data.clear();
         graph.operators[0].inputs = {0, 1};
         graph.outputs = {2};
       }},
      {"it writes tensor 0 'x', which has a content already",
       [](BuiltSubgraph& graph) { graph.operators[0].outputs = {0}; }},
  };
  return all;
}

TEST(ReadTflite, RefusesContradictionsWithTheirPlace) {
  for (const Contradiction& one : contradictions()) {
    BuiltSubgraph graph = convolution();
    one.change(graph);
    EXPECT_THAT(error_of(build(graph)), testing::AllOf(HasSubstr("invalid: "), HasSubstr(one.error)));
  }
}

TEST(ReadTflite, RefusesAReadBeforeItsWrite) {
  EXPECT_THAT(error_of(build({.tensors = {{"x", {4}}, {"y", {4}}, {"z", {4}}},
                              .operators = {{"RELU", {1}, {2}}, {"RELU", {0}, {1}}},
                              .inputs = {0},
                              .outputs = {2}})),
              HasSubstr("operator 0 RELU: it reads tensor 1 'y', and no operator before writes it"));
}

TEST(ReadTflite, RefusesSubgraphsThatRunThemselves) {
  const auto runs = [](std::int64_t next) {
    return BuiltSubgraph{.tensors = {},
                         .operators = {{"CALL_ONCE", {}, {}, {{"init_subgraph_index", next}}}},
                         .inputs = {},
                         .outputs = {}};
  };
  EXPECT_THAT(error_of(build(BuiltModel{.subgraphs = {runs(1), runs(2), runs(1)}})),
              HasSubstr("invalid: subgraph 0 'main': it runs itself, or a subgraph that does"));
  EXPECT_THAT(error_of(build(BuiltModel{.subgraphs = {runs(5)}})),
              HasSubstr("its option init_subgraph_index is 5, and the file has 1 subgraphs"));
}

TEST(ReadTflite, RefusesABodyWithOtherOperands) {
  const BuiltSubgraph body{.tensors = {{"a", {4}}}, .operators = {}, .inputs = {0}, .outputs = {0}};
  const BuiltSubgraph main{.tensors = {{"c", {1}, TfliteType::boolean}, {"y", {4}}},
                           .operators = {{"IF", {0}, {1}, {{"then_subgraph_index", 1}, {"else_subgraph_index", 1}}}},
                           .inputs = {0},
                           .outputs = {1}};
  EXPECT_THAT(error_of(build(BuiltModel{.subgraphs = {main, body}})),
              HasSubstr("it gives 0 tensors to subgraph 1 and takes 1, but that one has 1 inputs and 1 outputs"));
}

TEST(ReadTflite, RefusesOtherVersionsAndFormats) {
  EXPECT_THAT(error_of(build(BuiltModel{.subgraphs = {convolution()}, .version = 2})),
              HasSubstr("unsupported: the file has version 2 of the format"));
  EXPECT_EQ(error_of(""), "malformed: this is not a TFLite file");
  EXPECT_EQ(error_of("\x08\x07\x12\x04test model"), "malformed: this is not a TFLite file");
  EXPECT_TRUE(is_tflite(build(convolution()).substr(0, 8)));
  EXPECT_FALSE(is_tflite("TFL3"));
}

}  // namespace
}  // namespace lowtide
