// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/blocks/transpose.h"

#include <algorithm>
#include <array>
#include <cstring>
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

namespace lowtide::kernels_internal {
namespace {

using Order = std::vector<std::int64_t>;

// [images, blocks, places, lanes] and [images, places, channels].
struct BlockTranspose {
  bool is_into_blocks = false;
  std::int64_t lanes = 16;
  std::int64_t images = 1;
  std::int64_t channels = 1;
  std::int64_t places = 1;

  [[nodiscard]] std::int64_t blocks() const { return (channels + lanes - 1) / lanes; }
};

// Moves the lanes of one block for neighboring places. With a constant count, a place is a few instructions.
template <std::int64_t lanes>
void move_full_block(const BlockTranspose& transpose, const float* from, float* to, std::int64_t places) {
  const std::int64_t from_step = transpose.is_into_blocks ? transpose.channels : lanes;
  const std::int64_t to_step = transpose.is_into_blocks ? lanes : transpose.channels;
  for (std::int64_t at = 0; at < places; ++at, from += from_step, to += to_step) {
    std::memcpy(to, from, lanes * sizeof(float));
  }
}

void move_part_of_block(const BlockTranspose& transpose, const float* from, float* to, std::int64_t places) {
  const std::int64_t used = transpose.channels % transpose.lanes;
  const std::int64_t from_step = transpose.is_into_blocks ? transpose.channels : transpose.lanes;
  const std::int64_t to_step = transpose.is_into_blocks ? transpose.lanes : transpose.channels;
  for (std::int64_t at = 0; at < places; ++at, from += from_step, to += to_step) {
    std::copy_n(from, used, to);
    if (transpose.is_into_blocks) std::fill_n(to + used, transpose.lanes - used, 0.0F);
  }
}

// The places [begin, end) of one image.
void move_places(const BlockTranspose& transpose, const float* from, float* to, Interval<std::int64_t> of) {
  constexpr std::int64_t kPlacesOfPart = 16;  // so that a page of the tensor with channels last is read or written once
  for (std::int64_t begin = of.begin; begin < of.end; begin += kPlacesOfPart) {
    const std::int64_t count = std::min(kPlacesOfPart, of.end - begin);
    for (std::int64_t block = 0; block < transpose.blocks(); ++block) {
      const std::int64_t in_blocks = (block * transpose.places + begin) * transpose.lanes;
      const std::int64_t last = begin * transpose.channels + block * transpose.lanes;
      const float* const source = from + (transpose.is_into_blocks ? last : in_blocks);
      float* const result = to + (transpose.is_into_blocks ? in_blocks : last);
      const bool is_full = (block + 1) * transpose.lanes <= transpose.channels;
      const auto move = !is_full                ? &move_part_of_block
                        : transpose.lanes == 16 ? &move_full_block<16>
                                                : &move_full_block<8>;
      move(transpose, source, result, count);
    }
  }
}

RunStatus run_transpose_of_blocks(const BlockTranspose& transpose, const Operands& operands, Team& team) {
  const auto* from = reinterpret_cast<const float*>(*operands.reads[0].bytes);
  auto* to = reinterpret_cast<float*>(*operands.writes[0].bytes);
  const std::int64_t in_blocks = transpose.blocks() * transpose.places * transpose.lanes;
  const std::int64_t last = transpose.channels * transpose.places;
  const std::int64_t all = transpose.images * transpose.places;
  const RunCode code = run_in_parts(team, all, all * transpose.channels, [&](std::int64_t begin, std::int64_t end) {
    while (begin < end) {
      const std::int64_t image = begin / transpose.places;
      const std::int64_t first = begin % transpose.places;
      const std::int64_t count = std::min(end - begin, transpose.places - first);
      move_places(transpose, from + image * (transpose.is_into_blocks ? last : in_blocks),
                  to + image * (transpose.is_into_blocks ? in_blocks : last), {first, first + count});
      begin += count;
    }
    return RunCode::ok;
  });
  return {code, 0};
}

// The order of axes that puts the second one last, or with `is_back` the last one second.
Order order_of_channels(int rank, bool is_back) {
  Order order = is_back ? Order{0, rank - 1} : Order{0};
  for (int axis = is_back ? 1 : 2; axis < rank - (is_back ? 1 : 0); ++axis) order.push_back(axis);
  if (!is_back) order.push_back(1);
  return order;
}

// Given the shape whose second axis has the channels. nullopt: it is not that of an image, or the order is
// another one.
std::optional<BlockTranspose> transpose_of(const Node& node, const Shape& image, bool is_into_blocks) {
  const int rank = image.rank();
  const std::vector<std::int64_t>* order = integers_attribute(node, "perm");
  if ((rank != 3 && rank != 4) || order == nullptr || *order != order_of_channels(rank, is_into_blocks)) {
    return std::nullopt;
  }
  BlockTranspose made{.is_into_blocks = is_into_blocks, .images = image[0], .channels = image[1]};
  for (int axis = 2; axis < rank; ++axis) made.places *= image[axis];
  return made;
}

// A shape with the channels as the last axis.
Shape with_channels_last(const Shape& image) {
  std::vector<std::int64_t> extents;
  for (std::int64_t axis : order_of_channels(image.rank(), false)) extents.push_back(image[static_cast<int>(axis)]);
  return Shape(extents);
}

std::optional<BlockTranspose> lowered_transpose(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (node.inputs.size() != 1 || !node.inputs[0] || node.outputs.size() != 1 || !node.outputs[0]) return std::nullopt;
  const Tensor& source = graph.tensor(*node.inputs[0]);
  const Tensor& result = graph.tensor(*node.outputs[0]);
  const std::optional<Format> from = from_string<Format>(text_attribute(node, kInputFormatAttribute, ""));
  const std::optional<Format> to = from_string<Format>(text_attribute(node, kOutputFormatAttribute, ""));
  if (!from || !to || (*from == Format::plain) == (*to == Format::plain)) return std::nullopt;
  if (!has_exact_floats(source) || !has_exact_floats(result)) return std::nullopt;
  const bool is_into_blocks = *from == Format::plain;
  const Format format = is_into_blocks ? *to : *from;
  if (block_of(format) == 1) return std::nullopt;
  const std::int64_t channels = integer_attribute(node, kChannelsAttribute, 0);
  const std::optional<Shape> image = model_shape(format, (is_into_blocks ? result : source).shape, channels);
  if (!image) return std::nullopt;
  std::optional<BlockTranspose> made = transpose_of(node, *image, is_into_blocks);
  if (!made || (is_into_blocks ? source : result).shape != with_channels_last(*image)) return std::nullopt;
  made->lanes = block_of(format);
  return made;
}

constexpr std::array kBlockTransposeTypes{DType::f32};
constexpr std::array kBlockTransposes{SupportedOperator{kOwnDomain, kTransposeType, kBlockTransposeTypes}};

Offer offer_block_transpose(const OfferInput& input) {
  if (!lowered_transpose(input.graph, input.node)) {
    return {{}, "its attributes do not describe a transpose of its tensors"};
  }
  return {{Kernel{.name = "blocks.transpose"}}, ""};
}

Result<std::unique_ptr<PreparedKernel>> prepare_block_transpose(const PrepareInput& input) {
  return plain_kernel(input, &run_transpose_of_blocks, lowered_transpose(input.graph, input.node).value());
}

}  // namespace

Family block_transpose_family() {
  return {.name = "transposes of blocks",
          .operators = kBlockTransposes,
          .offer = &offer_block_transpose,
          .prepare = &prepare_block_transpose};
}

std::optional<FormatOption> transpose_option(const Graph& graph, NodeId id, Format format) {
  const Node& node = graph.node(id);
  const Tensor& source = graph.tensor(*node.inputs[0]);
  const Tensor& result = graph.tensor(*node.outputs[0]);
  if (!has_exact_floats(source) || !has_exact_floats(result)) return std::nullopt;
  for (const bool is_into_blocks : {false, true}) {
    const std::optional<BlockTranspose> made =
        transpose_of(node, (is_into_blocks ? result : source).shape, is_into_blocks);
    if (!made || made->places == 1 || made->channels == 1) continue;
    const double seconds = seconds_of(graph, id);
    return is_into_blocks ? FormatOption{Format::plain, format, seconds, std::nullopt}
                          : FormatOption{format, Format::plain, seconds, std::nullopt};
  }
  return std::nullopt;
}

}  // namespace lowtide::kernels_internal
