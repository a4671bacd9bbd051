// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/blocks/pool.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/interval.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/blocks/exact_floats.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/seconds_of.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/common/vector_clones.h"
#include "lowtide/kernels/plain/windows/sliding_window.h"

namespace lowtide::kernels_internal {
namespace {

// A pool over images of one or two spatial axes in blocks of channels.
struct BlockPool {
  enum class Kind : std::uint8_t { maximum, average, average_with_padding } kind = Kind::maximum;
  std::int64_t lanes = 16;
  std::int64_t blocks = 1;  // of all images
  Window window;
  // Neighboring results of a row whose taps within the operand are the same ones.
  struct Columns {
    Interval<std::int64_t> results;
    Interval<std::int64_t> taps;
    std::int64_t taps_with_padding = 0;
  };
  std::vector<Columns> columns;

  [[nodiscard]] const WindowAxis& down() const { return window.axes[1]; }
  [[nodiscard]] const WindowAxis& across() const { return window.axes[2]; }
};

// The taps of a result that are within the operand.
Interval<std::int64_t> taps_inside(const WindowAxis& axis, std::int64_t at) { return axis.taps_within(at, 0, axis.in); }

// Those that an average with padding counts: within the operand or its padding.
std::int64_t taps_with_padding(const WindowAxis& axis, std::int64_t at) {
  const Interval<std::int64_t> taps = axis.taps_within(at, -axis.pad_begin, axis.in + axis.pad_end);
  return taps.end - taps.begin;
}

// Neighboring results in one block, whose taps within the operand are the same ones.
struct PoolTaps {
  const float* first = nullptr;  // of the first result
  std::int64_t down = 0;
  std::int64_t across = 0;
  std::int64_t down_step = 0;  // in elements
  std::int64_t across_step = 0;
  std::int64_t result_step = 0;  // between results, in elements of the operand
  std::int64_t results = 0;
  float divisor = 1;
};

// What becomes of the taps of a result.
template <bool is_maximum>
struct PoolValue {
  float value = is_maximum ? -std::numeric_limits<float>::infinity() : 0.0F;
  [[gnu::always_inline]] void take(float x) {
    // A NaN wins, and stays because no comparison with it is true. The compiler makes vectors of a loop over lanes
    // because this has no branch.
    value = !is_maximum ? value + x : static_cast<bool>((value < x) | (x != x)) ? x : value;
  }
  [[nodiscard, gnu::always_inline]] float result(float divisor) const { return is_maximum ? value : value / divisor; }
};

template <int lanes, bool is_maximum>
LOWTIDE_VECTOR_CLONES void write_results(const PoolTaps& taps, float* result) {
  for (std::int64_t at = 0; at < taps.results; ++at, result += lanes) {
    std::array<PoolValue<is_maximum>, lanes> values;
    for (std::int64_t down = 0; down < taps.down; ++down) {
      const float* x = taps.first + at * taps.result_step + down * taps.down_step;
      for (std::int64_t across = 0; across < taps.across; ++across, x += taps.across_step) {
        // It is still a loop when the compiler looks for vectors.
#pragma GCC unroll 1
        for (std::size_t lane = 0; lane < lanes; ++lane) values[lane].take(x[lane]);
      }
    }
#pragma GCC unroll 1
    for (std::size_t lane = 0; lane < lanes; ++lane) result[lane] = values[lane].result(taps.divisor);
  }
}

// The same for a small window, whose taps become one expression: then a value stays in a register.
template <int lanes, bool is_maximum, int down, int across>
LOWTIDE_VECTOR_CLONES void write_small(const PoolTaps& taps, float* result) {
  const auto value_at = [&](const float* x) {
    PoolValue<is_maximum> value;
#pragma GCC unroll 3
    for (int i = 0; i < down; ++i) {
#pragma GCC unroll 3
      for (int j = 0; j < across; ++j) value.take(x[i * taps.down_step + j * taps.across_step]);
    }
    return value.result(taps.divisor);
  };
  float* __restrict y = result;
  if (taps.result_step == lanes) {
    for (std::int64_t at = 0; at < taps.results * lanes; ++at) y[at] = value_at(taps.first + at);
    return;
  }
  for (std::int64_t at = 0; at < taps.results; ++at, y += lanes) {
    const float* const x = taps.first + at * taps.result_step;
    for (std::size_t lane = 0; lane < lanes; ++lane) y[lane] = value_at(x + lane);
  }
}

using WriteTaps = void (*)(const PoolTaps& taps, float* result);

template <int lanes, bool is_maximum>
WriteTaps function_for(const PoolTaps& taps) {
  if (taps.down == 3 && taps.across == 3) return &write_small<lanes, is_maximum, 3, 3>;
  if (taps.down == 2 && taps.across == 3) return &write_small<lanes, is_maximum, 2, 3>;
  if (taps.down == 2 && taps.across == 2) return &write_small<lanes, is_maximum, 2, 2>;
  return &write_results<lanes, is_maximum>;
}

template <int lanes>
void pool_row(const BlockPool& pool, std::int64_t row, const float* plane, float* result) {
  const WindowAxis& down = pool.down();
  const WindowAxis& across = pool.across();
  const Interval<std::int64_t> rows = taps_inside(down, row);
  const bool counts_padding = pool.kind == BlockPool::Kind::average_with_padding;
  const std::int64_t counted_down = counts_padding ? taps_with_padding(down, row) : rows.end - rows.begin;
  const float* const line = plane + down.position(row, rows.begin) * across.in * lanes;
  PoolTaps taps{.down = rows.end - rows.begin,
                .down_step = down.dilation * across.in * lanes,
                .across_step = across.dilation * lanes,
                .result_step = across.stride * lanes};
  for (const BlockPool::Columns& columns : pool.columns) {
    taps.across = columns.taps.end - columns.taps.begin;
    taps.first = line + across.position(columns.results.begin, columns.taps.begin) * lanes;
    taps.results = columns.results.end - columns.results.begin;
    taps.divisor = static_cast<float>(counted_down * (counts_padding ? columns.taps_with_padding : taps.across));
    float* const to = result + columns.results.begin * lanes;
    const bool is_maximum = pool.kind == BlockPool::Kind::maximum;
    (is_maximum ? function_for<lanes, true>(taps) : function_for<lanes, false>(taps))(taps, to);
  }
}

RunStatus run_pool_in_blocks(const BlockPool& pool, const Operands& operands, Team& team) {
  const auto* from = reinterpret_cast<const float*>(*operands.reads[0].bytes);
  auto* to = reinterpret_cast<float*>(*operands.writes[0].bytes);
  const std::int64_t rows = pool.blocks * pool.down().out;
  // At least about as many. The taps are not counted, since a window may be much larger than its operand.
  const std::int64_t operations = pool.blocks * (pool.window.in_count() + pool.window.out_count()) * pool.lanes;
  const auto run = pool.lanes == 16 ? &pool_row<16> : &pool_row<8>;
  const RunCode code = run_in_parts(team, rows, operations, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t block = row / pool.down().out;
      run(pool, row % pool.down().out, from + block * pool.window.in_count() * pool.lanes,
          to + row * pool.across().out * pool.lanes);
    }
    return RunCode::ok;
  });
  return {code, 0};
}

