// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/program_of_tflite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lowtide/tflite/flatbuffer/read_tflite.h"
#include "tests/tflite/flatbuffer/built_model.h"

namespace lowtide {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using tflite_tests::build;
using tflite_tests::BuiltModel;
using tflite_tests::BuiltSubgraph;
using tflite_tests::BuiltTensor;
using tflite_tests::bytes_of;

Result<ProgramOfTflite> made_of(const std::string& file) {
  const Result<TfliteModel> model = read_tflite(file);
  if (!model) {
    ADD_FAILURE() << model.error().describe();
    return model.error();
  }
  return program_of_tflite(*model, file, {.name = "net"});
}

ProgramOfTflite program_of(BuiltSubgraph subgraph) {
  Result<ProgramOfTflite> made = made_of(build(std::move(subgraph)));
  if (made) return *std::move(made);
  ADD_FAILURE() << made.error().describe();
  return {};
}

// What SOFTMAX reads, and what it writes.
BuiltTensor scores(const std::string& name, const std::vector<std::int32_t>& shape) {
  return {.name = name, .shape = shape, .scales = {1.0F / 256}, .zero_points = {-128}};
}

BuiltTensor shape_of(const std::vector<std::int32_t>& extents) {
  return {"shape", {static_cast<std::int32_t>(extents.size())}, TfliteType::int32, bytes_of(extents)};
}

TEST(ProgramOfTflite, ReshapesHaveNoCall) {
  const ProgramOfTflite made =
      program_of({.tensors = {scores("x", {1, 64}), scores("a", {1, 64}), shape_of({2, 32}), scores("b", {2, 32}),
                              scores("y", {2, 32})},
                  .operators = {{"SOFTMAX", {0}, {1}}, {"RESHAPE", {1, 2}, {3}}, {"SOFTMAX", {3}, {4}}},
                  .inputs = {0},
                  .outputs = {4}});
  const CProgram& program = made.program;
  EXPECT_EQ(program.name, "net");
  ASSERT_THAT(program.calls, SizeIs(2));
  EXPECT_THAT(program.calls[1].origin, HasSubstr("SOFTMAX 2"));
  EXPECT_EQ(program.arena, made.bound);
  EXPECT_LE(program.arena, Bytes(128));
  ASSERT_THAT(program.tensors, SizeIs(4));  // the shape is none
  EXPECT_EQ(program.tensors[1].offset, program.tensors[2].offset);
}

TEST(ProgramOfTflite, LifespansCountCalls) {
  const CProgram program = program_of({.tensors = {scores("x", {1, 64}), scores("a", {1, 64}), scores("y", {1, 64})},
                                       .operators = {{"SOFTMAX", {0}, {1}}, {"SOFTMAX", {1}, {2}}},
                                       .inputs = {0},
                                       .outputs = {2}})
                               .program;
  ASSERT_THAT(program.tensors, SizeIs(3));
  EXPECT_EQ(program.tensors[0].lifespan, (Interval<std::int64_t>{0, 1}));
  EXPECT_EQ(program.tensors[1].lifespan, (Interval<std::int64_t>{0, 2}));
  EXPECT_EQ(program.tensors[2].lifespan, (Interval<std::int64_t>{1, 2}));
  EXPECT_EQ(program.inputs[0].name, "x");
  EXPECT_EQ(program.inputs[0].tensor, 0U);
  EXPECT_EQ(program.outputs[0].tensor, 2U);
  EXPECT_EQ(program.tensors[0].quantization->zero_point, -128);
}

// 0x3C00 is 1 and 0xC100 is -2.5 in float16.
TEST(ProgramOfTflite, Float16ConstantsAreWidened) {
  const std::string halves("\x00\x3C\x00\xC1", 4);
  const CProgram program = program_of({.tensors = {{"h", {2}, TfliteType::float16, halves},
                                                   {"f", {2}, TfliteType::float32},
                                                   shape_of({1, 2}),
                                                   {"y", {1, 2}, TfliteType::float32}},
                                       .operators = {{"DEQUANTIZE", {0}, {1}}, {"RESHAPE", {1, 2}, {3}}},
                                       .inputs = {},
                                       .outputs = {3}})
                               .program;
  ASSERT_THAT(program.calls, SizeIs(1));
  ASSERT_THAT(program.constants, SizeIs(1));
  EXPECT_EQ(program.constants[0].type, CType::float32);
  EXPECT_EQ(program.constants[0].bytes, std::string("\x00\x00\x80\x3F\x00\x00\x20\xC0", 8));
  EXPECT_THAT(program.constants[0].name, HasSubstr("RESHAPE 1"));
  EXPECT_EQ(program.tensors[program.outputs[0].tensor].size, Bytes(8));
}

TEST(ProgramOfTflite, ConstantsOfEightBitsHaveTheScalesOfTheirAxis) {
  // Rows have the scales 0.5 and 2 and the zero points 0 and 1: 0.5 * 2, 0.5 * -4, 2 * (3 - 1), 2 * (-1 - 1).
  const CProgram program = program_of({.tensors = {{.name = "q",
                                                    .shape = {2, 2},
                                                    .data = std::string("\x02\xFC\x03\xFF", 4),
                                                    .scales = {0.5F, 2.0F},
                                                    .zero_points = {0, 1}},
                                                   {"f", {2, 2}, TfliteType::float32},
                                                   shape_of({4}),
                                                   {"y", {4}, TfliteType::float32}},
                                       .operators = {{"DEQUANTIZE", {0}, {1}}, {"RESHAPE", {1, 2}, {3}}},
                                       .inputs = {},
                                       .outputs = {3}})
                               .program;
  ASSERT_THAT(program.constants, SizeIs(1));
  EXPECT_EQ(program.constants[0].type, CType::float32);
  EXPECT_EQ(program.constants[0].bytes,
            std::string("\x00\x00\x80\x3F\x00\x00\x00\xC0\x00\x00\x80\x40\x00\x00\x80\xC0", 16));
}

TEST(ProgramOfTflite, VariablesAreStatesBehindTheRest) {
  BuiltTensor variable = scores("v", {1, 32});
  variable.is_variable = true;
  const CProgram program = program_of({.tensors = {scores("x", {1, 64}), scores("y", {1, 64}), variable,
                                                   shape_of({32, 1}), scores("z", {32, 1})},
                                       .operators = {{"SOFTMAX", {0}, {1}}, {"RESHAPE", {2, 3}, {4}}},
                                       .inputs = {0},
                                       .outputs = {1, 4}})
                               .program;
  ASSERT_THAT(program.tensors, SizeIs(4));
  const CTensor& state = program.tensors[2];
  EXPECT_TRUE(state.is_state);
  EXPECT_EQ(state.offset + state.size, Offset() + program.arena);
  EXPECT_EQ(state.initial, std::string(32, '\x80'));
}

TEST(ProgramOfTflite, EqualConstantsAreOne) {
  const CProgram program =
      made_of(build({.subgraphs = {{.tensors = {scores("x", {1, 8}), scores("y", {1, 8}), scores("z", {1, 8})},
                                    .operators = {{"SOFTMAX", {0}, {1}}, {"SOFTMAX", {1}, {2}}},
                                    .inputs = {0},
                                    .outputs = {2}}}}))
          ->program;
  ASSERT_THAT(program.calls, SizeIs(2));
  // Both calls have the same table of exponentials.
  EXPECT_THAT(program.constants, SizeIs(1));
}

TEST(ProgramOfTflite, AnOutputThatIsAConstantIsCopied) {
  BuiltTensor constant = scores("c", {1, 4});
  constant.data = "\x01\x02\x03\x04";
  const Result<ProgramOfTflite> made =
      made_of(build({.subgraphs = {{.tensors = {scores("x", {1, 4}), scores("y", {1, 4}), constant},
                                    .operators = {{"SOFTMAX", {0}, {1}}},
                                    .inputs = {0},
                                    .outputs = {2, 1}}}}));
  ASSERT_TRUE(made.ok()) << made.error().describe();
  const CProgram& program = made->program;
  ASSERT_THAT(program.calls, SizeIs(2));
  EXPECT_EQ(program.calls.back().kernel, "copy");
  const CTensor& copy = program.tensors[program.outputs.front().tensor];
  EXPECT_EQ(copy.offset + Bytes(16), Offset() + program.arena);  // 4 bytes, rounded up
  EXPECT_EQ(made->bound, program.arena);
  const CTensor& other = program.tensors[program.outputs.back().tensor];
  EXPECT_EQ(other.lifespan.end, 2);  // still there after the copy
}

// A variable that begins with `first`, is read, and becomes the result of SOFTMAX.
BuiltModel with_variable(const std::string& first, std::vector<tflite_tests::BuiltOperator> once) {
  const BuiltTensor handle = {"handle", {1}, TfliteType::resource};
  BuiltTensor content = scores("first", {1, 4});
  content.data = first;
  return {.subgraphs = {{.tensors = {scores("x", {1, 4}), handle, scores("old", {1, 4}), scores("y", {1, 4})},
                         .operators = {{.type = "CALL_ONCE", .options = {{"init_subgraph_index", 1}}},
                                       {.type = "VAR_HANDLE", .outputs = {1}, .handle = "memory"},
                                       {"READ_VARIABLE", {1}, {2}},
                                       {"SOFTMAX", {0}, {3}},
                                       {"ASSIGN_VARIABLE", {1, 3}, {}}},
                         .inputs = {0},
                         .outputs = {2, 3}},
                        {.tensors = {handle, content}, .operators = std::move(once), .name = "once"}}};
}

TEST(ProgramOfTflite, ResourceVariablesAreStates) {
  const Result<ProgramOfTflite> made =
      made_of(build(with_variable("\x01\x02\x03\x04", {{.type = "VAR_HANDLE", .outputs = {0}, .handle = "memory"},
                                                       {"ASSIGN_VARIABLE", {0, 1}, {}}})));
  ASSERT_TRUE(made.ok()) << made.error().describe();
  const CProgram& program = made->program;
  ASSERT_THAT(program.calls, SizeIs(3));
  EXPECT_EQ(program.calls[0].origin, "READ_VARIABLE 2 (memory)");
  EXPECT_EQ(program.calls[2].origin, "ASSIGN_VARIABLE 4 (memory)");
  ASSERT_THAT(program.tensors, SizeIs(4));  // handles have no place
  const CTensor& state = program.tensors.back();
  EXPECT_EQ(state.name, "memory");
  EXPECT_TRUE(state.is_state);
  EXPECT_EQ(state.initial, "\x01\x02\x03\x04");
  EXPECT_EQ(std::get<CTensorIndex>(program.calls[0].operands[0]).value, 3U);
  EXPECT_EQ(std::get<CTensorIndex>(program.calls[2].operands[1]).value, 3U);
}

TEST(ProgramOfTflite, ContainersTellVariablesApart) {
  const auto states = [](const std::string& container, const std::string& name) {
    BuiltModel model = with_variable(
        "\x01\x02\x03\x04", {{.type = "VAR_HANDLE", .outputs = {0}, .handle = name}, {"ASSIGN_VARIABLE", {0, 1}, {}}});
    model.subgraphs[0].operators[1].handle = "b/c";
    model.subgraphs[0].operators[1].container = "a";
    model.subgraphs[1].operators[0].container = container;
    const Result<ProgramOfTflite> made = made_of(build(model));
    EXPECT_TRUE(made.ok());
    return made ? made->program.tensors.back().initial : "";
  };
  EXPECT_EQ(states("a", "b/c"), "\x01\x02\x03\x04");
  EXPECT_EQ(states("a/b", "c"), std::string(4, '\x80'));  // another variable, so the read one begins with zero
}

TEST(ProgramOfTflite, VariablesThatNothingAssignsBeginWithZero) {
  const Result<ProgramOfTflite> made = made_of(build(with_variable("\x01\x02\x03\x04", {})));
  ASSERT_TRUE(made.ok()) << made.error().describe();
  EXPECT_EQ(made->program.tensors.back().initial, std::string(4, '\x80'));  // the zero point
}

TEST(ProgramOfTflite, RefusesACallOnceThatComputes) {
  const Result<ProgramOfTflite> made = made_of(build(with_variable("\x01\x02\x03\x04", {{"SOFTMAX", {1}, {0}}})));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::unsupported);
  EXPECT_THAT(made.error().message, HasSubstr("only assigns constants"));
}

