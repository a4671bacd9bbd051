// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/blocks/concat.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/blocks/exact_floats.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/seconds_of.h"
#include "lowtide/kernels/common/team_parts.h"

namespace lowtide::kernels_internal {
namespace {

constexpr int kMostLanesOfBlock = 16;

// Neighboring lanes of a block of the result that have the same source block.
//
//   Two operands of 20 channels, 16 lanes: block 1 of the result is lanes 0 to 3 of block 1 of the first operand, and
//   then lanes 0 to 11 of block 0 of the second.
struct LaneRun {
  static constexpr std::size_t kZeros = static_cast<std::size_t>(-1);
  std::size_t operand = kZeros;  // kZeros: lanes without a channel
  std::int64_t block = 0;        // of an image of the operand
  std::int64_t from = 0;         // the first lane there
  std::int64_t to = 0;           // the first lane in the result
  std::int64_t lanes = 0;
};

struct BlockConcat {
  std::int64_t lanes = 16;
  std::int64_t images = 1;
  std::int64_t places = 1;
  std::vector<std::int64_t> blocks;        // of an image, for each operand
  std::vector<std::vector<LaneRun>> runs;  // for each block of an image of the result
};

// Copies `count` lanes of neighboring places. With a constant count, each copy is a few instructions.
template <std::size_t count>
void copy_run(const float* from, float* to, std::int64_t places, std::int64_t step) {
  for (std::int64_t at = 0; at < places; ++at) std::memcpy(to + at * step, from + at * step, count * sizeof(float));
}
using CopyRun = void (*)(const float* from, float* to, std::int64_t places, std::int64_t step);

template <std::size_t... counts>
constexpr std::array<CopyRun, sizeof...(counts)> copies_of_lanes(std::index_sequence<counts...> /*counts*/) {
  return {&copy_run<counts + 1>...};
}
constexpr auto kCopies = copies_of_lanes(std::make_index_sequence<kMostLanesOfBlock>());

constexpr std::int64_t kPlacesInTurn = 64;  // so that a line of the result is in the first cache until it is complete

void write_block(const BlockConcat& concat, std::int64_t at, std::span<const BoundTensor> reads, float* result) {
  const auto blocks = static_cast<std::int64_t>(concat.runs.size());
  const std::int64_t image = at / blocks;
  float* const to = result + at * concat.places * concat.lanes;
  for (std::int64_t begin = 0; begin < concat.places; begin += kPlacesInTurn) {
    const std::int64_t count = std::min(kPlacesInTurn, concat.places - begin);
    for (const LaneRun& run : concat.runs[static_cast<std::size_t>(at % blocks)]) {
      float* const lanes = to + begin * concat.lanes + run.to;
      if (run.operand == LaneRun::kZeros) {
        for (std::int64_t i = 0; i < count; ++i) std::fill_n(lanes + i * concat.lanes, run.lanes, 0.0F);
        continue;
      }
      const std::int64_t block = image * concat.blocks[run.operand] + run.block;
      const float* const from = reinterpret_cast<const float*>(*reads[run.operand].bytes) +
                                (block * concat.places + begin) * concat.lanes + run.from;
      kCopies[static_cast<std::size_t>(run.lanes) - 1](from, lanes, count, concat.lanes);
    }
  }
}

RunStatus run_concat_of_blocks(const BlockConcat& concat, const Operands& operands, Team& team) {
  auto* const result = reinterpret_cast<float*>(*operands.writes[0].bytes);
  const std::int64_t blocks = concat.images * static_cast<std::int64_t>(concat.runs.size());
  const std::int64_t elements = blocks * concat.places * concat.lanes;
  const RunCode code = run_in_parts(team, blocks, elements, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; ++at) write_block(concat, at, operands.reads, result);
    return RunCode::ok;
  });
  return {code, 0};
}

// The runs of lanes of all blocks of the result, in order.
std::vector<std::vector<LaneRun>> lane_runs(const std::vector<std::int64_t>& channels, std::int64_t lanes) {
  std::vector<std::vector<LaneRun>> blocks;
  std::int64_t used = lanes;  // of the last block
  const auto add = [&](std::size_t operand, std::int64_t first, std::int64_t count) {
    while (count > 0) {
      if (used == lanes) {
        blocks.emplace_back();
        used = 0;
      }
      const std::int64_t from = operand == LaneRun::kZeros ? 0 : first % lanes;
      const std::int64_t taken = std::min({count, lanes - used, lanes - from});
      blocks.back().push_back({.operand = operand, .block = first / lanes, .from = from, .to = used, .lanes = taken});
      used += taken;
      first += taken;
      count -= taken;
    }
  };
  for (std::size_t operand = 0; operand < channels.size(); ++operand) add(operand, 0, channels[operand]);
  add(LaneRun::kZeros, 0, lanes - used);
  return blocks;
}

