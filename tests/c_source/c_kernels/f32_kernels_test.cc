// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lowtide/c_source/c_kernels/c_kernels.h"
#include "lowtide/c_source/c_kernels/run_c_program.h"

namespace lowtide {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::FloatNear;
using testing::Pointwise;
using Floats = std::vector<float>;
using Longs = std::vector<std::int64_t>;
using Ints = std::vector<std::int32_t>;
using Bools = std::vector<std::uint8_t>;

// An operand of a kernel; std::monostate is a null pointer.
using Operand = std::variant<std::monostate, Floats, Longs, Ints, Bools>;

template <typename T>
std::string bytes_in(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

CConstant constant_in(const Floats& values) { return {.type = CType::float32, .bytes = bytes_in(values)}; }
CConstant constant_in(const Longs& values) { return {.type = CType::int64, .bytes = bytes_in(values)}; }
CConstant constant_in(const Ints& values) { return {.type = CType::int32, .bytes = bytes_in(values)}; }
CConstant constant_in(const Bools& values) { return {.type = CType::boolean, .bytes = bytes_in(values)}; }
CConstant constant_in(std::monostate /*null*/) { return {}; }

CType type_of(float /*element*/) { return CType::float32; }
CType type_of(std::int64_t /*element*/) { return CType::int64; }
CType type_of(std::uint8_t /*element*/) { return CType::boolean; }

// Runs one kernel on constants. The output begins as numbers that no test expects.
template <typename T = float>
std::vector<T> computed(const std::string& kernel, std::vector<CParameter> parameters,
                        const std::vector<Operand>& operands, std::size_t outputs) {
  const Bytes size(static_cast<std::int64_t>(outputs * sizeof(T)));
  CProgram program;
  program.arena = Bytes(1024);
  program.tensors = {{.type = type_of(T()), .size = size, .offset = Offset(0)}};
  CCall call{.kernel = kernel, .parameters = std::move(parameters)};
  for (const Operand& operand : operands) {
    if (std::holds_alternative<std::monostate>(operand)) {
      call.operands.emplace_back();
    } else {
      call.operands.emplace_back(CConstantIndex{program.constants.size()});
      program.constants.push_back(std::visit([](const auto& values) { return constant_in(values); }, operand));
    }
  }
  call.operands.emplace_back(CTensorIndex{0});
  program.calls = {call};
  alignas(16) std::byte arena[1024];
  std::memset(arena, 0x7f, sizeof(arena));
  const Result<void> ran = run_c_program(program, arena);
  EXPECT_TRUE(ran.ok()) << ran.error().describe();
  std::vector<T> output(outputs);
  std::memcpy(output.data(), arena, output.size() * sizeof(T));
  return output;
}

// What all kernels with windows have: rows, then columns.
std::vector<CParameter> window(std::vector<CParameter> first, const Ints& numbers) {
  static constexpr std::string_view kNames[] = {"input_rows",   "input_columns",   "output_rows", "output_columns",
                                                "window_rows",  "window_columns",  "row_stride",  "column_stride",
                                                "row_dilation", "column_dilation", "top",         "left"};
  for (std::size_t at = 0; at < std::size(kNames); ++at) first.push_back({std::string(kNames[at]), numbers[at]});
  return first;
}

std::vector<CParameter> conv(const Ints& channels, const Ints& numbers, std::int32_t limits = 0) {
  std::vector<CParameter> all = window(
      {{"batches", 1}, {"groups", channels[0]}, {"input_channels", channels[1]}, {"output_channels", channels[2]}},
      numbers);
  all.insert(all.end(), {{"limits", limits}, {"minimum", 0.0F}, {"maximum", 6.0F}});
  return all;
}

TEST(FloatKernels, ConvolveWithPadding) {
  // A 2 x 2 image, a window of 3 x 3 with ones, padding 1. Each window sees the whole image: 1 + 2 + 3 + 4 = 10.
  const Ints numbers = {2, 2, 2, 2, 3, 3, 1, 1, 1, 1, 1, 1};
  EXPECT_THAT(computed("conv_2d_f32", conv({1, 1, 1}, numbers), {Floats{1, 2, 3, 4}, Floats(9, 1), Floats{0.5F}}, 4),
              ElementsAre(10.5F, 10.5F, 10.5F, 10.5F));
}

TEST(FloatKernels, ConvolveTwoChannelsOfManyColumns) {
  // 9 columns 0..8 and 9 columns of ones; 5 filters (k, 10 k). Column x of filter k is k x + 10 k. The first four
  // filters and the first eight columns are computed at once.
  Floats input;
  Floats expected;
  Floats weights;
  for (int x = 0; x < 9; ++x) input.push_back(static_cast<float>(x));
  input.insert(input.end(), 9, 1.0F);
  for (int k = 1; k <= 5; ++k) {
    weights.insert(weights.end(), {static_cast<float>(k), static_cast<float>(10 * k)});
    for (int x = 0; x < 9; ++x) expected.push_back(static_cast<float>(k * x + 10 * k));
  }
  const Ints numbers = {1, 9, 1, 9, 1, 1, 1, 1, 1, 1, 0, 0};
  EXPECT_EQ(computed("conv_2d_f32", conv({1, 2, 5}, numbers), {input, weights, std::monostate()}, 45), expected);
}

TEST(FloatKernels, ConvolveGroupsWithStridesAndDilation) {
  // Two groups of one channel with 5 columns. Taps 2 apart, at columns 0 and 2 with stride 2: (1+3, 3+5) and
  // 10 * (2+4, 4+6) by the weights 1 and 10.
  const Ints numbers = {1, 5, 1, 2, 1, 2, 1, 2, 1, 2, 0, 0};
  EXPECT_THAT(computed("conv_2d_f32", conv({2, 1, 1}, numbers),
                       {Floats{1, 0, 3, 0, 5, 2, 0, 4, 0, 6}, Floats{1, 1, 10, 10}, std::monostate()}, 4),
              ElementsAre(4, 8, 60, 100));
}

TEST(FloatKernels, ConvolutionsMoveResultsIntoARange) {
  const Ints numbers = {1, 3, 1, 3, 1, 1, 1, 1, 1, 1, 0, 0};
  const std::vector<Operand> operands = {Floats{-1, 3, 9}, Floats{1}, std::monostate()};
  EXPECT_THAT(computed("conv_2d_f32", conv({1, 1, 1}, numbers, 1), operands, 3), ElementsAre(0, 3, 9));
  EXPECT_THAT(computed("conv_2d_f32", conv({1, 1, 1}, numbers, 2), operands, 3), ElementsAre(0, 3, 6));
}

TEST(FloatKernels, TransposedConvolutionsSpreadTheirInput) {
  // Columns (1, 2), stride 2, window (1, 10, 100), padding 1: products at -1..1 and 1..3; columns 0..2 are
  // 10, 100 + 2, 20.
  const Ints numbers = {1, 2, 1, 3, 1, 3, 1, 2, 1, 1, 0, 1};
  const std::vector<CParameter> parameters =
      window({{"batches", 1}, {"groups", 1}, {"input_channels", 1}, {"output_channels", 1}}, numbers);
  EXPECT_THAT(computed("conv_transpose_2d_f32", parameters, {Floats{1, 2}, Floats{1, 10, 100}, Floats{0.5F}}, 3),
              ElementsAre(10.5F, 102.5F, 20.5F));
}

TEST(FloatKernels, PoolsIgnorePadding) {
  // Columns (-1, -2, -3), windows of 2 with padding 1 and stride 2: {-1} and {-2, -3}.
  const Ints numbers = {1, 3, 1, 2, 1, 2, 1, 2, 1, 1, 0, 1};
  std::vector<CParameter> parameters = window({{"planes", 1}}, numbers);
  EXPECT_THAT(computed("max_pool_2d_f32", parameters, {Floats{-1, -2, -3}}, 2), ElementsAre(-1, -2));
  parameters.insert(parameters.end(), {{"counted_rows", 0}, {"counted_columns", 0}});
  EXPECT_THAT(computed("average_pool_2d_f32", parameters, {Floats{-1, -2, -3}}, 2), ElementsAre(-1, -2.5F));
  // With padding of one column before and none after, the first window has 2 elements.
  parameters[13] = {"counted_rows", 1};
  parameters[14] = {"counted_columns", 4};
  EXPECT_THAT(computed("average_pool_2d_f32", parameters, {Floats{-1, -2, -3}}, 2), ElementsAre(-0.5F, -2.5F));
}

std::vector<CParameter> product(const Ints& sizes, const Ints& steps, const Ints& batches) {
  return {{"batches", Ints{1, batches[0]}},
          {"a_batch_steps", Ints{0, batches[1]}},
          {"b_batch_steps", Ints{0, batches[2]}},
          {"rows", sizes[0]},
          {"inner", sizes[1]},
          {"columns", sizes[2]},
          {"a_row_step", steps[0]},
          {"a_inner_step", steps[1]},
          {"b_inner_step", steps[2]},
          {"b_column_step", steps[3]},
          {"addend_row_step", 0},
          {"addend_column_step", 1},
          {"alpha", 2.0F},
          {"beta", 0.5F}};
}

TEST(FloatKernels, MultiplyMatricesAndAddARow) {
  // (1 2; 3 4) (5 6; 7 8) = (19 22; 43 50), times 2, plus half of (10, 20).
  const Floats expected = {43, 54, 91, 110};
  EXPECT_EQ(computed("matmul_f32", product({2, 2, 2}, {2, 1, 2, 1}, {1, 0, 0}),
                     {Floats{1, 2, 3, 4}, Floats{5, 6, 7, 8}, Floats{10, 20}}, 4),
            expected);
  // The same with both operands transposed.
  EXPECT_EQ(computed("matmul_f32", product({2, 2, 2}, {1, 2, 1, 2}, {1, 0, 0}),
                     {Floats{1, 3, 2, 4}, Floats{5, 7, 6, 8}, Floats{10, 20}}, 4),
            expected);
}

TEST(FloatKernels, MultiplyAStackByOneMatrix) {
  // Two stacks of 4 rows (1, s) times a matrix of 9 columns (c; 1): 2 (c + s).
  Floats a;
  Floats b;
  Floats expected;
  for (int s = 0; s < 2; ++s) {
    for (int row = 0; row < 4; ++row) {
      a.insert(a.end(), {1.0F, static_cast<float>(s)});
      for (int c = 0; c < 9; ++c) expected.push_back(static_cast<float>(2 * (c + s)));
    }
  }
  for (int c = 0; c < 9; ++c) b.push_back(static_cast<float>(c));
  b.insert(b.end(), 9, 1.0F);
  EXPECT_EQ(computed("matmul_f32", product({4, 2, 9}, {2, 1, 9, 1}, {2, 8, 0}), {a, b, std::monostate()}, 72),
            expected);
}

TEST(FloatKernels, NormalizeRowsAndChannels) {
  EXPECT_THAT(computed("scale_f32", {{"batches", 1}, {"channels", 2}, {"plane", 2}},
                       {Floats{1, 2, 3, 4}, Floats{10, 100}, Floats{1, 2}}, 4),
              ElementsAre(11, 21, 302, 402));
  // Rows (1, 3) and (2, 6): means 2 and 4, roots of variances 1 and 2. Factors (1, 10) by element, addend 5.
  std::vector<CParameter> rows = {{"rows", 2},    {"row", 2},        {"factors", 2},
                                  {"repeats", 1}, {"keeps_mean", 0}, {"epsilon", 0.0F}};
  EXPECT_THAT(computed("normalize_f32", rows, {Floats{1, 3, 2, 6}, Floats{1, 10}, Floats{5, 5}}, 4),
              Pointwise(FloatEq(), Floats{4, 15, 4, 15}));
  // One factor per row, and the mean stays: (3, 4) / sqrt(12.5), times 10 and 100.
  rows[3] = {"repeats", 2};
  rows[4] = {"keeps_mean", 1};
  EXPECT_THAT(computed("normalize_f32", rows, {Floats{3, 4, 3, 4}, Floats{10, 100}, std::monostate()}, 4),
              Pointwise(FloatEq(), Floats{8.485281F, 11.313708F, 84.85281F, 113.13708F}));
}

TEST(FloatKernels, SoftmaxDividesByTheSumOfTheAxis) {
  // Along the outer axis of [2, 2]: columns (0, log 3) and (1000, 1000).
  const std::vector<CParameter> parameters = {{"outer", 1}, {"axis", 2}, {"inner", 2}};
  const Floats input = {0, 1000, std::log(3.0F), 1000};
  EXPECT_THAT(computed("softmax_f32", parameters, {input}, 4), Pointwise(FloatEq(), Floats{0.25F, 0.5F, 0.75F, 0.5F}));
  EXPECT_THAT(computed("log_softmax_f32", parameters, {input}, 4),
              Pointwise(FloatNear(1e-4F), Floats{-1.386294F, -0.693147F, -0.287682F, -0.693147F}));
}

TEST(FloatKernels, InterpolateByTables) {
  // One column of two rows, (0, 4), becomes three rows: 0, the middle, 4. Both columns of the result are column 0.
  const std::vector<CParameter> parameters = {
      {"planes", 1}, {"input_rows", 2}, {"input_columns", 1}, {"output_rows", 3}, {"output_columns", 2}};
  EXPECT_THAT(computed("resize_2d_f32", parameters,
                       {Floats{0, 4}, Ints{0, 0, 1, 1, 1, 1}, Floats{0, 0.5F, 0}, Ints{0, 0, 0, 0}, Floats{0, 0}}, 6),
              ElementsAre(0, 0, 2, 2, 4, 4));
}

TEST(FloatKernels, PickPiecesAndAFiller) {
  // Rows 1, none and 0 of two rows with two elements.
  const std::vector<CParameter> parameters = {{"bytes", 8}, {"counts", Ints{1, 1, 1, 3}}};
  EXPECT_THAT(computed("pick", parameters, {Floats{1, 2, 3, 4}, Ints{0, 0, 0, 8, -1, 0}, Floats{7, 7}}, 6),
              ElementsAre(3, 4, 7, 7, 1, 2));
}

TEST(FloatKernels, MoveATransposeBackwards) {
  // Column 1 and then column 0 of a matrix (1 2; 3 4; 5 6).
  const std::vector<CParameter> parameters = {{"counts", Ints{1, 1, 1, 2, 3}},
                                              {"input_steps", Ints{0, 0, 0, -1, 2}},
                                              {"output_steps", Ints{0, 0, 0, 3, 1}},
                                              {"input_start", 1},
                                              {"output_start", 0}};
  EXPECT_THAT(computed("move_f32", parameters, {Floats{1, 2, 3, 4, 5, 6}}, 6), ElementsAre(2, 4, 6, 1, 3, 5));
}

std::vector<CParameter> broadcast(const Ints& counts, const Ints& x_steps, const Ints& y_steps) {
  return {{"counts", counts}, {"x_steps", x_steps}, {"y_steps", y_steps}};
}

TEST(FloatKernels, BroadcastOperands) {
  // (1, 2, 3) minus a column (10, 20), and the other way around.
  const Floats row = {1, 2, 3};
  const Floats column = {10, 20};
  EXPECT_THAT(computed("subtract_f32", broadcast({1, 1, 2, 3}, {0, 0, 0, 1}, {0, 0, 1, 0}), {row, column}, 6),
              ElementsAre(-9, -8, -7, -19, -18, -17));
  EXPECT_THAT(computed("subtract_f32", broadcast({1, 1, 2, 3}, {0, 0, 1, 0}, {0, 0, 0, 1}), {column, row}, 6),
              ElementsAre(9, 8, 7, 19, 18, 17));
  EXPECT_THAT(
      computed<std::uint8_t>("less_f32", broadcast({1, 1, 1, 3}, {0, 0, 0, 1}, {0, 0, 0, 0}), {row, Floats{2}}, 3),
      ElementsAre(1, 0, 0));
  EXPECT_THAT(computed<std::int64_t>("multiply_i64", broadcast({1, 1, 1, 2}, {0, 0, 0, 1}, {0, 0, 0, 1}),
                                     {Longs{1LL << 40, -2}, Longs{3, 5}}, 2),
              ElementsAre(3LL << 40, -10));
}

TEST(FloatKernels, ExtremesKeepNaN) {
  const std::vector<CParameter> parameters = broadcast({1, 1, 1, 3}, {0, 0, 0, 1}, {0, 0, 0, 1});
  const Floats x = {NAN, 1, 5};
  const Floats y = {1, NAN, 2};
  for (const char* kernel : {"maximum_f32", "minimum_f32"}) {
    const Floats result = computed(kernel, parameters, {x, y}, 3);
    EXPECT_TRUE(std::isnan(result[0]) && std::isnan(result[1])) << kernel;
  }
}

TEST(FloatKernels, ChooseByACondition) {
  std::vector<CParameter> parameters = {{"counts", Ints{1, 1, 1, 3}}, {"condition_steps", Ints{0, 0, 0, 1}}};
  parameters.insert(parameters.end(), {{"x_steps", Ints{0, 0, 0, 0}}, {"y_steps", Ints{0, 0, 0, 1}}});
  EXPECT_THAT(computed("where_f32", parameters, {Bools{1, 0, 1}, Floats{9}, Floats{1, 2, 3}}, 3), ElementsAre(9, 2, 9));
}

TEST(FloatKernels, ReduceAlternatingAxes) {
  // Axis 1 of [2, 2, 2]: kept, reduced, kept.
  const std::vector<CParameter> parameters = {{"counts", Ints{2, 2, 2, 1, 1}}, {"steps", Ints{4, 2, 1, 0, 0}}};
  const std::vector<Operand> input = {Floats{1, 2, 3, 4, 5, 6, 7, 8}};
  EXPECT_THAT(computed("reduce_sum_f32", parameters, input, 4), ElementsAre(4, 6, 12, 14));
  EXPECT_THAT(computed("reduce_mean_f32", parameters, input, 4), ElementsAre(2, 3, 6, 7));
  EXPECT_THAT(computed("reduce_max_f32", parameters, input, 4), ElementsAre(3, 4, 7, 8));
}

TEST(FloatKernels, FindTheFirstOrLastExtreme) {
  std::vector<CParameter> parameters = {{"outer", 1}, {"axis", 4}, {"inner", 1}, {"takes_last", 0}};
  EXPECT_THAT(computed<std::int64_t>("arg_max_f32", parameters, {Floats{1, 7, 7, 1}}, 1), ElementsAre(1));
  EXPECT_THAT(computed<std::int64_t>("arg_min_f32", parameters, {Floats{1, 7, 7, 1}}, 1), ElementsAre(0));
  parameters[3] = {"takes_last", 1};
  EXPECT_THAT(computed<std::int64_t>("arg_max_f32", parameters, {Floats{1, 7, 7, 1}}, 1), ElementsAre(2));
}

TEST(FloatKernels, GatherRowsAndStayInTheAxis) {
  // Rows -1, 0 and 9 of three rows: the last, the first, and the last again.
  const std::vector<CParameter> parameters = {{"outer", 1}, {"axis", 3}, {"bytes", 4}, {"places", 3}};
  EXPECT_THAT(computed("gather_i64", parameters, {Floats{1, 2, 3}, Longs{-1, 0, 9}}, 3), ElementsAre(3, 1, 3));
}

TEST(FloatKernels, ComputeElements) {
  const auto unary = [](const std::string& kernel, const Floats& input) {
    return computed(kernel, {{"count", static_cast<std::int32_t>(input.size())}}, {input}, input.size());
  };
  EXPECT_THAT(unary("relu_f32", {-2, 0, 3}), ElementsAre(0, 0, 3));
  EXPECT_THAT(unary("round_f32", {0.5F, 1.5F, -2.5F}), ElementsAre(0, 2, -2));
  EXPECT_THAT(unary("sign_f32", {-7, 0, 7}), ElementsAre(-1, 0, 1));
  EXPECT_THAT(unary("sigmoid_f32", {0, 100, -100}), Pointwise(FloatNear(1e-6F), Floats{0.5F, 1, 0}));
  EXPECT_THAT(unary("hard_swish_f32", {-4, 0, 3}), ElementsAre(0, 0, 3));
  EXPECT_THAT(unary("gelu_f32", {1, -1}), Pointwise(FloatNear(1e-6F), Floats{0.841345F, -0.158655F}));
  EXPECT_THAT(unary("softplus_f32", {0, 100}), Pointwise(FloatEq(), Floats{0.693147181F, 100}));
  EXPECT_THAT(computed("clip_f32", {{"count", 3}, {"a", -1.0F}, {"b", 2.0F}}, {Floats{-5, 1, 5}}, 3),
              ElementsAre(-1, 1, 2));
  EXPECT_THAT(computed("leaky_relu_f32", {{"count", 2}, {"a", 0.5F}}, {Floats{-4, 4}}, 2), ElementsAre(-2, 4));
  EXPECT_THAT(computed<std::int64_t>("cast_f32_i64", {{"count", 2}}, {Floats{-1.7F, 2.9F}}, 2), ElementsAre(-1, 2));
}

TEST(FloatKernels, SayWhatTheyMayOverwrite) {
  for (const char* kernel : {"relu_f32", "scale_f32", "softmax_f32", "log_softmax_f32", "normalize_f32"}) {
    EXPECT_TRUE(find_c_kernel(kernel)->pointers.front().may_be_output) << kernel;
  }
  EXPECT_TRUE(find_c_kernel("add_f32")->pointers[1].may_be_output);
  EXPECT_FALSE(find_c_kernel("conv_2d_f32")->pointers.front().may_be_output);
  EXPECT_FALSE(find_c_kernel("matmul_f32")->pointers.front().may_be_output);
}

}  // namespace
}  // namespace lowtide
