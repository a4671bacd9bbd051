// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Follows lists of extents of which some are not known. In a graph for any batch, for example, the gradient of a
// broadcast has
//
//   Shape(x) = [?, 32] -> Reshape(sum, [?, 32])

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "lowtide/earlier/graphdef/op_rules.h"
#include "lowtide/earlier/graphdef/op_slices.h"
#include "lowtide/earlier/graphdef/op_values.h"
#include "lowtide/earlier/graphdef/shape_math.h"

namespace lowtide::graphdef_internal {
namespace {

constexpr std::size_t kMostPartial = 64;

// What is known of a list of integers, or of one integer. A negative number has no meaning as an extent.
std::optional<Extents> list_of(const NodeTypes& types, std::size_t input) {
  if (input >= types.inputs.size()) return std::nullopt;
  const KnownTensor& tensor = *types.inputs[input];
  if (tensor.partial) return tensor.partial;
  std::optional<Extents> list = tensor.content;
  if (!list && tensor.extents && !is_open(*tensor.extents)) {
    if (tensor.extents->empty()) return Extents{kOpen};
    const bool is_list = tensor.extents->size() == 1 && tensor.extents->front() <= static_cast<int>(kMostPartial);
    if (is_list) return Extents(static_cast<std::size_t>(tensor.extents->front()), kOpen);
  }
  if (list)
    std::ranges::replace_if(
        *list, [](std::int64_t one) { return one < 0; }, kOpen);
  return list;
}

// A list of which all is known has a content, and one of which nothing is known says no more than its extents.
void set_list_of(NodeTypes& types, Extents list, std::size_t output = 0) {
  const auto is_unknown = [](std::int64_t one) { return one == kOpen; };
  if (output >= types.outputs.size() || types.outputs[output].content || list.size() > kMostPartial) return;
  const std::optional<Extents>& extents = types.outputs[output].extents;
  const bool fits = extents && (extents->empty() ? list.size() == 1
                                                 : extents->size() == 1 &&
                                                       extents->front() == static_cast<std::int64_t>(list.size()));
  if (!fits || std::ranges::all_of(list, is_unknown)) return;
  // Numbers that int32 cannot hold would become others in a run.
  const bool is_wide = types.outputs[output].dtype == DType::i64;
  if (!is_wide && std::ranges::any_of(list, [](std::int64_t one) { return one > INT32_MAX; })) return;
  if (std::ranges::any_of(list, is_unknown)) {
    types.outputs[output].partial = std::move(list);
  } else {
    set_content(types, std::move(list), output);
  }
}

void join_lists(NodeTypes& types, std::size_t count) {
  Extents all;
  for (std::size_t input = 0; input < count; ++input) {
    const std::optional<Extents> list = list_of(types, input);
    if (!list || all.size() + list->size() > kMostPartial) return;
    all.insert(all.end(), list->begin(), list->end());
  }
  set_list_of(types, std::move(all));
}

void slice_list(NodeTypes& types, const std::optional<SlicePlan>& plan) {
  const std::optional<Extents> list = list_of(types, 0);
  if (!list || !plan || plan->axes.size() != 1) return;
  const AxisSlice& axis = plan->axes.front();
  Extents taken;
  for (std::int64_t at = 0; at < axis.count; ++at) {
    taken.push_back((*list)[static_cast<std::size_t>(axis.begin + axis.stride * at)]);
  }
  set_list_of(types, std::move(taken));
}

void gather_from_list(NodeTypes& types) {
  const std::optional<Extents> list = list_of(types, 0);
  const Extents* indices = types.content(1);
  if (!list || indices == nullptr) return;
  Extents taken;
  for (std::int64_t index : *indices) {
    if (index < 0 || index >= static_cast<std::int64_t>(list->size())) return;
    taken.push_back((*list)[static_cast<std::size_t>(index)]);
  }
  set_list_of(types, std::move(taken));
}

}  // namespace

void infer_partial(NodeTypes& types) {
  const std::string_view op = types.node.op();
  const auto is_list = [&] { return types.inputs[0]->extents && types.inputs[0]->extents->size() == 1; };
  if (types.inputs.empty() || types.outputs.empty()) return;
  if (op == "Shape" || op == "ShapeN" || op == "VariableShape") {
    for (std::size_t at = 0; at < types.inputs.size(); ++at) {
      if (types.extents(at) != nullptr) set_list_of(types, *types.extents(at), at);
    }
  } else if (op == "Identity" || op == "Cast" || op == "StopGradient" || op == "Snapshot") {
    if (types.inputs[0]->partial) set_list_of(types, *types.inputs[0]->partial);
  } else if (op == "Pack" && types.node.integer("axis", 0) == 0) {
    join_lists(types, types.inputs.size());
  } else if (op == "ConcatV2" && types.number(types.inputs.size() - 1) == 0) {
    join_lists(types, types.inputs.size() - 1);
  } else if (op == "StridedSlice" && is_list()) {
    slice_list(types, plan_strided_slice(types));
  } else if (op == "Slice" && is_list()) {
    slice_list(types, plan_slice(types));
  } else if ((op == "GatherV2" || op == "Gather") && is_list()) {
    gather_from_list(types);
  }
}

}  // namespace lowtide::graphdef_internal
