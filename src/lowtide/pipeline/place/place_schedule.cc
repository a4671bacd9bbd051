// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/place/place_schedule.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/try.h"
#include "lowtide/pipeline/place/assign_offsets.h"
#include "lowtide/pipeline/place/other_sharing.h"
#include "lowtide/pipeline/task/capacity.h"
#include "lowtide/schedule/other_order.h"
#include "lowtide/share/load.h"

namespace lowtide::pipeline_internal {
namespace {

constexpr std::int64_t kShares = 100;            // each plan after the first may spend effort / kShares
constexpr std::int64_t kOrderWork = 50'000'000;  // limit of each search for another order
constexpr int kMostMisses = 3;                   // consecutive searches that find no other order of this load
constexpr std::size_t kLargestDistance = 16;     // of spaced copies
constexpr std::size_t kMostNodes = 2'000;        // of graphs whose runners-up are placed with copies
constexpr std::size_t kMostCopiesOfRunnersUp = 8;

Result<PlacedSchedule> placed(const PlaceInput& input, const Schedule& schedule, const AliasOptions& aliases,
                              std::int64_t effort) {
  PlacedSchedule made{.schedule = schedule, .plan = assemble(input, schedule, aliases), .strategy = {}};
  LOWTIDE_TRY(std::string strategy,
              assign_offsets(made.plan, schedule.aliases, aliases, {.effort = effort, .stop = input.stop}));
  made.strategy = std::move(strategy);
  return made;
}

class Placing {
 public:
  Placing(const PlaceInput& input, PlacedSchedule first, std::vector<Schedule> runners_up)
      : input_(input), runners_up_(std::move(runners_up)), given_(first.schedule), best_(std::move(first)) {
    count_try();
  }

  Result<PlacedSchedule> run() && {
    const bool is_settled = writable_regions(input_.machine, kWorker).size() > 1 && overflow(best_.plan) == Bytes(0);
    if (!is_settled) LOWTIDE_RETURN_IF_ERROR(look_further());
    return std::move(best_);
  }

 private:
  Result<void> look_further() {
    if (is_done()) return {};
    if (!partial_aliases(input_.graph, given_).empty()) {
      AliasOptions whole = input_.aliases;
      whole.parts = false;
      LOWTIDE_RETURN_IF_ERROR(try_sharing(given_, whole));
    }
    if (!given_.aliases.copies.empty() && !is_done()) {
      AliasOptions complete = input_.aliases;
      complete.copy_operands = false;
      LOWTIDE_RETURN_IF_ERROR(try_sharing(given_, complete));
    }
    for (const Schedule& runner_up : runners_up_) {
      if (is_done() || !input_.may_reorder) break;
      LOWTIDE_RETURN_IF_ERROR(look_at(runner_up, input_.aliases));
    }
    int misses = 0;
    for (int seed = 0; seed < kOtherOrders && input_.may_reorder && misses < kMostMisses && !is_done(); ++seed) {
      count_try();
      std::optional<Schedule> other =
          other_order(input_.graph, input_.kernels, input_.aliases,
                      {.most = given_.load, .seed = static_cast<std::uint64_t>(seed), .work = kOrderWork});
      misses = other ? 0 : misses + 1;
      if (other) LOWTIDE_RETURN_IF_ERROR(look_at(*other, input_.aliases));
    }
    LOWTIDE_RETURN_IF_ERROR(copy_some(given_, kMostCopies));
    for (const Schedule& runner_up : runners_up_) {
      if (is_done() || !input_.may_reorder || runner_up.order.size() > kMostNodes) break;
      LOWTIDE_RETURN_IF_ERROR(copy_some(runner_up, kMostCopiesOfRunnersUp));
    }
    return {};
  }

  // Each try visits all nodes a few times, whether it chooses aliases, makes a plan or searches for an order.
  void count_try() { nodes_tried_ += input_.graph.nodes().size(); }

  [[nodiscard]] bool is_done() const {
    const bool is_stopped = input_.stop != nullptr && input_.stop->load();
    return is_stopped || arena_bytes(best_.plan) == best_.schedule.load || nodes_tried_ >= kMostNodesTried;
  }

  Result<void> copy_some(const Schedule& schedule, std::size_t most) {
    const std::vector<NodeId> partial = partial_aliases(input_.graph, schedule);
    LOWTIDE_RETURN_IF_ERROR(copy_spaced_ones(schedule, free_copies(schedule, partial)));
    return copy_single_ones(schedule, partial, most);
  }

