// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/tflite/flatbuffer/tflite_model.h"

namespace lowtide::tflite_program_internal {

// A model without the operators whose results are known before a run.
struct FoldedConstants {
  TfliteModel model;                // with the kept operators in its first subgraph
  std::vector<std::uint32_t> kept;  // per operator of that subgraph, its number in the file
  // Per tensor of the first subgraph, the elements that a folded operator computes. nullopt: none does.
  std::vector<std::optional<std::string>> contents;
};

// Folds each DENSIFY of a constant, and each DEQUANTIZE of one of float16 or int8: the result becomes a constant.
// Operators in `is_done_before` are left out as well. Requires: it has an entry per operator of the first subgraph.
// O(bytes).
[[nodiscard]] FoldedConstants fold_constants(const TfliteModel& model, std::string_view bytes,
                                             const std::vector<bool>& is_done_before);

}  // namespace lowtide::tflite_program_internal
