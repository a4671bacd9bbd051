// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/blocks/block_matrix.h"

#include <algorithm>
#include <string>

#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/blocks/block_convolution.h"

namespace lowtide::kernels_internal {
namespace {

constexpr std::int64_t kInnerAtOnce = 64;  // so that what is read and written stays in the first cache
constexpr std::int64_t kMostPadding = 2;   // elements of the packed matrix for each of the constant

}  // namespace

void BlockMatrix::pack(std::int64_t block, const float* from, float* to) const {
  const std::int64_t used = std::min<std::int64_t>(lanes, columns - block * lanes);
  const std::int64_t column_step = is_transposed ? inner : 1;
  const std::int64_t inner_step = is_transposed ? 1 : columns;
  from += block * lanes * column_step;
  to += block * elements_of_block();
  if (used < lanes || inner_blocks() * lanes != inner) std::fill_n(to, elements_of_block(), 0.0F);
  for (std::int64_t begin = 0; begin < inner; begin += kInnerAtOnce) {
    const std::int64_t end = std::min(begin + kInnerAtOnce, inner);
    for (std::int64_t lane = 0; lane < used; ++lane) {
      for (std::int64_t at = begin; at < end; ++at) {
        to[at * lanes + lane] = from[at * inner_step + lane * column_step];
      }
    }
  }
}

std::optional<BlockMatrix> block_matrix(int lanes, const Shape& constant, bool is_transposed) {
  if (constant.rank() != 2 || constant.has_upper_bounds() || constant[0] < 1 || constant[1] < 1) return std::nullopt;
  const BlockMatrix made{.lanes = lanes,
                         .inner = constant[is_transposed ? 1 : 0],
                         .columns = constant[is_transposed ? 0 : 1],
                         .is_transposed = is_transposed};
  // Padding adds less than `lanes` to each extent, so nothing below overflows.
  if (!dense_size(DType::f32, Shape({constant[0], constant[1], lanes, lanes}))) return std::nullopt;
  const bool is_mostly_zeros = made.elements() > kMostPadding * made.inner * made.columns;
  return is_mostly_zeros ? std::nullopt : std::optional(made);
}

std::optional<BlockMatrix> packed_matrix(const Node& node, const Shape& constant, const Shape& packed) {
  const auto* name = find_attribute<std::string>(node.attributes, kOrderAttribute);
  const auto* transposed = find_attribute<std::int64_t>(node.attributes, kTransposeAttribute);
  const std::optional<WeightsOrder> order = weights_order(name == nullptr ? "" : *name);
  if (!order || order->kind != TileKind::blocks || transposed == nullptr) return std::nullopt;
  const std::optional<BlockMatrix> made = block_matrix(order->lanes, constant, *transposed != 0);
  return made && packed == Shape({made->elements()}) ? made : std::nullopt;
}

}  // namespace lowtide::kernels_internal
