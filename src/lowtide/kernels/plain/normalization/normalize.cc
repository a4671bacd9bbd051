// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/normalization/normalize.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/strided_index.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/common/vector_clones.h"
#include "lowtide/kernels/plain/normalization/moments.h"
#include "lowtide/kernels/plain/normalization/wide_normalize.h"
#include "lowtide/target/formats.h"

namespace lowtide::kernels_internal {
namespace {

// y = x * factor + offset
struct Affine {
  float factor = 1;
  float offset = 0;
  void apply(const float* x, std::int64_t count, float* y) const {
    for (std::int64_t at = 0; at < count; ++at) y[at] = x[at] * factor + offset;
  }
};
Affine normalizing(double mean, double variance, double epsilon, std::array<float, 2> scale_and_bias) {
  const double factor = static_cast<double>(scale_and_bias[0]) / std::sqrt(variance + epsilon);
  return {static_cast<float>(factor), static_cast<float>(static_cast<double>(scale_and_bias[1]) - mean * factor)};
}

constexpr std::size_t kMostLanes = 16;  // channels of a block

bool has_count(const BoundTensor& operand, std::int64_t count) { return count_of(operand) == count; }

struct BatchParameters {
  double epsilon = 1e-5;
  double momentum = 0.9;
  bool is_training = false;
};

// Replaces mean and variance by those of the batch, and returns the latter.
std::array<double, 2> train_channel(const BatchParameters& parameters, const Operands& operands, std::int64_t channel,
                                    const Channels& of) {
  const float* x = elements<float>(operands.reads[0]) + channel * of.plane;
  Moments moments{.shift = of.batch * of.plane > 0 ? static_cast<double>(*x) : 0};
  for (std::int64_t batch = 0; batch < of.batch; ++batch) moments.add(x + batch * of.channels * of.plane, of.plane);
  const std::array<double, 2> current{moments.mean(), moments.variance()};
  for (std::size_t at = 0; at < 2; ++at) {
    if (!has_operand(operands.writes, 1 + at)) continue;
    const auto before = static_cast<double>(elements<float>(operands.reads[3 + at])[channel]);
    mutable_elements<float>(operands.writes[1 + at])[channel] =
        static_cast<float>(before * parameters.momentum + current[at] * (1 - parameters.momentum));
  }
  return current;
}

RunStatus run_batch(const BatchParameters& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  const Channels of = channels_of(from);
  for (std::uint32_t at = 1; at < 5; ++at) {
    if (!has_count(operands.reads[at], of.channels)) return {RunCode::bad_extents, at};
  }
  for (std::size_t at = 0; at < operands.writes.size(); ++at) {
    if (!is_present(operands.writes[at])) continue;
    const RunStatus status = set_extents(operands.writes[at], at == 0 ? from : Extents{of.channels});
    if (status.code != RunCode::ok) return status;
  }
  const auto given = [&](std::size_t at, std::int64_t channel) { return elements<float>(operands.reads[at])[channel]; };
  for (std::int64_t channel = 0; channel < of.channels; ++channel) {
    std::array<double, 2> moments{static_cast<double>(given(3, channel)), static_cast<double>(given(4, channel))};
    if (parameters.is_training) moments = train_channel(parameters, operands, channel, of);
    const Affine line = normalizing(moments[0], moments[1], parameters.epsilon, {given(1, channel), given(2, channel)});
    for (std::int64_t batch = 0; batch < of.batch; ++batch) {
      const std::int64_t begin = (batch * of.channels + channel) * of.plane;
      line.apply(elements<float>(operands.reads[0]) + begin, of.plane,
                 mutable_elements<float>(operands.writes[0]) + begin);
    }
  }
  return {};
}

bool is_wide(const PrepareInput& input) { return computed_type(input.graph, node_of(input), 0) == DType::f64; }

PreparedResult prepare_batch(const PrepareInput& input) {
  const Node& node = node_of(input);
  if (is_wide(input)) return prepare_wide_batch(input);
  return plain_kernel(input, &run_batch,
                      BatchParameters{number_attribute(node, "epsilon", 1e-5), number_attribute(node, "momentum", 0.9),
                                      integer_attribute(node, "training_mode", 0) != 0});
}

std::string missing_batch(const Graph& graph, const Node& node) {
  if (computed_type(graph, node, 0) == DType::f64) {
    std::string missing = missing_wide_batch(node);
    if (!missing.empty()) return missing;
  }
  const bool is_old = integer_attribute(node, kSinceAttribute, 14) < 14;
  if (is_old && node.outputs.size() > 1) return "no kernel trains as opset 13 and older do";
  return integer_attribute(node, "spatial", 1) != 0 ? "" : "no kernel has attribute 'spatial' = 0";
}

struct ChannelBlocks {
  double epsilon = 1e-5;
  std::int64_t channels = 0;
};

// BatchNormalization of [N, blocks, ..., lanes]. Each channel has the line of the plain kernel, and lanes without a
// channel stay zero.
RunStatus run_channel_blocks(const ChannelBlocks& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  for (std::uint32_t at = 1; at < 5; ++at) {
    if (!has_count(operands.reads[at], parameters.channels)) return {RunCode::bad_extents, at};
  }
  if (const RunStatus status = set_extents(operands.writes[0], from); status.code != RunCode::ok) return status;
  const auto given = [&](std::size_t at, std::int64_t channel) {
    return static_cast<double>(elements<float>(operands.reads[at])[channel]);
  };
  const std::int64_t lanes = from[from.rank() - 1];
  const std::int64_t places = from.product(2, from.rank() - 1);
  for (std::int64_t block = 0; block < from[1]; ++block) {
    std::array<Affine, kMostLanes> lines{};
    const std::int64_t used = std::min(lanes, parameters.channels - block * lanes);
    for (std::int64_t lane = 0; lane < used; ++lane) {
      const std::int64_t channel = block * lanes + lane;
      lines[static_cast<std::size_t>(lane)] =
          normalizing(given(3, channel), given(4, channel), parameters.epsilon,
                      {static_cast<float>(given(1, channel)), static_cast<float>(given(2, channel))});
    }
    for (std::int64_t batch = 0; batch < from[0]; ++batch) {
      const std::int64_t begin = (batch * from[1] + block) * places * lanes;
      const float* x = elements<float>(operands.reads[0]) + begin;
      float* y = mutable_elements<float>(operands.writes[0]) + begin;
      for (std::int64_t place = 0; place < places; ++place, x += lanes, y += lanes) {
        for (std::int64_t lane = 0; lane < used; ++lane) {
          const Affine& line = lines[static_cast<std::size_t>(lane)];
          y[lane] = x[lane] * line.factor + line.offset;
        }
        std::fill(y + used, y + lanes, 0.0F);
      }
    }
  }
  return {};
}

PreparedResult prepare_blocks(const PrepareInput& input) {
  const Node& node = node_of(input);
  return plain_kernel(
      input, &run_channel_blocks,
      ChannelBlocks{number_attribute(node, "epsilon", 1e-5), integer_attribute(node, kChannelsAttribute, 0)});
}

std::string missing_blocks(const Graph& graph, const Node& node) {
  const std::optional<Format> format = from_string<Format>(text_attribute(node, kFormatAttribute, ""));
  const Shape& shape = graph.tensor(*node.inputs[0]).shape;
  const bool has_blocks = (format == Format::nchw16c || format == Format::nchw8c) &&
                          model_shape(*format, shape, integer_attribute(node, kChannelsAttribute, 0)).has_value();
  const bool is_inference = node.outputs.size() == 1 && integer_attribute(node, "training_mode", 0) == 0;
  return has_blocks && is_inference ? "" : "its attributes do not describe a norm of its tensors in inference";
}

struct GroupParameters {
  double epsilon = 1e-5;
  std::int64_t groups = 0;  // 0: each channel is a group
};

// Scale and bias are per channel, or per group in older opsets.
RunStatus run_group(const GroupParameters& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  if (from.rank() < 2) return {RunCode::bad_extents, 0};
  const Channels of = channels_of(from);
  const std::int64_t groups = parameters.groups == 0 ? of.channels : parameters.groups;
  if (groups < 0 || (groups == 0 ? of.channels != 0 : of.channels % groups != 0)) return {RunCode::bad_extents, 0};
  const bool is_per_channel = has_count(operands.reads[1], of.channels);
  for (std::uint32_t at = 1; at < 3; ++at) {
    if (!has_count(operands.reads[at], is_per_channel ? of.channels : groups)) return {RunCode::bad_extents, at};
  }
  if (const RunStatus status = set_extents(operands.writes[0], from); status.code != RunCode::ok) return status;
  const float* x = elements<float>(operands.reads[0]);
  float* y = mutable_elements<float>(operands.writes[0]);
  const std::int64_t per_group = groups == 0 ? 0 : of.channels / groups;
  for (std::int64_t group = 0; group < of.batch * groups; ++group) {
    const Moments moments = moments_of(x, per_group * of.plane);
    const double mean = moments.mean();
    const double variance = moments.variance();
    for (std::int64_t at = 0; at < per_group; ++at, x += of.plane, y += of.plane) {
      const std::int64_t entry = is_per_channel ? group % groups * per_group + at : group % groups;
      const std::array scale_and_bias{elements<float>(operands.reads[1])[entry],
                                      elements<float>(operands.reads[2])[entry]};
      normalizing(mean, variance, parameters.epsilon, scale_and_bias).apply(x, of.plane, y);
    }
  }
  return {};
}

PreparedResult prepare_group(const PrepareInput& input) {
  const Node& node = node_of(input);
  if (is_wide(input)) return prepare_wide_group(input);
  return plain_kernel(
      input, &run_group,
      GroupParameters{number_attribute(node, "epsilon", 1e-5), integer_attribute(node, "num_groups", 0)});
}

struct LayerParameters {
  double epsilon = 1e-5;
  std::int64_t axis = -1;
  bool subtracts_mean = true;  // false: RMSNormalization
};

// Scale or bias of rows.
struct RowOperand {
  const float* values = nullptr;  // nullptr: omitted
  bool is_row = false;            // the same row for all rows
  StridedIndex index;             // otherwise, over the whole operand

