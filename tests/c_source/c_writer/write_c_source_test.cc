// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/c_writer/write_c_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace lowtide {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

CTensor tensor(const std::string& name, std::int64_t offset) {
  return {.name = name, .shape = {1, 4}, .size = Bytes(4), .offset = Offset(offset), .lifespan = {0, 2}};
}

// Copies a constant, and the input, to two outputs.
CProgram two_copies() {
  CProgram program{.name = "two copies", .arena = Bytes(48)};
  program.tensors = {tensor("x", 0), tensor("y", 16), tensor("z", 32)};
  program.tensors[0].quantization = CQuantization{.scale = 0.5F, .zero_point = -3};
  program.constants = {{.name = "bias of conv", .type = CType::int8, .shape = {4}, .bytes = "\x01\x02\x03\xFF"}};
  program.calls = {{.kernel = "copy",
                    .parameters = {{"bytes", 4}},
                    .operands = {CTensorIndex{0}, CTensorIndex{1}},
                    .origin = "RESHAPE 0"},
                   {.kernel = "copy",
                    .parameters = {{"bytes", 4}},
                    .operands = {CConstantIndex{0}, CTensorIndex{2}},
                    .origin = "RESHAPE 1"}};
  program.inputs = {{"x", 0}};
  program.outputs = {{"y", 1}, {"z", 2}};
  return program;
}

CSource written(const CProgram& program, const CSourceOptions& options = {}) {
  Result<CSource> source = write_c_source(program, options);
  if (source) return *std::move(source);
  ADD_FAILURE() << source.error().describe();
  return {};
}

TEST(WriteCSource, CallsPassPlacesInTheArena) {
  const CSource source = written(two_copies());
  EXPECT_EQ(source.name, "two_copies");
  EXPECT_THAT(source.kernels, ElementsAre("copy"));
  EXPECT_EQ(source.weights, Bytes(4));
  EXPECT_THAT(source.model_c, HasSubstr("static two_copies_arena_type two_copies_arena TWO_COPIES_ARENA_ATTRIBUTES;"));
  EXPECT_THAT(source.model_c, HasSubstr("static const struct lowtide_copy call_0 = {\n    .bytes = 4,\n};\n"));
  EXPECT_THAT(source.model_c, HasSubstr("void two_copies_run(void) {\n"
                                        "  /* 0: RESHAPE 0 */\n"
                                        "  lowtide_copy(&call_0,\n"
                                        "      (const void *)&two_copies_arena.bytes[0],\n"
                                        "      (void *)&two_copies_arena.bytes[16]);\n"
                                        "  /* 1: RESHAPE 1 */\n"
                                        "  lowtide_copy(&call_1,\n"
                                        "      two_copies_data_bias_of_conv,\n"
                                        "      (void *)&two_copies_arena.bytes[32]);\n"
                                        "}\n"));
}

TEST(WriteCSource, TheHeaderStatesSizesAndTypes) {
  const std::string header = written(two_copies()).model_h;
  EXPECT_THAT(header, HasSubstr("#define TWO_COPIES_ARENA_BYTES 48\n#define TWO_COPIES_WEIGHTS_BYTES 4\n"));
  EXPECT_THAT(header, HasSubstr("#define TWO_COPIES_INPUT_X_ELEMENTS 4\n"
                                "#define TWO_COPIES_INPUT_X_BYTES 4\n"
                                "#define TWO_COPIES_INPUT_X_RANK 2\n"
                                "#define TWO_COPIES_INPUT_X_DIMS {1, 4}\n"
                                "#define TWO_COPIES_INPUT_X_SCALE 0.5f\n"
                                "#define TWO_COPIES_INPUT_X_ZERO_POINT (-3)\n"
                                "int8_t *two_copies_input_x(void);\n"));
  EXPECT_THAT(header, HasSubstr("const int8_t *two_copies_output_z(void);\n"));
  EXPECT_THAT(header, HasSubstr("extern const int8_t two_copies_data_bias_of_conv[4];\n"));
  EXPECT_THAT(header, Not(HasSubstr("#define TWO_COPIES_ARENA_BUDGET")));
}

TEST(WriteCSource, WeightsAreArraysWithAComment) {
  EXPECT_THAT(written(two_copies()).weights_c, HasSubstr("/* bias of conv */\n"
                                                         "TWO_COPIES_WEIGHTS_ATTRIBUTES\n"
                                                         "const int8_t two_copies_data_bias_of_conv[4] = {\n"
                                                         "  1, 2, 3, -1,\n"
                                                         "};\n"));
}

