// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "lowtide/c_source/c_kernels/run_c_program.h"

namespace lowtide {
namespace {

using testing::FloatEq;
using testing::Pointwise;
using Floats = std::vector<float>;

// One image, a window with taps, a stride, a dilation and padding of rows and columns.
struct Case {
  std::int32_t rows, columns, channels, groups, outputs, taps, stride, dilation, before;
  [[nodiscard]] std::int32_t extent(std::int32_t input) const {
    return (input + 2 * before - (taps - 1) * dilation - 1) / stride + 1;
  }
};

// Small integers, so that sums of their products are exact.
Floats numbers(std::int32_t count, std::int32_t step) {
  Floats values;
  for (std::int32_t at = 0; at < count; ++at) values.push_back(static_cast<float>(at * step % 17 - 8));
  return values;
}

CConstant constant_of(const Floats& values) {
  return {.type = CType::float32,
          .bytes = {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)}};
}

Floats run(const std::string& kernel, std::vector<CParameter> parameters, const std::vector<Floats>& operands,
           std::int32_t outputs) {
  const Bytes size = Bytes(outputs * std::int64_t{sizeof(float)});
  CProgram program{.arena = round_up(size, kCAlignment)};
  program.tensors = {{.type = CType::float32, .size = size}};
  CCall call{.kernel = kernel, .parameters = std::move(parameters)};
  for (const Floats& operand : operands) {
    call.operands.emplace_back(CConstantIndex{program.constants.size()});
    program.constants.push_back(constant_of(operand));
  }
  call.operands.emplace_back(CTensorIndex{0});
  program.calls = {call};
  struct alignas(16) Unit {
    std::array<std::byte, 16> bytes;
  };
  std::vector<Unit> arena(static_cast<std::size_t>(program.arena.count() / 16));
  const Result<void> ran = run_c_program(program, std::as_writable_bytes(std::span(arena)));
  EXPECT_TRUE(ran.ok()) << ran.error().describe();
  Floats output(static_cast<std::size_t>(outputs));
  std::memcpy(output.data(), arena.data(), output.size() * sizeof(float));
  return output;
}

// Calls visit(output channel, place of the input, place of the window, input channel) for each product of a pixel.
template <typename Visit>
void for_each_product(const Case& one, std::int32_t y, std::int32_t x, Visit visit) {
  for (std::int32_t ky = 0; ky < one.taps; ++ky) {
    for (std::int32_t kx = 0; kx < one.taps; ++kx) {
      const std::int32_t row = y * one.stride - one.before + ky * one.dilation;
      const std::int32_t column = x * one.stride - one.before + kx * one.dilation;
      if (row < 0 || row >= one.rows || column < 0 || column >= one.columns) continue;
      visit(row * one.columns + column, ky * one.taps + kx);
    }
  }
}

// What a convolution gives, in the obvious way. Weights are [output][tap][input of the group].
Floats convolved(const Case& one, const Floats& input, const Floats& weights, const Floats& bias, float lowest) {
  Floats results;
  const std::int32_t depth = one.channels / one.groups;
  for (std::int32_t y = 0; y < one.extent(one.rows); ++y) {
    for (std::int32_t x = 0; x < one.extent(one.columns); ++x) {
      for (std::int32_t output = 0; output < one.outputs; ++output) {
        float sum = bias[output];
        const std::int32_t first = output / (one.outputs / one.groups) * depth;
        for_each_product(one, y, x, [&](std::int32_t pixel, std::int32_t tap) {
          for (std::int32_t i = 0; i < depth; ++i) {
            sum += input[pixel * one.channels + first + i] * weights[(output * one.taps * one.taps + tap) * depth + i];
          }
        });
        results.push_back(std::max(sum, lowest));
      }
    }
  }
  return results;
}

// The order of the weights that the kernel states.
Floats packed(const Case& one, const Floats& weights) {
  Floats result;
  const std::int32_t outputs = one.outputs / one.groups;
  const std::int32_t filter = one.taps * one.taps * one.channels / one.groups;
  for (std::int32_t group = 0; group < one.groups; ++group) {
    for (std::int32_t block = 0; block * 8 < outputs; ++block) {
      const std::int32_t channel = std::min(block * 8, std::max(outputs - 8, 0));
      for (std::int32_t at = 0; at < filter; ++at) {
        for (std::int32_t lane = 0; lane < 8; ++lane) {
          result.push_back(lane < outputs ? weights[(group * outputs + channel + lane) * filter + at] : 0.0F);
        }
      }
    }
  }
  return result;
}

std::vector<CParameter> window_of(const Case& one) {
  return {{"window_rows", one.taps},
          {"window_columns", one.taps},
          {"row_stride", one.stride},
          {"column_stride", one.stride},
          {"row_dilation", one.dilation},
          {"column_dilation", one.dilation},
          {"top", one.before},
          {"left", one.before}};
}

Floats kernel_convolved(const Case& one, const Floats& input, const Floats& weights, const Floats& bias) {
  const std::int32_t rows = one.extent(one.rows);
  const std::int32_t columns = one.extent(one.columns);
  std::vector<CParameter> parameters = {{"batches", 1},
                                        {"groups", one.groups},
                                        {"input_rows", one.rows},
                                        {"input_columns", one.columns},
                                        {"input_channels", one.channels / one.groups},
                                        {"output_rows", rows},
                                        {"output_columns", columns},
                                        {"output_channels", one.outputs / one.groups}};
  for (CParameter& parameter : window_of(one)) parameters.push_back(parameter);
  for (const CParameter& parameter : std::vector<CParameter>{{"output_start", 0},
                                                             {"output_image_step", 0},
                                                             {"output_row_step", columns * one.outputs},
                                                             {"output_column_step", one.outputs},
                                                             {"limits", 1},
                                                             {"minimum", -50.0F},
                                                             {"maximum", 0.0F}}) {
    parameters.push_back(parameter);
  }
  return run("conv_2d_nhwc_f32", parameters, {input, packed(one, weights), bias}, rows * columns * one.outputs);
}

TEST(NhwcKernels, ConvolutionsAreThoseOfTheDefinition) {
  // Blocks of 4 pixels and 8 or 32 channels, and what is left of both; windows at edges; dilation; groups.
  for (const Case& one :
       {Case{5, 9, 3, 1, 8, 3, 1, 1, 1}, Case{4, 7, 5, 1, 19, 1, 1, 1, 0}, Case{6, 6, 4, 1, 33, 3, 2, 1, 1},
        Case{3, 3, 2, 1, 40, 3, 1, 1, 1}, Case{9, 11, 2, 1, 3, 3, 1, 2, 2}, Case{5, 8, 6, 3, 6, 3, 1, 1, 1},
        Case{2, 70, 1, 1, 9, 1, 1, 1, 0}, Case{1, 1, 7, 1, 1, 5, 1, 1, 2}}) {
    const Floats input = numbers(one.rows * one.columns * one.channels, 5);
    const Floats weights = numbers(one.outputs * one.taps * one.taps * one.channels / one.groups, 7);
    const Floats bias = numbers(one.outputs, 3);
    EXPECT_THAT(kernel_convolved(one, input, weights, bias),
                Pointwise(FloatEq(), convolved(one, input, weights, bias, -50)))
        << one.rows << " rows, " << one.outputs << " outputs";
  }
}

TEST(NhwcKernels, DepthwiseConvolutionsAreThoseOfTheDefinition) {
  // Blocks of 16 and of 4 channels, and what is left; two outputs per channel; edges; dilation.
  for (const Case& one :
       {Case{5, 4, 23, 1, 23, 3, 1, 1, 1}, Case{6, 6, 2, 1, 4, 3, 2, 1, 1}, Case{9, 9, 5, 1, 5, 3, 1, 2, 2}}) {
    const Floats input = numbers(one.rows * one.columns * one.channels, 5);
    const Floats weights = numbers(one.taps * one.taps * one.outputs, 7);
    const Floats bias = numbers(one.outputs, 3);
    Floats expected;
    for (std::int32_t y = 0; y < one.extent(one.rows); ++y) {
      for (std::int32_t x = 0; x < one.extent(one.columns); ++x) {
        for (std::int32_t output = 0; output < one.outputs; ++output) {
          float sum = bias[output];
          const std::int32_t channel = output / (one.outputs / one.channels);
          for_each_product(one, y, x, [&](std::int32_t pixel, std::int32_t tap) {
            sum += input[pixel * one.channels + channel] * weights[tap * one.outputs + output];
          });
          expected.push_back(std::clamp(sum, -50.0F, 60.0F));
        }
      }
    }
    std::vector<CParameter> parameters = {{"batches", 1},
                                          {"input_rows", one.rows},
                                          {"input_columns", one.columns},
                                          {"input_channels", one.channels},
                                          {"output_rows", one.extent(one.rows)},
                                          {"output_columns", one.extent(one.columns)},
                                          {"multiplier", one.outputs / one.channels}};
    for (CParameter& parameter : window_of(one)) parameters.push_back(parameter);
    parameters.insert(parameters.end(), {{"limits", 2}, {"minimum", -50.0F}, {"maximum", 60.0F}});
    EXPECT_THAT(run("depthwise_conv_2d_nhwc_f32", parameters, {input, weights, bias},
                    static_cast<std::int32_t>(expected.size())),
                Pointwise(FloatEq(), expected));
  }
}

}  // namespace
}  // namespace lowtide
