// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/folded_constants.h"

#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

#include "lowtide/base/half.h"
#include "lowtide/tflite/tflite_program/densify.h"
#include "lowtide/tflite/tflite_program/tensor_facts.h"

namespace lowtide::tflite_program_internal {
namespace {

bool has_known_scale(const TfliteTensor& tensor) {
  const TfliteQuantization& quantization = tensor.quantization;
  const std::size_t scales = quantization.scales.size();
  if (scales == 0 || (quantization.zero_points.size() > 1 && quantization.zero_points.size() != scales)) return false;
  if (scales == 1) return true;
  const auto axis = static_cast<std::size_t>(quantization.axis);
  return axis < tensor.shape.size() && tensor.shape[axis] == static_cast<std::int64_t>(scales);
}

// The only input and the only output of an operator. nullopt: it has others.
std::optional<std::pair<std::uint32_t, std::uint32_t>> ends_of(const TfliteOperator& op) {
  if (op.inputs.size() != 1 || op.outputs.size() != 1 || !op.inputs.front() || !op.outputs.front()) return std::nullopt;
  return std::pair(*op.inputs.front(), *op.outputs.front());
}

std::string widened(std::string_view halves) {
  std::string floats(halves.size() * 2, '\0');
  for (std::size_t at = 0; at + 2 <= halves.size(); at += 2) {
    std::uint16_t half = 0;
    std::memcpy(&half, &halves[at], sizeof(half));
    const float number = to_float(Half{half});
    std::memcpy(&floats[at * 2], &number, sizeof(number));
  }
  return floats;
}

// Each number has the scale and the zero point of its place along the axis of the quantization.
std::string dequantized(const TfliteTensor& tensor, std::string_view numbers) {
  const auto& [scales, zero_points, axis] = tensor.quantization;
  std::size_t inner = 1;
  for (auto at = static_cast<std::size_t>(axis) + 1; at < tensor.shape.size(); ++at) {
    inner *= static_cast<std::size_t>(tensor.shape[at]);
  }
  std::string floats(numbers.size() * sizeof(float), '\0');
  for (std::size_t at = 0; at < numbers.size(); ++at) {
    const std::size_t channel = scales.size() == 1 ? 0 : at / inner % scales.size();
    const std::int64_t zero = zero_points.empty() ? 0 : zero_points[zero_points.size() == 1 ? 0 : channel];
    const auto number =
        static_cast<float>(static_cast<double>(static_cast<std::int8_t>(numbers[at]) - zero) * scales[channel]);
    std::memcpy(&floats[at * sizeof(float)], &number, sizeof(number));
  }
  return floats;
}

// A model whose operators are folded one after another, with what is known so far.
struct Folding {
  const TfliteModel& model;
  std::string_view bytes;
  std::vector<std::optional<std::string>>& contents;

  // The elements of a tensor, if they are known and not encoded.
  [[nodiscard]] std::optional<std::string_view> content(std::uint32_t number) const {
    const TfliteTensor& tensor = model.subgraphs.front().tensors[number];
    if (contents[number]) return *contents[number];
    if (tensor.is_sparse || !is_constant(model, tensor)) return std::nullopt;
    return stored(tensor);
  }

  [[nodiscard]] std::string_view stored(const TfliteTensor& tensor) const {
    const TfliteBytes& where = model.buffers[tensor.buffer];
    return bytes.substr(static_cast<std::size_t>(where.offset), static_cast<std::size_t>(where.size));
  }

  // A constant of float16 or int8 as floats.
  [[nodiscard]] std::optional<std::string> dequantize(std::uint32_t input, std::uint32_t output) const {
    const TfliteTensor& from = model.subgraphs.front().tensors[input];
    const TfliteTensor& to = model.subgraphs.front().tensors[output];
    const std::optional<std::string_view> numbers = content(input);
    if (!numbers || to.type != TfliteType::float32 || from.shape != to.shape) return std::nullopt;
    if (from.type == TfliteType::float16) return widened(*numbers);
    if (from.type == TfliteType::int8 && has_known_scale(from)) return dequantized(from, *numbers);
    return std::nullopt;
  }

  // A constant whose bytes are encoded.
  [[nodiscard]] std::optional<std::string> densify(std::uint32_t input, std::uint32_t output) const {
    const TfliteTensor& from = model.subgraphs.front().tensors[input];
    const TfliteTensor& to = model.subgraphs.front().tensors[output];
    const std::optional<int> bits = bits_of(from.type);
    const bool is_encoded = from.is_sparse && !from.is_variable && bounded_bytes(from) && bits && *bits % 8 == 0;
    if (!is_encoded || from.type != to.type || from.shape != to.shape) return std::nullopt;
    return densified(from, stored(from), *bits / 8);
  }

  [[nodiscard]] std::optional<std::string> result_of(const TfliteOperator& op) const {
    const auto ends = ends_of(op);
    if (!ends) return std::nullopt;
    if (is_builtin(op, "DEQUANTIZE")) return dequantize(ends->first, ends->second);
    if (is_builtin(op, "DENSIFY")) return densify(ends->first, ends->second);
    return std::nullopt;
  }
};

}  // namespace

FoldedConstants fold_constants(const TfliteModel& model, std::string_view bytes,
                               const std::vector<bool>& is_done_before) {
  FoldedConstants folded{.model = model, .kept = {}, .contents = {}};
  TfliteSubgraph& main = folded.model.subgraphs.front();
  folded.contents.resize(main.tensors.size());
  const Folding folding{.model = model, .bytes = bytes, .contents = folded.contents};
  std::vector<TfliteOperator> kept;
  for (std::uint32_t at = 0; at < main.operators.size(); ++at) {
    TfliteOperator& op = main.operators[at];
    if (is_done_before[at]) continue;
    std::optional<std::string> result = folding.result_of(model.subgraphs.front().operators[at]);
    if (!result) {
      folded.kept.push_back(at);
      kept.push_back(std::move(op));
      continue;
    }
    folded.contents[*op.outputs.front()] = std::move(result);
    // A tensor with bytes in the file is a constant. The graph needs to know no more of it.
    main.tensors[*op.outputs.front()].buffer = main.tensors[*op.inputs.front()].buffer;
  }
  main.operators = std::move(kept);
  return folded;
}

}  // namespace lowtide::tflite_program_internal
