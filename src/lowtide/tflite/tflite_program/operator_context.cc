// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/operator_context.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/base/checked.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"

namespace lowtide::tflite_program_internal {
namespace {

constexpr std::int64_t kMostBytes = std::numeric_limits<std::int32_t>::max();

std::optional<std::int64_t> bytes_of(const TfliteTensor& tensor) {
  std::optional<std::int64_t> bytes = (bits_of(tensor.type).value_or(8) + 7) / 8;
  // Extents of 0 count as 1, so that products of some of the extents are bounded as well.
  for (std::int64_t extent : tensor.shape) {
    if (bytes) bytes = checked_multiply(*bytes, std::max<std::int64_t>(extent, 1));
  }
  return bytes && *bytes <= kMostBytes ? bytes : std::nullopt;
}

template <typename T>
CConstant constant_of(const std::string& what, CType type, const std::vector<T>& values) {
  CConstant constant{.name = what, .type = type, .shape = {static_cast<std::int64_t>(values.size())}};
  constant.bytes.resize(values.size() * sizeof(T));
  std::memcpy(constant.bytes.data(), values.data(), constant.bytes.size());
  return constant;
}

template <typename T>
std::vector<std::int64_t> numbers_in(std::string_view bytes) {
  std::vector<std::int64_t> numbers;
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T number = 0;
    std::memcpy(&number, bytes.substr(at).data(), sizeof(T));  // NOLINT(bugprone-suspicious-stringview-data-usage)
    numbers.push_back(number);
  }
  return numbers;
}

// The numbers of a quantized type.
Range range_of(TfliteType type) {
  if (type == TfliteType::int8) return {.lowest = -128, .highest = 127};
  if (type == TfliteType::uint8) return {.lowest = 0, .highest = 255};
  if (type == TfliteType::int16) return {.lowest = -32768, .highest = 32767};
  return {.lowest = std::numeric_limits<std::int32_t>::min(), .highest = std::numeric_limits<std::int32_t>::max()};
}

std::string types_text(const OperatorContext::Types& row) {
  std::string text;
  for (TfliteType type : row.inputs) text += (text.empty() ? "" : ", ") + std::string(to_string(type));
  return text + " to " + std::string(to_string(row.output));
}

// f / scale, rounded, after the zero point. nullopt: it is no number of 32 bits.
std::optional<std::int32_t> quantized(float f, float scale, std::int32_t zero_point) {
  const float steps = std::round(f / scale);
  if (!(std::abs(steps) < 0x1p31F)) return std::nullopt;
  const auto sum = checked_add(zero_point, static_cast<std::int32_t>(steps));
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(*sum, std::numeric_limits<std::int32_t>::min(),
                                                            std::numeric_limits<std::int32_t>::max()));
}

}  // namespace

std::int64_t elements_of(const Shape& shape) {
  std::int64_t count = 1;
  for (std::int64_t extent : shape) count = must_multiply(count, extent);
  return count;
}

Result<void> OperatorContext::check_operands(std::size_t inputs, std::size_t outputs) const {
  for (std::size_t at = 0; at < inputs; ++at) {
    if (!has_input(at)) return invalid("input " + std::to_string(at) + " is missing");
  }
  for (std::size_t at = 0; at < outputs; ++at) {
    if (at >= output_count() || !op().outputs[at]) return invalid("output " + std::to_string(at) + " is missing");
  }
  for (const auto& operands : {op().inputs, op().outputs}) {
    for (const std::optional<std::uint32_t>& operand : operands) {
      if (operand && !bytes_of(tensor(*operand))) {
        return error(ErrorCode::over_limit, "tensor " + quoted(tensor(*operand).name) + " has 2 GiB or more");
      }
    }
  }
  return {};
}

Result<void> OperatorContext::check_types(const std::vector<Types>& rows) const {
  Types given{.inputs = {}, .output = output().type};
  for (std::size_t at = 0; at < rows.front().inputs.size(); ++at) given.inputs.push_back(input(at).type);
  std::string known;
  for (const Types& row : rows) {
    if (row.inputs == given.inputs && row.output == given.output) return {};
    known += (known.empty() ? "" : "; ") + types_text(row);
  }
  return unsupported("it is from " + types_text(given) + "; supported are: " + known);
}

Result<void> OperatorContext::check_quantized(std::initializer_list<const TfliteTensor*> tensors) const {
  for (const TfliteTensor* tensor : tensors) {
    const TfliteQuantization& quantization = tensor->quantization;
    const bool is_quantized = quantization.scales.size() == 1 && quantization.zero_points.size() <= 1;
    if (!is_quantized || !(scale_of(*tensor) > 0) || !std::isfinite(scale_of(*tensor))) {
      return invalid("tensor " + quoted(tensor->name) + " needs one scale above 0 and one zero point");
    }
    const std::int64_t zero_point = quantization.zero_points.empty() ? 0 : quantization.zero_points.front();
    const Range range = range_of(tensor->type);
    if (zero_point < range.lowest || zero_point > range.highest) {
      return invalid("the zero point of tensor " + quoted(tensor->name) + " is no number of its type");
    }
  }
  return {};
}

std::int64_t OperatorContext::option(std::string_view name) const {
  const auto* value = find_option<std::int64_t>(op(), name);
  return value != nullptr ? *value : 0;
}

