// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/groups/allocate_groups.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "lowtide/allocate/groups/group_forms.h"
#include "lowtide/allocate/groups/pair_order_search.h"
#include "lowtide/allocate/improve/descent.h"
#include "lowtide/allocate/problem/answer.h"
#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/conflict_graph.h"
#include "lowtide/allocate/problem/groups.h"
#include "lowtide/allocate/problem/incumbent.h"
#include "lowtide/allocate/problem/named_conflicts.h"
#include "lowtide/allocate/problem/phases.h"
#include "lowtide/allocate/problem/stopping_rule.h"
#include "lowtide/allocate/strategies/allocate_ungrouped.h"
#include "lowtide/allocate/tuning.h"
#include "lowtide/base/check.h"

namespace lowtide::allocate_internal {
namespace {

// Members of groups as they are, for the exact search.
class Ordering {
 public:
  Ordering(const PackingProblem& problem, PairOrderProblem blocks, const CompressedProblem& members,
           const StoppingRule& stopping, int threads)
      : blocks_(std::move(blocks)),
        task_(search_task(problem, blocks_)),
        descent_(members, task_, stopping.bound(), stopping.target(), threads) {}
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
  GroupAllocation(const PackingProblem& problem, const SolveOptions& options)
      : problem_(problem),
        options_(options),
        groups_(*group_buffers(problem)),
        blocks_(blocks_of(problem, groups_)),
        members_(compress(problem)),
        effort_(options.effort) {
    const CompressedProblem pieces = compress(loosened(problem, groups_));
    proof_ = structure_bound(pieces, named_conflicts(pieces, effort_));
    proof_.clique.clear();  // pieces are no buffers of the problem
    for (const BufferGroups::Group& group : groups_.groups) {
      proof_.height = std::max(proof_.height, group.fixed_base.value_or(group.residue) + group.size);
    }
    stopping_.emplace(members_, proof_.height, problem.capacity);
  }

  // Each phase packs the blocks from the start, because their solver keeps nothing from one call to the next.
  Packing run() && {
    if (blocks_.is_exact) {
      stopping_->raise(pack_blocks(effort_.left()).bound.count());
      return finished();
    }
    bool are_blocks_done = false;
    run_phases({.first = tuning::kGroupsFirstPhase}, [&](std::int64_t limit) {
      if (!are_blocks_done) {
        const std::int64_t effort = std::min(limit, effort_.left());
        are_blocks_done = pack_blocks(effort).proven_optimal;
        effort_.spend(effort);
      }
      const bool is_ordered = !is_over() && order_members(limit);
      return !is_over() && (!are_blocks_done || is_ordered);
    });
    return finished();
  }

 private:
  [[nodiscard]] bool is_over() const {
    const bool is_done = stopping_->has_capacity() && !stopping_->is_infeasible()
                             ? stopping_->stops_at(best_->height())
                             : best_->height() == stopping_->bound();
    return is_done || stopping_->is_infeasible() || effort_.exhausted();
  }

  // What it found is in `best_`; the answer is that of the blocks.
  Packing pack_blocks(std::int64_t effort) {
    SolveOptions options{.effort = {.limit = effort, .stop = effort_.stop}, .threads = options_.threads};
    if (options_.on_improvement) {
      options.on_improvement = [&](const Packing& packing) { offer_blocks(packing); };
    }
    Packing packing = allocate_ungrouped(blocks_.problem, options);
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
        options_.on_improvement(answer_of(found, name, proof_, *stopping_));
      };
    }
    best_.emplace(std::move(placements), strategy, std::move(listener));
  }

  // Returns false if there are too many pairs for that.
  bool order_members(std::int64_t limit) {
    if (!ordering_ && !is_unordered_) {
      if (!pairs_) pairs_ = count_meeting_pairs(members_);
      const auto buffers = static_cast<std::int64_t>(problem_.buffers.size());
      if (*pairs_ <= tuning::kPairOrderMostPairs &&
          *pairs_ > limit / std::max<std::int64_t>(buffers / tuning::kPairOrderShareOfRound, 1))
        return true;
      std::optional<ConflictGraph> graph;
      if (*pairs_ <= tuning::kPairOrderMostPairs) graph = conflict_graph(members_, effort_);
      is_unordered_ = !graph;
      if (graph)
        ordering_.emplace(problem_, order_problem(problem_, groups_, *graph), members_, *stopping_, options_.threads);
    }
    if (!ordering_) return false;
    Descent& descent = ordering_->descent();
    const std::int64_t last = effort_.spent + std::min(limit, effort_.left());
    descent.try_target(*best_, stopping_->has_capacity() ? limit : limit / 2, effort_);
    stopping_->raise(descent.bound());
    while (!is_over() && !stopping_->has_capacity() && effort_.spent < last) {
      descent.step(*best_, effort_);
      stopping_->raise(descent.bound());
    }
    // A phase that gives up at once costs something too: else there would be no end.
    effort_.spend(std::max<std::int64_t>(last - effort_.spent, 0));
    return true;
  }

  [[nodiscard]] Packing finished() const {
    LOWTIDE_CHECK(best_->height() >= stopping_->bound(), "no packing is lower than the bound");
    Packing packing = answer_of(best_->placements(), best_->strategy(), proof_, *stopping_);
    packing.decisions = decisions_ + (ordering_ ? ordering_->nodes() : 0);
    return packing;
  }

  const PackingProblem& problem_;
  const SolveOptions& options_;
  const BufferGroups groups_;
  const GroupBlocks blocks_;
  const CompressedProblem members_;
  Effort effort_;
  StructureBound proof_;  // of the pieces
  std::optional<StoppingRule> stopping_;
  std::set<std::string> strategies_;  // what names in `best_` refer to
  std::optional<Incumbent> best_;
  std::optional<Ordering> ordering_;
  std::optional<std::int64_t> pairs_;  // of members that live together, once counted
  bool is_unordered_ = false;          // there are too many pairs
  std::int64_t decisions_ = 0;         // for the blocks
};

}  // namespace

Packing allocate_groups(const PackingProblem& problem, const SolveOptions& options) {
  return GroupAllocation(problem, options).run();
}

}  // namespace lowtide::allocate_internal
