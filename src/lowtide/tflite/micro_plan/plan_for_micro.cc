// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/micro_plan/plan_for_micro.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>

#include "lowtide/allocate/allocate.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/tflite/flatbuffer/edit_tflite.h"
#include "lowtide/tflite/flatbuffer/read_tflite.h"
#include "lowtide/tflite/micro/offline_plan.h"
#include "lowtide/tflite/micro_plan/order_plan.h"

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

// Offsets for an order, and the head that the runtime makes of them.
struct Candidate {
  Orders orders;
  MicroOffsets offsets;
  std::int64_t in_place = 0;
  Bytes head;
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

// Plans that change less of the file come first.
Result<std::vector<Candidate>> candidates(const TfliteModel& model, std::string_view file,
                                          const MicroPlanOptions& options, Bytes& bound) {
  LOWTIDE_TRY(const Graph graph, numbered_graph(model, file));
  std::vector<Candidate> all;
  const Packing packing(model, options);
  for (const char* strategy : {"as_given", "auto"}) {
    LOWTIDE_TRY(OrderPlan plan, plan_order(model, graph, strategy, options));
    bound = plan.bound;
    for (std::vector<std::uint32_t>& order : plan.orders) {
      if (is_identity(order)) order.clear();
    }
    LOWTIDE_TRY(const MicroHead head, micro_head(in_order(model, plan.orders), options.kernels));
    for (const Pairs& in_place : {Pairs(), plan.in_place}) {
      LOWTIDE_TRY(Candidate candidate, packing.pack(head.buffers, in_place));
      candidate.orders = plan.orders;
      all.push_back(std::move(candidate));
    }
  }
  return all;
}

Result<Bytes> head_of(const TfliteModel& model, std::string_view file, MicroKernels kernels) {
  LOWTIDE_TRY(const std::optional<MicroOffsets> stated, read_offline_plan(model, file));
  const MicroOffsets given = stated.value_or(MicroOffsets());
  LOWTIDE_TRY(const MicroHead head, micro_head(model, kernels, given));
  if (!head.unknown_operators.empty()) {
    std::vector<std::string> names;
    for (const std::string& name : head.unknown_operators) names.push_back(quoted(name, 60));
    return Error{ErrorCode::unsupported,
                 "the kernels " + std::string(to_string(kernels)) + " do not have " + listed(names) +
                     ", or it is not known how much scratch they request, so the head is not known",
                 ""};
  }
  LOWTIDE_TRY(const MicroLayout layout, place_as_micro(head.buffers, given));
  return layout.size;
}

}  // namespace
}  // namespace micro_plan_internal

Result<MicroPlan> plan_for_micro(const TfliteModel& model, std::string_view file, const MicroPlanOptions& options) {
  using micro_plan_internal::Candidate;
  using micro_plan_internal::head_of;
  MicroPlan plan;
  LOWTIDE_TRY(plan.head_before, head_of(model, file, options.kernels));
  LOWTIDE_TRY(std::vector<Candidate> all, micro_plan_internal::candidates(model, file, options, plan.bound));
  const auto best =
      std::min_element(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) { return a.head < b.head; });
  plan.bound = std::min(plan.bound, best->head);
  plan.head = plan.head_before;
  plan.file = std::string(file);
  if (best->head >= plan.head_before) return plan;
  plan.head = best->head;
  plan.orders = std::move(best->orders);
  plan.offsets = std::move(best->offsets);
  plan.in_place = best->in_place;
  LOWTIDE_TRY(plan.file, edit_tflite(file, {.orders = plan.orders,
                                            .metadata_name = kOfflinePlanName,
                                            .metadata = offline_plan_bytes(model, plan.offsets)}));
  LOWTIDE_TRY(const TfliteModel written, read_tflite(plan.file));
  LOWTIDE_TRY(const Bytes head, head_of(written, plan.file, options.kernels));
  LOWTIDE_CHECK(head == plan.head, "the file has the head that was planned");
  return plan;
}

}  // namespace lowtide
