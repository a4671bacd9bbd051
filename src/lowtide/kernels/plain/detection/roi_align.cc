// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/detection/roi_align.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"

namespace lowtide::kernels_internal {
namespace {

struct RegionParameters {
  std::int64_t height = 1;  // of the result
  std::int64_t width = 1;
  std::int64_t samples = 0;  // per axis of a bin; 0: one per element that it covers
  float scale = 1;
  bool takes_maximum = false;
  bool has_half_pixels = true;
};

// One axis of a region: `bins` bins of equal length, each with `samples` samples in equal distances.
struct RegionAxis {
  float start = 0;
  float bin = 1;
  std::int64_t samples = 0;
  std::int64_t extent = 1;  // of the feature map

  [[nodiscard]] float position(std::int64_t number, std::int64_t sample) const {
    return start + static_cast<float>(number) * bin +
           (static_cast<float>(sample) + 0.5F) * bin / static_cast<float>(samples);
  }
};

RegionAxis region_axis(const RegionParameters& parameters, float low, float high, std::int64_t bins,
                       std::int64_t extent) {
  const float offset = parameters.has_half_pixels ? 0.5F : 0.0F;
  const float start = low * parameters.scale - offset;
  float length = high * parameters.scale - offset - start;
  if (!parameters.has_half_pixels) length = std::max(length, 1.0F);
  RegionAxis axis{
      .start = start, .bin = length / static_cast<float>(bins), .samples = parameters.samples, .extent = extent};
  constexpr float kMostSamples = 1 << 16;  // more would take hours
  if (axis.samples == 0) axis.samples = static_cast<std::int64_t>(std::clamp(std::ceil(axis.bin), 0.0F, kMostSamples));
  return axis;
}

// The two elements around a position, with their weights. nullopt: it is outside of the feature map.
struct Neighbours {
  std::int64_t low = 0;
  std::int64_t high = 0;
  float to_high = 0;  // the weight of `high`
};
std::optional<Neighbours> neighbours(float position, std::int64_t extent) {
  if (!(position >= -1.0F && position <= static_cast<float>(extent))) return std::nullopt;  // also for NaN
  const float inside = std::max(position, 0.0F);
  const auto low = static_cast<std::int64_t>(inside);
  if (low >= extent - 1) return Neighbours{extent - 1, extent - 1, 0};
  return Neighbours{low, low + 1, inside - static_cast<float>(low)};
}

struct Bin {
  float sum = 0;
  float most = 0;
  bool has_most = false;
};

void add_sample(const float* plane, const RegionAxis& across, const std::optional<Neighbours>& y,
                const std::optional<Neighbours>& x, Bin& bin) {
  std::array<float, 4> parts{};
  if (y && x) {
    const auto at = [&](std::int64_t row, std::int64_t column) { return plane[row * across.extent + column]; };
    parts = {(1 - y->to_high) * (1 - x->to_high) * at(y->low, x->low),
             (1 - y->to_high) * x->to_high * at(y->low, x->high), y->to_high * (1 - x->to_high) * at(y->high, x->low),
             y->to_high * x->to_high * at(y->high, x->high)};
  }
  bin.sum += parts[0] + parts[1] + parts[2] + parts[3];
  const float most = *std::ranges::max_element(parts);
  bin.most = bin.has_most ? std::max(bin.most, most) : most;
  bin.has_most = true;
}

float bin_value(const RegionParameters& parameters, const float* plane, const RegionAxis& down,
                const RegionAxis& across, std::int64_t at) {
  Bin bin;
  for (std::int64_t row = 0; row < down.samples; ++row) {
    const std::optional<Neighbours> y = neighbours(down.position(at / parameters.width, row), down.extent);
    for (std::int64_t column = 0; column < across.samples; ++column) {
      add_sample(plane, across, y, neighbours(across.position(at % parameters.width, column), across.extent), bin);
    }
  }
  if (parameters.takes_maximum) return bin.most;
  return bin.sum / static_cast<float>(std::max<std::int64_t>(down.samples * across.samples, 1));
}

RunStatus run_roi_align(const RegionParameters& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  const Extents boxes(extents_of(operands.reads[1]));
  if (from.rank() != 4 || boxes.rank() != 2 || boxes[1] != 4 || count_of(operands.reads[2]) != boxes[0])
    return {RunCode::bad_extents, 1};
  const Extents to{boxes[0], from[1], parameters.height, parameters.width};
  if (const RunStatus status = set_extents(operands.writes[0], to); status.code != RunCode::ok) return status;
  if (to.count() > 0 && from[2] * from[3] == 0) return {RunCode::bad_extents, 0};
  auto* y = mutable_elements<float>(operands.writes[0]);
  for (std::int64_t box = 0; box < boxes[0]; ++box) {
    const float* corners = elements<float>(operands.reads[1]) + box * 4;
    const std::int64_t batch = elements<std::int64_t>(operands.reads[2])[box];
    if (batch < 0 || batch >= from[0]) return {RunCode::index_out_of_range, 2};
    const RegionAxis down = region_axis(parameters, corners[1], corners[3], parameters.height, from[2]);
    const RegionAxis across = region_axis(parameters, corners[0], corners[2], parameters.width, from[3]);
    for (std::int64_t channel = 0; channel < from[1]; ++channel) {
      const float* plane = elements<float>(operands.reads[0]) + (batch * from[1] + channel) * from[2] * from[3];
      for (std::int64_t at = 0; at < parameters.height * parameters.width; ++at)
        *y++ = bin_value(parameters, plane, down, across, at);
    }
  }
  return {};
}

PreparedResult prepare_roi_align(const PrepareInput& input) {
  const Node& node = node_of(input);
  const bool is_old = integer_attribute(node, kSinceAttribute, 0) != 0;
  const std::string_view usual = is_old ? "output_half_pixel" : "half_pixel";
  return plain_kernel(
      input, &run_roi_align,
      RegionParameters{integer_attribute(node, "output_height", 1), integer_attribute(node, "output_width", 1),
                       integer_attribute(node, "sampling_ratio", 0),
                       static_cast<float>(number_attribute(node, "spatial_scale", 1)),
                       text_attribute(node, "mode", "avg") == "max",
                       text_attribute(node, "coordinate_transformation_mode", usual) == "half_pixel"});
}

std::string missing_roi_align(const Graph& graph, const Node& node) {
  constexpr std::int64_t kMost = 1 << 16;
  for (const char* name : {"output_height", "output_width"}) {
    const std::int64_t extent = integer_attribute(node, name, 1);
    if (extent < 1 || extent > kMost) return "attribute '" + std::string(name) + "' is not between 1 and 65,536";
  }
  const std::int64_t samples = integer_attribute(node, "sampling_ratio", 0);
  if (samples < 0 || samples > kMost) return "attribute 'sampling_ratio' is not between 0 and 65,536";
  if (computed_type(graph, node, 1) != DType::f32) return "the regions are not f32, f16 or bf16";
  return computed_type(graph, node, 2) == DType::i64 ? "" : "the batch indices are not i64";
}

constexpr std::array kRegionTable{
    PlainOperator{.op = on_floats("RoiAlign"),
                  .operands = 3,
                  .prepare = &prepare_roi_align,
                  .missing = &missing_roi_align,
                  .widens_half = true},
};
constexpr std::array kRegionOperators = operators_of(kRegionTable);

}  // namespace

Family roi_align_family() {
  return {.name = "regions",
          .operators = kRegionOperators,
          .offer = [](const OfferInput& input) { return offer_from(kRegionTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kRegionTable, input); }};
}

}  // namespace lowtide::kernels_internal
