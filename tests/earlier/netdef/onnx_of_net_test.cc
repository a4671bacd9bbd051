// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/netdef/onnx_of_net.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "net_text.h"

namespace lowtide::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

Result<OnnxOfNet> convert(std::string_view text, std::string_view init = "", OnnxOfNetOptions options = {}) {
  const ProtoMessage net = net_of_text(text);
  options.graph.types.emplace("x", BlobType{DType::f32, {1, 2, 4, 4}});
  if (init.empty()) return onnx_of_net(net, options);
  const ProtoMessage init_net = net_of_text(init);
  Result<BlobTypes> types = types_written_by(init_net);
  for (const auto& [name, type] : *types) options.graph.types.emplace(name, type);
  options.init_net = &init_net;
  return onnx_of_net(net, options);
}

std::string refusal_of(std::string_view text, std::string_view init = "", OnnxOfNetOptions options = {}) {
  const Result<OnnxOfNet> made = convert(text, init, std::move(options));
  return made.ok() ? "accepted" : made.error().describe();
}

TEST(OnnxOfNet, NamesWhatDoesNotRunAndTheWayOut) {
  const std::string refused = refusal_of(R"(
op { type: "SpatialBN" name: "bn" input: ["x", "s", "b", "m", "v"] output: "y" arg { name: "is_test" i: 1 } }
op { type: "RoIPool" input: "y" output: "z" }
op { type: "ReluGradient" input: "z" input: "z" output: "z_grad" })");
  EXPECT_THAT(refused, HasSubstr("operator 1 ('RoIPool') has no conversion to operators of ONNX; replace it"));
  EXPECT_THAT(refused, HasSubstr("operator 2 ('ReluGradient') is for training; use the net for inference"));
  EXPECT_THAT(refused, Not(HasSubstr("SpatialBN")));
}

TEST(OnnxOfNet, RefusesWhatIsForTraining) {
  EXPECT_THAT(refusal_of(R"(op { type: "Dropout" input: "x" output: "y" })"),
              HasSubstr("operator 0 ('Dropout'): this operator cannot run here: it is random; export the net"));
  EXPECT_THAT(
      refusal_of(R"(op { type: "SpatialBN" input: "x" input: "s" input: "b" input: "m" input: "v" output: "y" })"),
      HasSubstr("it is for training; export the net for inference, with is_test = 1"));
}

TEST(OnnxOfNet, RefusesRandomParametersUnlessTheyAreGiven) {
  constexpr std::string_view kProduct = R"(op { type: "Mul" input: "x" input: "w" output: "y" })";
  constexpr std::string_view kFills =
      R"(op { type: "XavierFill" output: "w" arg { name: "shape" ints: [1, 2, 4, 4] } })";
  EXPECT_THAT(refusal_of(kProduct, kFills),
              HasSubstr("the init net, operator 0 ('XavierFill') is random; give the init net that the training"));
  EXPECT_EQ(refusal_of(kProduct, kFills, {.given = {"w"}}), "accepted");
}

TEST(OnnxOfNet, TakesNoParameterThatTheNetDoesNotRead) {
  constexpr std::string_view kFills = R"(
op { type: "XavierFill" output: "other" arg { name: "shape" ints: [3] } }
op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: [2] } arg { name: "values" floats: [1, 2] } })";
  const auto made = convert(R"(op { type: "Mul" input: "x" input: "w" output: "y" arg { name: "broadcast" i: 1 }
                                   arg { name: "axis" i: 1 } })",
                            kFills);
  ASSERT_TRUE(made) << made.error().describe();
  EXPECT_THAT(made->notes, ::testing::ElementsAre(HasSubstr("the net lists no external outputs")));
}

TEST(OnnxOfNet, SaysWhichParametersAreInputs) {
  const auto made = convert(R"(op { type: "Conv" input: "x" input: "w" output: "y" arg { name: "kernel" i: 3 } }
external_output: "y")",
                            "", {.graph = {.shapes = {{"w", {5, 2, 3, 3}}}}});
  ASSERT_TRUE(made) << made.error().describe();
  EXPECT_THAT(made->notes, ::testing::ElementsAre("no init net fills 1 parameter, which the caller gives as "
                                                  "inputs: 'w'; --init-net FILE names a net that fills them"));
}

