// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/micro_plan/plan_for_micro.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "lowtide/allocate/allocate.h"
#include "lowtide/base/check.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/tflite/flatbuffer/edit_tflite.h"
#include "lowtide/tflite/flatbuffer/read_tflite.h"
#include "lowtide/tflite/micro/offline_plan.h"
#include "lowtide/tflite/micro_plan/head_bound.h"
#include "lowtide/tflite/micro_plan/order_plan.h"
#include "lowtide/tflite/micro_plan/stated_plan.h"

namespace lowtide {
namespace micro_plan_internal {
namespace {

using Orders = std::vector<std::vector<std::uint32_t>>;
using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

bool is_identity(const std::vector<std::uint32_t>& order) { return std::is_sorted(order.begin(), order.end()); }

TfliteModel in_order(const TfliteModel& model, const Orders& orders) {
  TfliteModel other = model;
  for (std::size_t subgraph = 0; subgraph < orders.size(); ++subgraph) {
    if (orders[subgraph].empty()) continue;
    for (std::size_t at = 0; at < orders[subgraph].size(); ++at) {
      other.subgraphs[subgraph].operators[at] = model.subgraphs[subgraph].operators[orders[subgraph][at]];
    }
  }
  return other;
}

// The runtime asks by the number of a variable in its own subgraph whether it has an offset, without the tensors of the
// subgraphs before. So these entries must stay empty.
std::vector<bool> entries_that_must_be_empty(const TfliteModel& model, std::size_t tensors) {
  std::vector<bool> is_empty(tensors, false);
  for (const TfliteSubgraph& subgraph : model.subgraphs) {
    for (std::size_t at = 0; at < subgraph.tensors.size(); ++at) {
      if (subgraph.tensors[at].is_variable) is_empty[at] = true;
    }
  }
  return is_empty;
}

// Offsets for an order, and what the runtime makes of them.
struct Candidate {
  Orders orders;
  MicroOffsets offsets;
  std::int64_t in_place = 0;
  Bytes head;
  MicroArenas arenas;
};

class Packing {
 public:
  Packing(const TfliteModel& model, const MicroPlanOptions& options) : options_(options) {
    for (const TfliteSubgraph& subgraph : model.subgraphs) tensors_ += subgraph.tensors.size();
    must_be_empty_ = entries_that_must_be_empty(model, tensors_);
  }

  // `buffers` are those of the order.
  Result<Candidate> pack(const std::vector<MicroBuffer>& buffers, const Pairs& in_place) const {
    PackingProblem problem;
    std::vector<std::optional<PackingId>> ids(tensors_);
    std::optional<PackingId> unused;  // a tensor that nothing uses; all of them may be at one place
    for (const MicroBuffer& buffer : buffers) {
      const PackingId id(static_cast<std::uint32_t>(problem.buffers.size()));
      const TimeSpan lifespan{buffer.lifespan.begin + 1, buffer.lifespan.end + 1};
      problem.buffers.push_back({.lifespan = lifespan, .gaps = {}, .size = buffer.size, .alignment = kMicroAlignment});
      if (buffer.tensor) ids[*buffer.tensor] = id;
      const bool is_unused = buffer.tensor && buffer.lifespan.begin < 0 && !must_be_empty_[*buffer.tensor];
      if (!is_unused) continue;
      if (unused) problem.colocations.push_back({*unused, id, Bytes(0)});
      unused = id;
    }
    Candidate candidate;
    for (const auto& [operand, result] : in_place) {
      const bool may_share = ids[operand] && ids[result] && !must_be_empty_[operand] && !must_be_empty_[result] &&
                             problem.buffers[*ids[operand]].size == problem.buffers[*ids[result]].size;
      if (!may_share) continue;
      problem.colocations.push_back({*ids[operand], *ids[result], Bytes(0)});
      ++candidate.in_place;
    }
    LOWTIDE_TRY(const lowtide::Packing packing,
                allocate(problem, {.effort = options_.allocate_effort, .stop = options_.stop}));
    candidate.offsets.resize(tensors_);
    for (std::size_t tensor = 0; tensor < tensors_; ++tensor) {
      if (ids[tensor] && !must_be_empty_[tensor]) candidate.offsets[tensor] = packing.offsets[*ids[tensor]];
    }
    // The runtime places scratch, and the tensors of empty entries, as it does without a plan.
    LOWTIDE_TRY(const MicroLayout layout, place_as_micro(buffers, candidate.offsets));
    candidate.head = layout.size;
    return candidate;
  }

