// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/c_kernels/run_c_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/check.h"

namespace lowtide {
namespace {

using testing::ElementsAre;
using Parameters = std::vector<CParameter>;

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

CConstant numbers(const std::vector<std::int8_t>& values) { return {.type = CType::int8, .bytes = bytes_of(values)}; }
CConstant numbers(const std::vector<std::int32_t>& values) { return {.type = CType::int32, .bytes = bytes_of(values)}; }

// Runs one kernel that reads an input of 8 bits, then constants, and writes an output of 8 bits.
std::vector<std::int8_t> run(const std::string& kernel, const Parameters& parameters,
                             const std::vector<std::int8_t>& input, std::vector<CConstant> constants,
                             std::size_t outputs) {
  CProgram program;
  program.arena = Bytes(512);
  program.tensors = {{.size = Bytes(static_cast<std::int64_t>(input.size())), .offset = Offset(0)},
                     {.size = Bytes(static_cast<std::int64_t>(outputs)), .offset = Offset(256)}};
  CCall call{.kernel = kernel, .parameters = parameters, .operands = {CTensorIndex{0}}};
  for (std::size_t at = 0; at < constants.size(); ++at) call.operands.emplace_back(CConstantIndex{at});
  call.operands.emplace_back(CTensorIndex{1});
  program.calls = {call};
  program.constants = std::move(constants);
  alignas(16) std::byte arena[512] = {};
  std::memcpy(arena, input.data(), input.size());
  const Result<void> ran = run_c_program(program, arena);
  EXPECT_TRUE(ran.ok()) << ran.error().describe();
  std::vector<std::int8_t> output(outputs);
  std::memcpy(output.data(), arena + 256, outputs);
  return output;
}

// A multiplier of 1/2 or 1: half is 2^30 with shift 0.
const std::vector<std::int32_t> kHalf = {1 << 30};
const std::vector<std::int32_t> kNoShift = {0};

TEST(RunCProgram, ConvolvesWithPadding) {
  // A 2 x 2 image, a window of 3 x 3 with ones, padding 1. Each window sees the whole image: (1+2+3+4) / 2 = 5.
  const Parameters parameters = {{"batches", 1},
                                 {"input_rows", 2},
                                 {"input_columns", 2},
                                 {"input_channels", 1},
                                 {"output_rows", 2},
                                 {"output_columns", 2},
                                 {"output_channels", 1},
                                 {"groups", 1},
                                 {"window_rows", 3},
                                 {"window_columns", 3},
                                 {"row_stride", 1},
                                 {"column_stride", 1},
                                 {"row_dilation", 1},
                                 {"column_dilation", 1},
                                 {"top", 1},
                                 {"left", 1},
                                 {"input_zero_point", 0},
                                 {"output_zero_point", 0},
                                 {"lowest", -128},
                                 {"highest", 127},
                                 {"per_channel", 0}};
  EXPECT_THAT(run("conv_2d_i8", parameters, {1, 2, 3, 4},
                  {numbers(std::vector<std::int8_t>(9, 1)), numbers(std::vector<std::int32_t>{0}), numbers(kHalf),
                   numbers(kNoShift)},
                  4),
              ElementsAre(5, 5, 5, 5));
}

TEST(RunCProgram, ConvolvesWithDilationAndZeroPoints) {
  // 3 columns with zero point 1: (11-1, 21-1, 31-1). Taps 2 apart see the first and the last: 10*1 + 30*3 + bias 10
  // = 110, half of it 55, zero point -5: 50; the limit is 40.
  Parameters parameters = {{"batches", 1},
                           {"input_rows", 1},
                           {"input_columns", 3},
                           {"input_channels", 1},
                           {"output_rows", 1},
                           {"output_columns", 1},
                           {"output_channels", 1},
                           {"groups", 1},
                           {"window_rows", 1},
                           {"window_columns", 2},
                           {"row_stride", 1},
                           {"column_stride", 1},
                           {"row_dilation", 1},
                           {"column_dilation", 2},
                           {"top", 0},
                           {"left", 0},
                           {"input_zero_point", 1},
                           {"output_zero_point", -5},
                           {"lowest", -128},
                           {"highest", 127},
                           {"per_channel", 0}};
  const std::vector<CConstant> constants = {numbers(std::vector<std::int8_t>{1, 3}),
                                            numbers(std::vector<std::int32_t>{10}), numbers(kHalf), numbers(kNoShift)};
  EXPECT_THAT(run("conv_2d_i8", parameters, {11, 21, 31}, constants, 1), ElementsAre(50));
  parameters[19] = {"highest", 40};
  EXPECT_THAT(run("conv_2d_i8", parameters, {11, 21, 31}, constants, 1), ElementsAre(40));
}

TEST(RunCProgram, ConvolvesChannelsAlone) {
  // Channels (1, 2) and (3, 4) in two columns; weights 1 and 10 by column for the first, 2 and 20 for the second.
  const Parameters parameters = {{"batches", 1},
                                 {"input_rows", 1},
                                 {"input_columns", 2},
                                 {"input_channels", 2},
                                 {"output_rows", 1},
                                 {"output_columns", 1},
                                 {"multiplier", 1},
                                 {"window_rows", 1},
                                 {"window_columns", 2},
                                 {"row_stride", 1},
                                 {"column_stride", 1},
                                 {"row_dilation", 1},
                                 {"column_dilation", 1},
                                 {"top", 0},
                                 {"left", 0},
                                 {"input_zero_point", 0},
                                 {"output_zero_point", 0},
                                 {"lowest", -128},
                                 {"highest", 127},
                                 {"per_channel", 1}};
  // First: 1*1 + 3*10 = 31, half: 15.5 rounds to 16. Second: 2*2 + 4*20 = 84, quarter: 21.
  EXPECT_THAT(run("depthwise_conv_2d_i8", parameters, {1, 2, 3, 4},
                  {numbers(std::vector<std::int8_t>{1, 2, 10, 20}), numbers(std::vector<std::int32_t>{0, 0}),
                   numbers(std::vector<std::int32_t>{1 << 30, 1 << 30}), numbers(std::vector<std::int32_t>{0, -1})},
                  2),
              ElementsAre(16, 21));
}

TEST(RunCProgram, ConnectsFullyWithZeroPoints) {
  // Inputs 3-1 and 5-1, weights 1-2 and 4-2: 2*-1 + 4*2 = 6, half: 3.
  const Parameters parameters = {{"rows", 1},
                                 {"depth", 2},
                                 {"units", 1},
                                 {"input_zero_point", 1},
                                 {"weights_zero_point", 2},
                                 {"output_zero_point", 0},
                                 {"lowest", -128},
                                 {"highest", 127},
                                 {"per_channel", 0}};
  EXPECT_THAT(run("fully_connected_i8", parameters, {3, 5},
                  {numbers(std::vector<std::int8_t>{1, 4}), numbers(std::vector<std::int32_t>{0}), numbers(kHalf),
                   numbers(kNoShift)},
                  1),
              ElementsAre(3));
}

Parameters pool_of_two_columns() {
  return {{"batches", 1},     {"input_rows", 1},     {"input_columns", 3}, {"channels", 1},
          {"output_rows", 1}, {"output_columns", 2}, {"window_rows", 1},   {"window_columns", 2},
          {"row_stride", 1},  {"column_stride", 2},  {"top", 0},           {"left", 0},
          {"lowest", -128},   {"highest", 127}};
}

TEST(RunCProgram, PoolsWithoutCountingPadding) {
  // The second window has one column.
  EXPECT_THAT(run("average_pool_2d_i8", pool_of_two_columns(), {1, 4, -7}, {}, 2), ElementsAre(3, -7));
  EXPECT_THAT(run("average_pool_2d_i8", pool_of_two_columns(), {-1, -4, -7}, {}, 2), ElementsAre(-3, -7));
  EXPECT_THAT(run("max_pool_2d_i8", pool_of_two_columns(), {1, 4, -7}, {}, 2), ElementsAre(4, -7));
}

TEST(RunCProgram, MovesPiecesAlongAxes) {
  // The transpose of [[1, 2, 3], [4, 5, 6]].
  const Parameters parameters = {{"bytes", 1},
                                 {"counts", std::vector<std::int32_t>{1, 1, 1, 2, 3}},
                                 {"input_steps", std::vector<std::int32_t>{0, 0, 0, 3, 1}},
                                 {"output_steps", std::vector<std::int32_t>{0, 0, 0, 1, 2}},
                                 {"input_start", 0},
                                 {"output_start", 0}};
  EXPECT_THAT(run("move", parameters, {1, 2, 3, 4, 5, 6}, {}, 6), ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST(RunCProgram, MovesPiecesOfSeveralBytesBackwards) {
  // Pairs in the reverse order, behind one byte.
  const Parameters parameters = {{"bytes", 2},
                                 {"counts", std::vector<std::int32_t>{1, 1, 1, 1, 3}},
                                 {"input_steps", std::vector<std::int32_t>{0, 0, 0, 0, -2}},
                                 {"output_steps", std::vector<std::int32_t>{0, 0, 0, 0, 2}},
                                 {"input_start", 4},
                                 {"output_start", 1}};
  EXPECT_THAT(run("move", parameters, {1, 2, 3, 4, 5, 6}, {}, 7), ElementsAre(0, 5, 6, 3, 4, 1, 2));
}

TEST(RunCProgram, FillsWithAnElement) {
  EXPECT_THAT(run("fill", {{"bytes", 2}, {"count", 2}}, {7, 8}, {}, 5), ElementsAre(7, 8, 7, 8, 0));
}

TEST(RunCProgram, LooksUpBytes) {
  std::vector<std::int8_t> table(256);
  table[5] = 50;
  table[255] = -7;  // for -1
  EXPECT_THAT(run("lookup_8", {{"count", 3}}, {5, -1, 6}, {numbers(table)}, 3), ElementsAre(50, -7, 0));
}

TEST(RunCProgram, SpreadsPixels) {
  // Stride 2 and a window of 3 with ones: pixel 1 covers columns 0 to 2, and pixel 2 columns 2 to 4.
  const Parameters parameters = {
      {"batches", 1},        {"input_rows", 1},       {"input_columns", 2},     {"input_channels", 1},
      {"output_rows", 1},    {"output_columns", 5},   {"output_channels", 1},   {"window_rows", 1},
      {"window_columns", 3}, {"row_stride", 1},       {"column_stride", 2},     {"top", 0},
      {"left", 0},           {"input_zero_point", 0}, {"output_zero_point", 0}, {"lowest", -128},
      {"highest", 127},      {"per_channel", 0}};
  EXPECT_THAT(run("transpose_conv_i8", parameters, {10, 20},
                  {numbers(std::vector<std::int8_t>{1, 1, 1}), numbers(std::vector<std::int32_t>{0}), numbers(kHalf),
                   numbers(kNoShift)},
                  5),
              ElementsAre(5, 5, 15, 10, 10));
}

TEST(RunCProgram, StatesForgetTheOldestProduct) {
  // One unit with memory 2 and weights of time 1 and 10; a multiplier of 2^30 with shift 1 is 1.
  CProgram program;
  program.arena = Bytes(48);
  program.tensors = {{.size = Bytes(1), .offset = Offset(0)},
                     {.size = Bytes(2), .offset = Offset(16), .is_state = true},
                     {.size = Bytes(1), .offset = Offset(32)}};
  program.constants = {numbers(std::vector<std::int8_t>{2}), numbers(std::vector<std::int8_t>{1, 10})};
  program.calls = {{.kernel = "svdf_i8",
                    .parameters = {{"batches", 1},
                                   {"inputs", 1},
                                   {"units", 1},
                                   {"rank", 1},
                                   {"memory", 2},
                                   {"input_zero_point", 0},
                                   {"state_zero_point", 0},
                                   {"output_zero_point", 0},
                                   {"state_multiplier", 1 << 30},
                                   {"state_shift", 1},
                                   {"multiplier", 1 << 30},
                                   {"shift", 1}},
                    .operands = {CTensorIndex{0}, CConstantIndex{0}, CConstantIndex{1}, COperand(), CTensorIndex{1},
                                 CTensorIndex{2}}}};
  alignas(16) std::byte arena[48] = {};
  set_initial_states(program, arena);
  std::vector<int> outputs;
  for (int input : {1, 3, 0}) {
    arena[0] = static_cast<std::byte>(input);
    EXPECT_TRUE(run_c_program(program, arena).ok());
    outputs.push_back(static_cast<int>(arena[32]));
  }
  EXPECT_THAT(outputs, ElementsAre(2 * 10, 2 + 6 * 10, 6));
}

TEST(RunCProgram, RefusesCallsBeforeAnythingRuns) {
  CProgram program;
  program.arena = Bytes(16);
  program.tensors = {{.size = Bytes(1), .offset = Offset(0)}, {.size = Bytes(1), .offset = Offset(1)}};
  program.calls = {{.kernel = "copy", .parameters = {{"bytes", 1}}, .operands = {CTensorIndex{0}, CTensorIndex{1}}},
                   {.kernel = "no_such_kernel"}};
  alignas(16) std::byte arena[16] = {std::byte{5}};
  EXPECT_FALSE(run_c_program(program, arena).ok());
  EXPECT_EQ(arena[1], std::byte{0});
}

TEST(RunCProgram, NeedsTheWholeArena) {
  CProgram program;
  program.arena = Bytes(32);
  alignas(16) std::byte arena[16] = {};
  EXPECT_THROW((void)run_c_program(program, arena), InvariantViolation);
}

TEST(InitialStates, AreWhatTheProgramSays) {
  CProgram program;
  program.arena = Bytes(48);
  program.tensors = {{.size = Bytes(2), .offset = Offset(0), .is_state = true, .initial = "ab"},
                     {.size = Bytes(2), .offset = Offset(16), .is_state = true},
                     {.size = Bytes(2), .offset = Offset(32)}};
  alignas(16) std::byte arena[48];
  std::memset(arena, 'x', sizeof arena);
  set_initial_states(program, arena);
  const std::string bytes(reinterpret_cast<const char*>(arena), sizeof arena);
  EXPECT_EQ(bytes.substr(0, 3), "abx");
  EXPECT_EQ(bytes.substr(16, 3), std::string("\0\0x", 3));
  EXPECT_EQ(bytes.substr(32, 2), "xx");
}

}  // namespace
}  // namespace lowtide
