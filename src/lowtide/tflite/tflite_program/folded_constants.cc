// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/folded_constants.h"

#include <cstring>
#include <utility>

#include "lowtide/base/half.h"

namespace lowtide::tflite_program_internal {
namespace {

bool is_foldable(const TfliteModel& model, const TfliteOperator& op) {
  if (!is_builtin(op, "DEQUANTIZE") || op.inputs.size() != 1 || op.outputs.size() != 1) return false;
  if (!op.inputs.front() || !op.outputs.front()) return false;
  const TfliteSubgraph& main = model.subgraphs.front();
  const TfliteTensor& from = main.tensors[*op.inputs.front()];
  const TfliteTensor& to = main.tensors[*op.outputs.front()];
  return from.type == TfliteType::float16 && to.type == TfliteType::float32 && !from.is_sparse &&
         from.shape == to.shape && is_constant(model, from);
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
    if (!is_foldable(model, model.subgraphs.front().operators[at])) {
      folded.kept.push_back(at);
      kept.push_back(std::move(op));
      continue;
    }
    const TfliteBytes& where = model.buffers[main.tensors[*op.inputs.front()].buffer];
    folded.contents[*op.outputs.front()] =
        widened(bytes.substr(static_cast<std::size_t>(where.offset), static_cast<std::size_t>(where.size)));
    // A tensor with bytes in the file is a constant. The graph needs to know no more of it.
    main.tensors[*op.outputs.front()].buffer = main.tensors[*op.inputs.front()].buffer;
  }
  main.operators = std::move(kept);
  return folded;
}

}  // namespace lowtide::tflite_program_internal
