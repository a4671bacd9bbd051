// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/cmsis_call.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "lowtide/base/check.h"

namespace lowtide::tflite_program_internal {
namespace {

constexpr std::int64_t kVectorChannels = 124;  // channels of a depthwise convolution that are gathered together
constexpr std::int64_t kVectorLanes = 16;
constexpr std::int64_t kVectorColumns = 4;       // columns of the image matrix that are gathered together
constexpr std::int64_t kMostDepthwiseOfOne = 1;  // output channels of one input channel; more may run as a convolution

// Parameters by name.
class Numbers {
 public:
  explicit Numbers(const CCall& call) : call_(call) {}

  std::int64_t operator[](std::string_view name) const {
    const auto found = std::ranges::find(call_.parameters, name, &CParameter::name);
    LOWTIDE_CHECK(found != call_.parameters.end(), "a kernel has the parameters that its call to CMSIS-NN needs");
    return std::get<std::int32_t>(found->value);
  }

 private:
  const CCall& call_;
};

std::int64_t rounded_up(std::int64_t number, std::int64_t step) { return (number + step - 1) / step * step; }

std::int64_t window_of(const Numbers& of) { return of["window_rows"] * of["window_columns"]; }

// What the vector kernel for windows of one row needs: the part of a row with its padding, at either end.
std::int64_t row_scratch(const Numbers& of) {
  const std::int64_t channels = of["input_channels"];
  const std::int64_t taps = of["window_columns"];
  const std::int64_t left = of["left"];
  const std::int64_t stride = of["column_stride"];
  const std::int64_t total = (of["output_columns"] - 1) * stride + taps - of["input_columns"];
  const std::int64_t odd = total % 2;
  const std::int64_t right = std::max<std::int64_t>(1, (left + odd + stride - 1) / stride);
  return channels * std::max(taps + left, taps - 1 + std::max(left, right));
}

std::int64_t convolution_scratch(const Numbers& of, CmsisSet set) {
  const std::int64_t channels = of["input_channels"];
  const std::int64_t columns = window_of(of) * channels;
  const bool is_product =
      window_of(of) == 1 && of["top"] == 0 && of["left"] == 0 && of["row_dilation"] == 1 && of["column_dilation"] == 1;
  if (set == CmsisSet::vector) {
    if (is_product) return 0;
    const std::int64_t gathered = kVectorColumns * rounded_up(columns, kVectorLanes);
    return of["window_rows"] == 1 ? std::max(gathered, row_scratch(of)) : gathered;
  }
  // Two columns of 16 bits. Arm's compilers use those for products, too.
  return 4 * (is_product ? channels : rounded_up(columns, 4));
}

std::int64_t depthwise_scratch(const Numbers& of, CmsisSet set) {
  const bool is_fast =
      of["multiplier"] == 1 && of["batches"] == 1 && of["row_dilation"] == 1 && of["column_dilation"] == 1;
  const bool is_three = of["window_rows"] == 3 && of["window_columns"] == 3 && of["top"] <= 1 && of["left"] <= 1;
  if (set != CmsisSet::vector) {
    return is_fast && !is_three ? 2 * of["input_channels"] * window_of(of) : 0;
  }
  const std::int64_t gathered = is_fast ? 4 * kVectorChannels * window_of(of) : 0;
  if (of["input_channels"] != 1 || of["multiplier"] <= kMostDepthwiseOfOne) return gathered;
  return std::max(gathered, convolution_scratch(of, set) + window_of(of) * of["multiplier"]);
}

// Where a constant has one element for all channels, appends one that repeats it.
COperand repeated(const COperand& operand, std::int64_t channels, std::vector<CConstant>& constants) {
  CConstant all = constants[std::get<CConstantIndex>(operand).value];
  const std::string one = all.bytes;
  all.bytes.clear();
  for (std::int64_t channel = 0; channel < channels; ++channel) all.bytes += one;
  all.shape = {channels};
  constants.push_back(std::move(all));
  return CConstantIndex{constants.size() - 1};
}

void repeat_scales(const CCall& call, std::int64_t channels, CCall& to, std::vector<CConstant>& constants) {
  if (Numbers(call)["per_channel"] != 0) return;
  for (std::size_t at : {std::size_t{3}, std::size_t{4}}) {
    to.operands[at] = repeated(call.operands[at], channels, constants);
  }
}

// The call with another kernel, without parameters that it does not have, and with scratch.
CCall renamed(const CCall& call, const std::vector<std::string_view>& without, std::int64_t bytes,
              const COperand& scratch) {
  CCall made = call;
  made.kernel = "cmsis_" + call.kernel;
  std::erase_if(made.parameters, [&](const CParameter& parameter) {
    return std::ranges::find(without, parameter.name) != without.end();
  });
  made.parameters.push_back({"scratch_bytes", static_cast<std::int32_t>(bytes)});
  made.operands.insert(made.operands.end() - 1, bytes > 0 ? scratch : COperand());
  return made;
}

std::int32_t first_integer(const COperand& operand, const std::vector<CConstant>& constants) {
  const std::string& bytes = constants[std::get<CConstantIndex>(operand).value].bytes;
  std::uint32_t word = 0;
  for (std::size_t at = 4; at-- > 0;) word = word << 8 | static_cast<unsigned char>(bytes[at]);
  return static_cast<std::int32_t>(word);
}

// Units with scales of their own, and weights with a zero point, need newer functions than others.
std::optional<CmsisCall> fully_connected(const CCall& call, CmsisSet set, const std::vector<CConstant>& constants) {
  const Numbers of(call);
  // The vector kernel wants sums of the weights beside scratch.
  if (set == CmsisSet::vector || of["per_channel"] != 0 || of["weights_zero_point"] != 0) return std::nullopt;
  CCall made = call;
  made.kernel = "cmsis_" + call.kernel;
  std::erase_if(made.parameters, [](const CParameter& parameter) { return parameter.name == "per_channel"; });
  made.parameters.push_back({"output_multiplier", first_integer(call.operands[3], constants)});
  made.parameters.push_back({"output_shift", first_integer(call.operands[4], constants)});
  made.operands.erase(made.operands.begin() + 3, made.operands.begin() + 5);
  return CmsisCall{std::move(made), Bytes()};
}

// Whether scratch can be counted with 31 bits, so that the products above do not overflow.
bool is_small(const CCall& call) {
  double bytes = 1;
  for (std::string_view name : {"window_rows", "window_columns", "input_channels", "channels", "multiplier"}) {
    const auto found = std::ranges::find(call.parameters, name, &CParameter::name);
    if (found == call.parameters.end()) continue;
    bytes *= std::max<double>(1, std::get<std::int32_t>(found->value));
  }
  return bytes * 4 * kVectorChannels < std::numeric_limits<std::int32_t>::max();
}

}  // namespace

std::optional<CmsisCall> cmsis_call(const CCall& call, CmsisSet set, const COperand& scratch,
                                    std::vector<CConstant>& constants) {
  if (call.kernel == "fully_connected_i8") return fully_connected(call, set, constants);
  if (!is_small(call)) return std::nullopt;
  const Numbers of(call);
  std::int64_t bytes = 0;
  CCall made;
  if (call.kernel == "conv_2d_i8" && of["groups"] == 1) {
    bytes = convolution_scratch(of, set);
    made = renamed(call, {"groups", "per_channel"}, bytes, scratch);
    repeat_scales(call, of["output_channels"], made, constants);
  } else if (call.kernel == "depthwise_conv_2d_i8") {
    bytes = depthwise_scratch(of, set);
    made = renamed(call, {"per_channel"}, bytes, scratch);
    repeat_scales(call, of["input_channels"] * of["multiplier"], made, constants);
  } else if (call.kernel == "average_pool_2d_i8") {
    bytes = set == CmsisSet::vector ? 0 : 4 * of["channels"];
    made = renamed(call, {}, bytes, scratch);
  } else if (call.kernel == "max_pool_2d_i8") {
    made = renamed(call, {}, bytes, scratch);
  } else {
    return std::nullopt;
  }
  return CmsisCall{std::move(made), Bytes(bytes)};
}

}  // namespace lowtide::tflite_program_internal
