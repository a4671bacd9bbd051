// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/groups/pair_order_search.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <tuple>

#include "lowtide/allocate/tuning.h"
#include "lowtide/base/flags.h"

namespace lowtide::allocate_internal {
namespace {

std::int64_t rounded_up(const PairOrderProblem::Block& block, std::int64_t base) {
  return ((base - block.residue + block.alignment - 1) & -block.alignment) + block.residue;
}
std::int64_t rounded_down(const PairOrderProblem::Block& block, std::int64_t base) {
  return ((base - block.residue) & -block.alignment) + block.residue;
}

// Of the same two blocks, sorted by -below: what overlaps or leaves no difference between is one.
std::vector<PairOrderProblem::Pair> joined(std::vector<PairOrderProblem::Pair> pairs) {
  std::sort(pairs.begin(), pairs.end(), [](const PairOrderProblem::Pair& a, const PairOrderProblem::Pair& b) {
    return std::tuple(a.lower, a.upper, -a.below, a.above) < std::tuple(b.lower, b.upper, -b.below, b.above);
  });
  std::vector<PairOrderProblem::Pair> out;
  for (const PairOrderProblem::Pair& pair : pairs) {
    // Forbidden differences: from 1 - below to above - 1.
    const bool meets_last = !out.empty() && out.back().lower == pair.lower && out.back().upper == pair.upper &&
                            1 - pair.below <= out.back().above;
    if (meets_last) {
      out.back().above = std::max(out.back().above, pair.above);
    } else {
      out.push_back(pair);
    }
  }
  return out;
}

}  // namespace

PairOrderProblem order_problem(const PackingProblem& problem, const BufferGroups& groups, const ConflictGraph& graph) {
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
      failures_(problem.pairs.size(), 1),
      is_queued_(problem.blocks.size()) {
  for (std::uint32_t at = 0; at < problem.pairs.size(); ++at) {
    pairs_of_[problem.pairs[at].lower].push_back(at);
    pairs_of_[problem.pairs[at].upper].push_back(at);
  }
  find_components();
}

// The smallest first: it fails soonest, if it does.
void PairOrderSearch::find_components() {
  Flags<std::uint32_t> is_seen(problem_.blocks.size());
  std::vector<std::uint32_t> reached;
  for (std::uint32_t from = 0; from < problem_.blocks.size(); ++from) {
    if (is_seen.test(from) || pairs_of_[from].empty()) continue;
    is_seen.set(from);
    reached = {from};
    std::vector<std::uint32_t> pairs;
    for (std::size_t at = 0; at < reached.size(); ++at) {
      for (std::uint32_t pair : pairs_of_[reached[at]]) {
        pairs.push_back(pair);
        for (std::uint32_t block : {problem_.pairs[pair].lower, problem_.pairs[pair].upper}) {
          if (is_seen.insert(block)) reached.push_back(block);
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

void PairOrderSearch::set_ranks(std::vector<std::uint32_t> ranks) {
  std::fill(ranks_.begin(), ranks_.end(), std::numeric_limits<std::uint32_t>::max());
  for (std::size_t at = 0; at < ranks.size(); ++at) {
    std::uint32_t& rank = ranks_[problem_.members[at].block];
    rank = std::min(rank, ranks[at]);
  }
}

// False if there is no packing.
bool PairOrderSearch::begin() {
  trail_.clear();
  frames_.clear();
  order_.assign(problem_.pairs.size(), Order::open);
  bool fits = true;
  for (std::uint32_t block = 0; block < problem_.blocks.size(); ++block) {
    const PairOrderProblem::Block& self = problem_.blocks[block];
    least_[block] = self.fixed_base.value_or(self.residue);
    greatest_[block] = self.fixed_base.value_or(rounded_down(self, capacity_ - self.size));
    fits = fits && least_[block] <= greatest_[block] && least_[block] + self.size <= capacity_;
    enqueue(block);
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
    const std::optional<std::uint32_t> pair = choose(component);
    if (!pair) {
      // Solved, and no pair leads out of it: what it has decided stays.
      ++component;
      frames_.clear();
      continue;
    }
    ++nodes_;
    const Order first = preferred(*pair);
    const Order second = first == Order::upper_on_lower ? Order::lower_on_upper : Order::upper_on_lower;
    frames_.push_back({*pair, second, trail_.size()});
    bool holds = decide(*pair, first);
    while (!holds) {
      if (work_ >= last_work_) return SearchOutcome::undecided;
      if (frames_.empty()) return SearchOutcome::does_not_fit;
      Frame& frame = frames_.back();
      undo(frame.mark);
      if (frame.second == Order::open) {
        ++failures_[frame.pair];
        frames_.pop_back();
        continue;
      }
      const Order next = frame.second;
      frame.second = Order::open;
      holds = decide(frame.pair, next);
    }
  }
  return SearchOutcome::fits;
}

// A pair that overlaps with all blocks at their least values: the one with the least space for either order.
std::optional<std::uint32_t> PairOrderSearch::choose(std::size_t component) {
  std::optional<std::uint32_t> best;
  double least_room = 0;
  work_ += static_cast<std::int64_t>(components_[component].size()) / 4;
  for (std::uint32_t at : components_[component]) {
    const PairOrderProblem::Pair& pair = problem_.pairs[at];
    if (order_[at] != Order::open || !overlaps(pair)) continue;
    const std::int64_t up = std::max<std::int64_t>(greatest_[pair.upper] - least_[pair.lower] - pair.above, 0);
    const std::int64_t down = std::max<std::int64_t>(greatest_[pair.lower] - least_[pair.upper] - pair.below, 0);
    auto room = static_cast<double>(rule_ == CliqueRule::least_slack ? std::min(up, down) : up + down);
    if (rule_ == CliqueRule::most_failures) room /= static_cast<double>(failures_[at]);
    if (best && room >= least_room) continue;
    best = at;
    least_room = room;
  }
  return best;
}

PairOrderSearch::Order PairOrderSearch::preferred(std::uint32_t at) const {
  const PairOrderProblem::Pair& pair = problem_.pairs[at];
  return ranks_[pair.lower] <= ranks_[pair.upper] ? Order::upper_on_lower : Order::lower_on_upper;
}

bool PairOrderSearch::decide(std::uint32_t pair, Order order) {
  trail_.push_back({pair, Change::Kind::order, 0});
  order_[pair] = order;
  if (impose(problem_.pairs[pair], order) && propagate()) return true;
  for (std::uint32_t block : queue_) is_queued_.reset(block);
  queue_.clear();
  return false;
}

// Until nothing changes. False if some value has no room left, or the work has come to its end.
bool PairOrderSearch::propagate() {
  for (std::size_t at = 0; at < queue_.size(); ++at) {
    const std::uint32_t block = queue_[at];
    is_queued_.reset(block);
    work_ += static_cast<std::int64_t>(pairs_of_[block].size()) + 1;
    const bool holds = work_ < last_work_ && std::all_of(pairs_of_[block].begin(), pairs_of_[block].end(),
                                                         [&](std::uint32_t pair) { return propagate(pair); });
    if (holds) continue;
    for (std::uint32_t left : queue_) is_queued_.reset(left);
    queue_.clear();
    return false;
  }
  queue_.clear();
  return true;
}

bool PairOrderSearch::propagate(std::uint32_t at) {
  const PairOrderProblem::Pair& pair = problem_.pairs[at];
  if (order_[at] == Order::open) {
    const bool may_up = least_[pair.lower] + pair.above <= greatest_[pair.upper];
    const bool may_down = least_[pair.upper] + pair.below <= greatest_[pair.lower];
    if (!may_up && !may_down) return false;
    if (!rules_.forced || (may_up && may_down)) return true;
    trail_.push_back({at, Change::Kind::order, 0});
    order_[at] = may_up ? Order::upper_on_lower : Order::lower_on_upper;
  }
  return impose(pair, order_[at]);
}

bool PairOrderSearch::impose(const PairOrderProblem::Pair& pair, Order order) {
  const bool is_up = order == Order::upper_on_lower;
  const std::uint32_t below = is_up ? pair.lower : pair.upper;
  const std::uint32_t above = is_up ? pair.upper : pair.lower;
  const std::int64_t distance = is_up ? pair.above : pair.below;
  return raise(above, least_[below] + distance) && lower(below, greatest_[above] - distance);
}

bool PairOrderSearch::raise(std::uint32_t block, std::int64_t least) {
  if (least <= least_[block]) return true;
  least = rounded_up(problem_.blocks[block], least);
  if (least > greatest_[block]) return false;
  trail_.push_back({block, Change::Kind::least, least_[block]});
  least_[block] = least;
  enqueue(block);
  return true;
}

bool PairOrderSearch::lower(std::uint32_t block, std::int64_t greatest) {
  if (greatest >= greatest_[block]) return true;
  greatest = rounded_down(problem_.blocks[block], greatest);
  if (greatest < least_[block]) return false;
  trail_.push_back({block, Change::Kind::greatest, greatest_[block]});
  greatest_[block] = greatest;
  enqueue(block);
  return true;
}

void PairOrderSearch::enqueue(std::uint32_t block) {
  if (is_queued_.insert(block)) queue_.push_back(block);
}

void PairOrderSearch::undo(std::size_t mark) {
  for (; trail_.size() > mark; trail_.pop_back()) {
    const Change& change = trail_.back();
    switch (change.kind) {
      case Change::Kind::least:
        least_[change.at] = change.before;
        break;
      case Change::Kind::greatest:
        greatest_[change.at] = change.before;
        break;
      case Change::Kind::order:
        order_[change.at] = Order::open;
        break;
    }
  }
}

SearchTask search_task(const PackingProblem& problem, const PairOrderProblem& blocks) {
  SearchTask task;
  std::vector<std::int64_t> pairs(blocks.blocks.size(), 0);
  std::vector<std::int64_t> crowd(blocks.blocks.size(), 0);
  std::int64_t grain = 0;
  for (const PairOrderProblem::Pair& pair : blocks.pairs) {
    for (std::uint32_t block : {pair.lower, pair.upper}) {
      ++pairs[block];
      crowd[block] = std::max(crowd[block], pair.above + pair.below);  // of rectangles: the sum of both sizes
    }
    grain = std::gcd(grain, std::gcd(pair.above, pair.below));
  }
  for (const PairOrderProblem::Block& block : blocks.blocks) {
    grain = std::gcd(grain, std::gcd(block.size, std::gcd(block.residue, block.fixed_base.value_or(0))));
    if (block.alignment > 1) grain = std::gcd(grain, block.alignment);
  }
  for (const PairOrderProblem::Member& member : blocks.members) {
    task.buffers.push_back(
        {member.id, problem.buffers[member.id].size.count(), pairs[member.block], crowd[member.block]});
  }
  task.grain = std::max<std::int64_t>(grain, 1);
  task.make = [&blocks] { return std::make_unique<PairOrderSearch>(blocks, PairOrderRules{}); };
  return task;
}

}  // namespace lowtide::allocate_internal