TEST(WriteCSource, ABudgetIsInTheHeader) {
  const std::string header = written(two_copies(), {.budget = Bytes(40)}).model_h;
  EXPECT_THAT(header, HasSubstr("#ifndef TWO_COPIES_ARENA_BUDGET\n#define TWO_COPIES_ARENA_BUDGET 40\n#endif\n"));
}

TEST(WriteCSource, ContextsHaveTheArena) {
  const CSource source = written(two_copies(), {.reentrant = true});
  EXPECT_THAT(source.model_h, HasSubstr("} two_copies_context;\n"));
  EXPECT_THAT(source.model_h, HasSubstr("void two_copies_run(two_copies_context *context);\n"));
  EXPECT_THAT(source.model_c, HasSubstr("(void *)&context->arena.bytes[32]"));
  EXPECT_THAT(source.model_c, Not(HasSubstr("static two_copies_arena_type")));
}

TEST(WriteCSource, ABlobHasAlignedConstants) {
  CProgram program = two_copies();
  program.constants.push_back({.name = "b", .type = CType::int16, .shape = {1}, .bytes = "\x07\x01"});
  program.calls[0].operands[0] = CConstantIndex{1};
  const CSource source = written(program, {.weights_as_blob = true});
  EXPECT_THAT(source.weights_c, IsEmpty());
  EXPECT_EQ(source.blob, std::string("\x01\x02\x03\xFF\0\0\0\0\0\0\0\0\0\0\0\0\x07\x01", 18));
  EXPECT_EQ(source.weights, Bytes(18));
  EXPECT_THAT(source.model_h, HasSubstr("void two_copies_init(const void *weights);\n"));
  EXPECT_THAT(source.model_c, HasSubstr("(const void *)&two_copies_weights[16],\n"));
}

TEST(WriteCSource, StatesBeginWithTheirContent) {
  CProgram program = two_copies();
  program.tensors[0].is_state = program.tensors[1].is_state = true;
  program.tensors[1].initial = "\x05\x06\x07\x08";
  const std::string text = written(program).model_c;
  EXPECT_THAT(text, HasSubstr("static const uint8_t initial_1[4] = {\n  5, 6, 7, 8,\n};\n"));
  EXPECT_THAT(text, HasSubstr("  fill_state((uint8_t *)(void *)&two_copies_arena.bytes[0], 4);\n"));
  EXPECT_THAT(text, HasSubstr("  copy_state(initial_1, (uint8_t *)(void *)&two_copies_arena.bytes[16], 4);\n"));
}

TEST(WriteCSource, NamesOfAModelCannotBecomeCode) {
  const std::string hostile =
      "*/ } int main(void) { \n#error \"x\" ?"
      "?/";
  CProgram program = two_copies();
  program.name = program.constants[0].name = program.calls[0].origin = hostile;
  program.inputs[0].name = program.outputs[0].name = program.tensors[0].name = hostile;
  const CSource source = written(program);
  for (const std::string& text : {source.model_c, source.model_h, source.weights_c}) {
    EXPECT_THAT(text, Not(HasSubstr("*/ }")));
    EXPECT_THAT(text, Not(HasSubstr("\n#error")));
    EXPECT_THAT(text, Not(HasSubstr("??")));
  }
}

TEST(WriteCSource, TheSameProgramGivesTheSameBytes) {
  const CSource one = written(two_copies());
  const CSource other = written(two_copies());
  EXPECT_EQ(one.model_c + one.model_h + one.weights_c, other.model_c + other.model_h + other.weights_c);
}

TEST(WriteCSource, RefusesPrefixesThatAreNoNames) {
  for (const char* name : {"8", "_x", "a b", "a-b", "\xC3\xA9"}) {
    const Result<CSource> source = write_c_source(two_copies(), {.name = name});
    ASSERT_FALSE(source.ok()) << name;
    EXPECT_EQ(source.error().code, ErrorCode::invalid);
  }
  EXPECT_THAT(written(two_copies(), {.name = "Kws_1"}).model_c, HasSubstr("void Kws_1_run(void)"));
}

TEST(WriteCSource, RefusesArenasOfTwoGibibytes) {
  CProgram program = two_copies();
  program.arena = Bytes(std::int64_t{1} << 31);
  const Result<CSource> source = write_c_source(program);
  ASSERT_FALSE(source.ok());
  EXPECT_EQ(source.error().code, ErrorCode::over_limit);
}

TEST(WriteCSource, RefusesCallsThatDoNotFitTheirKernel) {
  CProgram program = two_copies();
  program.calls[0].operands.pop_back();
  const Result<CSource> source = write_c_source(program);
  ASSERT_FALSE(source.ok());
  EXPECT_THAT(source.error().describe(), HasSubstr("RESHAPE 0"));
}

}  // namespace
}  // namespace lowtide