TEST(ProgramOfTflite, RefusesAFirstContentOfAnotherShape) {
  BuiltModel built = with_variable("\x01\x02\x03\x04", {{.type = "VAR_HANDLE", .outputs = {0}, .handle = "memory"},
                                                        {"ASSIGN_VARIABLE", {0, 1}, {}}});
  built.subgraphs[1].tensors[1].shape = {4, 1};
  const Result<ProgramOfTflite> made = made_of(build(built));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::invalid);
  EXPECT_EQ(
      made.error().describe(),
      "subgraph 0: operator 2 READ_VARIABLE: variable 'memory' is INT8 [4, 1] before and INT8 [1, 4] here; C source "
      "needs one type and one shape for it");
  built.subgraphs[1].tensors[1].shape = {1, 4};
  built.subgraphs[1].tensors[1].type = TfliteType::uint8;
  EXPECT_THAT(made_of(build(built)).error().message, HasSubstr("is UINT8 [1, 4] before and INT8 [1, 4] here"));
}

TEST(ProgramOfTflite, RefusesVariablesOf2GiB) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 30;
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{2, kHuge}, {0, kHuge, kHuge, kHuge}}) {
    const std::string file = build(with_variable("\x01\x02\x03\x04", {}));
    Result<TfliteModel> model = read_tflite(file);
    ASSERT_TRUE(model.ok());
    for (TfliteTensor& tensor : model->subgraphs[0].tensors) tensor.shape = shape;
    const Result<ProgramOfTflite> made = program_of_tflite(*model, file);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, ErrorCode::over_limit);
    EXPECT_THAT(made.error().message, HasSubstr("'READ_VARIABLE', operator 2 of subgraph 0: tensor 'old' has 2 GiB"));
  }
}

