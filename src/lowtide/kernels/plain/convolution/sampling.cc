// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/convolution/sampling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/strided_index.h"
#include "lowtide/kernels/plain/windows/transposed_window.h"

namespace lowtide::kernels_internal {
namespace {

// Calls visit(tap, position in the operand, position in the result), all of them row-major, for each tap of each result
// that is within the operand.
template <typename Visit>
void visit_pairs(const Window& window, Visit visit) {
  const auto& [depth, height, width] = window.axes;
  std::int64_t tap = 0;
  for (std::int64_t tap_d = 0; tap_d < depth.kernel; ++tap_d) {
    for (std::int64_t tap_h = 0; tap_h < height.kernel; ++tap_h) {
      for (std::int64_t tap_w = 0; tap_w < width.kernel; ++tap_w, ++tap) {
        for (std::int64_t result = 0; result < window.out_count(); ++result) {
          const std::int64_t d = depth.position(result / width.out / height.out, tap_d);
          const std::int64_t h = height.position(result / width.out % height.out, tap_h);
          const std::int64_t w = width.position(result % width.out, tap_w);
          const bool is_inside = d >= 0 && d < depth.in && h >= 0 && h < height.in && w >= 0 && w < width.in;
          if (is_inside) visit(tap, (d * height.in + h) * width.in + w, result);
        }
      }
    }
  }
}

struct SamplingParameters {
  WindowAttributes window;
  std::int64_t groups = 1;
  std::int64_t offset_groups = 1;
};

// Adds columns [N, C * taps, positions] to images [N, C, spatial...].
RunStatus run_col2im(const SamplingParameters& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  const std::optional<Extents> image = integers_of(operands.reads[1]);
  const std::optional<Extents> block = integers_of(operands.reads[2]);
  if (from.rank() != 3 || !image || !block || image->rank() > static_cast<int>(kMostSpatial)) {
    return {RunCode::bad_extents, 1};
  }
  const bool has_axes = std::ranges::all_of(image->values(), [](std::int64_t extent) { return extent >= 0; }) &&
                        std::ranges::all_of(block->values(), [](std::int64_t extent) { return extent > 0; });
  const std::int64_t taps = has_axes ? block->count() : 0;
  if (taps == 0 || from[1] % taps != 0) return {RunCode::bad_extents, 2};
  Extents to{from[0], from[1] / taps};
  for (std::int64_t extent : image->values()) to.push_back(extent);
  const std::optional<Window> window = window_over(parameters.window, to, *block);
  if (!window || window->out_count() != from[2]) return {RunCode::bad_extents, 0};
  if (const RunStatus status = set_extents(operands.writes[0], to); status.code != RunCode::ok) return status;
  const float* x = elements<float>(operands.reads[0]);
  float* y = mutable_elements<float>(operands.writes[0]);
  std::fill_n(y, to.count(), 0.0F);
  for (std::int64_t plane = 0; plane < to[0] * to[1]; ++plane) {
    visit_pairs(*window, [&](std::int64_t tap, std::int64_t at, std::int64_t column) {
      y[plane * window->in_count() + at] += x[(plane * taps + tap) * from[2] + column];
    });
  }
  return {};
}

// The extents that a MaxPool with these attributes had as its operand.
std::optional<Extents> unpooled_extents(const WindowAttributes& window, const Extents& from) {
  const auto spatial = static_cast<std::size_t>(std::max(from.rank() - 2, 0));
  if (!has_unpool_axes(window, spatial)) return std::nullopt;
  Extents extents = from;
  for (std::size_t at = 0; at < spatial; ++at) {
    const int axis = static_cast<int>(at) + 2;
    const auto extent = unpooled_extent(window, spatial, at, from[axis]);
    if (!extent) return std::nullopt;
    extents[axis] = *extent;
  }
  return extents;
}

// An index counts in the extents that follow from the attributes. A given shape may be larger.
RunStatus run_unpool(const SamplingParameters& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  const std::optional<Extents> inferred = unpooled_extents(parameters.window, from);
  if (!inferred || count_of(operands.reads[1]) != from.count()) return {RunCode::bad_extents, 1};
  Extents to = *inferred;
  if (has_operand(operands.reads, 2)) {
    const std::optional<Extents> given = integers_of(operands.reads[2]);
    if (!given || given->rank() != to.rank()) return {RunCode::bad_extents, 2};
    for (int axis = 0; axis < to.rank(); ++axis) {
      if ((*given)[axis] < to[axis]) return {RunCode::bad_extents, 2};
    }
    to = *given;
  }
  if (const RunStatus status = set_extents(operands.writes[0], to); status.code != RunCode::ok) return status;
  const StridedIndex places{*inferred, dense_strides(to)};
  float* y = mutable_elements<float>(operands.writes[0]);
  std::fill_n(y, to.count(), 0.0F);
  for (std::int64_t at = 0; at < from.count(); ++at) {
    const std::int64_t index = elements<std::int64_t>(operands.reads[1])[at];
    if (index < 0 || index >= places.count()) return {RunCode::index_out_of_range, 1};
    y[places.offset(index)] = elements<float>(operands.reads[0])[at];
  }
  return {};
}

std::string missing_unpool(const Graph& graph, const Node& node) {
  return graph.tensor(*node.inputs[1]).dtype == DType::i64 ? "" : "the indices are not i64";
}
std::string missing_col2im(const Graph& graph, const Node& node) {
  const bool has_types = computed_type(graph, node, 1) == DType::i64 && computed_type(graph, node, 2) == DType::i64;
  return has_types ? "" : "the shapes of image and block are not i64";
}

// The value between four elements of a plane. Elements outside of the plane are 0.
float between(const float* plane, const WindowAxis& height, const WindowAxis& width, float y, float x) {
  const bool is_near = y > -1 && x > -1 && y < static_cast<float>(height.in) && x < static_cast<float>(width.in);
  if (!is_near) return 0;  // also for NaN
  const auto top = static_cast<std::int64_t>(std::floor(y));
  const auto left = static_cast<std::int64_t>(std::floor(x));
  const float down = y - static_cast<float>(top);
  const float right = x - static_cast<float>(left);
  const auto element = [&](std::int64_t row, std::int64_t column) {
    const bool is_inside = row >= 0 && row < height.in && column >= 0 && column < width.in;
    return is_inside ? plane[row * width.in + column] : 0.0F;
  };
  return (1 - down) * ((1 - right) * element(top, left) + right * element(top, left + 1)) +
         down * ((1 - right) * element(top + 1, left) + right * element(top + 1, left + 1));
}

// What one output channel of one image has.
struct DeformedPlane {
  const Window& window;
  const float* x = nullptr;        // the input channels of the group
  const float* w = nullptr;        // their taps
  const float* offsets = nullptr;  // [offset groups, taps, 2, positions]
  const float* mask = nullptr;     // [offset groups, taps, positions], or nullptr
  std::int64_t channels = 0;
  std::int64_t first_channel = 0;
  std::int64_t per_offset_group = 1;

