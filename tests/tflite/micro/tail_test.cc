// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/micro/tail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/tflite/flatbuffer/read_tflite.h"
#include "tests/tflite/flatbuffer/built_model.h"

namespace lowtide {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using tflite_tests::build;
using tflite_tests::BuiltModel;
using tflite_tests::BuiltSubgraph;

// "272 480, apart 288 288": tail and smallest arena, then the two arenas. Or the operators that are not known.
std::string arena_of(const BuiltModel& built, MicroBuild kind, MicroKernels kernels = MicroKernels::reference) {
  const Result<TfliteModel> model = read_tflite(build(built));
  if (!model) return model.error().describe();
  const Result<MicroHead> head = micro_head(*model, kernels);
  if (!head) return head.error().describe();
  const Result<MicroLayout> layout = place_as_micro(head->buffers);
  if (!layout) return layout.error().describe();
  const MicroTail tail = micro_tail(*model, {kernels, kind}, *head, layout->size);
  std::string shown = tail.is_above_limit ? "above the limit" : "";
  for (const std::string& type : tail.unknown_operators) shown += type + " ";
  if (!tail.arena) return shown;
  const auto text = [](Bytes size) { return std::to_string(size.count()); };
  return text(tail.arena->tail) + " " + text(tail.arena->smallest) + ", apart " + text(tail.arena->separate_head) +
         " " + text(tail.arena->separate_tail);
}

// One operator, whose kernel keeps nothing.
BuiltModel floor_of(const std::vector<std::int32_t>& shape) {
  return {.subgraphs = {{.tensors = {{"x", shape, TfliteType::float32}, {"y", shape, TfliteType::float32}},
                         .operators = {{"FLOOR", {0}, {1}}},
                         .inputs = {0},
                         .outputs = {1}}}};
}

// Allocator, planner and allocator of the model, of the options: 36 + 44 + 36 + 8 = 124. The subgraph, two tensors and
// an operator: 8 + 2 x 12 + 32 = 64, so 188. A list of one input begins at a multiple of 16, and then 32 for the input:
// 192 + 32 = 224. The same for the output: 240 + 32 = 272. The two structures of two arenas have 12 bytes more.
TEST(MicroTail, AddsWhatTheInterpreterKeeps) {
  EXPECT_EQ(arena_of(floor_of({1000}), MicroBuild::cortex_m), "272 8272, apart 8000 288");
}

// 104 + 72 + 272 + 16 = 464, and 24 + 2 x 24 + 64 = 136, so 600; 608 + 64 = 672; 688 + 64 = 752. The two structures
// of two arenas have 32 + 56 bytes instead of 104, so 584; 592 + 64 = 656; 672 + 64 = 736.
TEST(MicroTail, StructuresOfThePackageAreLarger) {
  EXPECT_EQ(arena_of(floor_of({1000}), MicroBuild::python), "752 8752, apart 8000 736");
  EXPECT_EQ(pointer_bytes(MicroBuild::python), 8);
  EXPECT_EQ(pointer_bytes(MicroBuild::cortex_m), 4);
}

// Twelve requests of 12 bytes, the place of the subgraph and two tensors have 144 + 4 + 2 x 24 = 196 bytes. The planner
// begins at 208, and needs 2 x 40 bytes. The tail, so far, ends at 192: 208 + 80 + 192 = 480.
TEST(MicroTail, AModelWithASmallHeadNeedsMoreWhileItStarts) {
  EXPECT_EQ(arena_of(floor_of({4}), MicroBuild::cortex_m), "272 480, apart 288 288");
}

// A quantized tensor has 32 + 12 + 8 bytes. A list and the input are at most at 240 + 52 = 292, and then the output is
// at 304 + 52 = 356, for a kernel with 28 bytes of data and no options: 188 + 28, up to 224. With options of 1 byte and
// data of 4 bytes: 189 + 4, up to 208. Then 224 + 52 = 276, and 288 + 52 = 340.
TEST(MicroTail, QuantizedTensorsAndDataOfKernelsCount) {
  BuiltSubgraph graph{
      .tensors = {{"x", {1000}, TfliteType::int8, "", {0.5F}, {3}}, {"y", {1000}, TfliteType::int8, "", {0.5F}, {3}}},
      .operators = {{"L2_NORMALIZATION", {0}, {1}}},
      .inputs = {0},
      .outputs = {1}};
  EXPECT_EQ(arena_of({.subgraphs = {graph}}, MicroBuild::cortex_m).substr(0, 4), "340 ");
  graph.operators[0].type = "RELU";
  EXPECT_EQ(arena_of({.subgraphs = {graph}}, MicroBuild::cortex_m).substr(0, 4), "356 ");
}

// 8 channels have two arrays of 32 bytes.
TEST(MicroTail, EachChannelHasAMultiplierAndAShift) {
  const auto conv = [](std::int32_t channels) {
    return BuiltModel{.subgraphs = {{.tensors = {{"x", {1, 1, 1, 1}},
                                                 {"w",
                                                  {channels, 1, 1, 1},
                                                  TfliteType::int8,
                                                  std::string(static_cast<std::size_t>(channels), 'w')},
                                                 {"y", {1, 1, 1, channels}}},
                                     .operators = {{"CONV_2D", {0, 1}, {2}}},
                                     .inputs = {0},
                                     .outputs = {2}}}};
  };
  const auto tail = [&](std::int32_t channels) { return std::stoi(arena_of(conv(channels), MicroBuild::cortex_m)); };
  EXPECT_EQ(tail(8) - tail(4), 2 * 16);
  EXPECT_EQ(tail(80) - tail(8), 2 * 4 * 72);
}

TEST(MicroTail, VariablesLast) {
  BuiltModel model = floor_of({1000});
  const std::string before = arena_of(model, MicroBuild::cortex_m);
  model.subgraphs[0].tensors.push_back({.name = "state", .shape = {100}, .is_variable = true});
  // 188 + 12 for the tensor = 200, and + 100 up to 304. Then 320 + 32 = 352, and 368 + 32 = 400.
  EXPECT_EQ(before.substr(0, 4), "272 ");
  EXPECT_EQ(arena_of(model, MicroBuild::cortex_m).substr(0, 4), "400 ");
}

// An assignment gives its variable the 32 bytes of the value, once. With the allocators, 116 bytes, up to 128 + 16 for
// the list, one variable of 20 bytes leads to 176, and two of them, 40 bytes, lead to 192.
TEST(MicroTail, EachResourceVariableHasItsBytesOnce) {
  using Container = std::optional<std::string>;
  const auto tail = [](const std::string& second, const Container& container = "", const Container& first = "") {
    const BuiltModel model{
        .subgraphs = {
            {.tensors = {{"a", {1}, TfliteType::resource}, {"b", {1}, TfliteType::resource}, {"x", {32}}},
             .operators =
                 {{.type = "VAR_HANDLE", .inputs = {}, .outputs = {0}, .handle = "one", .container = first},
                  {.type = "VAR_HANDLE", .inputs = {}, .outputs = {1}, .handle = second, .container = container},
                  {.type = "ASSIGN_VARIABLE", .inputs = {0, 2}, .outputs = {}},
                  {.type = "ASSIGN_VARIABLE", .inputs = {1, 2}, .outputs = {}}},
             .inputs = {2},
             .outputs = {2}}}};
    return std::stoi(arena_of(model, MicroBuild::cortex_m));
  };
  EXPECT_EQ(tail("two") - tail("one"), 32 + 16);
  // The name alone does not make a variable, and neither do container and name as one text.
  EXPECT_EQ(tail("one", "other"), tail("two"));
  EXPECT_EQ(tail("one/x", "", "x"), tail("two"));
  // A handle without a container is that of the first variable with its name.
  EXPECT_EQ(tail("one", std::nullopt, "other"), tail("one"));
  EXPECT_EQ(tail("two", std::nullopt, "other"), tail("two"));
}

// Three variables of 800 MB are above 2 GiB. The head is still known.
TEST(MicroTail, ATailAboveTheLimitHasNoFigure) {
  BuiltModel model = floor_of({1000});
  for (int i = 0; i < 3; ++i) {
    model.subgraphs[0].tensors.push_back({.name = "state", .shape = {800'000'000}, .is_variable = true});
  }
  EXPECT_EQ(arena_of(model, MicroBuild::cortex_m), "above the limit");
}

TEST(MicroTail, KernelsThatAreNotKnownAreNamed) {
  BuiltModel model = floor_of({4});
  model.subgraphs[0].operators[0].type = "custom:Mine";
  EXPECT_EQ(arena_of(model, MicroBuild::cortex_m), "Mine ");
  model.subgraphs[0].operators[0].type = "custom:SignalFramer";
  EXPECT_EQ(arena_of(model, MicroBuild::python), "SignalFramer ");
}

// The data of a FULLY_CONNECTED have 48 bytes, and in CMSIS-NN 72. With options of 16 bytes: 204 + 48, up to 256, and
// then 272 + 32 and 320 + 32 = 352; 204 + 72, up to 288, and then 304 + 32 and 352 + 32 = 384.
TEST(MicroTail, KernelsOfCmsisHaveOtherData) {
  const auto tail = [](const std::string& type, MicroKernels kernels) {
    BuiltModel model = floor_of({1000});
    model.subgraphs[0].operators[0].type = type;
    return arena_of(model, MicroBuild::cortex_m, kernels).substr(0, 4);
  };
  EXPECT_EQ(tail("FLOOR", MicroKernels::cmsis_nn), "272 ");
  EXPECT_EQ(tail("FULLY_CONNECTED", MicroKernels::reference), "352 ");
  EXPECT_EQ(tail("FULLY_CONNECTED", MicroKernels::cmsis_nn), "384 ");
  EXPECT_EQ(tail("SVDF", MicroKernels::cmsis_nn), "SVDF");
}

TEST(MicroTail, ThePackageHasNoKernelsOfCmsis) {
  BuiltModel model = floor_of({1000});
  model.subgraphs[0].operators[0].type = "SOFTMAX";
  EXPECT_EQ(arena_of(model, MicroBuild::python, MicroKernels::cmsis_nn), "SOFTMAX ");
}

}  // namespace
}  // namespace lowtide
