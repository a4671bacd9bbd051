// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/normalization/wide_normalize.h"

#include <cmath>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/strided_index.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/plain/normalization/moments.h"

namespace lowtide::kernels_internal {
namespace {

constexpr double kDefaultEpsilon = 1e-5F;  // attributes of ONNX are f32, and so are their default values

struct WideMoments {
  double mean = 0;
  double variance = 0;
};

WideMoments wide_moments(const double* x, std::int64_t count) {
  WideMoments moments;
  for (std::int64_t at = 0; at < count; ++at) moments.mean += x[at];
  moments.mean /= static_cast<double>(count);
  for (std::int64_t at = 0; at < count; ++at) {
    moments.variance += (x[at] - moments.mean) * (x[at] - moments.mean);
  }
  moments.variance /= static_cast<double>(count);
  return moments;
}

const double* doubles_of(const Operands& operands, std::size_t at) {
  return has_operand(operands.reads, at) ? elements<double>(operands.reads[at]) : nullptr;
}

struct WideBatch {
  double epsilon = kDefaultEpsilon;
};

RunStatus run_wide_batch(const WideBatch& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  const Channels of = channels_of(from);
  for (std::uint32_t at = 1; at < 5; ++at) {
    if (count_of(operands.reads[at]) != of.channels) return {RunCode::bad_extents, at};
  }
  if (const RunStatus status = set_extents(operands.writes[0], from); status.code != RunCode::ok) return status;
  const double* x = doubles_of(operands, 0);
  auto* y = mutable_elements<double>(operands.writes[0]);
  for (std::int64_t plane = 0; plane < of.batch * of.channels; ++plane, x += of.plane, y += of.plane) {
    const std::int64_t channel = plane % of.channels;
    const auto given = [&](std::size_t at) { return doubles_of(operands, at)[channel]; };
    const double factor = given(1) / std::sqrt(given(4) + parameters.epsilon);
    for (std::int64_t at = 0; at < of.plane; ++at) y[at] = (x[at] - given(3)) * factor + given(2);
  }
  return {};
}

struct WideGroup {
  double epsilon = kDefaultEpsilon;
  std::int64_t groups = 0;  // 0: each channel is a group
};

RunStatus run_wide_group(const WideGroup& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  if (from.rank() < 2) return {RunCode::bad_extents, 0};
  const Channels of = channels_of(from);
  const std::int64_t groups = parameters.groups == 0 ? of.channels : parameters.groups;
  if (groups < 0 || (groups == 0 ? of.channels != 0 : of.channels % groups != 0)) return {RunCode::bad_extents, 0};
  const bool is_per_channel = count_of(operands.reads[1]) == of.channels;
  for (std::uint32_t at = 1; at < 3; ++at) {
    if (count_of(operands.reads[at]) != (is_per_channel ? of.channels : groups)) return {RunCode::bad_extents, at};
  }
  if (const RunStatus status = set_extents(operands.writes[0], from); status.code != RunCode::ok) return status;
  const double* x = doubles_of(operands, 0);
  auto* y = mutable_elements<double>(operands.writes[0]);
  const std::int64_t per_group = groups == 0 ? 0 : of.channels / groups;
  for (std::int64_t group = 0; group < of.batch * groups; ++group) {
    const WideMoments moments = wide_moments(x, per_group * of.plane);
    const double factor = 1 / std::sqrt(moments.variance + parameters.epsilon);
    for (std::int64_t channel = 0; channel < per_group; ++channel, x += of.plane, y += of.plane) {
      const std::int64_t entry = is_per_channel ? group % groups * per_group + channel : group % groups;
      const double scale = doubles_of(operands, 1)[entry] * factor;
      const double bias = doubles_of(operands, 2)[entry];
      for (std::int64_t at = 0; at < of.plane; ++at) y[at] = (x[at] - moments.mean) * scale + bias;
    }
  }
  return {};
}

struct WideLayer {
  double epsilon = kDefaultEpsilon;
  std::int64_t axis = -1;
  bool subtracts_mean = true;  // false: RMSNormalization
};

// One row, with its scale and bias at the places that these indices give.
struct WideRow {
  const double* x = nullptr;
  double* y = nullptr;
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

// Returns the mean, and the factor of the differences from it.
WideMoments normalize_wide_row(const WideLayer& parameters, const Operands& operands, const WideRow& row,
                               std::span<const StridedIndex> places) {
  WideMoments moments = wide_moments(row.x, row.count);
  if (!parameters.subtracts_mean) moments = {0, moments.variance + moments.mean * moments.mean};
  const double factor = 1 / std::sqrt(moments.variance + parameters.epsilon);
  const double* const scale = doubles_of(operands, 1);
  const double* const bias = doubles_of(operands, 2);
  for (std::int64_t at = 0; at < row.count; ++at) {
    const double scaled = (row.x[at] - moments.mean) * factor * scale[places[0].offset(row.begin + at)];
    row.y[at] = bias == nullptr ? scaled : scaled + bias[places[1].offset(row.begin + at)];
  }
  return {moments.mean, factor};
}

RunStatus run_wide_layer(const WideLayer& parameters, const Operands& operands, Team& team) {
  const Extents from(extents_of(operands.reads[0]));
  const std::optional<int> axis = axis_in(parameters.axis, from.rank());
  if (!axis) return {RunCode::bad_extents, 0};
  std::array<StridedIndex, 2> places;
  for (std::uint32_t at = 1; at < 3; ++at) {
    if (!has_operand(operands.reads, at)) continue;
    const std::optional<StridedIndex> index = broadcast_to(operands.reads[at], from);
    if (!index) return {RunCode::bad_extents, at};
    places[at - 1] = *index;
  }
  Extents of_rows = from;
  for (int at = *axis; at < from.rank(); ++at) of_rows[at] = 1;
  for (std::size_t at = 0; at < operands.writes.size(); ++at) {
    if (!is_present(operands.writes[at])) continue;
    const RunStatus status = set_extents(operands.writes[at], at == 0 ? from : of_rows);
    if (status.code != RunCode::ok) return status;
  }
  const std::int64_t count = from.product(*axis, from.rank());
  const std::int64_t all = from.product(0, *axis);
  run_in_parts(team, all, all * count, [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t row = first; row < end; ++row) {
      const WideRow own{doubles_of(operands, 0) + row * count,
                        mutable_elements<double>(operands.writes[0]) + row * count, row * count, count};
      const auto [mean, factor] = normalize_wide_row(parameters, operands, own, places);
      if (has_operand(operands.writes, 1)) mutable_elements<double>(operands.writes[1])[row] = mean;
      if (has_operand(operands.writes, 2)) mutable_elements<double>(operands.writes[2])[row] = factor;
    }
    return RunCode::ok;
  });
  return {};
}

}  // namespace

std::string missing_wide_batch(const Node& node) {
  const bool trains = integer_attribute(node, "training_mode", 0) != 0 || node.outputs.size() > 1;
  return trains ? "no kernel trains with f64" : "";
}

PreparedResult prepare_wide_batch(const PrepareInput& input) {
  return plain_kernel(input, &run_wide_batch, WideBatch{number_attribute(node_of(input), "epsilon", kDefaultEpsilon)});
}

PreparedResult prepare_wide_group(const PrepareInput& input) {
  const Node& node = node_of(input);
  return plain_kernel(
      input, &run_wide_group,
      WideGroup{number_attribute(node, "epsilon", kDefaultEpsilon), integer_attribute(node, "num_groups", 0)});
}

PreparedResult prepare_wide_layer(const PrepareInput& input) {
  const Node& node = node_of(input);
  return plain_kernel(input, &run_wide_layer,
                      WideLayer{number_attribute(node, "epsilon", kDefaultEpsilon), integer_attribute(node, "axis", -1),
                                input.graph.op(input.node).type == "LayerNormalization"});
}

}  // namespace lowtide::kernels_internal