  [[nodiscard]] float sum_at(std::int64_t position) const {
    const WindowAxis& height = window.axes[1];
    const WindowAxis& width = window.axes[2];
    const std::int64_t taps = height.kernel * width.kernel;
    const std::int64_t positions = window.out_count();
    float sum = 0;
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      const std::int64_t group = (first_channel + channel) / per_offset_group;
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        const float* offset = offsets + (group * taps + tap) * 2 * positions + position;
        const std::int64_t row = height.position(position / width.out, tap / width.kernel);
        const std::int64_t column = width.position(position % width.out, tap % width.kernel);
        const float value = between(x + channel * window.in_count(), height, width, static_cast<float>(row) + offset[0],
                                    static_cast<float>(column) + offset[positions]);
        const float masked = mask == nullptr ? value : value * mask[(group * taps + tap) * positions + position];
        sum += masked * w[channel * taps + tap];
      }
    }
    return sum;
  }
};

// Whether offsets and mask have the extents that the window and the groups need.
bool has_deformations(const Operands& operands, const Window& window, std::int64_t batch, std::int64_t groups) {
  const std::int64_t taps = window.axes[1].kernel * window.axes[2].kernel;
  const bool has_mask = has_operand(operands.reads, 4);
  return count_of(operands.reads[2]) == batch * groups * taps * 2 * window.out_count() &&
         (!has_mask || count_of(operands.reads[4]) == batch * groups * taps * window.out_count());
}

