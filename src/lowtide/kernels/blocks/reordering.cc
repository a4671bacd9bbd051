// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/blocks/reordering.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "lowtide/base/enum_names.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/blocks/block_convolution.h"
#include "lowtide/kernels/blocks/block_matrix.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/target/formats.h"

namespace lowtide::kernels_internal {
namespace {

// Weights [results, channels, taps], with the channels of a group.
struct Packing {
  WeightsOrder order;
  std::int64_t results = 1;
  std::int64_t channels = 1;
  std::int64_t taps = 1;
  std::int64_t packed = 1;  // elements of the result

  // Where the weight of a result is for channel 0 and tap 0.
  [[nodiscard]] std::int64_t place_of(std::int64_t result) const {
    return result / order.lanes * elements_of_block(order, channels, taps) + result % order.lanes;
  }
  // How far from it the weight of a channel and a tap is.
  [[nodiscard]] std::int64_t step_of(std::int64_t channel, std::int64_t tap) const {
    const std::int64_t lanes = order.lanes;
    if (order.kind != TileKind::blocks) return (tap * channels + channel) * lanes;
    return ((channel / lanes * taps + tap) * lanes + channel % lanes) * lanes;
  }
};

RunStatus pack(const Packing& packing, const Operands& operands, Team& team) {
  const auto* from = reinterpret_cast<const float*>(*operands.reads[0].bytes);
  auto* to = reinterpret_cast<float*>(*operands.writes[0].bytes);
  const std::int64_t count = packing.results * packing.channels * packing.taps;
  if (count != packing.packed) std::fill_n(to, packing.packed, 0.0F);
  const RunCode code = run_in_parts(team, packing.results, count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t result = begin; result < end; ++result) {
      float* place = to + packing.place_of(result);
      const float* weights = from + result * packing.channels * packing.taps;
      for (std::int64_t channel = 0; channel < packing.channels; ++channel) {
        for (std::int64_t tap = 0; tap < packing.taps; ++tap) place[packing.step_of(channel, tap)] = *weights++;
      }
    }
    return RunCode::ok;
  });
  return {code, 0};
}

RunStatus pack_matrix(const BlockMatrix& matrix, const Operands& operands, Team& team) {
  const auto* from = reinterpret_cast<const float*>(*operands.reads[0].bytes);
  auto* to = reinterpret_cast<float*>(*operands.writes[0].bytes);
  const std::int64_t count = matrix.inner * matrix.columns;
  const RunCode code = run_in_parts(team, matrix.blocks(), count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t block = begin; block < end; ++block) matrix.pack(block, from, to);
    return RunCode::ok;
  });
  return {code, 0};
}

// A tensor [images, channels, places] that goes into blocks of channels or comes from them.
struct Blocking {
  bool is_into_blocks = true;
  std::int64_t lanes = 16;
  std::int64_t images = 1;
  std::int64_t channels = 1;
  std::int64_t places = 1;

  [[nodiscard]] std::int64_t blocks() const { return (channels + lanes - 1) / lanes; }
};

constexpr std::int64_t kPlacesAtOnce = 64;  // so that what is read and written stays in the first cache

// One block of channels of one image.
void reorder_block(const Blocking& blocking, std::int64_t at, const float* from, float* to) {
  const std::int64_t first = at % blocking.blocks() * blocking.lanes;
  const std::int64_t used = std::min(blocking.lanes, blocking.channels - first);
  const std::int64_t plain = (at / blocking.blocks() * blocking.channels + first) * blocking.places;
  const std::int64_t in_blocks = at * blocking.places * blocking.lanes;
  for (std::int64_t begin = 0; begin < blocking.places; begin += kPlacesAtOnce) {
    const std::int64_t end = std::min(begin + kPlacesAtOnce, blocking.places);
    for (std::int64_t lane = 0; lane < blocking.lanes; ++lane) {
      const std::int64_t plane = plain + lane * blocking.places;
      const std::int64_t column = in_blocks + lane;
      if (lane >= used) {
        for (std::int64_t i = begin; blocking.is_into_blocks && i < end; ++i) to[column + i * blocking.lanes] = 0;
      } else if (blocking.is_into_blocks) {
        for (std::int64_t i = begin; i < end; ++i) to[column + i * blocking.lanes] = from[plane + i];
      } else {
        for (std::int64_t i = begin; i < end; ++i) to[plane + i] = from[column + i * blocking.lanes];
      }
    }
  }
}

