// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/operator_context.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>
#include <variant>

#include "lowtide/base/check.h"
#include "lowtide/base/checked.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"

namespace lowtide::tflite_program_internal {
namespace {

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

Result<void> OperatorContext::check_operands(std::size_t inputs, std::size_t outputs) const {
  for (std::size_t at = 0; at < inputs; ++at) {
    if (!has_input(at)) return invalid("input " + std::to_string(at) + " is missing");
  }
  for (std::size_t at = 0; at < outputs; ++at) {
    if (at >= output_count() || !op().outputs[at]) return invalid("output " + std::to_string(at) + " is missing");
  }
  for (const auto& operands : {op().inputs, op().outputs}) {
    for (const std::optional<std::uint32_t>& operand : operands) {
      if (operand && !bounded_bytes(tensor(*operand))) {
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
    if (const auto fault = zero_point_fault(*tensor)) return invalid(*fault);
  }
  return {};
}

Result<QuantizedMultiplier> OperatorContext::multiplier(double factor) const {
  if (const std::optional<QuantizedMultiplier> by = quantized_multiplier(factor)) return *by;
  std::ostringstream number;
  number << factor;
  return invalid("its scales do not fit together: they give a factor of " + number.str() +
                 ", which has to be below 2^31; quantize the model again");
}

Result<void> OperatorContext::check_products(std::int64_t count) const {
  constexpr std::int64_t kMost = 65536;  // 128 * 255 * 65536 is below 2^31
  if (count <= kMost) return {};
  return unsupported("a row of its weights has " + std::to_string(count) + " numbers; supported are at most " +
                     std::to_string(kMost));
}

Result<std::size_t> OperatorContext::axis(std::int64_t stated, std::size_t rank) const {
  const auto count = static_cast<std::int64_t>(rank);
  if (stated < -count || stated >= count) {
    return invalid("it has no axis " + std::to_string(stated) + "; its tensor has " + std::to_string(rank));
  }
  return static_cast<std::size_t>(stated < 0 ? stated + count : stated);
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

std::string_view OperatorContext::custom_options() const {
  const TfliteBytes& where = op().custom_options;
  return place_.file.substr(static_cast<std::size_t>(where.offset), static_cast<std::size_t>(where.size));
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

Result<std::vector<float>> OperatorContext::floats(std::size_t at) const {
  const COperand operand = in(at);
  const auto* index = std::get_if<CConstantIndex>(&operand);
  if (index == nullptr)
    return unsupported("input " + std::to_string(at) + " is computed; only a constant is supported");
  const CConstant& constant = constants_[index->value];
  if (constant.type != CType::float32) {
    return unsupported("input " + std::to_string(at) + " has type " + std::string(to_string(input(at).type)) +
                       "; supported is FLOAT32");
  }
  std::vector<float> numbers(constant.bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), constant.bytes.data(), numbers.size() * sizeof(float));
  if (static_cast<std::int64_t>(numbers.size()) != elements_of(input(at).shape)) {
    return invalid("input " + std::to_string(at) + " has another number of elements than its shape");
  }
  return numbers;
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

COperand OperatorContext::constant(const std::string& what, const std::vector<float>& values) {
  return constant(constant_of(what + " of " + origin(), CType::float32, values));
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

}  // namespace lowtide::tflite_program_internal