// Whether a node has one f32 operand and one f32 result, with known extents.
bool has_known_images(const Graph& graph, const Node& node) {
  const auto is_one = [](const auto& list) {
    return !list.empty() && list[0] && std::all_of(list.begin() + 1, list.end(), [](const auto& id) { return !id; });
  };
  if (!is_one(node.inputs) || !is_one(node.outputs)) return false;
  return has_exact_floats(graph.tensor(*node.inputs[0])) && has_exact_floats(graph.tensor(*node.outputs[0]));
}

// Whether each result has a tap within the operand. The others would have no maximum and no average, and the lanes
// without a channel would not be zero.
bool has_taps(const WindowAxis& axis) {
  // With gaps, the whole operand might lie between two taps.
  if (axis.pad_begin < 0 || axis.pad_end < 0 || (axis.dilation > 1 && axis.pad_begin > 0)) return false;
  return std::ranges::all_of(std::array{std::int64_t{0}, axis.out - 1}, [&](std::int64_t at) {
    const Interval<std::int64_t> inside = taps_inside(axis, at);
    return inside.begin < inside.end;
  });
}

std::vector<BlockPool::Columns> columns_of(const WindowAxis& across) {
  std::vector<BlockPool::Columns> all;
  for (std::int64_t at = 0; at < across.out; ++at) {
    const BlockPool::Columns one{{at, at + 1}, taps_inside(across, at), taps_with_padding(across, at)};
    const bool is_next =
        !all.empty() && all.back().taps == one.taps && all.back().taps_with_padding == one.taps_with_padding;
    if (is_next) {
      all.back().results.end = at + 1;
    } else {
      all.push_back(one);
    }
  }
  return all;
}

