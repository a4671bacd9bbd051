// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/detection/boxes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/convert.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/plain/detection/selected_boxes.h"

namespace lowtide::kernels_internal {
namespace {

struct SuppressionParameters {
  bool has_centers = false;  // center_point_box: boxes are center and size; otherwise two opposite corners
  int threads = 1;
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

// What one class of one image needs.
struct ClassBoxes {
  const float* boxes = nullptr;
  const float* scores = nullptr;
  std::int64_t count = 0;
  std::int64_t most = 0;
  float overlap_threshold = 0;
  std::optional<float> score_threshold;
};

constexpr std::int64_t kMostBoxes = std::int64_t{1} << 32;

// Keys in ascending order are boxes with descending scores, and with ascending numbers where scores are equal. NaN is
// the last score.
std::uint64_t key_of(float score, std::int64_t number) {
  const auto bits = std::bit_cast<std::uint32_t>(score + 0.0F);  // -0 becomes 0
  const std::uint32_t ascending = (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
  const std::uint32_t descending = is_nan(score) ? ~0U : ~ascending;
  return std::uint64_t{descending} << 32 | static_cast<std::uint64_t>(number);
}
std::int64_t number_of(std::uint64_t key) { return static_cast<std::int64_t>(key & 0xFFFFFFFFU); }

// The memory of one share: a key for each box, and the selected boxes. Keys of the next share are aligned.
constexpr std::int64_t bytes_of_share(std::int64_t boxes) {
  return boxes * std::int64_t{sizeof(std::uint64_t)} + SelectedBoxes::bytes(boxes);
}

// Calls add(number) for each selected box, the highest score first. `scratch` has bytes_of_share().
template <typename Add>
void select_boxes(const SuppressionParameters& parameters, const ClassBoxes& of, std::byte* scratch, const Add& add) {
  auto* const keys = reinterpret_cast<std::uint64_t*>(scratch);
  std::int64_t candidates = 0;
  for (std::int64_t at = 0; at < of.count; ++at) {
    // A NaN score is never above a threshold.
    if (!of.score_threshold || of.scores[at] > *of.score_threshold) keys[candidates++] = key_of(of.scores[at], at);
  }
  std::sort(keys, keys + candidates);
  const auto box_of = [&](std::int64_t number) { return box_at(parameters, of.boxes + number * 4); };
  SelectedBoxes selected(reinterpret_cast<std::byte*>(keys + of.count), of.count);
  for (std::int64_t at = 0; at < candidates; ++at) selected.see(box_of(number_of(keys[at])));
  selected.choose_cells();
  for (std::int64_t at = 0; at < candidates; ++at) selected.reserve(box_of(number_of(keys[at])));
  selected.begin();
  for (std::int64_t at = 0; at < candidates && selected.count() < of.most; ++at) {
    const std::int64_t number = number_of(keys[at]);
    const Box box = box_of(number);
    if (selected.overlap_with(box, of.overlap_threshold)) continue;
    selected.add(box);
    add(number);
  }
}

// All classes of all images of one node.
struct Suppression {
  const SuppressionParameters& parameters;
  const Operands& operands;
  ClassBoxes common;  // without the pointers
  std::int64_t classes = 0;
  std::int64_t groups = 0;  // of all images
  std::int64_t* rows = nullptr;

  // The most boxes that a class can have.
  [[nodiscard]] std::int64_t most() const { return std::max<std::int64_t>(std::min(common.most, common.count), 0); }
  [[nodiscard]] std::byte* scratch_of(int share) const {
    return operands.scratch + share * bytes_of_share(common.count);
  }

  // Writes the rows of a group from row `first` on, as far as there are `capacity`. Returns how many it has.
  std::int64_t run_group(std::int64_t group, std::int64_t first, std::int64_t capacity, std::byte* scratch) const {
    ClassBoxes of = common;
    of.boxes = elements<float>(operands.reads[0]) + group / classes * of.count * 4;
    of.scores = elements<float>(operands.reads[1]) + group * of.count;
    std::int64_t found = 0;
    select_boxes(parameters, of, scratch, [&](std::int64_t number) {
      if (found < capacity) {
        std::int64_t* row = rows + (first + found) * 3;
        row[0] = group / classes;
        row[1] = group % classes;
        row[2] = number;
      }
      ++found;
    });
    return found;
  }
};

// The number of classes that are computed at the same time: one per thread.
int shares_of(std::int64_t groups, int threads) {
  return static_cast<int>(std::clamp<std::int64_t>(groups, 1, threads));
}

// Each group writes into space for the most boxes, so that shares can run side by side; then the rows move together.
// Requires: the result has space for it.
std::int64_t run_side_by_side(const Suppression& all, Team& team) {
  const std::int64_t most = all.most();
  const int shares = shares_of(all.groups, all.parameters.threads);
  run_shares(team, shares, [&](int share) {
    const std::int64_t end = all.groups * (share + 1) / shares;
    for (std::int64_t group = all.groups * share / shares; group < end; ++group) {
      const std::int64_t found = all.run_group(group, group * most, most, all.scratch_of(share));
      if (found < most) all.rows[(group * most + found) * 3] = -1;  // the end of the group
    }
    return RunCode::ok;
  });
  std::int64_t written = 0;
  for (std::int64_t group = 0; group < all.groups; ++group) {
    for (std::int64_t at = 0; at < most && all.rows[(group * most + at) * 3] >= 0; ++at, ++written) {
      std::copy_n(all.rows + (group * most + at) * 3, 3, all.rows + written * 3);
    }
  }
  return written;
}

RunStatus run_suppression(const SuppressionParameters& parameters, const Operands& operands, Team& team) {
  const Extents boxes(extents_of(operands.reads[0]));
  const Extents scores(extents_of(operands.reads[1]));
  const bool agrees = boxes.rank() == 3 && scores.rank() == 3 && boxes[2] == 4 && boxes[0] == scores[0] &&
                      boxes[1] == scores[2] && boxes[1] <= kMostBoxes;
  if (!agrees) return {RunCode::bad_extents, 1};
  for (std::uint32_t at = 2; at < operands.reads.size(); ++at) {
    if (is_present(operands.reads[at]) && count_of(operands.reads[at]) != 1) return {RunCode::bad_extents, at};
  }
  const auto number_at = [&](std::size_t at) {
    return has_operand(operands.reads, at) ? std::optional(*elements<float>(operands.reads[at])) : std::nullopt;
  };
  const Suppression all{
      .parameters = parameters,
      .operands = operands,
      .common = {.boxes = nullptr,
                 .scores = nullptr,
                 .count = boxes[1],
                 .most = has_operand(operands.reads, 2) ? *elements<std::int64_t>(operands.reads[2]) : 0,
                 .overlap_threshold = number_at(3).value_or(0),
                 .score_threshold = number_at(4)},
      .classes = scores[1],
      .groups = scores[0] * scores[1],
      .rows = mutable_elements<std::int64_t>(operands.writes[0])};
  const std::int64_t capacity = operands.writes[0].capacity_bytes / (3 * std::int64_t{sizeof(std::int64_t)});
  const bool has_space = all.most() == 0 || all.groups <= capacity / all.most();
  const bool is_enough = all.groups > 1 && all.groups * all.common.count >= kLeastSharedOperations;
  std::int64_t written = 0;
  if (parameters.threads > 1 && team.threads() > 1 && has_space && is_enough) {
    written = run_side_by_side(all, team);
  } else {
    for (std::int64_t group = 0; group < all.groups; ++group) {
      written += all.run_group(group, written, capacity - written, all.scratch_of(0));
      if (written > capacity) return {RunCode::size_exceeds_plan, 0};
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

Bytes suppression_scratch(const Graph& graph, const Node& node, int threads) {
  const std::vector<std::int64_t>& boxes = graph.tensor(*node.inputs[0]).shape.extents();
  const Shape& scores = graph.tensor(*node.inputs[1]).shape;
  if (boxes.size() != 3 || scores.rank() != 3) return {};
  const int shares = shares_of(std::min(scores[0], kMostBoxes) * std::min(scores[1], kMostBoxes), threads);
  return Bytes(bytes_of_share(std::min(boxes[1], kMostBoxes))) * shares;
}

PreparedResult prepare_suppression(const PrepareInput& input) {
  return plain_kernel(
      input, &run_suppression,
      SuppressionParameters{.has_centers = integer_attribute(node_of(input), "center_point_box", 0) != 0,
                            .threads = input.threads});
}

constexpr std::array kBoxTable{
    PlainOperator{.op = on_floats("NonMaxSuppression"),
                  .operands = 2,
                  .prepare = &prepare_suppression,
                  .missing = &missing_suppression,
                  .scratch = &suppression_scratch,
                  .widens_half = true},
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