  [[nodiscard]] float at(std::int64_t row_begin, std::int64_t at) const {
    return values[is_row ? at : index.offset(row_begin + at)];
  }
};
std::optional<RowOperand> row_operand(const Operands& operands, std::size_t number, const Extents& from, int axis) {
  if (!has_operand(operands.reads, number)) return RowOperand{};
  const BoundTensor& operand = operands.reads[number];
  const std::optional<StridedIndex> index = broadcast_to(operand, from);
  if (!index) return std::nullopt;
  const bool is_row = std::ranges::equal(extents_of(operand), from.values().subspan(static_cast<std::size_t>(axis)));
  return RowOperand{elements<float>(operand), is_row, *index};
}

RunStatus set_layer_extents(const Operands& operands, const Extents& from, int axis) {
  Extents of_rows = from;
  for (int at = axis; at < from.rank(); ++at) of_rows[at] = 1;
  for (std::size_t at = 0; at < operands.writes.size(); ++at) {
    if (!is_present(operands.writes[at])) continue;
    const RunStatus status = set_extents(operands.writes[at], at == 0 ? from : of_rows);
    if (status.code != RunCode::ok) return status;
  }
  return {};
}

// y = (x - mean) * factor * scale + bias, where scale and bias have one value for each element.
LOWTIDE_VECTOR_CLONES void normalize_elements(const float* x, const std::array<double, 2>& mean_and_factor,
                                              const std::array<const float*, 2>& scale_and_bias, float* y,
                                              std::int64_t count) {
  const auto [mean, factor] = mean_and_factor;
  const auto [scale, bias] = scale_and_bias;
  if (bias == nullptr) {
    for (std::int64_t at = 0; at < count; ++at) {
      y[at] = static_cast<float>((static_cast<double>(x[at]) - mean) * factor) * scale[at];
    }
  } else {
    for (std::int64_t at = 0; at < count; ++at) {
      y[at] = static_cast<float>((static_cast<double>(x[at]) - mean) * factor) * scale[at] + bias[at];
    }
  }
}

// The rows of a normalization, each by itself.
struct LayerRows {
  const LayerParameters& parameters;
  const Operands& operands;
  const RowOperand& scale;
  const RowOperand& bias;
  std::int64_t count = 0;  // of elements in a row

