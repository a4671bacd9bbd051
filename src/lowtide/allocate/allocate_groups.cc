// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/allocate_groups.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "lowtide/allocate/compressed.h"
#include "lowtide/allocate/conflict_graph.h"
#include "lowtide/allocate/descent.h"
#include "lowtide/allocate/goal.h"
#include "lowtide/allocate/group_forms.h"
#include "lowtide/allocate/groups.h"
#include "lowtide/allocate/incumbent.h"
#include "lowtide/allocate/named_conflicts.h"
#include "lowtide/allocate/pair_order_search.h"
#include "lowtide/base/check.h"

namespace lowtide {
namespace {

// The order search looks at the pairs of blocks for each decision, and a round has as many decisions as there are
// buffers: it waits for a phase with the effort of a share of that.
constexpr std::int64_t kMostOrdered = 200'000;
constexpr std::int64_t kShareOfRound = 4;

// Effort of each half of the first phase.
constexpr std::int64_t kFirstGroupPhase = 200'000;

// Members of groups as they are, for the exact search.
class Ordering {
 public:
  Ordering(const PackingProblem& problem, const BufferGroups& groups, const CompressedProblem& members,
           const ConflictGraph& graph, const Goal& goal, int threads)
      : blocks_(order_problem(problem, groups, graph)),
        task_(search_task(problem, blocks_)),
        descent_(members, task_, goal.bound(), goal.target(), threads) {}
  Ordering(const Ordering&) = delete;
  Ordering& operator=(const Ordering&) = delete;

  [[nodiscard]] Descent& descent() { return descent_; }
  [[nodiscard]] std::int64_t nodes() const { return descent_.nodes(); }

 private:
  const PairOrderProblem blocks_;
  const SearchTask task_;
  Descent descent_;
};

class GroupAllocation {
 public:
  GroupAllocation(const PackingProblem& problem, const AllocateOptions& options,
                  const AllocateBuffers& allocate_buffers)
      : problem_(problem),
        options_(options),
        allocate_buffers_(allocate_buffers),
        groups_(*group_buffers(problem)),
        blocks_(blocks_of(problem, groups_)),
        members_(compress(problem)),
        effort_{.limit = options.effort, .stop = options.stop} {
    const CompressedProblem pieces = compress(loosened(problem, groups_));
    const StructureBound bound = structure_bound(pieces, named_conflicts(pieces, effort_));
    structure_bound_ = bound.height;
    if (!pieces.times.empty()) witness_time_ = pieces.times[bound.witness];
    for (const BufferGroups::Group& group : groups_.groups) {
      structure_bound_ = std::max(structure_bound_, group.fixed_base.value_or(group.residue) + group.size);
    }
    goal_.emplace(members_, structure_bound_, problem.capacity);
  }

  // Phases whose efforts double: what one does depends on its own effort and on those before it, never on where the
  // whole ends. Each begins the blocks anew, since they are solved behind a door that keeps nothing.
  Packing run() && {
    if (blocks_.is_exact) {
      goal_->raise(pack_blocks(effort_.left()).bound.count());
      return finished();
    }
    bool are_blocks_done = false;
    for (std::int64_t limit = kFirstGroupPhase;; limit *= 2) {
      if (!are_blocks_done) {
        const std::int64_t effort = std::min(limit, effort_.left());
        are_blocks_done = pack_blocks(effort).proven_optimal;
        effort_.spend(effort);
      }
      const bool is_ordered = !is_over() && order_members(limit);
      if (is_over() || (are_blocks_done && !is_ordered)) return finished();
    }
  }

 private:
  [[nodiscard]] bool is_over() const {
    const bool is_met = goal_->asks_for_capacity() && !goal_->is_out_of_reach() ? goal_->is_met(best_->height())
                                                                                : best_->height() == goal_->bound();
    return is_met || goal_->is_out_of_reach() || effort_.exhausted();
  }

  // What it found is in `best_`; the answer is that of the blocks.
  Packing pack_blocks(std::int64_t effort) {
    AllocateOptions options = options_;
    options.effort = effort;
    if (options_.on_improvement) {
      options.on_improvement = [&](const Packing& packing) { offer_blocks(packing); };
    }
    Packing packing = allocate_buffers_(blocks_.problem, options);
    offer_blocks(packing);
    if (best_->strategy() == packing.strategy) decisions_ = packing.decisions;
    return packing;
  }

