// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/try.h"
#include "lowtide/c_source/graph_program/axes.h"
#include "lowtide/c_source/graph_program/rules.h"

namespace lowtide::graph_program_internal {
namespace {

constexpr std::size_t kPickAxes = 4;

// For each axis, the place in the input of each element of the result; negative: the filler.
using Tables = std::vector<Extents>;

bool is_identity(const Extents& table, std::int64_t extent) {
  if (static_cast<std::int64_t>(table.size()) != extent) return false;
  for (std::size_t at = 0; at < table.size(); ++at) {
    if (table[at] != static_cast<std::int64_t>(at)) return false;
  }
  return true;
}

// Makes one axis of two neighbors that are taken as they are.
void merge_identities(Extents& extents, Tables& tables) {
  for (std::size_t at = extents.size(); at-- > 1;) {
    if (!is_identity(tables[at], extents[at]) || !is_identity(tables[at - 1], extents[at - 1])) continue;
    extents[at - 1] *= extents[at];
    tables[at - 1].resize(static_cast<std::size_t>(extents[at - 1]));
    for (std::size_t i = 0; i < tables[at - 1].size(); ++i) tables[at - 1][i] = static_cast<std::int64_t>(i);
    extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(at));
    tables.erase(tables.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

Result<NodeCalls> pick_calls(const NodeFacts& node, Tables tables, NodeOperand filler) {
  Extents extents = node.input_shape(0);
  merge_identities(extents, tables);
  std::int64_t piece = size_of(*c_type_of(node.output(0).dtype));
  if (!extents.empty() && is_identity(tables.back(), extents.back())) {
    piece *= extents.back();
    extents.pop_back();
    tables.pop_back();
  }
  if (extents.size() > kPickAxes) return missing("it changes more than " + std::to_string(kPickAxes) + " axes");
  const Extents steps = dense_steps(extents);
  Extents counts(kPickAxes - extents.size(), 1);
  std::vector<std::int32_t> content(counts.size(), 0);
  for (std::size_t at = 0; at < extents.size(); ++at) {
    counts.push_back(static_cast<std::int64_t>(tables[at].size()));
    for (std::int64_t place : tables[at]) {
      content.push_back(place < 0 ? -1 : static_cast<std::int32_t>(place * steps[at] * piece));
    }
  }
  NodeCalls calls;
  const ConstantAt table = calls.add("places of " + node.output(0).name, content);
  Parameters parameters;
  parameters.add("bytes", piece).add("counts", counts);
  calls.calls.push_back({"pick", parameters.take(), {InputAt{0}, table, filler, OutputAt{0}}});
  return calls;
}

// Where the element of a padded axis comes from; negative: from outside.
std::int64_t padded_place(std::int64_t place, std::int64_t extent, const std::string& mode) {
  if (place >= 0 && place < extent) return place;
  if (mode == "edge") return std::clamp<std::int64_t>(place, 0, extent - 1);
  if (mode == "wrap") return (place % extent + extent) % extent;
  if (mode != "reflect") return -1;
  if (extent == 1) return 0;
  const std::int64_t period = 2 * (extent - 1);
  const std::int64_t within = (place % period + period) % period;
  return within < extent ? within : period - within;
}

Result<NodeCalls> pad(const NodeFacts& node) {
  const Extents& source = node.input_shape(0);
  const Extents& result = node.output_shape(0);
  LOWTIDE_TRY(const std::optional<Extents> pads, node.list(1, "pads"));
  LOWTIDE_TRY(const std::optional<Extents> axes, node.list(3, "axes"));
  const std::string mode = node.text("mode", "constant");
  if (!pads || (mode != "constant" && product(source) == 0)) return missing("it has no pads, or nothing to repeat");
  Extents begins(source.size(), 0);
  const std::size_t count = axes ? axes->size() : source.size();
  if (pads->size() != 2 * count) return missing("pads do not have two entries per axis");
  for (std::size_t at = 0; at < count; ++at) {
    LOWTIDE_TRY(const std::size_t axis, axis_of(axes ? (*axes)[at] : static_cast<std::int64_t>(at), source.size()));
    begins[axis] = (*pads)[at];
  }
  Tables tables(source.size());
  for (std::size_t axis = 0; axis < source.size(); ++axis) {
    for (std::int64_t i = 0; i < result[axis]; ++i) {
      tables[axis].push_back(padded_place(i - begins[axis], source[axis], mode));
    }
  }
  if (mode != "constant" || node.has_input(2)) {
    return pick_calls(node, std::move(tables), mode == "constant" ? NodeOperand(InputAt{2}) : NodeOperand());
  }
  NodeCalls zero;
  const ConstantAt filler =
      zero.add("filler of " + node.output(0).name, std::vector<float>(2, node.number("value", 0)));
  LOWTIDE_TRY(NodeCalls calls, pick_calls(node, std::move(tables), ConstantAt{filler.constant + 1}));
  calls.constants.push_back(std::move(zero.constants.front()));
  return calls;
}

Result<NodeCalls> tile(const NodeFacts& node) {
  const Extents& source = node.input_shape(0);
  Tables tables(source.size());
  for (std::size_t axis = 0; axis < source.size(); ++axis) {
    for (std::int64_t at = 0; at < node.output_shape(0)[axis]; ++at) tables[axis].push_back(at % source[axis]);
  }
  return pick_calls(node, std::move(tables), {});
}

// How a Resize maps elements of the result to places of the input.
struct Resizing {
  std::string coordinates;
  std::string rounding;
};

constexpr auto kCoordinates =
    std::to_array<std::string_view>({"align_corners", "asymmetric", "half_pixel", "half_pixel_symmetric",
                                     "pytorch_half_pixel", "tf_half_pixel_for_nn"});
constexpr auto kRoundings =
    std::to_array<std::string_view>({"ceil", "floor", "round_prefer_ceil", "round_prefer_floor"});

// Requires: kCoordinates has the coordinates.
float place_of(std::int64_t at, float scale, std::int64_t input, std::int64_t output, const std::string& coordinates) {
  const auto x = static_cast<float>(at);
  if (coordinates == "asymmetric") return x / scale;
  if (coordinates == "align_corners") {
    return output == 1 ? 0.0F : x * static_cast<float>(input - 1) / static_cast<float>(output - 1);
  }
  if (coordinates == "pytorch_half_pixel" && output == 1) return 0.0F;
  if (coordinates == "tf_half_pixel_for_nn") return (x + 0.5F) / scale;
  if (coordinates == "half_pixel_symmetric") {
    const float adjustment = static_cast<float>(output) / (scale * static_cast<float>(input));
    const float center = static_cast<float>(input) / 2;
    return center * (1 - adjustment) + (x + 0.5F) / scale - 0.5F;
  }
  return (x + 0.5F) / scale - 0.5F;
}

// Requires: kRoundings has the rounding.
std::int64_t rounded(float place, const std::string& rounding) {
  if (rounding == "floor") return static_cast<std::int64_t>(std::floor(place));
  if (rounding == "ceil") return static_cast<std::int64_t>(std::ceil(place));
  if (rounding == "round_prefer_ceil") return static_cast<std::int64_t>(std::floor(place + 0.5F));
  return static_cast<std::int64_t>(std::ceil(place - 0.5F));
}

// The scale of each axis. Older operators have them as input 1 or as an attribute.
Result<std::vector<float>> scales_of(const NodeFacts& node) {
  const Extents& source = node.input_shape(0);
  const Extents& result = node.output_shape(0);
  const bool is_old = node.type() == "Upsample" || node.is_before(11);
  std::optional<std::vector<float>> given = node.constant_floats(is_old ? 1 : 2);
  if (given && given->empty()) given.reset();
  if (node.integers("axes")) return missing("it has a list of axes");
  std::vector<float> scales(source.size());
  for (std::size_t at = 0; at < source.size(); ++at) {
    if (source[at] == 0) return missing("its operand has no elements");
    scales[at] = given && given->size() == source.size()
                     ? (*given)[at]
                     : static_cast<float>(result[at]) / static_cast<float>(source[at]);
  }
  return scales;
}

// The two places and the share of the second one, for each element of an axis.
struct LinearTable {
  std::vector<std::int32_t> places;
  std::vector<float> shares;
};

LinearTable linear_table(std::int64_t input, std::int64_t output, float scale, const Resizing& resizing) {
  LinearTable table;
  std::vector<std::int32_t> seconds;
  for (std::int64_t at = 0; at < output; ++at) {
    const float place =
        std::clamp(place_of(at, scale, input, output, resizing.coordinates), 0.0F, static_cast<float>(input - 1));
    const auto first = static_cast<std::int32_t>(place);
    table.places.push_back(first);
    seconds.push_back(std::min(first + 1, static_cast<std::int32_t>(input - 1)));
    table.shares.push_back(place - static_cast<float>(first));
  }
  table.places.insert(table.places.end(), seconds.begin(), seconds.end());
  return table;
}

Result<NodeCalls> linear(const NodeFacts& node, const std::vector<float>& scales, const Resizing& resizing) {
  LOWTIDE_RETURN_IF_ERROR(node.check_floats({0}));
  const Extents& source = node.input_shape(0);
  const Extents& result = node.output_shape(0);
  const std::size_t rank = source.size();
  for (std::size_t at = 0; at + 2 < rank; ++at) {
    if (source[at] != result[at]) return missing("the kernel of C interpolates along the last two axes");
  }
  if (rank < 2) return missing("the kernel of C interpolates along two axes");
  NodeCalls calls;
  std::vector<NodeOperand> operands = {InputAt{0}};
  for (std::size_t axis = rank - 2; axis < rank; ++axis) {
    const LinearTable table = linear_table(source[axis], result[axis], scales[axis], resizing);
    operands.emplace_back(calls.add("places of " + node.output(0).name, table.places));
    operands.emplace_back(calls.add("shares of " + node.output(0).name, table.shares));
  }
  operands.emplace_back(OutputAt{0});
  Parameters parameters;
  parameters.add("planes", product(source, 0, rank - 2))
      .add("input_rows", source[rank - 2])
      .add("input_columns", source[rank - 1])
      .add("output_rows", result[rank - 2])
      .add("output_columns", result[rank - 1]);
  calls.calls.push_back({"resize_2d_f32", parameters.take(), std::move(operands)});
  return calls;
}

Result<NodeCalls> resize(const NodeFacts& node) {
  const bool is_old = node.type() == "Upsample" || node.is_before(11);
  const Resizing resizing = is_old ? Resizing{"asymmetric", "floor"}
                                   : Resizing{node.text("coordinate_transformation_mode", "half_pixel"),
                                              node.text("nearest_mode", "round_prefer_floor")};
  const std::string mode = node.text("mode", "nearest");
  if (std::ranges::find(kCoordinates, resizing.coordinates) == kCoordinates.end()) {
    return missing("no kernel of C has coordinate_transformation_mode " + resizing.coordinates);
  }
  if (std::ranges::find(kRoundings, resizing.rounding) == kRoundings.end()) {
    return missing("no kernel of C has nearest_mode " + resizing.rounding);
  }
  const bool is_plain =
      node.integer("antialias", 0) == 0 && node.text("keep_aspect_ratio_policy", "stretch") == "stretch";
  if (!is_plain) return missing("no kernel of C smooths or keeps the aspect ratio");
  LOWTIDE_TRY(const std::vector<float> scales, scales_of(node));
  if (mode == "linear") return linear(node, scales, resizing);
  if (mode != "nearest") return missing("no kernel of C has mode " + mode);
  const Extents& source = node.input_shape(0);
  const Extents& result = node.output_shape(0);
  Tables tables(source.size());
  for (std::size_t axis = 0; axis < source.size(); ++axis) {
    for (std::int64_t at = 0; at < result[axis]; ++at) {
      const float place = place_of(at, scales[axis], source[axis], result[axis], resizing.coordinates);
      const bool is_same = source[axis] == result[axis] && scales[axis] == 1.0F;
      tables[axis].push_back(
          is_same ? at : std::clamp<std::int64_t>(rounded(place, resizing.rounding), 0, source[axis] - 1));
    }
  }
  return pick_calls(node, std::move(tables), {});
}

constexpr auto kResamplingRules =
    std::to_array<Rule>({{"Pad", &pad}, {"Resize", &resize}, {"Tile", &tile}, {"Upsample", &resize}});

}  // namespace

std::span<const Rule> resampling_rules() { return kResamplingRules; }

}  // namespace lowtide::graph_program_internal