  void run(std::int64_t row) const {
    const std::int64_t begin = row * count;
    const float* x = elements<float>(operands.reads[0]) + begin;
    float* y = mutable_elements<float>(operands.writes[0]) + begin;
    Moments moments = parameters.subtracts_mean ? moments_of(x, count) : Moments{};
    if (!parameters.subtracts_mean) moments.add(x, count);
    const double mean = parameters.subtracts_mean ? moments.mean() : 0;
    const double square =
        parameters.subtracts_mean ? moments.variance() : moments.sum_of_squares / static_cast<double>(count);
    const double factor = 1 / std::sqrt(square + parameters.epsilon);
    if (scale.is_row && (bias.is_row || bias.values == nullptr)) {
      normalize_elements(x, {mean, factor}, {scale.values, bias.values}, y, count);
    } else {
      for (std::int64_t at = 0; at < count; ++at) {
        const auto normal = static_cast<float>((static_cast<double>(x[at]) - mean) * factor);
        const float scaled = normal * scale.at(begin, at);
        y[at] = bias.values == nullptr ? scaled : scaled + bias.at(begin, at);
      }
    }
    if (has_operand(operands.writes, 1)) mutable_elements<float>(operands.writes[1])[row] = static_cast<float>(mean);
    if (has_operand(operands.writes, 2)) mutable_elements<float>(operands.writes[2])[row] = static_cast<float>(factor);
  }
};

RunStatus run_layer(const LayerParameters& parameters, const Operands& operands, Team& team) {
  const Extents from(extents_of(operands.reads[0]));
  const std::optional<int> axis = axis_in(parameters.axis, from.rank());
  if (!axis) return {RunCode::bad_extents, 0};
  const std::optional<RowOperand> scale = row_operand(operands, 1, from, *axis);
  const std::optional<RowOperand> bias = row_operand(operands, 2, from, *axis);
  if (!scale || !bias) return {RunCode::bad_extents, 1};
  if (const RunStatus status = set_layer_extents(operands, from, *axis); status.code != RunCode::ok) return status;
  const std::int64_t count = from.product(*axis, from.rank());
  const LayerRows rows{parameters, operands, *scale, *bias, count};
  const std::int64_t all = from.product(0, *axis);
  const RunCode code = run_in_parts(team, all, all * count, [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t row = first; row < end; ++row) rows.run(row);
    return RunCode::ok;
  });
  return {code, 0};
}

template <bool subtracts_mean>
PreparedResult prepare_layer(const PrepareInput& input) {
  const Node& node = node_of(input);
  if (is_wide(input)) return prepare_wide_layer(input);
  return plain_kernel(
      input, &run_layer,
      LayerParameters{number_attribute(node, "epsilon", 1e-5), integer_attribute(node, "axis", -1), subtracts_mean});
}

constexpr std::array kBlockTypes{DType::f32};

// Sorted by domain and type.
constexpr std::array kNormalizeTable{
    PlainOperator{.op = on_reals("BatchNormalization"),
                  .operands = 5,
                  .prepare = &prepare_batch,
                  .missing = &missing_batch,
                  .widens_half = true},
    PlainOperator{.op = on_reals("GroupNormalization"), .operands = 3, .prepare = &prepare_group, .widens_half = true},
    PlainOperator{
        .op = on_reals("InstanceNormalization"), .operands = 3, .prepare = &prepare_group, .widens_half = true},
    PlainOperator{
        .op = on_reals("LayerNormalization"), .operands = 2, .prepare = &prepare_layer<true>, .widens_half = true},
    PlainOperator{
        .op = on_reals("RMSNormalization"), .operands = 2, .prepare = &prepare_layer<false>, .widens_half = true},
    PlainOperator{.op = {kOwnDomain, kBatchNormalizationType, kBlockTypes},
                  .operands = 5,
                  .prepare = &prepare_blocks,
                  .missing = &missing_blocks},
};
constexpr std::array kNormalizeOperators = operators_of(kNormalizeTable);

}  // namespace

Family normalize_family() {
  return {.name = "normalize",
          .operators = kNormalizeOperators,
          .offer = [](const OfferInput& input) { return offer_from(kNormalizeTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kNormalizeTable, input); }};
}

}  // namespace lowtide::kernels_internal
