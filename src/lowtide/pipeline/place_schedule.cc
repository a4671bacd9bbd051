// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/place_schedule.h"

#include <algorithm>
#include <utility>

#include "lowtide/analysis/load.h"
#include "lowtide/pipeline/place.h"
#include "lowtide/schedule/other_order.h"

namespace lowtide::detail {
namespace {

constexpr std::int64_t kShares = 100;             // of the effort
constexpr std::int64_t kOrderWork = 200'000'000;  // for each other order

Bytes overflow(const Plan& plan) {
  const Region& last = plan.regions.back();
  if (!last.capacity || plan.arena.back() <= *last.capacity) return Bytes(0);
  return plan.arena.back() - *last.capacity;
}

class Placing {
 public:
  Placing(const PlaceInput& input, Schedule given)
      : input_(input), rivals_(std::exchange(given.rivals, {})), given_(std::move(given)) {}

  Result<PlacedSchedule> run() && {
    Result<PlacedSchedule> first = placed(given_, input_.aliases, input_.effort);
    if (!first) return first;
    best_ = *std::move(first);
    const bool is_settled = input_.regions.size() > 1 && overflow(best_.plan) == Bytes(0);
    if (!is_settled) LOWTIDE_RETURN_IF_ERROR(look_further());
    return std::move(best_);
  }

 private:
  Result<void> look_further() {
    if (is_done()) return {};
    const std::vector<NodeId> partial = partial_aliases();
    if (!partial.empty()) {
      AliasOptions whole = input_.aliases;
      whole.parts = false;
      LOWTIDE_RETURN_IF_ERROR(share_otherwise(whole));
    }
    for (const Schedule& rival : rivals_) {
      if (is_done() || !input_.may_reorder) break;
      LOWTIDE_RETURN_IF_ERROR(look_at(rival, input_.aliases));
    }
    for (int seed = 0; seed < kOtherOrders && input_.may_reorder && !is_done(); ++seed) {
      std::optional<Schedule> other = other_order(input_.graph, input_.kernels, input_.aliases, given_.load,
                                                  static_cast<std::uint64_t>(seed), kOrderWork);
      if (other) LOWTIDE_RETURN_IF_ERROR(look_at(*other, input_.aliases));
    }
    return copy_single_ones(partial);
  }

  Result<PlacedSchedule> placed(const Schedule& schedule, const AliasOptions& aliases, std::int64_t effort) const {
    PlacedSchedule made{.schedule = schedule,
                        .plan = assemble(input_.graph, schedule, input_.kernels, input_.bodies, aliases),
                        .strategy = {}};
    Result<Placed> offsets = place(made.plan, schedule.aliases, input_.regions, aliases, effort);
    if (!offsets) return offsets.error();
    made.strategy = std::move(offsets->strategy);
    return made;
  }

  [[nodiscard]] bool is_done() const { return arena_bytes(best_.plan) == best_.schedule.load; }

  [[nodiscard]] bool is_partial_alias(NodeId id) const {
    const ViewKind kind = input_.graph.op(id).traits.view;
    const bool is_partial = kind == ViewKind::slice || kind == ViewKind::split || kind == ViewKind::concat;
    return is_partial && given_.aliases.step_kinds[id] == StepKind::alias;
  }

  // Those in the largest buffers first: they are the hardest to place.
  [[nodiscard]] std::vector<NodeId> partial_aliases() const {
    std::vector<std::pair<Bytes, NodeId>> found;
    for (NodeId id : given_.order) {
      if (!is_partial_alias(id)) continue;
      Bytes size;
      for (const std::optional<TensorId>& output : input_.graph.node(id).outputs) {
        if (output) size = std::max(size, given_.aliases.classes[given_.aliases.class_of[*output]].size);
      }
      found.emplace_back(size, id);
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<NodeId> nodes;
    for (const auto& [size, id] : found) nodes.push_back(id);
    return nodes;
  }

  // One copy more with each that helps.
  Result<void> copy_single_ones(const std::vector<NodeId>& partial) {
    AliasOptions aliases = input_.aliases;
    for (std::size_t at = 0; at < std::min<std::size_t>(partial.size(), kMostCopies) && !is_done(); ++at) {
      aliases.copies.push_back(partial[at]);
      const Bytes before = arena_bytes(best_.plan);
      LOWTIDE_RETURN_IF_ERROR(share_otherwise(aliases));
      if (arena_bytes(best_.plan) == before) aliases.copies.pop_back();
    }
    return {};
  }

  Result<void> share_otherwise(const AliasOptions& aliases) {
    Schedule other = given_;
    other.aliases = alias_classes(input_.graph, input_.kernels, other.order, aliases);
    other.load = largest(load_profile(other.aliases, input_.kernels, other.order, aliases));
    return look_at(other, aliases);
  }

  Result<void> look_at(const Schedule& other, const AliasOptions& aliases) {
    if (other.load >= arena_bytes(best_.plan)) return {};
    Result<PlacedSchedule> made = placed(other, aliases, input_.effort / kShares);
    if (!made) return made.error();
    if (rank(made->plan) < rank(best_.plan)) best_ = *std::move(made);
    return {};
  }

  static std::pair<Bytes, Bytes> rank(const Plan& plan) { return {overflow(plan), arena_bytes(plan)}; }

  const PlaceInput& input_;
  const std::vector<Schedule> rivals_;
  const Schedule given_;
  PlacedSchedule best_;
};

}  // namespace

Result<PlacedSchedule> place_schedule(const PlaceInput& input, Schedule schedule) {
  return Placing(input, std::move(schedule)).run();
}

}  // namespace lowtide::detail
