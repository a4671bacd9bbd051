// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/folded_constants.h"

#include <cstddef>
#include <cstring>
#include <utility>

#include "lowtide/base/half.h"

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

// The constant that a DEQUANTIZE turns into floats. nullptr: the operator does not do that.
const TfliteTensor* foldable_input(const TfliteModel& model, const TfliteOperator& op) {
  if (!is_builtin(op, "DEQUANTIZE") || op.inputs.size() != 1 || op.outputs.size() != 1) return nullptr;
  if (!op.inputs.front() || !op.outputs.front()) return nullptr;
  const TfliteSubgraph& main = model.subgraphs.front();
  const TfliteTensor& from = main.tensors[*op.inputs.front()];
  const TfliteTensor& to = main.tensors[*op.outputs.front()];
  const bool is_known = from.type == TfliteType::float16 || (from.type == TfliteType::int8 && has_known_scale(from));
  const bool is_folded = is_known && to.type == TfliteType::float32 && !from.is_sparse && from.shape == to.shape &&
                         is_constant(model, from);
  return is_folded ? &from : nullptr;
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

std::string floats_of(const TfliteTensor& tensor, std::string_view bytes) {
  return tensor.type == TfliteType::float16 ? widened(bytes) : dequantized(tensor, bytes);
}

}  // namespace

FoldedConstants fold_constants(const TfliteModel& model, std::string_view bytes,
                               const std::vector<bool>& is_done_before) {
  FoldedConstants folded{.model = model, .kept = {}, .contents = {}};
  TfliteSubgraph& main = folded.model.subgraphs.front();
  folded.contents.resize(main.tensors.size());
  std::vector<TfliteOperator> kept;
  for (std::uint32_t at = 0; at < main.operators.size(); ++at) {
    TfliteOperator& op = main.operators[at];
    if (is_done_before[at]) continue;
    const TfliteTensor* constant = foldable_input(model, model.subgraphs.front().operators[at]);
    if (constant == nullptr) {
      folded.kept.push_back(at);
      kept.push_back(std::move(op));
      continue;
    }
    const TfliteBytes& where = model.buffers[constant->buffer];
    folded.contents[*op.outputs.front()] = floats_of(
        *constant, bytes.substr(static_cast<std::size_t>(where.offset), static_cast<std::size_t>(where.size)));
    // A tensor with bytes in the file is a constant. The graph needs to know no more of it.
    main.tensors[*op.outputs.front()].buffer = main.tensors[*op.inputs.front()].buffer;
  }
  main.operators = std::move(kept);
  return folded;
}

}  // namespace lowtide::tflite_program_internal