TEST(ProgramOfTflite, CustomOperatorsMayHaveAnyName) {
  for (const char* type : {"VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "CALL_ONCE", "DEQUANTIZE", "RESHAPE"}) {
    const Result<ProgramOfTflite> made = made_of(
        build({.tensors = {{"h", {2}, TfliteType::float16, "1234"}, {"x", {2}}, {"y", {2}, TfliteType::float32}},
               .operators = {{std::string("custom:") + type, {0}, {2}}},
               .inputs = {1},
               .outputs = {2}}));
    ASSERT_FALSE(made.ok()) << type;
    EXPECT_THAT(made.error().message, HasSubstr(std::string("'") + type + "', operator 0 of subgraph 0")) << type;
  }
}

TEST(ProgramOfTflite, RefusesZeroPointsOutsideOfTheType) {
  BuiltTensor x = scores("x", {1, 4});
  BuiltTensor y = scores("y", {4, 1});
  x.zero_points = y.zero_points = {128};
  const Result<ProgramOfTflite> made = made_of(build(
      {.tensors = {x, shape_of({4, 1}), y}, .operators = {{"RESHAPE", {0, 1}, {2}}}, .inputs = {0}, .outputs = {2}}));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().describe(),
            "subgraph 0: tensor 0: the zero point 128 of tensor 'x' is no number of its type INT8");
}

