// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/bytes/slice_run.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace lowtide::verify_internal {
namespace {

using Integers = std::vector<std::int64_t>;

// The indices that are picked along one axis: start + k * step for each k < count.
struct Picked {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};

struct Bounds {
  const Integers* starts = nullptr;
  const Integers* ends = nullptr;
  const Integers* axes = nullptr;   // nullptr: 0, 1, 2, ...
  const Integers* steps = nullptr;  // nullptr: all 1
};

// Before opset 10 the bounds are attributes. Since then they are inputs. Returns nullopt if a given bound is not known.
std::optional<Bounds> bounds_of(const Graph& graph, const Node& node) {
  Bounds bounds;
  if (node.inputs.size() == 1) {
    bounds.starts = find_attribute<Integers>(node.attributes, "starts");
    bounds.ends = find_attribute<Integers>(node.attributes, "ends");
    bounds.axes = find_attribute<Integers>(node.attributes, "axes");
    return bounds.starts != nullptr && bounds.ends != nullptr ? std::optional(bounds) : std::nullopt;
  }
  const Integers** const slots[] = {&bounds.starts, &bounds.ends, &bounds.axes, &bounds.steps};
  for (std::size_t at = 1; at <= 4; ++at) {
    const bool is_given = at < node.inputs.size() && node.inputs[at];
    if (is_given) *slots[at - 1] = graph.known_integers(*node.inputs[at]);
    const bool is_needed = is_given || at <= 2;
    if (is_needed && *slots[at - 1] == nullptr) return std::nullopt;
  }
  return bounds;
}

// Follows the rule of NumPy and ONNX: a negative bound counts from the end, and bounds beyond the axis are clamped to
// it.
Picked pick(std::int64_t extent, std::int64_t start, std::int64_t end, std::int64_t step) {
  if (start < 0) start += extent;
  if (end < 0) end += extent;
  Picked picked{.start = 0, .step = step, .count = 0};
  if (step > 0) {
    start = std::clamp<std::int64_t>(start, 0, extent);
    end = std::clamp<std::int64_t>(end, 0, extent);
    if (start < end) picked.count = (end - start - 1) / step + 1;
  } else {
    start = std::clamp<std::int64_t>(start, 0, std::max<std::int64_t>(extent - 1, 0));
    end = std::clamp<std::int64_t>(end, -1, extent - 1);
    // Avoids -step, which overflows for the smallest step.
    if (start > end && extent > 0) picked.count = -((start - end - 1) / step) + 1;
  }
  picked.start = start;
  return picked;
}

std::string pick_all(const Bounds& bounds, const Shape& shape, std::vector<Picked>& picked) {
  for (std::int64_t extent : shape.extents()) picked.push_back({.start = 0, .step = 1, .count = extent});
  const std::size_t count = bounds.starts->size();
  if (bounds.ends->size() != count || (bounds.axes != nullptr && bounds.axes->size() != count) ||
      (bounds.steps != nullptr && bounds.steps->size() != count)) {
    return "its starts, ends, axes and steps have different lengths";
  }
  std::vector<bool> is_seen(picked.size(), false);
  for (std::size_t at = 0; at < count; ++at) {
    const std::int64_t rank = shape.rank();
    std::int64_t axis = bounds.axes != nullptr ? (*bounds.axes)[at] : static_cast<std::int64_t>(at);
    if (axis < -rank || axis >= rank) return "an axis is outside the rank of its input";
    if (axis < 0) axis += rank;
    const auto index = static_cast<std::size_t>(axis);
    if (is_seen[index]) return "an axis is given twice";
    is_seen[index] = true;
    const std::int64_t step = bounds.steps != nullptr ? (*bounds.steps)[at] : 1;
    if (step == 0) return "a step is 0";
    picked[index] = pick(shape.extents()[index], (*bounds.starts)[at], (*bounds.ends)[at], step);
  }
  return {};
}

}  // namespace

SliceRun slice_run(const Graph& graph, const Node& node) {
  const Shape& source = graph.tensor(*node.inputs[0]).shape;
  const Shape& result = graph.tensor(*node.outputs[0]).shape;
  const std::optional<Bounds> bounds = bounds_of(graph, node);
  if (!bounds) return {.obstacle = "its bounds are not known before the run"};
  std::vector<Picked> picked;
  if (std::string why = pick_all(*bounds, source, picked); !why.empty()) return {.obstacle = std::move(why)};
  if (result.rank() != source.rank()) return {.obstacle = "input and output have different ranks"};
  for (std::size_t at = 0; at < picked.size(); ++at) {
    if (picked[at].count != result.extents()[at])
      return {.obstacle = "its bounds and the shape of its output disagree"};
  }
  // If nothing is picked, no strides are computed. They could overflow although an extent is 0.
  if (std::any_of(picked.begin(), picked.end(), [](const Picked& axis) { return axis.count == 0; })) return {};
  SliceRun run{.elements = 1};
  std::int64_t stride = 1;  // elements from one index of the axis to the next
  bool is_complete = true;  // every inner axis is taken whole
  for (std::size_t at = picked.size(); at-- > 0;) {
    const Picked& axis = picked[at];
    const std::int64_t extent = source.extents()[at];
    if (axis.count > 1 && (axis.step != 1 || !is_complete)) return {.obstacle = "its elements are not consecutive"};
    is_complete = is_complete && axis.count == extent;
    run.begin += axis.start * stride;
    run.elements *= axis.count;
    stride *= extent;
  }
  return run;
}

}  // namespace lowtide::verify_internal
