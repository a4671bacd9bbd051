// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/groups/pair_order_search.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>

#include "lowtide/allocate/problem/align.h"
#include "lowtide/allocate/tuning.h"

namespace lowtide::allocate_internal {
namespace {

// The nearest base with the alignment of the block: at or above `base`, and at or below it.
std::int64_t base_above(const PairOrderProblem::Block& block, std::int64_t base) {
  return aligned_up(base - block.residue, block.alignment) + block.residue;
}
std::int64_t base_below(const PairOrderProblem::Block& block, std::int64_t base) {
  return aligned_down(base - block.residue, block.alignment) + block.residue;
}

// Joins pairs of the same two groups if their ranges of forbidden differences overlap or touch.
IdVector<PairOrderProblem::PairId, PairOrderProblem::Pair> joined(std::vector<PairOrderProblem::Pair> pairs) {
  std::sort(pairs.begin(), pairs.end(), [](const PairOrderProblem::Pair& a, const PairOrderProblem::Pair& b) {
    return std::tuple(a.lower, a.upper, -a.below, a.above) < std::tuple(b.lower, b.upper, -b.below, b.above);
  });
  std::vector<PairOrderProblem::Pair> joined;
  for (const PairOrderProblem::Pair& pair : pairs) {
    // The forbidden differences are those from 1 - below to above - 1.
    const bool touches_last = !joined.empty() && joined.back().lower == pair.lower &&
                              joined.back().upper == pair.upper && 1 - pair.below <= joined.back().above;
    if (touches_last) {
      joined.back().above = std::max(joined.back().above, pair.above);
    } else {
      joined.push_back(pair);
    }
  }
  IdVector<PairOrderProblem::PairId, PairOrderProblem::Pair> out;
  for (const PairOrderProblem::Pair& pair : joined) out.push_back(pair);
  return out;
}

}  // namespace

PairOrderProblem pair_order_problem(const PackingProblem& problem, const BufferGroups& groups,
                                    const ConflictGraph& graph) {
  PairOrderProblem out;
  for (const BufferGroups::Group& group : groups.groups) {
    out.blocks.push_back({group.size, group.alignment, group.residue, group.fixed_base});
  }
  std::vector<PairOrderProblem::Pair> pairs;
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) {
    out.members.push_back({groups.group[id], groups.shift[id], id});
    for (PackingId other : graph.neighbours(id)) {
      if (groups.group[id] >= groups.group[other]) continue;
      pairs.push_back({groups.group[id], groups.group[other],
                       groups.shift[id] + problem.buffers[id].size.count() - groups.shift[other],
                       groups.shift[other] + problem.buffers[other].size.count() - groups.shift[id]});
    }
  }
  out.pairs = joined(std::move(pairs));
  return out;
}

PairOrderSearch::PairOrderSearch(const PairOrderProblem& problem, const PairOrderRules& rules)
    : problem_(problem),
      rules_(rules),
      pairs_of_(problem.blocks.size()),
      ranks_(problem.blocks.size(), 0),
      least_(problem.blocks.size()),
      greatest_(problem.blocks.size()),
      order_(problem.pairs.size(), Order::open),
      failures_(problem.pairs.size(), 1),
      is_queued_(problem.blocks.size()) {
  for (PairId at : all_ids<PairId>(problem.pairs.size())) {
    pairs_of_[problem.pairs[at].lower].push_back(at);
    pairs_of_[problem.pairs[at].upper].push_back(at);
  }
  find_components();
}