RunStatus run_deformed(const SamplingParameters& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  const Extents weights(extents_of(operands.reads[1]));
  if (from.rank() != 4 || weights.rank() != 4) return {RunCode::bad_extents, 0};
  const std::optional<Window> window = window_over(parameters.window, from, Extents(weights.values().subspan(2)));
  const std::int64_t groups = parameters.groups;
  const std::int64_t offset_groups = parameters.offset_groups;
  const bool agrees = window && groups >= 1 && offset_groups >= 1 && from[1] == weights[1] * groups &&
                      weights[0] % groups == 0 && from[1] % offset_groups == 0 &&
                      has_deformations(operands, *window, from[0], offset_groups);
  if (!agrees) return {RunCode::bad_extents, 2};
  const bool has_bias = has_operand(operands.reads, 3);
  if (has_bias && count_of(operands.reads[3]) != weights[0]) return {RunCode::bad_extents, 3};
  const RunStatus status = set_extents(operands.writes[0], result_extents(*window, from, weights[0]));
  if (status.code != RunCode::ok) return status;
  const std::int64_t taps = weights[2] * weights[3];
  DeformedPlane plane{.window = *window, .channels = weights[1], .per_offset_group = from[1] / offset_groups};
  float* y = mutable_elements<float>(operands.writes[0]);
  for (std::int64_t number = 0; number < from[0] * weights[0]; ++number) {
    const std::int64_t batch = number / weights[0];
    const std::int64_t out = number % weights[0];
    plane.first_channel = out / (weights[0] / groups) * weights[1];
    plane.x = elements<float>(operands.reads[0]) + (batch * from[1] + plane.first_channel) * window->in_count();
    plane.w = elements<float>(operands.reads[1]) + out * weights[1] * taps;
    plane.offsets = elements<float>(operands.reads[2]) + batch * offset_groups * taps * 2 * window->out_count();
    const bool has_mask = has_operand(operands.reads, 4);
    plane.mask =
        has_mask ? elements<float>(operands.reads[4]) + batch * offset_groups * taps * window->out_count() : nullptr;
    const float bias = has_bias ? elements<float>(operands.reads[3])[out] : 0;
    for (std::int64_t at = 0; at < window->out_count(); ++at) *y++ = bias + plane.sum_at(at);
  }
  return {};
}

template <PlainRun<SamplingParameters> run>
PreparedResult prepare_sampling(const PrepareInput& input) {
  const Node& node = node_of(input);
  return plain_kernel(input, run,
                      SamplingParameters{window_attributes(node), integer_attribute(node, "group", 1),
                                         integer_attribute(node, "offset_group", 1)});
}

// Sorted by type.
constexpr std::array kSamplingTable{
    PlainOperator{.op = on_floats("Col2Im"),
                  .operands = 3,
                  .prepare = &prepare_sampling<&run_col2im>,
                  .missing = &missing_col2im,
                  .widens_half = true},
    PlainOperator{
        .op = on_floats("DeformConv"), .operands = 3, .prepare = &prepare_sampling<&run_deformed>, .widens_half = true},
    PlainOperator{.op = on_floats("MaxUnpool"),
                  .operands = 2,
                  .prepare = &prepare_sampling<&run_unpool>,
                  .missing = &missing_unpool,
                  .widens_half = true},
};
constexpr std::array kSamplingOperators = operators_of(kSamplingTable);

}  // namespace

Family sampling_family() {
  return {.name = "sampling",
          .operators = kSamplingOperators,
          .offer = [](const OfferInput& input) { return offer_from(kSamplingTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kSamplingTable, input); }};
}

}  // namespace lowtide::kernels_internal
