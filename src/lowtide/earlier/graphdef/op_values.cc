// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Follows the content of small tensors of integers, because the shapes of other tensors depend on it. The gradient of a
// broadcast has, for example:
//
//   Shape(x), Shape(y) -> BroadcastGradientArgs -> Sum(gradient, axes) -> Reshape(sum, Shape(x))

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "lowtide/base/checked.h"
#include "lowtide/earlier/graphdef/op_rules.h"
#include "lowtide/earlier/graphdef/op_slices.h"
#include "lowtide/earlier/graphdef/op_values.h"
#include "lowtide/earlier/graphdef/shape_math.h"

namespace lowtide::graphdef_internal {
namespace {

constexpr std::int64_t kMostValues = 64;  // as many as integers_of_tensor reads

// What a slice of known count takes.
Extents sliced(const Extents& content, const Extents& extents, const std::vector<AxisSlice>& axes) {
  Extents counts;
  for (const AxisSlice& axis : axes) counts.push_back(axis.count);
  Extents taken;
  for_each_place(counts, [&](Extents place) {
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      place[axis] = axes[axis].begin + axes[axis].stride * place[axis];
    }
    taken.push_back(content[number_at(extents, place)]);
  });
  return taken;
}

void same_values(NodeTypes& types) {
  if (types.values(0) != nullptr) set_content(types, *types.values(0));
}

// Copies the values of N inputs to as many outputs.
void all_same_values(NodeTypes& types) {
  for (std::size_t at = 0; at < types.outputs.size(); ++at) {
    if (types.values(at) != nullptr) set_content(types, *types.values(at), at);
  }
}

void shape_values(NodeTypes& types) {
  for (std::size_t at = 0; at < types.outputs.size(); ++at) {
    if (types.extents(at) != nullptr && !is_open(*types.extents(at))) set_content(types, *types.extents(at), at);
  }
}

void rank_value(NodeTypes& types) {
  if (types.extents(0) != nullptr) set_content(types, Extents{static_cast<std::int64_t>(types.extents(0)->size())});
}

void size_value(NodeTypes& types) {
  if (types.extents(0) == nullptr || is_open(*types.extents(0))) return;
  if (const Number size = product(*types.extents(0))) set_content(types, Extents{*size});
}

template <std::int64_t kValue>
void constant_values(NodeTypes& types) {
  set_content(types, Extents(static_cast<std::size_t>(*product(*types.outputs[0].extents)), kValue));
}

void fill_values(NodeTypes& types) {
  const Number value = types.number(1);
  if (value) set_content(types, Extents(static_cast<std::size_t>(*product(*types.outputs[0].extents)), *value));
}

void range_values(NodeTypes& types) {
  const Number begin = types.number(0);
  const Number step = types.number(2);
  Extents list;
  for (std::int64_t at = 0; begin && step && at < types.outputs[0].extents->front(); ++at) {
    const Number distance = checked_multiply(at, *step);
    const Number value = distance ? checked_add(*begin, *distance) : std::nullopt;
    if (!value) return;
    list.push_back(*value);
  }
  set_content(types, std::move(list));
}

// Joins the inputs [first, end) along an axis. With `is_new`, each of them is one element of a new axis.
void joined_values(NodeTypes& types, std::size_t axis, std::size_t first, std::size_t end, bool is_new) {
  const Extents& extents = *types.outputs[0].extents;
  Extents content(static_cast<std::size_t>(*product(extents)), 0);
  std::int64_t begin = 0;
  for (std::size_t input = first; input < end; ++input) {
    const Extents* part = types.values(input);
    if (part == nullptr) return;
    Extents of_part = *types.extents(input);
    if (is_new) of_part.insert(of_part.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    // Concat takes only the rank and the joined axis of an operand to be as they should be.
    if (of_part.size() != extents.size() || begin + of_part[axis] > extents[axis]) return;
    for (std::size_t at = 0; at < extents.size(); ++at) {
      if (at != axis && of_part[at] != extents[at]) return;
    }
    std::size_t from = 0;
    for_each_place(of_part, [&](Extents place) {
      place[axis] += begin;
      content[number_at(extents, place)] = (*part)[from++];
    });
    begin += of_part[axis];
  }
  if (begin == extents[axis]) set_content(types, std::move(content));
}

void concat_values(NodeTypes& types) {
  const bool is_axis_first = types.node.op() == "Concat";
  const std::size_t last = types.inputs.size() - 1;
  const Number axis = types.number(is_axis_first ? 0 : last);
  const auto at = axis ? index_of_axis(*axis, types.outputs[0].extents->size()) : std::nullopt;
  if (at) joined_values(types, *at, is_axis_first ? 1 : 0, is_axis_first ? last + 1 : last, false);
}

void pack_values(NodeTypes& types) {
  const auto at = index_of_axis(types.node.integer("axis", 0), types.outputs[0].extents->size());
  if (at) joined_values(types, *at, 0, types.inputs.size(), true);
}

void slice_values(NodeTypes& types) {
  if (types.values(0) == nullptr || types.content(1) == nullptr) return;
  const std::optional<SlicePlan> plan = types.node.op() == "Slice" ? plan_slice(types) : plan_strided_slice(types);
  if (plan) set_content(types, sliced(*types.values(0), *types.extents(0), plan->axes));
}

// Cuts an input into parts along an axis. `thickness` is that of each part, or 0 if its extent says it.
void cut_values(NodeTypes& types, std::size_t input, Number axis, std::int64_t thickness) {
  const Extents* x = types.values(input);
  const auto at = x != nullptr && axis ? index_of_axis(*axis, types.extents(input)->size()) : std::nullopt;
  if (!at) return;
  std::int64_t begin = 0;
  for (std::size_t output = 0; output < types.outputs.size(); ++output) {
    const std::optional<Extents>& part = types.outputs[output].extents;
    if (!part) return;
    std::vector<AxisSlice> axes;
    for (std::int64_t extent : *types.extents(input)) axes.push_back({.begin = 0, .stride = 1, .count = extent});
    const std::int64_t count = thickness > 0 ? thickness : (*part)[*at];
    if (count < 0 || count > axes[*at].count - begin) return;
    axes[*at].begin = begin;
    axes[*at].count = count;
    set_content(types, sliced(*x, *types.extents(input), axes), output);
    begin += count;
  }
}

void split_values(NodeTypes& types) { cut_values(types, 1, types.number(0), 0); }
void split_sizes_values(NodeTypes& types) { cut_values(types, 0, types.number(2), 0); }
void unpack_values(NodeTypes& types) { cut_values(types, 0, types.node.integer("axis", 0), 1); }

// Without batches.
void gather_values(NodeTypes& types) {
  const Extents* x = types.values(0);
  const Extents* indices = types.values(1);
  const Number axis = types.inputs.size() > 2 ? types.number(2) : 0;
  if (x == nullptr || indices == nullptr || !axis || types.node.integer("batch_dims", 0) != 0) return;
  const std::optional<std::size_t> at = index_of_axis(*axis, types.extents(0)->size());
  const std::int64_t count = at ? (*types.extents(0))[*at] : 0;
  if (!at || std::ranges::any_of(*indices, [&](std::int64_t one) { return one < 0 || one >= count; })) return;
  const auto begin = static_cast<std::ptrdiff_t>(*at);
  const auto rank = static_cast<std::ptrdiff_t>(types.extents(1)->size());
  Extents content;
  for_each_place(*types.outputs[0].extents, [&](const Extents& place) {
    const Extents index_place(place.begin() + begin, place.begin() + begin + rank);
    Extents from(place.begin(), place.begin() + begin);
    from.push_back((*indices)[number_at(*types.extents(1), index_place)]);
    from.insert(from.end(), place.begin() + begin + rank, place.end());
    content.push_back((*x)[number_at(*types.extents(0), from)]);
  });
  set_content(types, std::move(content));
}

// Tile repeats x as often as it fits.
void tile_values(NodeTypes& types) {
  if (types.values(0) == nullptr) return;
  Extents content;
  for_each_place(*types.outputs[0].extents, [&](Extents place) {
    for (std::size_t axis = 0; axis < place.size(); ++axis) place[axis] %= (*types.extents(0))[axis];
    content.push_back((*types.values(0))[number_at(*types.extents(0), place)]);
  });
  set_content(types, std::move(content));
}

void broadcast_values(NodeTypes& types) {
  if (types.values(0) == nullptr) return;
  if (open_broadcast(*types.extents(0), *types.outputs[0].extents) != types.outputs[0].extents) return;
  Extents content;
  for_each_place(*types.outputs[0].extents, [&](const Extents& place) {
    content.push_back((*types.values(0))[number_at(*types.extents(0), place)]);
  });
  set_content(types, std::move(content));
}

// Where each index is in a permutation of all indices.
void inverse_values(NodeTypes& types) {
  if (types.values(0) == nullptr) return;
  const Extents& order = *types.values(0);
  Extents inverse(order.size(), -1);
  for (std::size_t at = 0; at < order.size(); ++at) {
    if (order[at] < 0 || order[at] >= static_cast<std::int64_t>(order.size())) return;
    inverse[static_cast<std::size_t>(order[at])] = static_cast<std::int64_t>(at);
  }
  if (std::ranges::find(inverse, -1) == inverse.end()) set_content(types, std::move(inverse));
}

struct ValueRule {
  std::string_view op;
  // Requires: the extents of output 0 are known, not open, and at most kMostValues elements.
  void (*infer)(NodeTypes& types);
};

// Sorted by operator.
constexpr auto kValueRules = std::to_array<ValueRule>({
    {"Abs", absolute_values},
    {"Add", add_values},
    {"AddV2", add_values},
    {"BroadcastTo", broadcast_values},
    {"Cast", same_values},
    {"Concat", concat_values},
    {"ConcatV2", concat_values},
    {"Div", truncate_divide_values},
    {"EnsureShape", same_values},
    {"ExpandDims", same_values},
    {"Fill", fill_values},
    {"FloorDiv", floor_divide_values},
    {"FloorMod", floor_remainder_values},
    {"Gather", gather_values},
    {"GatherV2", gather_values},
    {"Identity", same_values},
    {"IdentityN", all_same_values},
    {"InvertPermutation", inverse_values},
    {"Max", max_values},
    {"Maximum", maximum_values},
    {"Min", min_values},
    {"Minimum", minimum_values},
    {"Mod", truncate_remainder_values},
    {"Mul", multiply_values},
    {"Neg", negate_values},
    {"OnesLike", constant_values<1>},
    {"Pack", pack_values},
    {"PreventGradient", same_values},
    {"Prod", prod_values},
    {"Range", range_values},
    {"Rank", rank_value},
    {"Reshape", same_values},
    {"Shape", shape_values},
    {"ShapeN", shape_values},
    {"Size", size_value},
    {"Slice", slice_values},
    {"Snapshot", same_values},
    {"Split", split_values},
    {"SplitV", split_sizes_values},
    {"Squeeze", same_values},
    {"StopGradient", same_values},
    {"StridedSlice", slice_values},
    {"Sub", subtract_values},
    {"Sum", sum_values},
    {"Tile", tile_values},
    {"TruncateDiv", truncate_divide_values},
    {"TruncateMod", truncate_remainder_values},
    {"Unpack", unpack_values},
    {"VariableShape", shape_values},
    {"ZerosLike", constant_values<0>},
});
static_assert(std::is_sorted(kValueRules.begin(), kValueRules.end(),
                             [](const ValueRule& a, const ValueRule& b) { return a.op < b.op; }));

bool is_integer(const std::optional<DType>& dtype) { return dtype == DType::i32 || dtype == DType::i64; }

bool is_small(const KnownTensor& tensor) {
  if (!is_integer(tensor.dtype) || !tensor.extents) return false;
  if (std::ranges::any_of(*tensor.extents, [](std::int64_t extent) { return extent < 0; })) return false;
  const Number count = product(*tensor.extents);
  return count && *count <= kMostValues;
}

// Numbers that int32 cannot hold would become others in a run.
bool holds(const KnownTensor& tensor, const Extents& content) {
  if (!is_small(tensor) || static_cast<std::int64_t>(content.size()) != *product(*tensor.extents)) return false;
  return tensor.dtype == DType::i64 || std::ranges::all_of(content, [](std::int64_t one) {
           return one >= std::numeric_limits<std::int32_t>::min() && one <= std::numeric_limits<std::int32_t>::max();
         });
}

}  // namespace

const Extents* NodeTypes::values(std::size_t input) const {
  const bool is_known = content(input) != nullptr && holds(*inputs[input], *content(input));
  return is_known ? content(input) : nullptr;
}

void infer_values(NodeTypes& types) {
  const auto* rule = std::lower_bound(kValueRules.begin(), kValueRules.end(), types.node.op(),
                                      [](const ValueRule& one, std::string_view wanted) { return one.op < wanted; });
  const bool has_rule = rule != kValueRules.end() && rule->op == types.node.op();
  if (has_rule && !types.outputs.empty() && is_small(types.outputs[0])) rule->infer(types);
  for (KnownTensor& output : types.outputs) {
    if (output.content && !holds(output, *output.content)) output.content = std::nullopt;
  }
}

}  // namespace lowtide::graphdef_internal