// The smallest component comes first, because a failure there is found soonest.
void PairOrderSearch::find_components() {
  Flags<GroupId> is_seen(problem_.blocks.size());
  std::vector<GroupId> reached;
  for (GroupId from : all_ids<GroupId>(problem_.blocks.size())) {
    if (is_seen.test(from) || pairs_of_[from].empty()) continue;
    is_seen.set(from);
    reached = {from};
    std::vector<PairId> pairs;
    for (std::size_t at = 0; at < reached.size(); ++at) {
      for (PairId pair : pairs_of_[reached[at]]) {
        pairs.push_back(pair);
        for (GroupId group : {problem_.pairs[pair].lower, problem_.pairs[pair].upper}) {
          if (is_seen.insert(group)) reached.push_back(group);
        }
      }
    }
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    if (rules_.components || components_.empty()) {
      components_.push_back(std::move(pairs));
    } else {
      components_.front().insert(components_.front().end(), pairs.begin(), pairs.end());
    }
  }
  std::stable_sort(components_.begin(), components_.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
}

void PairOrderSearch::set_ranks(IdVector<SearchBuffer, std::uint32_t> ranks) {
  std::fill(ranks_.begin(), ranks_.end(), std::numeric_limits<std::uint32_t>::max());
  for (SearchBuffer member : all_ids<SearchBuffer>(ranks.size())) {
    std::uint32_t& rank = ranks_[problem_.members[member].group];
    rank = std::min(rank, ranks[member]);
  }
}

// Sets the least and greatest values of all bases while no pair has an order. Returns false if they leave no packing,
// or if the work limit is reached.
bool PairOrderSearch::begin() {
  trail_.clear();
  frames_.clear();
  std::fill(order_.begin(), order_.end(), Order::open);
  bool fits = true;
  for (GroupId group : all_ids<GroupId>(problem_.blocks.size())) {
    const PairOrderProblem::Block& self = problem_.blocks[group];
    least_[group] = self.fixed_base.value_or(self.residue);
    greatest_[group] = self.fixed_base.value_or(base_below(self, capacity_ - self.size));
    fits = fits && least_[group] <= greatest_[group] && least_[group] + self.size <= capacity_;
    enqueue(group);
  }
  return propagate() && fits;
}

SearchOutcome PairOrderSearch::run(std::int64_t node_limit, std::int64_t work_limit,
                                   const std::function<bool()>& is_stopped) {
  const std::int64_t last_node = nodes_ + node_limit;
  last_work_ = work_ + work_limit;
  if (!begin()) return work_ >= last_work_ ? SearchOutcome::undecided : SearchOutcome::does_not_fit;
  for (std::size_t component = 0; component < components_.size();) {
    if (nodes_ >= last_node || work_ >= last_work_) return SearchOutcome::undecided;
    if (is_stopped && nodes_ % tuning::kPairOrderStopInterval == 0 && is_stopped()) return SearchOutcome::undecided;
    const std::optional<PairId> pair = choose(component);
    if (!pair) {
      // The component is solved. No pair leads out of it, so its decisions are not tried again.
      ++component;
      frames_.clear();
      continue;
    }
    ++nodes_;
    const Order first = preferred(*pair);
    const Order second = first == Order::upper_on_lower ? Order::lower_on_upper : Order::upper_on_lower;
    frames_.push_back({*pair, second, trail_.size()});
    if (decide(*pair, first) || backtrack()) continue;
    return work_ >= last_work_ ? SearchOutcome::undecided : SearchOutcome::does_not_fit;
  }
  return SearchOutcome::fits;
}

// Goes back from the last decision, and tries the second order of each decision until one holds. Returns false if none
// holds, or if the work limit is reached.
bool PairOrderSearch::backtrack() {
  while (work_ < last_work_ && !frames_.empty()) {
    Frame& frame = frames_.back();
    undo(frame.mark);
    if (!frame.second) {
      ++failures_[frame.pair];
      frames_.pop_back();
      continue;
    }
    const Order order = *std::exchange(frame.second, std::nullopt);
    if (decide(frame.pair, order)) return true;
  }
  return false;
}

// Looks at the pairs that overlap when all bases have their least values. Returns the one with the least space for its
// two orders, or nullopt if none overlaps.
std::optional<PairOrderSearch::PairId> PairOrderSearch::choose(std::size_t component) {
  std::optional<PairId> best;
  double least_space = 0;
  work_ += static_cast<std::int64_t>(components_[component].size()) / 4;
  for (PairId at : components_[component]) {
    const PairOrderProblem::Pair& pair = problem_.pairs[at];
    if (order_[at] != Order::open || !overlaps(pair)) continue;
    const std::int64_t up = std::max<std::int64_t>(greatest_[pair.upper] - least_[pair.lower] - pair.above, 0);
    const std::int64_t down = std::max<std::int64_t>(greatest_[pair.lower] - least_[pair.upper] - pair.below, 0);
    auto space = static_cast<double>(rule_ == CliqueRule::least_slack ? std::min(up, down) : up + down);
    if (rule_ == CliqueRule::most_failures) space /= static_cast<double>(failures_[at]);
    if (best && space >= least_space) continue;
    best = at;
    least_space = space;
  }
  return best;
}

PairOrderSearch::Order PairOrderSearch::preferred(PairId at) const {
  const PairOrderProblem::Pair& pair = problem_.pairs[at];
  return ranks_[pair.lower] <= ranks_[pair.upper] ? Order::upper_on_lower : Order::lower_on_upper;
}

void PairOrderSearch::set_order(PairId pair, Order order) {
  trail_.push_back({.kind = Change::Kind::order, .pair = pair});
  order_[pair] = order;
}

bool PairOrderSearch::decide(PairId pair, Order order) {
  set_order(pair, order);
  if (impose(problem_.pairs[pair], order) && propagate()) return true;
  clear_queue();
  return false;
}

// Propagates changes until none is left. Returns false if a base has no value left, or if the work limit is reached.
bool PairOrderSearch::propagate() {
  for (std::size_t at = 0; at < queue_.size(); ++at) {
    const GroupId group = queue_[at];
    is_queued_.reset(group);
    work_ += static_cast<std::int64_t>(pairs_of_[group].size()) + 1;
    const bool holds = work_ < last_work_ && std::all_of(pairs_of_[group].begin(), pairs_of_[group].end(),
                                                         [&](PairId pair) { return propagate(pair); });
    if (holds) continue;
    clear_queue();
    return false;
  }
  queue_.clear();
  return true;
}

bool PairOrderSearch::propagate(PairId at) {
  const PairOrderProblem::Pair& pair = problem_.pairs[at];
  if (order_[at] == Order::open) {
    const bool may_up = least_[pair.lower] + pair.above <= greatest_[pair.upper];
    const bool may_down = least_[pair.upper] + pair.below <= greatest_[pair.lower];
    if (!may_up && !may_down) return false;
    if (!rules_.forced || (may_up && may_down)) return true;
    set_order(at, may_up ? Order::upper_on_lower : Order::lower_on_upper);
  }
  return impose(pair, order_[at]);
}

bool PairOrderSearch::impose(const PairOrderProblem::Pair& pair, Order order) {
  const bool is_up = order == Order::upper_on_lower;
  const GroupId below = is_up ? pair.lower : pair.upper;
  const GroupId above = is_up ? pair.upper : pair.lower;
  const std::int64_t distance = is_up ? pair.above : pair.below;
  return raise(above, least_[below] + distance) && lower(below, greatest_[above] - distance);
}

bool PairOrderSearch::raise(GroupId group, std::int64_t least) {
  if (least <= least_[group]) return true;
  least = base_above(problem_.blocks[group], least);
  if (least > greatest_[group]) return false;
  trail_.push_back({.kind = Change::Kind::least, .group = group, .before = least_[group]});
  least_[group] = least;
  enqueue(group);
  return true;
}

bool PairOrderSearch::lower(GroupId group, std::int64_t greatest) {
  if (greatest >= greatest_[group]) return true;
  greatest = base_below(problem_.blocks[group], greatest);
  if (greatest < least_[group]) return false;
  trail_.push_back({.kind = Change::Kind::greatest, .group = group, .before = greatest_[group]});
  greatest_[group] = greatest;
  enqueue(group);
  return true;
}

void PairOrderSearch::enqueue(GroupId group) {
  if (is_queued_.insert(group)) queue_.push_back(group);
}

void PairOrderSearch::clear_queue() {
  for (GroupId group : queue_) is_queued_.reset(group);
  queue_.clear();
}

void PairOrderSearch::undo(std::size_t mark) {
  for (; trail_.size() > mark; trail_.pop_back()) {
    const Change& change = trail_.back();
    switch (change.kind) {
      case Change::Kind::least: least_[change.group] = change.before; break;
      case Change::Kind::greatest: greatest_[change.group] = change.before; break;
      case Change::Kind::order: order_[change.pair] = Order::open; break;
    }
  }
}

SearchTask search_task(const PackingProblem& problem, const PairOrderProblem& blocks) {
  SearchTask task;
  IdVector<GroupId, std::int64_t> pairs(blocks.blocks.size(), 0);
  IdVector<GroupId, std::int64_t> highest_load(blocks.blocks.size(), 0);
  std::int64_t grain = 0;
  for (const PairOrderProblem::Pair& pair : blocks.pairs) {
    for (GroupId group : {pair.lower, pair.upper}) {
      ++pairs[group];
      // For two rectangles, above + below is the sum of their sizes.
      highest_load[group] = std::max(highest_load[group], pair.above + pair.below);
    }
    grain = std::gcd(grain, std::gcd(pair.above, pair.below));
  }
  for (const PairOrderProblem::Block& block : blocks.blocks) {
    grain = std::gcd(grain, std::gcd(block.size, std::gcd(block.residue, block.fixed_base.value_or(0))));
    if (block.alignment > 1) grain = std::gcd(grain, block.alignment);
  }
  for (const PairOrderProblem::Member& member : blocks.members) {
    task.buffers.push_back(
        {member.id, problem.buffers[member.id].size.count(), pairs[member.group], highest_load[member.group]});
  }
  task.grain = std::max<std::int64_t>(grain, 1);
  task.make = [&blocks] { return std::make_unique<PairOrderSearch>(blocks, PairOrderRules{}); };
  return task;
}

}  // namespace lowtide::allocate_internal