  void offer_blocks(const Packing& packing) {
    const IdVector<PackingId, Offset> offsets = offsets_of_members(blocks_, packing.offsets);
    Placements placements;
    placements.offsets.reserve(offsets.size());
    for (PackingId id : all_ids<PackingId>(offsets.size())) {
      placements.offsets.push_back(offsets[id].position());
      placements.height = std::max(placements.height, (offsets[id] + problem_.buffers[id].size).position());
    }
    const std::string_view strategy = *strategies_.insert(packing.strategy).first;
    if (best_) {
      best_->offer(std::move(placements), strategy);
      return;
    }
    Incumbent::Listener listener;
    if (options_.on_improvement) {
      listener = [this](const Placements& found, std::string_view name) {
        options_.on_improvement(packing_of(found, name));
      };
    }
    best_.emplace(std::move(placements), strategy, std::move(listener));
  }

  // False if there is no room for that.
  bool order_members(std::int64_t limit) {
    if (!ordering_ && !is_unordered_) {
      const std::int64_t pairs = count_meeting_pairs(members_);
      const auto buffers = static_cast<std::int64_t>(problem_.buffers.size());
      if (pairs <= kMostOrdered && pairs > limit / std::max<std::int64_t>(buffers / kShareOfRound, 1)) return true;
      std::optional<ConflictGraph> graph;
      if (pairs <= kMostOrdered) graph = conflict_graph(members_, effort_);
      is_unordered_ = !graph;
      if (graph) ordering_.emplace(problem_, groups_, members_, *graph, *goal_, options_.threads);
    }
    if (!ordering_) return false;
    Descent& descent = ordering_->descent();
    const std::int64_t last = effort_.spent + std::min(limit, effort_.left());
    descent.try_target(*best_, goal_->asks_for_capacity() ? limit : limit / 2, effort_);
    goal_->raise(descent.bound());
    while (!is_over() && !goal_->asks_for_capacity() && effort_.spent < last) {
      descent.step(*best_, effort_);
      goal_->raise(descent.bound());
    }
    // A phase that gives up at once costs something too: else there would be no end.
    effort_.spend(std::max<std::int64_t>(last - effort_.spent, 0));
    return true;
  }

  [[nodiscard]] Packing packing_of(const Placements& placements, std::string_view strategy) const {
    Packing packing;
    packing.offsets.reserve(placements.offsets.size());
    for (std::int64_t offset : placements.offsets) packing.offsets.push_back(Offset(offset));
    packing.height = Bytes(placements.height);
    packing.bound = Bytes(goal_->bound());
    packing.proven_optimal = packing.height == packing.bound;
    packing.strategy = strategy;
    packing.witness_time = witness_time_;
    packing.is_bound_searched = goal_->bound() > structure_bound_;
    if (problem_.capacity && packing.height > *problem_.capacity) {
      packing.outcome = packing.bound > *problem_.capacity ? PackingOutcome::infeasible : PackingOutcome::not_found;
    }
    return packing;
  }

  [[nodiscard]] Packing finished() const {
    LOWTIDE_CHECK(best_->height() >= goal_->bound(), "no packing is lower than the bound");
    Packing packing = packing_of(best_->placements(), best_->strategy());
    packing.decisions = decisions_ + (ordering_ ? ordering_->nodes() : 0);
    return packing;
  }

  const PackingProblem& problem_;
  const AllocateOptions& options_;
  const AllocateBuffers& allocate_buffers_;
  const BufferGroups groups_;
  const GroupBlocks blocks_;
  const CompressedProblem members_;
  Effort effort_;
  std::int64_t structure_bound_ = 0;  // of the pieces
  std::optional<std::int64_t> witness_time_;
  std::optional<Goal> goal_;
  std::set<std::string> strategies_;  // what names in `best_` refer to
  std::optional<Incumbent> best_;
  std::optional<Ordering> ordering_;
  bool is_unordered_ = false;   // there are too many pairs
  std::int64_t decisions_ = 0;  // for the blocks
};

}  // namespace

Packing allocate_groups(const PackingProblem& problem, const AllocateOptions& options,
                        const AllocateBuffers& allocate_buffers) {
  return GroupAllocation(problem, options, allocate_buffers).run();
}

}  // namespace lowtide