TEST(ProgramOfTflite, PortsHaveTheNamesOfTheSignature) {
  const std::string file = build({.tensors = {scores("x", {1, 64}), scores("y", {1, 64})},
                                  .operators = {{"SOFTMAX", {0}, {1}}},
                                  .inputs = {0},
                                  .outputs = {1}});
  Result<TfliteModel> model = read_tflite(file);
  ASSERT_TRUE(model.ok());
  model->signatures = {{.key = "serve", .subgraph = 0, .inputs = {{"sound", 0}}, .outputs = {{"words", 1}}}};
  const Result<ProgramOfTflite> made = program_of_tflite(*model, file);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->program.inputs[0].name, "sound");
  EXPECT_EQ(made->program.outputs[0].name, "words");
}

TEST(ProgramOfTflite, NamesAllOperatorsWithoutAKernel) {
  const Result<ProgramOfTflite> made =
      made_of(build({.tensors = {{"x", {4}}, {"a", {4}}, {"y", {4}}},
                     .operators = {{"custom:Sparkle", {0}, {1}}, {"custom:Glitter", {1}, {2}}},
                     .inputs = {0},
                     .outputs = {2}}));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::unsupported);
  EXPECT_THAT(made.error().message, HasSubstr("Sparkle"));
  EXPECT_THAT(made.error().message, HasSubstr("Glitter"));
}

TEST(ProgramOfTflite, RefusesOperatorsOfOneTypeInOneLine) {
  const Result<ProgramOfTflite> made = made_of(
      build({.tensors = {{"x", {4}}, {"a", {4}}, {"b", {4}}, {"y", {4}}},
             .operators = {{"custom:Sparkle", {0}, {1}}, {"custom:Glitter", {1}, {2}}, {"custom:Sparkle", {2}, {3}}},
             .inputs = {0},
             .outputs = {3}}));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().message,
            "C source cannot be made of this model:\n"
            "  'Sparkle', operator 0 of subgraph 0 and 1 more: C source has no kernel for it\n"
            "  'Glitter', operator 1 of subgraph 0: C source has no kernel for it\n"
            "TensorFlow Lite Micro may have kernels for all of it; lowtide plan --tflm plans its memory");
}

}  // namespace
}  // namespace lowtide
