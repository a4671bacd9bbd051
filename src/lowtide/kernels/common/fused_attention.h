// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "lowtide/graph/graph.h"

namespace lowtide::kernels_internal {

// A lowtide::Attention (graph/lowered.h), as all its kernels see it.

// Matrices of batches and heads that lie in a tensor in any order of axes. All numbers are strides in elements.
struct MatrixPlaces {
  std::array<std::int64_t, 2> outer{};  // of batches and heads
  std::int64_t row = 0;
  std::int64_t column = 0;

  [[nodiscard]] std::int64_t begin(std::int64_t batch, std::int64_t head) const {
    return batch * outer[0] + head * outer[1];
  }
};

enum class MaskKind : std::uint8_t { none, added, chosen };

struct FusedAttention {
  std::int64_t batches = 1;  // 1 if the tensors have three axes
  std::int64_t heads = 0;
  std::int64_t queries = 0;
  std::int64_t width = 0;
  std::int64_t keys = 0;
  std::int64_t columns = 0;  // of a value
  MatrixPlaces query;        // [queries, width]
  MatrixPlaces key;          // [width, keys]
  MatrixPlaces value;        // [keys, columns]
  MatrixPlaces result;       // [queries, columns]
  MatrixPlaces mask;         // [queries, keys]; a stride is 0 where the mask is broadcast
  MaskKind mask_kind = MaskKind::none;
  bool masked = true;  // MaskKind::chosen: where the mask has this value, a score becomes `fill`
  float fill = 0;
  float scale = 1;
  bool divides = false;  // scores are divided by `scale` instead of multiplied
};

// Reads a node. Returns nullopt if its tensors or attributes do not fit each other; `missing` then says what is wrong.
[[nodiscard]] std::optional<FusedAttention> fused_attention(const Graph& graph, const Node& node, std::string& missing);

// Turns the scores of one query into weights: scales and masks them, and applies softmax. `mask` is the row of the
// query, or nullptr. A query all of whose scores are -infinity gets NaN, as from Softmax. Sums in a fixed order, so
// that equal scores give equal bits.
void weigh_scores(const FusedAttention& attention, const std::byte* mask, float* scores);

// The row of the mask for a query. nullptr: there is no mask. `begin` is that of the tensor.
[[nodiscard]] const std::byte* mask_row(const FusedAttention& attention, const std::byte* begin, std::int64_t batch,
                                        std::int64_t head, std::int64_t query);

}  // namespace lowtide::kernels_internal