// The pool of a node whose tensors have these shapes in the model.
std::optional<BlockPool> block_pool(const Node& node, std::string_view type, const Shape& source, const Shape& result) {
  const int spatial = source.rank() - 2;
  if ((spatial != 1 && spatial != 2) || integer_attribute(node, "storage_order", 0) != 0) return std::nullopt;
  BlockPool pool;
  const Extents from(source.extents());
  WindowAttributes attributes = window_attributes(node);
  if (type == kGlobalAveragePoolType) {
    attributes = {.kernel = {source.extents().begin() + 2, source.extents().end()}};
  } else if (attributes.kernel.size() != static_cast<std::size_t>(spatial)) {
    return std::nullopt;
  }
  const bool counts_padding = type == kAveragePoolType && integer_attribute(node, "count_include_pad", 0) != 0;
  pool.kind = type == kMaxPoolType ? BlockPool::Kind::maximum
              : counts_padding     ? BlockPool::Kind::average_with_padding
                                   : BlockPool::Kind::average;
  const std::optional<Window> window = window_over(attributes, from, Extents(attributes.kernel));
  if (!window || !std::ranges::equal(result_extents(*window, from, source[1]).values(), result.extents())) {
    return std::nullopt;
  }
  pool.window = *window;
  if (!has_taps(pool.down()) || !has_taps(pool.across())) return std::nullopt;
  pool.columns = columns_of(pool.across());
  return pool;
}

std::optional<BlockPool> lowered_block_pool(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const std::optional<Format> format = from_string<Format>(text_attribute(node, kFormatAttribute, ""));
  const std::int64_t channels = integer_attribute(node, kChannelsAttribute, 0);
  if (!format || block_of(*format) == 1 || !has_known_images(graph, node)) return std::nullopt;
  const Shape& stored = graph.tensor(*node.inputs[0]).shape;
  const std::optional<Shape> source = model_shape(*format, stored, channels);
  const std::optional<Shape> result = model_shape(*format, graph.tensor(*node.outputs[0]).shape, channels);
  if (!source || !result) return std::nullopt;
  std::optional<BlockPool> pool = block_pool(node, graph.op(id).type, *source, *result);
  if (!pool) return std::nullopt;
  pool->lanes = block_of(*format);
  pool->blocks = stored[0] * stored[1];
  return pool;
}

constexpr std::array kBlockPoolTypes{DType::f32};
constexpr std::array kBlockPools{SupportedOperator{kOwnDomain, kAveragePoolType, kBlockPoolTypes},
                                 SupportedOperator{kOwnDomain, kGlobalAveragePoolType, kBlockPoolTypes},
                                 SupportedOperator{kOwnDomain, kMaxPoolType, kBlockPoolTypes}};

Offer offer_block_pool(const OfferInput& input) {
  if (!lowered_block_pool(input.graph, input.node)) {
    return {{}, "its attributes do not describe a pool of its tensors"};
  }
  return {{Kernel{.name = "blocks.pool"}}, ""};
}

Result<std::unique_ptr<PreparedKernel>> prepare_block_pool(const PrepareInput& input) {
  return plain_kernel(input, &run_pool_in_blocks, lowered_block_pool(input.graph, input.node).value());
}

}  // namespace

Family block_pool_family() {
  return {
      .name = "pools in blocks", .operators = kBlockPools, .offer = &offer_block_pool, .prepare = &prepare_block_pool};
}

std::optional<FormatOption> pool_option(const Graph& graph, NodeId id, Format format) {
  const Node& node = graph.node(id);
  if (!has_known_images(graph, node)) return std::nullopt;
  const std::optional<BlockPool> pool =
      block_pool(node, graph.op(id).type, graph.tensor(*node.inputs[0]).shape, graph.tensor(*node.outputs[0]).shape);
  if (!pool) return std::nullopt;
  return FormatOption{format, format, seconds_of(graph, id), std::nullopt};
}

}  // namespace lowtide::kernels_internal
