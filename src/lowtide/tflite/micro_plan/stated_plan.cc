// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/micro_plan/stated_plan.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "lowtide/base/interval.h"
#include "lowtide/base/quote.h"
#include "lowtide/tflite/micro/offline_plan.h"
#include "lowtide/tflite/offline_check/check_offline_plan.h"

namespace lowtide {
namespace {

using Place = std::optional<Interval<std::int64_t>>;

// The bytes of each tensor with an offset, by its number among those of all subgraphs.
std::vector<Place> places_of(const std::vector<MicroBuffer>& buffers, const MicroOffsets& offsets) {
  std::vector<Place> places(offsets.size());
  for (const MicroBuffer& buffer : buffers) {
    if (!buffer.tensor || !offsets[*buffer.tensor]) continue;
    const std::int64_t begin = offsets[*buffer.tensor]->position();
    places[*buffer.tensor] = Interval<std::int64_t>{begin, begin + buffer.size.count()};
  }
  return places;
}

// Whether a result of the operator has bytes of an operand, which its kernel may still read.
bool overwrites_operand(const TfliteOperator& op, MicroKernels kernels, const std::vector<Place>& places,
                        std::uint32_t first_tensor) {
  const std::vector<std::size_t> allowed = operands_in_place(op, kernels);
  for (std::size_t result = 0; result < op.outputs.size(); ++result) {
    if (!op.outputs[result] || !places[first_tensor + *op.outputs[result]]) continue;
    const Interval<std::int64_t>& to = *places[first_tensor + *op.outputs[result]];
    for (std::size_t operand = 0; operand < op.inputs.size(); ++operand) {
      if (!op.inputs[operand] || !places[first_tensor + *op.inputs[operand]]) continue;
      const Interval<std::int64_t>& from = *places[first_tensor + *op.inputs[operand]];
      const bool may_share = result == 0 && from == to && std::ranges::find(allowed, operand) != allowed.end();
      if (from.overlaps(to) && !may_share) return true;
    }
  }
  return false;
}

std::string fault_of_kernels(const TfliteModel& model, MicroKernels kernels, const MicroOffsets& offsets) {
  const Result<MicroHead> head = micro_head(model, kernels, offsets);
  if (!head) return head.error().describe();
  const std::vector<Place> places = places_of(head->buffers, offsets);
  const std::vector<std::uint32_t> first = first_tensors(model);
  for (std::uint32_t index = 0; index < model.subgraphs.size(); ++index) {
    const std::vector<TfliteOperator>& operators = model.subgraphs[index].operators;
    for (std::size_t at = 0; at < operators.size(); ++at) {
      // The inputs of a subgraph are copied before it writes results.
      if (!operators[at].calls.empty() || !overwrites_operand(operators[at], kernels, places, first[index])) continue;
      return "subgraph " + std::to_string(index) + ": operator " + std::to_string(at) + " " +
             quoted(operators[at].type, 60) + ": its result is over an operand, and the kernels " +
             std::string(to_string(kernels)) + " are not known to compute in place";
    }
  }
  return "";
}

}  // namespace

StatedPlan stated_plan(const TfliteModel& model, std::string_view file, MicroKernels kernels) {
  StatedPlan plan;
  const Result<OfflineCheck> check = check_offline_plan(model, file);
  if (!check) {
    plan.is_stated = true;
    plan.fault = "they cannot be checked: " + check.error().describe();
    return plan;
  }
  plan.is_stated = check->has_offsets;
  if (!plan.is_stated) return plan;
  if (!check->faults.empty()) {
    const OfflineFault& first = check->faults.front();
    plan.fault = (first.place.empty() ? "" : first.place + ": ") + first.message;
    return plan;
  }
  Result<std::optional<MicroOffsets>> offsets = read_offline_plan(model, file);
  if (!offsets) {
    plan.fault = offsets.error().describe();
    return plan;
  }
  plan.offsets = std::move(*offsets).value_or(MicroOffsets());
  plan.fault = fault_of_kernels(model, kernels, plan.offsets);
  if (!plan.fault.empty()) plan.offsets.clear();
  return plan;
}

}  // namespace lowtide
