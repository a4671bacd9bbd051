// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/resampling/resize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/resized_extent.h"
#include "lowtide/kernels/common/strided_copy.h"
#include "lowtide/kernels/plain/resampling/resize_rows.h"

namespace lowtide::kernels_internal {
namespace {

struct ResizeParameters {
  ResizeRules rules;
  AspectRatio aspect = AspectRatio::stretch;
  std::vector<std::int64_t> axes;  // empty: all
  std::vector<double> scales;      // an attribute of old Upsample
  std::size_t scales_input = 2;
  float outside = 0;           // extrapolation_value
  std::int64_t tap_bytes = 0;  // of scratch; rows are behind them
  int threads = 1;
};

// The axes that the lists of scales, sizes and regions belong to, or nullopt if one is invalid.
std::optional<Extents> listed_axes(const ResizeParameters& parameters, int rank) {
  Extents axes;
  if (parameters.axes.size() > static_cast<std::size_t>(rank)) return std::nullopt;
  for (std::int64_t value : parameters.axes) {
    const std::optional<int> axis = axis_in(value, rank);
    if (!axis) return std::nullopt;
    axes.push_back(*axis);
  }
  for (int axis = 0; axis < rank && parameters.axes.empty(); ++axis) axes.push_back(axis);
  return axes;
}

bool apply_scales(ResizePlan& plan, const Extents& axes, const auto& scale_at) {
  for (int at = 0; at < axes.rank(); ++at) {
    ResizeAxis& axis = plan[static_cast<int>(axes[at])].axis;
    axis.scale = static_cast<double>(scale_at(at));
    const std::optional<std::int64_t> out = scaled_extent(axis.in, axis.scale);
    if (!out) return false;
    axis.out = *out;
  }
  return true;
}

bool apply_sizes(ResizePlan& plan, const Extents& axes, const std::int64_t* sizes, AspectRatio aspect) {
  CommonScale common(aspect);
  for (int at = 0; at < axes.rank(); ++at) {
    ResizeAxis& axis = plan[static_cast<int>(axes[at])].axis;
    const std::optional<double> scale = scale_to(axis.in, sizes[at]);
    if (!scale) return false;
    axis.out = sizes[at];
    axis.scale = *scale;
    common.add(*scale);
  }
  for (int at = 0; at < axes.rank() && aspect != AspectRatio::stretch; ++at) {
    ResizeAxis& axis = plan[static_cast<int>(axes[at])].axis;
    const std::optional<std::int64_t> out = common.extent(axis.in);
    if (!out) return false;
    axis.scale = common.scale();
    axis.out = *out;
  }
  return true;
}

void apply_region(ResizePlan& plan, const Extents& axes, const float* region) {
  for (int at = 0; at < axes.rank(); ++at) {
    ResizeAxis& axis = plan[static_cast<int>(axes[at])].axis;
    axis.roi_begin = static_cast<double>(region[at]);
    axis.roi_end = static_cast<double>(region[at + axes.rank()]);
  }
}

// Reads scales, sizes and regions. Returns nullopt if they do not agree with the operand.
std::optional<ResizePlan> resize_plan(const ResizeParameters& parameters, const Operands& operands) {
  const Extents from(extents_of(operands.reads[0]));
  ResizePlan plan{from.rank(), {}};
  const Extents strides = dense_strides(from);
  for (int axis = 0; axis < from.rank(); ++axis) plan[axis] = {{from[axis], from[axis]}, {}, strides[axis]};
  const std::optional<Extents> axes = listed_axes(parameters, from.rank());
  if (!axes) return std::nullopt;
  const auto has_list = [&](std::size_t at, std::int64_t count) {
    return has_operand(operands.reads, at) && count_of(operands.reads[at]) == count;
  };
  bool is_valid = false;
  if (!parameters.scales.empty()) {
    is_valid = parameters.scales.size() == static_cast<std::size_t>(axes->rank()) &&
               apply_scales(plan, *axes, [&](int at) { return parameters.scales[static_cast<std::size_t>(at)]; });
  } else if (has_list(parameters.scales_input, axes->rank())) {
    const float* scales = elements<float>(operands.reads[parameters.scales_input]);
    is_valid = apply_scales(plan, *axes, [&](int at) { return scales[at]; });
  } else if (has_list(3, axes->rank())) {
    is_valid = apply_sizes(plan, *axes, elements<std::int64_t>(operands.reads[3]), parameters.aspect);
  }
  if (!is_valid) return std::nullopt;
  if (parameters.rules.coordinates == Coordinates::tf_crop_and_resize) {
    if (!has_list(1, std::int64_t{2} * axes->rank())) return std::nullopt;
    apply_region(plan, *axes, elements<float>(operands.reads[1]));
  }
  return plan;
}

std::int64_t aligned_to_8(std::int64_t bytes) { return (bytes + 7) / 8 * 8; }
std::int64_t bytes_of_taps(std::int64_t out, std::int64_t taps) { return aligned_to_8(out * 8 + out * taps * 4); }

// Fills the taps of all axes that change, in scratch. Returns false if scratch is too small.
bool fill_all(const ResizeParameters& parameters, ResizePlan& plan, std::byte* scratch) {
  std::int64_t used = 0;
  for (int number = 0; number < plan.rank; ++number) {
    PlannedAxis& planned = plan[number];
    const ResizeAxis& axis = planned.axis;
    const bool is_kept = axis.in == axis.out && axis.scale == 1 && axis.roi_begin == 0 && axis.roi_end == 1;
    if (is_kept || axis.in == 0 || axis.out == 0) continue;
    planned.taps.count = taps_of(parameters.rules, axis.in, axis.scale);
    const std::int64_t bytes = bytes_of_taps(axis.out, planned.taps.count);
    if (used + bytes > parameters.tap_bytes) return false;
    planned.taps.begins = reinterpret_cast<std::int64_t*>(scratch + used);
    planned.taps.weights = reinterpret_cast<float*>(planned.taps.begins + axis.out);
    fill_taps(parameters.rules, axis, planned.taps);
    used += bytes;
  }
  return true;
}

RunStatus run_resize(const ResizeParameters& parameters, const Operands& operands, Team& team) {
  std::optional<ResizePlan> plan = resize_plan(parameters, operands);
  if (!plan) return {RunCode::bad_extents, 2};
  Extents to;
  for (int axis = 0; axis < plan->rank; ++axis) to.push_back((*plan)[axis].axis.out);
  if (const RunStatus status = set_extents(operands.writes[0], to); status.code != RunCode::ok) return status;
  if (to.count() == 0) return {};
  if (plan->rank == 0) {
    copy_bytes(*operands.reads[0].bytes, *operands.writes[0].bytes, element_bytes(operands.reads[0].dtype));
    return {};
  }
  if (!fill_all(parameters, *plan, operands.scratch)) return {RunCode::size_exceeds_plan, 0};
  const ResizeRows rows{.plan = *plan,
                        .outside = parameters.outside,
                        .blended = reinterpret_cast<float*>(operands.scratch + parameters.tap_bytes),
                        .shares = parameters.threads};
  if (parameters.rules.mode == ResizeMode::nearest) {
    rows.move(operands, team);
  } else {
    rows.blend(operands, team);
  }
  return {};
}

template <typename Value>
using Choices = std::initializer_list<std::pair<std::string_view, Value>>;

// The value of a text attribute, or nullopt if the text is not one of the choices. The first one is the default.
template <typename Value>
std::optional<Value> choice_of(const Node& node, std::string_view name, Choices<Value> choices) {
  const std::string text = text_attribute(node, name, choices.begin()->first);
  const auto* found = std::find_if(choices.begin(), choices.end(), [&](const auto& one) { return one.first == text; });
  return found == choices.end() ? std::nullopt : std::optional(found->second);
}

// Upsample and the Resize of opset 10 have no modes of coordinates: they are asymmetric and rounded down.
bool is_old(const Graph& graph, const Node& node) {
  return graph.operators()[node.op].type == "Upsample" || integer_attribute(node, kSinceAttribute, 11) < 11;
}

std::optional<ResizeRules> rules_of(const Graph& graph, const Node& node) {
  const auto mode = choice_of<ResizeMode>(
      node, "mode", {{"nearest", ResizeMode::nearest}, {"linear", ResizeMode::linear}, {"cubic", ResizeMode::cubic}});
  const auto coordinates = choice_of<Coordinates>(node, "coordinate_transformation_mode",
                                                  {{"half_pixel", Coordinates::half_pixel},
                                                   {"half_pixel_symmetric", Coordinates::half_pixel_symmetric},
                                                   {"pytorch_half_pixel", Coordinates::pytorch_half_pixel},
                                                   {"align_corners", Coordinates::align_corners},
                                                   {"asymmetric", Coordinates::asymmetric},
                                                   {"tf_half_pixel_for_nn", Coordinates::tf_half_pixel_for_nn},
                                                   {"tf_crop_and_resize", Coordinates::tf_crop_and_resize}});
  const auto rounding = choice_of<NearestRounding>(node, "nearest_mode",
                                                   {{"round_prefer_floor", NearestRounding::round_prefer_floor},
                                                    {"round_prefer_ceil", NearestRounding::round_prefer_ceil},
                                                    {"floor", NearestRounding::floor},
                                                    {"ceil", NearestRounding::ceil}});
  if (!mode || !coordinates || !rounding) return std::nullopt;
  if (is_old(graph, node)) return ResizeRules{*mode, Coordinates::asymmetric, NearestRounding::floor};
  return ResizeRules{*mode,
                     *coordinates,
                     *rounding,
                     number_attribute(node, "cubic_coeff_a", -0.75),
                     integer_attribute(node, "exclude_outside", 0) != 0,
                     integer_attribute(node, "antialias", 0) != 0 && *mode != ResizeMode::nearest};
}

std::optional<AspectRatio> aspect_of(const Node& node) {
  return choice_of<AspectRatio>(node, "keep_aspect_ratio_policy",
                                {{"stretch", AspectRatio::stretch},
                                 {"not_larger", AspectRatio::not_larger},
                                 {"not_smaller", AspectRatio::not_smaller}});
}

std::string missing_resize(const Graph& graph, const Node& node) {
  const std::optional<ResizeRules> rules = rules_of(graph, node);
  if (!rules || !aspect_of(node)) return "an attribute has a value that the standard does not name";
  if (rules->mode != ResizeMode::nearest && computed_type(graph, node, 0) != DType::f32) {
    return "kernels have modes linear and cubic of f32, f16 and bf16";
  }
  const std::size_t scales = is_old(graph, node) ? 1 : 2;
  const bool has_types = computed_type(graph, node, scales).value_or(DType::f32) == DType::f32 &&
                         (scales == 1 || (computed_type(graph, node, 1).value_or(DType::f32) == DType::f32 &&
                                          computed_type(graph, node, 3).value_or(DType::i64) == DType::i64));
  return has_types ? "" : "scales and roi are not f32, or sizes are not i64";
}

// The bytes of all taps, for the extents that the graph states.
Bytes tap_scratch(const Graph& graph, const Node& node) {
  const ResizeRules rules = *rules_of(graph, node);
  const Shape& from = graph.tensor(*node.inputs[0]).shape;
  const Shape& to = graph.tensor(*node.outputs[0]).shape;
  Bytes all;
  for (int axis = 0; axis < std::min(from.rank(), to.rank()); ++axis) {
    const std::int64_t in = from.extents()[static_cast<std::size_t>(axis)];
    const std::int64_t out = to.extents()[static_cast<std::size_t>(axis)];
    // The scale is at least half of out / in, because out is rounded. Upper bounds say nothing about it.
    const bool is_known = !from.has_upper_bounds() && !to.has_upper_bounds() && in > 0 && out > 0;
    const double least_scale = is_known ? static_cast<double>(out) / static_cast<double>(in) / 2 : 1e-9;
    all += Bytes(bytes_of_taps(out, taps_of(rules, in, least_scale)));
  }
  return all;
}

// Also the rows of ResizeRows::blended. A nearest element needs none.
Bytes resize_scratch(const Graph& graph, const Node& node, int threads) {
  const std::vector<std::int64_t>& from = graph.tensor(*node.inputs[0]).shape.extents();
  const bool blends = rules_of(graph, node)->mode != ResizeMode::nearest && !from.empty();
  const Bytes rows = blends ? Bytes(from.back()) * (threads * std::int64_t{sizeof(float)}) : Bytes();
  return tap_scratch(graph, node) + rows;
}

PreparedResult prepare_resize(const PrepareInput& input) {
  const Node& node = node_of(input);
  const std::vector<std::int64_t>* axes = integers_attribute(node, "axes");
  const auto* scales = find_attribute<std::vector<double>>(node.attributes, "scales");
  ResizeParameters parameters{.rules = *rules_of(input.graph, node), .aspect = *aspect_of(node)};
  if (axes != nullptr) parameters.axes = *axes;
  if (scales != nullptr) parameters.scales = *scales;
  parameters.scales_input = is_old(input.graph, node) ? 1 : 2;
  parameters.outside = static_cast<float>(number_attribute(node, "extrapolation_value", 0));
  parameters.tap_bytes = tap_scratch(input.graph, node).count();
  parameters.threads = input.threads;
  return plain_kernel(input, &run_resize, std::move(parameters));
}

// Sorted by type.
constexpr std::array kResizeTable{
    PlainOperator{.op = on_moved("Resize"),
                  .prepare = &prepare_resize,
                  .missing = &missing_resize,
                  .scratch = &resize_scratch,
                  .widens_half = true,
                  .mixes_reals = true},
    PlainOperator{.op = on_moved("Upsample"),
                  .prepare = &prepare_resize,
                  .missing = &missing_resize,
                  .scratch = &resize_scratch,
                  .widens_half = true,
                  .mixes_reals = true},
};
constexpr std::array kResizeOperators = operators_of(kResizeTable);

}  // namespace

Family resize_family() {
  return {.name = "resize",
          .operators = kResizeOperators,
          .offer = [](const OfferInput& input) { return offer_from(kResizeTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kResizeTable, input); }};
}

}  // namespace lowtide::kernels_internal
