// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/cmsis_call.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lowtide/c_source/c_kernels/c_kernel.h"
#include "lowtide/c_source/c_kernels/c_kernels.h"

namespace lowtide::tflite_program_internal {
namespace {

// A call of a kernel whose parameters are 1, except for those given. Its constants have one element.
CCall call_of(const std::string& kernel, const std::map<std::string, std::int32_t>& given) {
  CCall call{.kernel = kernel, .parameters = {}, .operands = {}, .origin = "OPERATOR 0"};
  for (const CMember& member : find_c_kernel(kernel)->members) {
    const auto number = given.find(std::string(member.name));
    call.parameters.push_back({std::string(member.name), number == given.end() ? 1 : number->second});
  }
  for (const CPointer& pointer : find_c_kernel(kernel)->pointers) {
    const bool is_constant = pointer.type == CType::int32;
    call.operands.push_back(is_constant ? COperand(CConstantIndex{0}) : COperand(CTensorIndex{0}));
  }
  return call;
}

struct Made {
  std::optional<CmsisCall> call;
  std::vector<CConstant> constants = {{.name = "scales", .type = CType::int32, .shape = {1}, .bytes = {7, 0, 0, 0}}};
};

Made made(const std::string& kernel, const std::map<std::string, std::int32_t>& given, CmsisSet set) {
  Made result;
  result.call = cmsis_call(call_of(kernel, given), set, CTensorIndex{9}, result.constants);
  return result;
}

std::int64_t scratch(const std::string& kernel, const std::map<std::string, std::int32_t>& given, CmsisSet set) {
  const Made result = made(kernel, given, set);
  return result.call ? result.call->scratch.count() : -1;
}

constexpr CmsisSet kDsp = CmsisSet::scalar_or_dsp;
constexpr CmsisSet kVector = CmsisSet::vector;

TEST(CmsisCall, ScratchOfAConvolutionIsItsColumns) {
  const std::map<std::string, std::int32_t> window = {
      {"window_rows", 3}, {"window_columns", 3}, {"input_channels", 3}, {"top", 0}, {"left", 0}};
  // 27 elements become 28: two columns of 16 bits. Vectors: four columns of 32 bytes.
  EXPECT_EQ(scratch("conv_2d_i8", window, kDsp), 2 * 28 * 2);
  EXPECT_EQ(scratch("conv_2d_i8", window, kVector), 4 * 32);
}

TEST(CmsisCall, AProductNeedsScratchForArmsCompilersOnly) {
  const std::map<std::string, std::int32_t> product = {{"input_channels", 64}, {"top", 0}, {"left", 0}};
  EXPECT_EQ(scratch("conv_2d_i8", product, kDsp), 2 * 64 * 2);
  EXPECT_EQ(scratch("conv_2d_i8", product, kVector), 0);
}

TEST(CmsisCall, ARowHasItsPaddingInScratch) {
  // 16 channels, 9 taps, 8 elements of padding at either end: 16 * max(9 + 8, 8 + 8). Gathered: 4 * 144.
  const std::map<std::string, std::int32_t> row = {{"window_columns", 9},
                                                   {"input_channels", 16},
                                                   {"input_columns", 20},
                                                   {"output_columns", 28},
                                                   {"top", 0},
                                                   {"left", 8}};
  EXPECT_EQ(scratch("conv_2d_i8", row, kVector), 4 * 144);
  EXPECT_EQ(scratch("conv_2d_i8", {{"window_columns", 2}, {"input_channels", 16}, {"left", 9}}, kVector), 16 * (2 + 9));
}

TEST(CmsisCall, ScratchOfADepthwiseConvolutionIsItsWindow) {
  const std::map<std::string, std::int32_t> three = {
      {"window_rows", 3}, {"window_columns", 3}, {"input_channels", 8}, {"multiplier", 1}};
  EXPECT_EQ(scratch("depthwise_conv_2d_i8", three, kDsp), 0);  // a window of 3 x 3 has a kernel of its own
  EXPECT_EQ(scratch("depthwise_conv_2d_i8", three, kVector), 4 * 124 * 9);
  const std::map<std::string, std::int32_t> five = {
      {"window_rows", 5}, {"window_columns", 5}, {"input_channels", 8}, {"multiplier", 1}};
  EXPECT_EQ(scratch("depthwise_conv_2d_i8", five, kDsp), 8 * 25 * 2);
  const std::map<std::string, std::int32_t> dilated = {
      {"window_rows", 5}, {"window_columns", 5}, {"input_channels", 8}, {"multiplier", 1}, {"row_dilation", 2}};
  EXPECT_EQ(scratch("depthwise_conv_2d_i8", dilated, kDsp), 0);
}

TEST(CmsisCall, AMeanSumsItsChannelsIn32Bits) {
  EXPECT_EQ(scratch("average_pool_2d_i8", {{"channels", 64}}, kDsp), 4 * 64);
  EXPECT_EQ(scratch("average_pool_2d_i8", {{"channels", 64}}, kVector), 0);
  EXPECT_EQ(scratch("max_pool_2d_i8", {{"channels", 64}}, kDsp), 0);
}

TEST(CmsisCall, FitsItsKernel) {
  for (const char* kernel :
       {"conv_2d_i8", "depthwise_conv_2d_i8", "fully_connected_i8", "average_pool_2d_i8", "max_pool_2d_i8"}) {
    const Made result = made(kernel, {{"per_channel", 0}, {"weights_zero_point", 0}, {"output_channels", 5}}, kDsp);
    ASSERT_TRUE(result.call.has_value()) << kernel;
    const CKernel* called = find_c_kernel(result.call->call.kernel);
    ASSERT_NE(called, nullptr) << kernel;
    EXPECT_TRUE(called->calls_cmsis);
    ASSERT_EQ(result.call->call.parameters.size(), called->members.size()) << kernel;
    for (std::size_t at = 0; at < called->members.size(); ++at) {
      EXPECT_EQ(result.call->call.parameters[at].name, called->members[at].name) << kernel;
    }
    EXPECT_EQ(result.call->call.operands.size(), called->pointers.size()) << kernel;
  }
}

TEST(CmsisCall, EachChannelHasAScale) {
  const Made result = made("conv_2d_i8", {{"per_channel", 0}, {"output_channels", 3}}, kDsp);
  ASSERT_EQ(result.constants.size(), 3U);
  EXPECT_EQ(result.constants[1].bytes, std::string({7, 0, 0, 0, 7, 0, 0, 0, 7, 0, 0, 0}));
  EXPECT_EQ(made("conv_2d_i8", {{"per_channel", 1}}, kDsp).constants.size(), 1U);
}

TEST(CmsisCall, OthersKeepTheirKernel) {
  EXPECT_FALSE(made("conv_2d_i8", {{"groups", 2}}, kDsp).call);
  EXPECT_FALSE(made("fully_connected_i8", {{"per_channel", 0}, {"weights_zero_point", 3}}, kDsp).call);
  EXPECT_FALSE(made("fully_connected_i8", {{"per_channel", 0}, {"weights_zero_point", 0}}, kVector).call);
  EXPECT_FALSE(made("conv_2d_i8", {{"window_rows", 60'000}, {"input_channels", 60'000}}, kDsp).call);
  EXPECT_FALSE(made("add_i8", {}, kDsp).call);
}

}  // namespace
}  // namespace lowtide::tflite_program_internal