 private:
  const MicroPlanOptions& options_;
  std::size_t tensors_ = 0;
  std::vector<bool> must_be_empty_;
};

struct Candidates {
  std::vector<Candidate> all;  // those that change less of the file come first
  Bytes bound;
};

Result<Candidates> candidates(const TfliteModel& model, std::string_view file, const MicroPlanOptions& options) {
  LOWTIDE_TRY(const Graph graph, numbered_graph(model, file));
  Candidates found;
  const Packing packing(model, options);
  for (const char* strategy : {"as_given", "auto"}) {
    LOWTIDE_TRY(OrderPlan plan, plan_order(model, graph, strategy, options));
    found.bound = std::max(found.bound, plan.bound);
    for (std::vector<std::uint32_t>& order : plan.orders) {
      if (is_identity(order)) order.clear();
    }
    const TfliteModel ordered = in_order(model, plan.orders);
    LOWTIDE_TRY(const MicroHead head, micro_head(ordered, options.kernels));
    for (const Pairs& in_place : {Pairs(), plan.in_place}) {
      LOWTIDE_TRY(Candidate candidate, packing.pack(head.buffers, in_place));
      candidate.arenas = micro_arenas(ordered, options.kernels, head, candidate.head, candidate.offsets);
      candidate.orders = plan.orders;
      found.all.push_back(std::move(candidate));
    }
  }
  if (has_calls(model)) {
    LOWTIDE_TRY(found.bound, bound_of_subgraphs(model, file, options));
  }
  return found;
}

// The file with these offsets, without another change.
Result<Candidate> as_it_is(const TfliteModel& model, MicroOffsets offsets, MicroKernels kernels) {
  LOWTIDE_TRY(const MicroHead head, micro_head(model, kernels, offsets));
  if (!head.unknown_operators.empty()) {
    std::vector<std::string> names;
    for (const std::string& name : head.unknown_operators) names.push_back(quoted(name, 60));
    return Error{ErrorCode::unsupported,
                 "the kernels " + std::string(to_string(kernels)) + " do not have " + listed(names) +
                     ", or it is not known how much scratch they request, so the head is not known",
                 ""};
  }
  LOWTIDE_TRY(const MicroLayout layout, place_as_micro(head.buffers, offsets));
  Candidate candidate{.head = layout.size};
  candidate.arenas = micro_arenas(model, kernels, head, layout.size, offsets);
  candidate.offsets = std::move(offsets);
  return candidate;
}

// The arenas of both builds, and the head. What is not known, or above the limit, is the largest.
std::array<std::int64_t, 3> sizes_of(const Candidate& candidate) {
  const auto arena = [&](MicroBuild build) {
    const MicroArena* known = candidate.arenas.of(build);
    return known != nullptr ? known->smallest.count() : std::numeric_limits<std::int64_t>::max();
  };
  return {arena(MicroBuild::cortex_m), arena(MicroBuild::python), candidate.head.count()};
}

bool is_nowhere_larger(const Candidate& candidate, const Candidate& before) {
  const auto sizes = sizes_of(candidate);
  const auto limits = sizes_of(before);
  return std::ranges::equal(sizes, limits, std::ranges::less_equal());
}

// Writes a plan into the file, and reads it again.
Result<std::string> written(const TfliteModel& model, std::string_view file, const Candidate& best,
                            MicroKernels kernels) {
  LOWTIDE_TRY(std::string bytes, edit_tflite(file, {.orders = best.orders,
                                                    .metadata_name = kOfflinePlanName,
                                                    .metadata = offline_plan_bytes(model, best.offsets)}));
  LOWTIDE_TRY(const TfliteModel read, read_tflite(bytes));
  LOWTIDE_TRY(std::optional<MicroOffsets> offsets, read_offline_plan(read, bytes));
  LOWTIDE_TRY(const Candidate again, as_it_is(read, std::move(offsets).value_or(MicroOffsets()), kernels));
  LOWTIDE_CHECK(sizes_of(again) == sizes_of(best), "the file has the head and the arena that were planned");
  return bytes;
}

}  // namespace
}  // namespace micro_plan_internal

Result<MicroPlan> plan_for_micro(const TfliteModel& model, std::string_view file, const MicroPlanOptions& options) {
  using micro_plan_internal::Candidate;
  using micro_plan_internal::sizes_of;
  StatedPlan stated = stated_plan(model, file, options.kernels);
  LOWTIDE_TRY(Candidate before, micro_plan_internal::as_it_is(model, std::move(stated.offsets), options.kernels));
  LOWTIDE_TRY(micro_plan_internal::Candidates found, micro_plan_internal::candidates(model, file, options));
  Candidate* best = &before;
  for (Candidate& candidate : found.all) {
    LOWTIDE_CHECK(found.bound <= candidate.head, "the bound holds for every plan");
    if (!is_nowhere_larger(candidate, before) || sizes_of(candidate) >= sizes_of(*best)) continue;
    best = &candidate;
  }
  MicroPlan plan{.stated_fault = std::move(stated.fault),
                 .head_before = before.head,
                 .arenas_before = before.arenas,
                 .head = best->head,
                 .arenas = best->arenas,
                 .bound = found.bound};
  LOWTIDE_CHECK(plan.bound <= plan.head_before, "the bound holds for the offsets of the file");
  plan.is_changed = best != &before || !plan.stated_fault.empty();
  if (!plan.is_changed) {
    plan.file = std::string(file);
    return plan;
  }
  // Without a better plan, the runtime chooses all offsets.
  if (best == &before) best->offsets.assign(found.all.front().offsets.size(), std::nullopt);
  LOWTIDE_TRY(plan.file, micro_plan_internal::written(model, file, *best, options.kernels));
  plan.orders = std::move(best->orders);
  plan.offsets = std::move(best->offsets);
  plan.in_place = best->in_place;
  return plan;
}

}  // namespace lowtide