TEST(OnnxOfNet, ChecksWhatAFillHas) {
  EXPECT_THAT(refusal_of(R"(op { type: "Mul" input: "x" input: "w" output: "y" })",
                         R"(op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: [4] }
                                arg { name: "values" floats: [1, 2, 3] } })"),
              HasSubstr("the init net, operator 0 ('GivenTensorFill'): this operator cannot run here: it has 3 values, "
                        "but its shape has 4 elements"));
}

constexpr auto kTypes =
    std::to_array<std::string_view>({"Relu", "Conv", "FC", "Concat", "Split", "Slice", "MatMul", "Sum", "SpatialBN",
                                     "TopK", "Gather", "PRelu", "WeightedSum", "Softmax", "Shape", "Clip", "Reshape"});

std::string operator_with(std::string_view type, std::string_view blobs) {
  return "op { type: '" + std::string(type) + "' " + std::string(blobs) + " }";
}

TEST(OnnxOfNet, SaysThatAnInputOrAnOutputIsMissing) {
  const OnnxOfNetOptions options{.graph = {.types = {{"y", BlobType{DType::f32, {1, 2, 4, 4}}}}}};
  for (std::string_view type : kTypes) {
    for (std::string_view blobs : {"", "input: 'x'", "input: 'x' output: ''"}) {
      EXPECT_THAT(refusal_of(operator_with(type, blobs), "", options), HasSubstr("the net has no result to compute"));
    }
    for (std::string_view blobs : {"output: 'y'", "input: '' output: 'y'"}) {
      EXPECT_THAT(refusal_of(operator_with(type, blobs), "", options),
                  HasSubstr("operator 0 ('" + std::string(type) +
                            "'): this operator cannot run here: an input or an output is missing"));
    }
  }
}

TEST(OnnxOfNet, NamesAnOperatorWhoseBlobsDoNotFit) {
  for (std::string_view type : kTypes) {
    for (std::string_view blobs : {"input: 'x' output: 'y' output: 'z'", "input: 'x' input: 'x' output: 'y'"}) {
      EXPECT_THAT(refusal_of(operator_with(type, blobs)),
                  AnyOf("accepted", HasSubstr("operator 0 ('" + std::string(type) + "')")));
    }
  }
  EXPECT_THAT(refusal_of("op { type: 'Relu' input: 'x' output: ['y', 'z'] }"),
              HasSubstr("operator 0 ('Relu'): this operator cannot run here: its output 1 has no conversion"));
}

TEST(OnnxOfNet, LimitsTheRowsThatItLists) {
  EXPECT_THAT(
      refusal_of("op { type: 'ResizeNearest' input: 'x' output: 'y' arg { name: 'height_scale' f: 4e8 } }"),
      HasSubstr("operator 0 ('ResizeNearest'): this operator cannot run here: it needs lists of 1600000000 and 4 "
                "numbers, and all lists that are not in the net may have 268435456 bytes"));
}

TEST(OnnxOfNet, RefusesAGivenParameterOfAnotherType) {
  constexpr std::string_view kFills = R"(op { type: "XavierFill" output: "w" arg { name: "shape" ints: 4 } }
op { type: "Copy" input: "w" output: "v" })";
  constexpr std::string_view kSum = R"(op { type: "Mul" input: "w" input: "v" output: "y" })";
  EXPECT_EQ(refusal_of(kSum, kFills, {.given = {"w"}}), "accepted");
  EXPECT_THAT(refusal_of(kSum, kFills, {.graph = {.types = {{"w", BlobType{DType::f32, {1}}}}}, .given = {"w"}}),
              HasSubstr("the parameter 'w' is given as f32[1], but the init net, which also reads it, fills f32[4]"));
}

}  // namespace
}  // namespace lowtide::testing
