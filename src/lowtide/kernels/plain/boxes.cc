// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <string>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/convert.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/plain/order.h"

namespace lowtide::kernels_internal {
namespace {

struct SuppressionParameters {
  bool has_centers = false;  // center_point_box: boxes are center and size; otherwise two opposite corners
};

struct Box {
  float left;
  float top;
  float right;
  float bottom;
  [[nodiscard]] float area() const { return (right - left) * (bottom - top); }
};

Box box_at(const SuppressionParameters& parameters, const float* numbers) {
  if (parameters.has_centers) {
    const float half_width = numbers[2] / 2;
    const float half_height = numbers[3] / 2;
    return {numbers[0] - half_width, numbers[1] - half_height, numbers[0] + half_width, numbers[1] + half_height};
  }
  const auto [top, bottom] = std::minmax(numbers[0], numbers[2]);
  const auto [left, right] = std::minmax(numbers[1], numbers[3]);
  return {left, top, right, bottom};
}

// Whether the common part of two boxes exceeds this fraction of their union. Boxes without area never do.
bool overlaps(const Box& a, const Box& b, float threshold) {
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (!(width > 0) || !(height > 0)) return false;
  const float common = width * height;
  const float all = a.area() + b.area() - common;
  if (common <= 0 || a.area() <= 0 || b.area() <= 0 || all <= 0) return false;
  return common / all > threshold;
}

// What one class of one image needs.
struct ClassBoxes {
  const float* boxes = nullptr;
  const float* scores = nullptr;
  std::int64_t count = 0;
  std::int64_t most = 0;
  float overlap_threshold = 0;
  std::optional<float> score_threshold;
};

// Puts the numbers of the selected boxes at the front of `selected`, the highest score first, and returns how many
// there are. `order` and `selected` have space for all boxes.
std::int64_t select_boxes(const SuppressionParameters& parameters, const ClassBoxes& of, std::int64_t* order,
                          std::int64_t* selected) {
  std::int64_t candidates = 0;
  for (std::int64_t at = 0; at < of.count; ++at) {
    if (!of.score_threshold || of.scores[at] > *of.score_threshold) order[candidates++] = at;
  }
  // A NaN score is never above a threshold; without one it sorts last.
  std::sort(order, order + candidates, [&](std::int64_t a, std::int64_t b) {
    const bool a_is_number = !is_nan(of.scores[a]);
    const bool b_is_number = !is_nan(of.scores[b]);
    if (a_is_number != b_is_number) return a_is_number;
    if (a_is_number && of.scores[a] != of.scores[b]) return of.scores[a] > of.scores[b];
    return a < b;
  });
  std::int64_t found = 0;
  for (std::int64_t at = 0; at < candidates && found < of.most; ++at) {
    const Box box = box_at(parameters, of.boxes + order[at] * 4);
    const bool is_suppressed = std::any_of(selected, selected + found, [&](std::int64_t other) {
      return overlaps(box, box_at(parameters, of.boxes + other * 4), of.overlap_threshold);
    });
    if (!is_suppressed) selected[found++] = order[at];
  }
  return found;
}

RunStatus run_suppression(const SuppressionParameters& parameters, const Operands& operands, Team& /*team*/) {
  const Extents boxes(extents_of(operands.reads[0]));
  const Extents scores(extents_of(operands.reads[1]));
  const bool agrees =
      boxes.rank() == 3 && scores.rank() == 3 && boxes[2] == 4 && boxes[0] == scores[0] && boxes[1] == scores[2];
  if (!agrees) return {RunCode::bad_extents, 1};
  for (std::uint32_t at = 2; at < operands.reads.size(); ++at) {
    if (is_present(operands.reads[at]) && count_of(operands.reads[at]) != 1) return {RunCode::bad_extents, at};
  }
  const auto number_at = [&](std::size_t at) {
    return has_operand(operands.reads, at) ? std::optional(*elements<float>(operands.reads[at])) : std::nullopt;
  };
  ClassBoxes of{.boxes = nullptr,
                .scores = nullptr,
                .count = boxes[1],
                .most = has_operand(operands.reads, 2) ? *elements<std::int64_t>(operands.reads[2]) : 0,
                .overlap_threshold = number_at(3).value_or(0),
                .score_threshold = number_at(4)};
  auto* order = reinterpret_cast<std::int64_t*>(operands.scratch);
  auto* rows = mutable_elements<std::int64_t>(operands.writes[0]);
  const std::int64_t capacity = operands.writes[0].capacity_bytes / 24;
  std::int64_t written = 0;
  for (std::int64_t group = 0; group < scores[0] * scores[1]; ++group) {
    of.boxes = elements<float>(operands.reads[0]) + group / scores[1] * boxes[1] * 4;
    of.scores = elements<float>(operands.reads[1]) + group * scores[2];
    const std::int64_t found = select_boxes(parameters, of, order, order + boxes[1]);
    if (written + found > capacity) return {RunCode::size_exceeds_plan, 0};
    for (std::int64_t at = 0; at < found; ++at, ++written) {
      rows[written * 3] = group / scores[1];
      rows[written * 3 + 1] = group % scores[1];
      rows[written * 3 + 2] = order[boxes[1] + at];
    }
  }
  return set_extents(operands.writes[0], Extents{written, 3});
}

std::string missing_suppression(const Graph& graph, const Node& node) {
  const auto has_type = [&](std::size_t at, DType dtype) {
    return computed_type(graph, node, at).value_or(dtype) == dtype;
  };
  const bool has_types =
      has_type(1, DType::f32) && has_type(2, DType::i64) && has_type(3, DType::f32) && has_type(4, DType::f32);
  return has_types ? "" : "scores and thresholds are not f32, or max_output_boxes_per_class is not i64";
}

Bytes suppression_scratch(const Graph& graph, const Node& node) {
  const std::vector<std::int64_t>& boxes = graph.tensor(*node.inputs[0]).shape.extents();
  return boxes.size() == 3 ? Bytes(boxes[1]) * 16 : Bytes(0);
}

PreparedResult prepare_suppression(const PrepareInput& input) {
  return plain_kernel(input, &run_suppression,
                      SuppressionParameters{integer_attribute(node_of(input), "center_point_box", 0) != 0});
}

constexpr std::array kBoxTable{
    PlainOperator{on_floats("NonMaxSuppression"), 2, &prepare_suppression, &missing_suppression, &suppression_scratch,
                  true},
};
constexpr std::array kBoxOperators = operators_of(kBoxTable);

}  // namespace

Family boxes_family() {
  return {.name = "boxes",
          .operators = kBoxOperators,
          .offer = [](const OfferInput& input) { return offer_from(kBoxTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kBoxTable, input); }};
}

}  // namespace lowtide::kernels_internal