  // Returns a subset of `nodes` that can all copy without raising the load. It is empty if no such subset is found.
  [[nodiscard]] std::vector<NodeId> free_copies(const Schedule& schedule, const std::vector<NodeId>& nodes) {
    AliasOptions aliases = input_.aliases;
    aliases.computing = nodes;
    IdVector<NodeId, std::size_t> position(input_.graph.nodes().size(), 0);
    for (std::size_t at = 0; at < schedule.order.size(); ++at) position[schedule.order[at]] = at;
    while (!aliases.computing.empty()) {
      if (is_done()) return {};
      count_try();
      const AliasClasses classes = alias_classes(input_.graph, input_.kernels, schedule.order, aliases);
      const std::vector<Bytes> profile = load_profile(classes, input_.kernels, schedule.order, aliases);
      if (largest(profile) <= schedule.load) break;
      const std::size_t dropped =
          std::erase_if(aliases.computing, [&](NodeId id) { return profile[position[id]] > schedule.load; });
      if (dropped == 0) return {};
    }
    return aliases.computing;
  }

  // In a chain of repeated cells, each buffer is in conflict with the next one and may push it to a higher offset.
  // Copies at regular distances let the offsets start from the bottom again.
  Result<void> copy_spaced_ones(const Schedule& schedule, const std::vector<NodeId>& nodes) {
    std::size_t last = 0;
    for (std::size_t distance = kLargestDistance; distance > 0 && !is_done(); distance /= 2) {
      AliasOptions aliases = input_.aliases;
      for (std::size_t at = distance - 1; at < nodes.size(); at += distance) aliases.computing.push_back(nodes[at]);
      if (aliases.computing.size() == last) continue;
      last = aliases.computing.size();
      LOWTIDE_RETURN_IF_ERROR(try_sharing(schedule, aliases));
    }
    return {};
  }

  // Adds copies one at a time, and keeps those that help. The nodes with the largest buffers come first, because these
  // are the hardest to place.
  Result<void> copy_single_ones(const Schedule& schedule, std::vector<NodeId> nodes, std::size_t most) {
    std::stable_sort(nodes.begin(), nodes.end(),
                     [&](NodeId a, NodeId b) { return largest_buffer(schedule, a) > largest_buffer(schedule, b); });
    AliasOptions aliases = input_.aliases;
    for (std::size_t at = 0; at < std::min(nodes.size(), most) && !is_done(); ++at) {
      aliases.computing.push_back(nodes[at]);
      const Bytes before = arena_bytes(best_.plan);
      LOWTIDE_RETURN_IF_ERROR(try_sharing(schedule, aliases));
      if (arena_bytes(best_.plan) == before) aliases.computing.pop_back();
    }
    return {};
  }

  [[nodiscard]] Bytes largest_buffer(const Schedule& schedule, NodeId id) const {
    Bytes size;
    for (const std::optional<TensorId>& output : input_.graph.node(id).outputs) {
      if (output) size = std::max(size, schedule.aliases.classes[schedule.aliases.class_of[*output]].size);
    }
    return size;
  }

  Result<void> try_sharing(const Schedule& schedule, const AliasOptions& aliases) {
    count_try();
    return look_at(share_again(input_.graph, input_.kernels, schedule, aliases), aliases);
  }

  Result<void> look_at(const Schedule& other, const AliasOptions& aliases) {
    if (other.load >= arena_bytes(best_.plan)) return {};
    count_try();
    LOWTIDE_TRY(PlacedSchedule made, placed(input_, other, aliases, input_.effort / kShares));
    if (rank(made.plan) < rank(best_.plan)) best_ = std::move(made);
    return {};
  }

  static std::pair<Bytes, Bytes> rank(const Plan& plan) { return {overflow(plan), arena_bytes(plan)}; }

  const PlaceInput& input_;
  const std::vector<Schedule> runners_up_;
  const Schedule given_;
  std::size_t nodes_tried_ = 0;
  PlacedSchedule best_;
};

}  // namespace

PlaceInput place_input(const Task& task, const PlanParts& parts) {
  return {parts, task.aliases, task.options.allocate_effort, task.options.order == "auto", task.options.stop};
}

Result<PlacedSchedule> place_schedule(const PlaceInput& input, const Schedule& schedule) {
  Result<PlacedSchedule> first = placed(input, schedule, input.aliases, input.effort);
  const std::optional<AliasOptions> finer = with_finest_alignment(input.aliases);
  if (!first || !finer || overflow(first->plan) == Bytes(0)) return first;
  const Schedule again = share_again(input.graph, input.kernels, schedule, *finer);
  Result<PlacedSchedule> second = placed(input, again, *finer, input.effort);
  if (!second) return second.error();
  second->has_finest_alignment = true;
  return overflow(second->plan) < overflow(first->plan) ? second : first;
}

Result<PlacedSchedule> refine_placement(const PlaceInput& input, PlacedSchedule first,
                                        std::vector<Schedule> runners_up) {
  return Placing(input, std::move(first), std::move(runners_up)).run();
}

}  // namespace lowtide::pipeline_internal
