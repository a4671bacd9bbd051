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
#include "lowtide/allocate/problem/phases.h"
#include "lowtide/allocate/problem/stopping_rule.h"
#include "lowtide/allocate/problem/structure_bound.h"
#include "lowtide/allocate/strategies/allocate_ungrouped.h"
#include "lowtide/allocate/tuning.h"
#include "lowtide/base/check.h"

namespace lowtide::allocate_internal {
namespace {

// The exact search over the members of groups.
class MemberSearch {
 public:
  MemberSearch(const PackingProblem& problem, PairOrderProblem blocks, const CompressedProblem& members,
               const StoppingRule& stopping, int threads)
      : blocks_(std::move(blocks)),
        task_(search_task(problem, blocks_)),
        descent_(members, task_, stopping.bound(), stopping.target(), threads) {}
  ~MemberSearch() = default;
  MemberSearch(const MemberSearch&) = delete;
  MemberSearch& operator=(const MemberSearch&) = delete;

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
    proof_ = structure_bound(pieces, facts_of_relation(pieces, effort_));
    proof_.clique.clear();  // its members are pieces and not buffers of the problem
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
      const bool may_search = !is_over() && search_members(limit);
      return !is_over() && (!are_blocks_done || may_search);
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

  // Returns the answer for the blocks, and offers it to `best_`.
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

  // Spends the limit on the search over the members. Returns false if they have too many pairs for it.
  bool search_members(std::int64_t limit) {
    if (!search_ && !is_too_large_) {
      if (!pairs_) pairs_ = count_overlapping_pairs(members_);
      const bool is_small = *pairs_ <= tuning::kPairOrderMostPairs;
      if (is_small && *pairs_ > most_pairs(limit)) return true;  // a later phase can afford it
      make_search(is_small);
    }
    if (!search_) return false;
    Descent& descent = search_->descent();
    const std::int64_t last = effort_.spent + std::min(limit, effort_.left());
    descent.try_target(*best_, stopping_->has_capacity() ? limit : limit / 2, effort_);
    stopping_->raise(descent.bound());
    while (!is_over() && !stopping_->has_capacity() && effort_.spent < last) {
      descent.step(*best_, effort_);
      stopping_->raise(descent.bound());
    }
    // A phase that gives up early still spends its whole limit. Otherwise the phases would never end.
    effort_.spend(std::max<std::int64_t>(last - effort_.spent, 0));
    return true;
  }

  // The number of pairs up to which a phase with this limit can afford the search.
  [[nodiscard]] std::int64_t most_pairs(std::int64_t limit) const {
    const auto buffers = static_cast<std::int64_t>(problem_.buffers.size());
    return limit / std::max<std::int64_t>(buffers / tuning::kPairOrderShareOfRound, 1);
  }

  void make_search(bool is_small) {
    std::optional<ConflictGraph> graph;
    if (is_small) graph = conflict_graph(members_, effort_);
    is_too_large_ = !graph;
    if (!graph) return;
    search_.emplace(problem_, pair_order_problem(problem_, groups_, *graph), members_, *stopping_, options_.threads);
  }

  [[nodiscard]] Packing finished() const {
    LOWTIDE_CHECK(best_->height() >= stopping_->bound(), "no packing is lower than the bound");
    Packing packing = answer_of(best_->placements(), best_->strategy(), proof_, *stopping_);
    packing.decisions = decisions_ + (search_ ? search_->nodes() : 0);
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
  std::set<std::string> strategies_;  // owns the names of strategies in `best_`
  std::optional<Incumbent> best_;
  std::optional<MemberSearch> search_;
  std::optional<std::int64_t> pairs_;  // of members that overlap in time; nullopt until counted
  bool is_too_large_ = false;          // the members have too many pairs for a search
  std::int64_t decisions_ = 0;         // of the solver for the blocks
};

}  // namespace

Packing allocate_groups(const PackingProblem& problem, const SolveOptions& options) {
  return GroupAllocation(problem, options).run();
}

}  // namespace lowtide::allocate_internal