RunStatus reorder(const Blocking& blocking, const Operands& operands, Team& team) {
  const auto* from = reinterpret_cast<const float*>(*operands.reads[0].bytes);
  auto* to = reinterpret_cast<float*>(*operands.writes[0].bytes);
  const std::int64_t blocks = blocking.images * blocking.blocks();
  const RunCode code =
      run_in_parts(team, blocks, blocks * blocking.places * blocking.lanes, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t at = begin; at < end; ++at) reorder_block(blocking, at, from, to);
        return RunCode::ok;
      });
  return {code, 0};
}

bool is_dense_float(const Tensor& tensor) { return tensor.dtype == DType::f32 && !tensor.shape.has_upper_bounds(); }

std::optional<Packing> packing_of(const Node& node, const Tensor& source, const Tensor& result) {
  const auto* name = find_attribute<std::string>(node.attributes, kOrderAttribute);
  const auto* group = find_attribute<std::int64_t>(node.attributes, "group");
  const std::optional<WeightsOrder> order = weights_order(name == nullptr ? "" : *name);
  if (!order) return std::nullopt;
  Packing made{.order = *order};
  const std::optional<std::int64_t> elements = packed_elements(*order, source.shape, group == nullptr ? 1 : *group);
  if (!elements || result.shape != Shape({*elements})) return std::nullopt;
  made.results = source.shape[0];
  made.channels = source.shape[1];
  for (int axis = 2; axis < source.shape.rank(); ++axis) made.taps *= source.shape[axis];
  made.packed = *elements;
  return made;
}

std::optional<Blocking> blocking_of(const Node& node, const Tensor& source, const Tensor& result) {
  const auto format = [&](std::string_view name) {
    const auto* text = find_attribute<std::string>(node.attributes, name);
    return text == nullptr ? std::nullopt : from_string<Format>(*text);
  };
  const std::optional<Format> from = format(kInputFormatAttribute);
  const std::optional<Format> to = format(kOutputFormatAttribute);
  const auto* channels = find_attribute<std::int64_t>(node.attributes, kChannelsAttribute);
  if (!from || !to || channels == nullptr) return std::nullopt;
  if ((*from == Format::plain) == (*to == Format::plain)) return std::nullopt;
  const std::optional<Shape> model = model_shape(*from, source.shape, *channels);
  if (!model || model_shape(*to, result.shape, *channels) != model) return std::nullopt;
  const Format other = *from == Format::plain ? *to : *from;
  Blocking made{.is_into_blocks = *from == Format::plain,
                .lanes = other == Format::nhwc ? *channels : block_of(other),  // NHWC is one block of all channels
                .images = (*model)[0],
                .channels = *channels};
  for (int axis = 2; axis < model->rank(); ++axis) made.places *= (*model)[axis];
  return made;
}

using BlockReordering = std::variant<Packing, BlockMatrix, Blocking>;

std::optional<BlockReordering> parameters_of(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (node.inputs.size() != 1 || !node.inputs[0] || node.outputs.size() != 1 || !node.outputs[0]) return std::nullopt;
  const Tensor& source = graph.tensor(*node.inputs[0]);
  const Tensor& result = graph.tensor(*node.outputs[0]);
  if (!is_dense_float(source) || !is_dense_float(result)) return std::nullopt;
  if (graph.op(id).type != kPackType) return blocking_of(node, source, result);
  if (source.shape.rank() == 2) return packed_matrix(node, source.shape, result.shape);
  return packing_of(node, source, result);
}

constexpr std::array kBlockReorderingTypes{DType::f32};
constexpr std::array kBlockReorderings{SupportedOperator{kOwnDomain, kPackType, kBlockReorderingTypes},
                                       SupportedOperator{kOwnDomain, kReorderType, kBlockReorderingTypes}};

Offer offer_block_reordering(const OfferInput& input) {
  if (!parameters_of(input.graph, input.node))
    return {{}, "its attributes do not describe another order of its tensor"};
  const bool is_pack = input.graph.op(input.node).type == kPackType;
  return {{Kernel{.name = is_pack ? "blocks.pack" : "blocks.reorder"}}, ""};
}

Result<std::unique_ptr<PreparedKernel>> prepare_block_reordering(const PrepareInput& input) {
  const BlockReordering parameters = parameters_of(input.graph, input.node).value();
  if (const auto* packing = std::get_if<Packing>(&parameters)) return plain_kernel(input, &pack, *packing);
  if (const auto* matrix = std::get_if<BlockMatrix>(&parameters)) return plain_kernel(input, &pack_matrix, *matrix);
  return plain_kernel(input, &reorder, std::get<Blocking>(parameters));
}

}  // namespace

Family block_reordering_family() {
  return {.name = "reorderings into blocks",
          .operators = kBlockReorderings,
          .offer = &offer_block_reordering,
          .prepare = &prepare_block_reordering};
}

}  // namespace lowtide::kernels_internal