// Whether two shapes differ at most in their channels.
bool has_images_of(const Shape& shape, const Shape& other) {
  if (shape.rank() != other.rank()) return false;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (axis != 1 && shape[axis] != other[axis]) return false;
  }
  return true;
}

// Given the channels of the operands, whose shapes are those of a format.
std::optional<BlockConcat> block_concat(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const std::optional<Format> format = from_string<Format>(text_attribute(node, kFormatAttribute, ""));
  const auto* channels = find_attribute<std::vector<std::int64_t>>(node.attributes, kChannelsAttribute);
  if (!format || block_of(*format) == 1 || channels == nullptr || channels->size() != node.inputs.size()) {
    return std::nullopt;
  }
  if (node.outputs.size() != 1 || !node.outputs[0] || !has_exact_floats(graph.tensor(*node.outputs[0]))) {
    return std::nullopt;
  }
  const Shape& result = graph.tensor(*node.outputs[0]).shape;
  BlockConcat made{.lanes = block_of(*format), .images = result[0], .blocks = {}, .runs = {}};
  for (std::size_t at = 0; at < channels->size(); ++at) {
    if (!node.inputs[at] || !has_exact_floats(graph.tensor(*node.inputs[at]))) return std::nullopt;
    const Shape& operand = graph.tensor(*node.inputs[at]).shape;
    if (!model_shape(*format, operand, (*channels)[at]) || !has_images_of(operand, result)) return std::nullopt;
    made.blocks.push_back(operand[1]);
  }
  // Each operand has as many channels as its blocks hold, so the sum of all is far from an overflow.
  made.runs = lane_runs(*channels, made.lanes);
  if (std::cmp_not_equal(made.runs.size(), result[1])) return std::nullopt;
  for (int axis = 2; axis + 1 < result.rank(); ++axis) made.places *= result[axis];
  return made;
}

constexpr std::array kBlockConcatTypes{DType::f32};
constexpr std::array kBlockConcats{SupportedOperator{kOwnDomain, kConcatType, kBlockConcatTypes}};

Offer offer_block_concat(const OfferInput& input) {
  if (!block_concat(input.graph, input.node)) {
    return {{}, "its attributes do not describe a concat of the channels of its tensors"};
  }
  return {{Kernel{.name = "blocks.concat"}}, ""};
}

Result<std::unique_ptr<PreparedKernel>> prepare_block_concat(const PrepareInput& input) {
  return plain_kernel(input, &run_concat_of_blocks, block_concat(input.graph, input.node).value());
}

}  // namespace

Family block_concat_family() {
  return {.name = "concats in blocks",
          .operators = kBlockConcats,
          .offer = &offer_block_concat,
          .prepare = &prepare_block_concat};
}

std::optional<FormatOption> concat_option(const Graph& graph, NodeId id, Format format) {
  const Node& node = graph.node(id);
  const auto is_image = [&](const std::optional<TensorId>& tensor) {
    if (!tensor || !has_exact_floats(graph.tensor(*tensor))) return false;
    const int rank = graph.tensor(*tensor).shape.rank();
    return rank == 3 || rank == 4;
  };
  if (!std::ranges::all_of(node.inputs, is_image) || !std::ranges::all_of(node.outputs, is_image)) return std::nullopt;
  const int rank = graph.tensor(*node.outputs[0]).shape.rank();
  const std::int64_t axis = integer_attribute(node, "axis", 0);
  if (axis != 1 && axis != 1 - rank) return std::nullopt;
  const bool fills_blocks = std::ranges::all_of(node.inputs, [&](const std::optional<TensorId>& input) {
    return graph.tensor(*input).shape[1] % block_of(format) == 0;
  });
  if (fills_blocks) return std::nullopt;
  return FormatOption{format, format, seconds_of(graph, id), std::nullopt};
}

}  // namespace lowtide::kernels_internal
