// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/common/fused_attention.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/softmax_row.h"

namespace lowtide::kernels_internal {
namespace {

// A tensor of matrices: the extents of [batches, heads, rows, columns], and where they lie.
struct Matrices {
  std::array<std::int64_t, 4> extents{1, 1, 1, 1};
  MatrixPlaces places;
};

// nullopt: the order is not a permutation of the axes, or the tensor does not have three or four.
std::optional<Matrices> matrices_of(const Graph& graph, TensorId id, const Node& node, std::string_view order_name) {
  const Tensor& tensor = graph.tensor(id);
  const auto rank = static_cast<std::size_t>(tensor.shape.rank());
  if ((rank != 3 && rank != 4) || tensor.dtype != DType::f32 || tensor.shape.has_upper_bounds()) return std::nullopt;
  std::vector<std::int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (const auto* given = integers_attribute(node, order_name)) {
    if (!std::ranges::is_permutation(*given, order)) return std::nullopt;
    order = *given;
  }
  std::vector<std::int64_t> strides(rank, 1);
  for (std::size_t axis = rank - 1; axis > 0; --axis)
    strides[axis - 1] = strides[axis] * tensor.shape[static_cast<int>(axis)];
  Matrices matrices;
  std::array<std::int64_t, 4> places{};
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::size_t to = axis + 4 - rank;
    matrices.extents[to] = tensor.shape[static_cast<int>(order[axis])];
    places[to] = strides[static_cast<std::size_t>(order[axis])];
  }
  matrices.places = {{places[0], places[1]}, places[2], places[3]};
  return matrices;
}

// The strides of a mask that is broadcast to the scores. nullopt: it cannot be.
std::optional<MatrixPlaces> mask_places(const Shape& mask, const FusedAttention& attention, int rank) {
  const std::array<std::int64_t, 4> scores{attention.batches, attention.heads, attention.queries, attention.keys};
  if (mask.rank() > rank || mask.has_upper_bounds()) return std::nullopt;
  std::array<std::int64_t, 4> strides{};
  std::int64_t stride = 1;
  for (int axis = mask.rank() - 1; axis >= 0; --axis) {
    const auto to = static_cast<std::size_t>(axis + 4 - mask.rank());
    if (mask[axis] != 1 && mask[axis] != scores[to]) return std::nullopt;
    strides[to] = mask[axis] == 1 ? 0 : stride;
    stride *= mask[axis];
  }
  return MatrixPlaces{{strides[0], strides[1]}, strides[2], strides[3]};
}

bool read_mask(const Graph& graph, const Node& node, FusedAttention& attention) {
  if (node.inputs.size() < 4 || !node.inputs[3]) return true;
  const Tensor& mask = graph.tensor(*node.inputs[3]);
  const std::optional<MatrixPlaces> places =
      mask_places(mask.shape, attention, graph.tensor(*node.inputs[0]).shape.rank());
  if (!places) return false;
  attention.mask = *places;
  attention.mask_kind = mask.dtype == DType::boolean ? MaskKind::chosen : MaskKind::added;
  attention.masked = integer_attribute(node, kMaskedAttribute, 1) != 0;
  attention.fill = static_cast<float>(number_attribute(node, kFillAttribute, 0));
  return mask.dtype == DType::boolean || mask.dtype == DType::f32;
}

void scale_scores(const FusedAttention& attention, float* scores) {
  const float scale = attention.scale;
  if (attention.divides) {
    for (std::int64_t at = 0; at < attention.keys; ++at) scores[at] /= scale;
  } else if (scale != 1.0F) {
    for (std::int64_t at = 0; at < attention.keys; ++at) scores[at] *= scale;
  }
}

void mask_scores(const FusedAttention& attention, const std::byte* mask, float* scores) {
  const std::int64_t step = attention.mask.column;
  if (attention.mask_kind == MaskKind::added) {
    const auto* added = reinterpret_cast<const float*>(mask);
    for (std::int64_t at = 0; at < attention.keys; ++at) scores[at] += added[at * step];
    return;
  }
  const auto* chosen = reinterpret_cast<const std::uint8_t*>(mask);
  for (std::int64_t at = 0; at < attention.keys; ++at) {
    if ((chosen[at * step] != 0) == attention.masked) scores[at] = attention.fill;
  }
}

}  // namespace

std::optional<FusedAttention> fused_attention(const Graph& graph, const Node& node, std::string& missing) {
  missing = "its tensors are not matrices of f32 with known extents that fit each other";
  if (node.inputs.size() < 3 || node.outputs.empty() || !node.outputs[0]) return std::nullopt;
  for (std::size_t at = 0; at < 3; ++at) {
    if (!node.inputs[at]) return std::nullopt;
  }
  const std::optional<Matrices> query = matrices_of(graph, *node.inputs[0], node, kQueryOrderAttribute);
  const std::optional<Matrices> key = matrices_of(graph, *node.inputs[1], node, kKeyOrderAttribute);
  const std::optional<Matrices> value = matrices_of(graph, *node.inputs[2], node, kValueOrderAttribute);
  const std::optional<Matrices> result = matrices_of(graph, *node.outputs[0], node, kResultOrderAttribute);
  if (!query || !key || !value || !result) return std::nullopt;
  const auto [batches, heads, queries, width] = query->extents;
  const std::int64_t keys = key->extents[3];
  const std::int64_t columns = value->extents[3];
  const bool fits = key->extents == std::array{batches, heads, width, keys} &&
                    value->extents == std::array{batches, heads, keys, columns} &&
                    result->extents == std::array{batches, heads, queries, columns};
  if (!fits) return std::nullopt;
  FusedAttention attention{.batches = batches,
                           .heads = heads,
                           .queries = queries,
                           .width = width,
                           .keys = keys,
                           .columns = columns,
                           .query = query->places,
                           .key = key->places,
                           .value = value->places,
                           .result = result->places};
  const auto* factor = find_attribute<double>(node.attributes, kFactorAttribute);
  const auto* divisor = find_attribute<double>(node.attributes, kDivisorAttribute);
  attention.divides = divisor != nullptr;
  if (factor != nullptr || divisor != nullptr)
    attention.scale = static_cast<float>(divisor != nullptr ? *divisor : *factor);
  if (!read_mask(graph, node, attention)) return std::nullopt;
  missing.clear();
  return attention;
}

void weigh_scores(const FusedAttention& attention, const std::byte* mask, float* scores) {
  scale_scores(attention, scores);
  if (mask != nullptr) mask_scores(attention, mask, scores);
  softmax_row(scores, scores, attention.keys);
}

const std::byte* mask_row(const FusedAttention& attention, const std::byte* begin, std::int64_t batch,
                          std::int64_t head, std::int64_t query) {
  if (attention.mask_kind == MaskKind::none) return nullptr;
  const std::int64_t element = attention.mask_kind == MaskKind::added ? sizeof(float) : 1;
  return begin + (attention.mask.begin(batch, head) + query * attention.mask.row) * element;
}

}  // namespace lowtide::kernels_internal
