// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/onednn/gathered_convolution.h"

#include <algorithm>
#include <vector>

#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/byte_rows.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/common/tuning.h"
#include "lowtide/kernels/onednn/facts.h"

namespace lowtide::kernels_internal {
namespace {

constexpr std::string_view kNotGathered =
    "oneDNN sums products of integers of 8 bits for QLinearConv with one or two spatial axes, with known extents and "
    "padding, scales of f32, and groups of 16 or more terms and 8 or more results";

// So that no sum or product of sizes overflows.
constexpr std::int64_t kMostGatheredExtent = std::int64_t{1} << 30;

// Whether all tensors exist, have known extents, and have the types of the operator.
bool has_quantized_types(const Graph& graph, const Operator& op, const Node& node) {
  if (node.inputs.size() < 8 || node.inputs.size() > 9 || node.outputs.size() != 1 || !node.outputs[0]) return false;
  for (std::size_t at = 0; at < node.inputs.size(); ++at) {
    if (!node.inputs[at]) {
      if (at == 8) continue;
      return false;
    }
    const Tensor& tensor = graph.tensor(*node.inputs[at]);
    const DType bias = op.domain == kOwnDomain ? DType::f32 : DType::i32;
    const bool is_scale = at == 1 || at == 4 || at == 6;
    const bool has_type =
        at == 8 ? tensor.dtype == bias : (is_scale ? tensor.dtype == DType::f32 : is_byte(tensor.dtype));
    if (!has_type || tensor.shape.has_upper_bounds()) return false;
  }
  const Tensor& result = graph.tensor(*node.outputs[0]);
  return is_byte(result.dtype) && !result.shape.has_upper_bounds();
}

// Whether each operand of parameters has one element, or one per result where that is allowed.
bool has_counts(const Graph& graph, const Node& node, std::int64_t results) {
  for (std::size_t at = 0; at < node.inputs.size(); ++at) {
    if (at == 0 || at == 3 || !node.inputs[at]) continue;
    const Result<std::int64_t> counted = element_count(graph.tensor(*node.inputs[at]).shape);
    const std::int64_t count = counted ? *counted : 0;
    const bool may_be_one = at != 8;
    const bool may_be_many = at == 4 || at == 5 || at == 8;
    if (!((may_be_one && count == 1) || (may_be_many && count == results))) return false;
  }
  return true;
}

// The axes of the window. Returns nullopt if an attribute has another form.
std::optional<std::vector<GatheredAxis>> axes_of(const Node& node, const Shape& from, const Shape& weights,
                                                 const Shape& to) {
  const auto spatial = static_cast<std::size_t>(from.rank() - 2);
  const auto list = [&](std::string_view name, std::size_t count, std::int64_t otherwise) {
    const std::vector<std::int64_t>* given = integers_attribute(node, name);
    return given == nullptr ? std::vector<std::int64_t>(count, otherwise) : *given;
  };
  const std::string automatic = text_attribute(node, "auto_pad", "NOTSET");
  std::vector<std::int64_t> pads = list("pads", 2 * spatial, 0);
  if (automatic == "VALID") pads.assign(2 * spatial, 0);
  const std::vector<std::int64_t> strides = list("strides", spatial, 1);
  const std::vector<std::int64_t> dilations = list("dilations", spatial, 1);
  if (automatic != "VALID" && automatic != "NOTSET") return std::nullopt;
  if (pads.size() != 2 * spatial || strides.size() != spatial || dilations.size() != spatial) return std::nullopt;
  std::vector<GatheredAxis> axes;
  for (std::size_t at = 0; at < spatial; ++at) {
    const auto axis = static_cast<int>(at) + 2;
    const GatheredAxis one{from[axis], to[axis], weights[axis], strides[at], dilations[at], pads[at]};
    if (one.in < 1 || one.out < 1 || one.taps < 1 || one.stride < 1 || one.dilation < 1) return std::nullopt;
    for (const std::int64_t number : {pads[at], pads[spatial + at], one.stride, one.dilation, one.taps, one.in}) {
      if (number < 0 || number > kMostGatheredExtent) return std::nullopt;
    }
    const std::int64_t padded = one.in + pads[at] + pads[spatial + at];
    const std::int64_t reach = (one.taps - 1) * one.dilation + 1;
    if (padded < reach || (padded - reach) / one.stride + 1 != one.out) return std::nullopt;
    axes.push_back(one);
  }
  return axes;
}

Bytes aligned(std::int64_t bytes) { return Bytes((bytes + 63) / 64 * 64); }

// A window of one element that visits every place treats an image as one row.
void flatten(GatheredConvolution& made) {
  for (const GatheredAxis* axis : {&made.rows, &made.columns}) {
    if (axis->taps != 1 || axis->stride != 1 || axis->pad != 0 || axis->in != axis->out) return;
  }
  made.columns.in *= made.rows.in;
  made.columns.out *= made.rows.out;
  made.rows = GatheredAxis{};
}

// Below these, copies cost more than products save.
constexpr std::int64_t kFewestGatheredTerms = 16;
constexpr std::int64_t kFewestGatheredResults = 8;

}  // namespace

std::optional<GatheredConvolution> gathered_convolution(const Graph& graph, NodeId id, std::string& missing) {
  const Node& node = graph.node(id);
  missing = kNotGathered;
  if (!has_quantized_types(graph, graph.op(id), node)) return std::nullopt;
  const Shape& from = graph.tensor(*node.inputs[0]).shape;
  const Shape& weights = graph.tensor(*node.inputs[3]).shape;
  const Shape& to = graph.tensor(*node.outputs[0]).shape;
  const std::int64_t groups = integer_attribute(node, "group", 1);
  if (from.rank() < 3 || from.rank() > 4 || weights.rank() != from.rank() || to.rank() != from.rank()) {
    return std::nullopt;
  }
  const bool agrees = groups >= 1 && from[0] >= 1 && weights[0] >= 1 && weights[0] % groups == 0 && weights[1] >= 1 &&
                      from[1] % groups == 0 && from[1] / groups == weights[1] && to[0] == from[0] &&
                      to[1] == weights[0] && has_counts(graph, node, weights[0]);
  if (!agrees) return std::nullopt;
  const std::optional<std::vector<GatheredAxis>> axes = axes_of(node, from, weights, to);
  if (!axes) return std::nullopt;
  GatheredConvolution convolution{.images = from[0],
                                  .groups = groups,
                                  .channels = weights[1],
                                  .results = weights[0] / groups,
                                  .rows = axes->size() == 2 ? axes->front() : GatheredAxis{},
                                  .columns = axes->back()};
  if (convolution.terms() < kFewestGatheredTerms || convolution.results < kFewestGatheredResults) return std::nullopt;
  if (convolution.terms() > kMostGatheredExtent || weights[0] > kMostGatheredExtent || from[1] > kMostGatheredExtent)
    return std::nullopt;
  flatten(convolution);
  missing.clear();
  return convolution;
}

std::optional<GatheredTiles> gathered_tiles(const GatheredConvolution& of, bool has_signed_weights, int threads,
                                            const CacheSizes& caches) {
  constexpr std::int64_t kPlaces = 16;  // a multiple of the columns that oneDNN computes at once
  const std::int64_t places = of.places();
  const std::int64_t most =
      std::max(kGatheredTile.bytes(caches) / (of.terms() + 4 * of.results) / kPlaces, std::int64_t{4}) * kPlaces;
  GatheredTiles tiles{.tiles = (places + most - 1) / most};
  const double sums = static_cast<double>(places) * static_cast<double>(of.terms()) * static_cast<double>(of.results);
  const std::int64_t matrices = of.images * of.groups;
  const int sharing =
      threads_with_work(threads, kMostGatheredExtent, sums * static_cast<double>(matrices), kLeastSharedProducts);
  // Each thread gets as many tiles as the others.
  if (matrices % sharing != 0) tiles.tiles = (tiles.tiles + sharing - 1) / sharing * sharing;
  tiles.places = std::min(places, ((places + tiles.tiles - 1) / tiles.tiles + kPlaces - 1) / kPlaces * kPlaces);
  tiles.tiles = (places + tiles.places - 1) / tiles.places;
  tiles.threads = static_cast<int>(std::min<std::int64_t>(sharing, matrices * tiles.tiles));
  const IntegerProduct full{of.results, of.terms(), tiles.places, has_signed_weights};
  IntegerProduct last = full;
  last.columns = places - (tiles.tiles - 1) * tiles.places;
  tiles.products = {full, last};
  tiles.weight_sums = aligned(4 * of.results * of.groups);
  tiles.sums = aligned(of.terms() * tiles.places);
  tiles.column_sums = tiles.sums + aligned(4 * of.results * tiles.places);
  tiles.library = tiles.column_sums + aligned(4 * tiles.places);
  Bytes of_library;
  for (const IntegerProduct& product : tiles.products) {
    const std::optional<PrimitiveFacts> facts = facts_of(product);
    if (!facts) return std::nullopt;
    of_library = std::max(of_library, facts->scratch);
  }
  tiles.per_thread = tiles.library + aligned(of_library.count());
  return tiles;
}

}  // namespace lowtide::kernels_internal