double OperatorContext::real_option(std::string_view name) const {
  const auto* value = find_option<double>(op(), name);
  return value != nullptr ? *value : 0;
}

std::string_view OperatorContext::name_option(std::string_view name) const {
  const auto* value = find_option<std::string>(op(), name);
  return value != nullptr ? std::string_view(*value) : std::string_view();
}

Result<std::string_view> OperatorContext::bytes(std::size_t at) const {
  const TfliteTensor& tensor = input(at);
  if (!is_constant(place_.model, tensor)) {
    return unsupported("input " + std::to_string(at) + " is computed; only a constant is supported");
  }
  const TfliteBytes& where = place_.model.buffers[tensor.buffer];
  return place_.file.substr(static_cast<std::size_t>(where.offset), static_cast<std::size_t>(where.size));
}

Result<std::vector<std::int64_t>> OperatorContext::integers(std::size_t at) const {
  const TfliteTensor& tensor = input(at);
  if (elements_of(tensor.shape) == 0) return std::vector<std::int64_t>();
  LOWTIDE_TRY(const std::string_view found, bytes(at));
  if (tensor.type == TfliteType::int32) return numbers_in<std::int32_t>(found);
  if (tensor.type == TfliteType::int64) return numbers_in<std::int64_t>(found);
  return unsupported("input " + std::to_string(at) + " has type " + std::string(to_string(tensor.type)) +
                     "; supported are INT32 and INT64");
}

Result<Range> OperatorContext::activation_range(const TfliteTensor& tensor) const {
  Range range = range_of(tensor.type);
  const std::string_view activation = name_option("fused_activation_function");
  if (activation.empty() || activation == "NONE") return range;
  std::optional<float> low;
  std::optional<float> high;
  if (activation == "RELU" || activation == "RELU6") low = 0.0F;
  if (activation == "RELU_N1_TO_1") low = -1.0F;
  if (activation == "RELU6") high = 6.0F;
  if (activation == "RELU_N1_TO_1") high = 1.0F;
  // The runtime ignores other activations of integers.
  for (const std::optional<float>& limit : {low, high}) {
    if (!limit) continue;
    const std::optional<std::int32_t> value = quantized(*limit, scale_of(tensor), zero_point_of(tensor));
    if (!value) return invalid("the scale of its output is too small for its activation");
    if (&limit == &low || *limit <= 0) {
      range.lowest = std::max(range.lowest, *value);
    } else {
      range.highest = std::min(range.highest, *value);
    }
  }
  return range;
}

COperand OperatorContext::in(std::size_t at) const { return has_input(at) ? operands_[*op().inputs[at]] : COperand(); }

COperand OperatorContext::constant(CConstant constant) {
  constants_.push_back(std::move(constant));
  return CConstantIndex{constants_.size() - 1};
}

COperand OperatorContext::constant(const std::string& what, const std::vector<std::int32_t>& values) {
  return constant(constant_of(what + " of " + origin(), CType::int32, values));
}

COperand OperatorContext::constant(const std::string& what, const std::vector<std::int8_t>& values) {
  return constant(constant_of(what + " of " + origin(), CType::int8, values));
}

COperand OperatorContext::constant(const std::string& what, const std::vector<std::int16_t>& values) {
  return constant(constant_of(what + " of " + origin(), CType::int16, values));
}

void OperatorContext::call(std::string_view kernel, std::vector<CParameter> parameters,
                           std::vector<COperand> operands) {
  calls_.push_back({.kernel = std::string(kernel),
                    .parameters = std::move(parameters),
                    .operands = std::move(operands),
                    .origin = origin()});
}

std::string OperatorContext::origin() const {
  std::string text = type() + " " + std::to_string(place_.op);
  if (!op().outputs.empty() && op().outputs.front() && !output().name.empty()) text += " (" + output().name + ")";
  return text;
}

Error OperatorContext::error(ErrorCode code, const std::string& what) const {
  std::string place = "subgraph " + std::to_string(place_.subgraph);
  if (!subgraph().name.empty()) place += " " + quoted(subgraph().name);
  const std::string name = op().builtin == kTfliteCustom ? quoted(type()) : type();
  return {code, what, place + ": operator " + std::to_string(place_.op) + " " + name};
}

CParameter parameter(std::string_view name, std::int64_t value) {
  LOWTIDE_CHECK(value == static_cast<std::int32_t>(value), "a parameter of a kernel fits into 32 bits");
  return {std::string(name), static_cast<std::int32_t>(value)};
}

CParameter parameter(std::string_view name, const std::vector<std::int64_t>& values) {
  std::vector<std::int32_t> words;
  for (std::int64_t value : values) words.push_back(std::get<std::int32_t>(parameter(name, value).value));
  return {std::string(name), std::move(words)};
}

float scale_of(const TfliteTensor& tensor) {
  return tensor.quantization.scales.empty() ? 0.0F : static_cast<float>(tensor.quantization.scales.front());
}

std::int32_t zero_point_of(const TfliteTensor& tensor) {
  return tensor.quantization.zero_points.empty() ? 0
                                                 : static_cast<std::int32_t>(tensor.quantization.zero_points.front());
}

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (std::int64_t extent : shape) text += (text.size() == 1 ? "" : ", ") + std::to_string(extent);
  return text + "]";
}

}  // namespace lowtide::tflite_program_internal
