// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <numeric>

#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/resized_extent.h"
#include "lowtide/kernels/extents/rules_of_kinds.h"

namespace lowtide::kernels_internal {
namespace {

// The axes that are resized. nullopt: one is outside of the operand.
std::optional<std::vector<std::size_t>> resized_axes(const NodeFacts& facts, std::size_t rank) {
  std::vector<std::size_t> axes(rank);
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  const auto* given = integers_attribute(facts.node(), "axes");
  if (given == nullptr || given->empty()) return axes;
  axes.clear();
  for (std::int64_t value : *given) {
    const std::optional<std::size_t> axis = axis_of_rank(value, rank);
    if (!axis) return std::nullopt;
    axes.push_back(*axis);
  }
  return axes;
}

// Multiplies by scales, rounded down. False: a scale is not positive, or too large.
bool scale_axes(KnownExtents& to, const std::vector<std::size_t>& axes, const std::vector<double>& scales) {
  for (std::size_t at = 0; at < axes.size(); ++at) {
    KnownExtent& extent = to[axes[at]];
    const KnownExtent scaled = scaled_extent(extent.value_or(0), scales[at]);
    if (!scaled) return false;
    if (extent) extent = scaled;
  }
  return true;
}

// Sets sizes, or with a policy the nearest ones of one scale.
bool set_sizes(KnownExtents& to, const std::vector<std::size_t>& axes, const std::vector<std::int64_t>& sizes,
               AspectRatio aspect) {
  CommonScale common(aspect);
  bool is_known = true;
  for (std::size_t at = 0; at < axes.size(); ++at) {
    const KnownExtent& extent = to[axes[at]];
    const std::optional<double> scale = scale_to(extent.value_or(1), sizes[at]);
    if (!scale) return false;
    common.add(*scale);
    is_known = is_known && extent;
  }
  for (std::size_t at = 0; at < axes.size(); ++at) {
    KnownExtent& extent = to[axes[at]];
    if (aspect == AspectRatio::stretch) {
      extent = sizes[at];
    } else if (is_known) {
      extent = common.extent(*extent);
      if (!extent) return false;
    } else {
      extent.reset();
    }
  }
  return true;
}

AspectRatio aspect_ratio(const NodeFacts& facts) {
  const std::string policy = text_attribute(facts.node(), "keep_aspect_ratio_policy", "");
  if (policy == "not_larger") return AspectRatio::not_larger;
  return policy == "not_smaller" ? AspectRatio::not_smaller : AspectRatio::stretch;
}

}  // namespace

Expected expect_resize(const NodeFacts& facts) {
  KnownExtents to = facts.extents(0);
  const auto axes = resized_axes(facts, to.size());
  if (!axes) return misfit(facts, 0, "the axes of the node");
  const bool is_old = facts.type() == "Upsample" || integer_attribute(facts.node(), kSinceAttribute, 11) < 11;
  const std::size_t scales_at = is_old ? 1 : 2;
  const auto count = static_cast<std::int64_t>(axes->size());
  const auto* attribute = find_attribute<std::vector<double>>(facts.node().attributes, "scales");
  if (attribute != nullptr && attribute->empty()) attribute = nullptr;
  const bool has_scales = facts.has(scales_at) && facts.count(scales_at) == count;
  const bool has_sizes = !has_scales && facts.has(3) && facts.count(3) == count;
  if (attribute == nullptr && !has_scales && !has_sizes) {
    // Only a run knows how many there are.
    const bool is_open = (facts.has(scales_at) && !facts.count(scales_at)) || (facts.has(3) && !facts.count(3));
    return is_open ? expect_rank(to.size()) : contradiction("there is no scale and no size for each axis");
  }
  bool is_valid = true;
  if (has_sizes && attribute == nullptr) {
    const auto sizes = facts.integers(3);
    if (!sizes) return expect_rank(to.size());
    is_valid = set_sizes(to, *axes, *sizes, aspect_ratio(facts));
  } else if (attribute != nullptr) {
    is_valid = attribute->size() == axes->size() && scale_axes(to, *axes, *attribute);
  } else {
    const auto scales = facts.floats(scales_at);
    if (!scales) return expect_rank(to.size());
    is_valid = scale_axes(to, *axes, std::vector<double>(scales->begin(), scales->end()));
  }
  return is_valid ? expect(std::move(to)) : misfit(facts, 0, "extents for the scales or sizes of the node");
}

Expected expect_grid_sample(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  const KnownExtents grid = facts.extents(1);
  if (from.size() < 3) return misfit(facts, 0, "batches, channels and a spatial axis");
  const auto spatial = static_cast<std::int64_t>(from.size()) - 2;
  const bool agrees = grid.size() == from.size() && may_equal(grid[0], from[0]) && may_equal(grid.back(), spatial);
  if (!agrees) return misfit(facts, 1, "a place per element of the result");
  KnownExtents to{from[0], from[1]};
  to.insert(to.end(), grid.begin() + 1, grid.end() - 1);
  return expect(std::move(to));
}

Expected expect_affine_grid(const NodeFacts& facts) {
  const KnownExtents theta = facts.extents(0);
  const bool is_matrix =
      theta.size() == 3 && (theta[1] == 2 || theta[1] == 3 || !theta[1]) && may_equal(theta[2], sum_of(theta[1], 1));
  if (!is_matrix) return misfit(facts, 0, "the extents [batches,2,3] or [batches,3,4]");
  if (!may_equal(facts.count(1), sum_of(theta[1], 2))) return misfit(facts, 1, "the extents of an image");
  if (!theta[1]) return expect_anything();
  const auto axes = static_cast<std::size_t>(*theta[1]);
  const std::optional<std::vector<std::int64_t>> size = facts.integers(1);
  KnownExtents to{theta[0]};
  for (std::size_t axis = 0; axis < axes; ++axis) to.push_back(size ? KnownExtent((*size)[2 + axis]) : std::nullopt);
  to.push_back(theta[1]);
  return expect(std::move(to));
}

Expected expect_roi_align(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  const KnownExtents boxes = facts.extents(1);
  if (from.size() != 4) return misfit(facts, 0, "four axes");
  if (boxes.size() != 2 || !may_equal(boxes[1], 4)) return misfit(facts, 1, "the extents [boxes,4]");
  if (!may_equal(facts.count(2), boxes[0])) return misfit(facts, 2, "one image per box");
  return expect(KnownExtents{boxes[0], from[1], integer_attribute(facts.node(), "output_height", 1),
                             integer_attribute(facts.node(), "output_width", 1)});
}

}  // namespace lowtide::kernels_internal
