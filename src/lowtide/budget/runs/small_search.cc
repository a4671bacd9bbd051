// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/runs/small_search.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace lowtide::budget_internal {
namespace {

using Index = RunProblem::Index;

constexpr std::size_t kMost = 32;       // units, and entries
constexpr Index kDropped = 0xFFFFFFFF;  // the step to a state was not a run

using Bits = std::uint64_t;

Bits bit(std::size_t at) { return Bits{1} << at; }

// Something that runs for the first time, and then perhaps again: a node, or one of its places in a group.
struct Unit {
  Index node = 0;
  bool may_rerun = false;
  Bits after = 0;       // units that must have run before its first run
  Bits never = 0;       // units after which it must not run
  Bits inputs = 0;      // entries that must be live
  Bits makes = 0;       // entries
  Bits overwrites = 0;  // entries
  Bits seed = 0;        // an entry, if it has a seed
};

class SmallSearch {
 public:
  explicit SmallSearch(const RunProblem& problem) : problem_(problem) {
    find_entries();
    find_units();
  }

  [[nodiscard]] bool is_small() const { return bytes_.size() <= kMost && units_.size() <= kMost; }

  SmallAnswer search(std::int64_t most_states) {
    for (std::size_t unit = 0; unit < units_.size(); ++unit) complete(unit);
    reach(0, 0, {0, kDropped});
    const Bits all = bit(units_.size()) - 1;
    while (!open_.empty()) {
      const auto [cost, state] = open_.top();
      open_.pop();
      Known& known = known_.at(state);
      if (known.cost != cost || known.is_closed) continue;
      known.is_closed = true;
      if (state >> 32U == all && (outputs_ & ~state) == 0) return {true, runs_to(state)};
      expand(state, cost);
      if (static_cast<std::int64_t>(known_.size()) > most_states) return {false, std::nullopt};
    }
    return {true, std::nullopt};
  }

 private:
  struct Known {
    std::int64_t cost = 0;  // of the reruns
    Index last = kDropped;  // the unit whose run led here
    Bits from = 0;          // the state before
    bool is_closed = false;
  };

  // Gives each entry and each seed a bit.
  void find_entries() {
    entry_bit_.assign(problem_.count(), 0);
    for (Index entry = 0; entry < problem_.count(); ++entry) {
      if (problem_.owner(entry) == RunProblem::kNone) continue;
      entry_bit_[entry] = bit(std::min(bytes_.size(), kMost));
      if (problem_.is_output[entry] != 0) outputs_ |= entry_bit_[entry];
      bytes_.push_back(problem_.size[entry]);
    }
  }

  void find_units() {
    units_of_.resize(problem_.count());
    const auto add = [&](Index node, bool may_rerun) {
      units_of_[node].push_back(units_.size());
      units_.push_back({.node = node, .may_rerun = may_rerun});
    };
    for (Index node = 0; node < problem_.count(); ++node) {
      if (!problem_.is_run(node) || problem_.group_of(node) != RunProblem::kNone) continue;
      add(node, problem_.runs_once[node] == 0);
      if (problem_.seed[node] == 0) continue;
      units_.back().seed = bit(std::min(bytes_.size(), kMost));
      bytes_.push_back(problem_.seed[node]);
    }
    for (const Runs& group : problem_.groups()) {
      for (std::size_t at = 0; at < group.size(); ++at) {
        add(group[at], false);
        if (at > 0) units_.back().after = bit(std::min(units_.size() - 2, kMost));
      }
      add_group_seeds(group);
    }
  }

  // A node that a group has twice needs its seed from its first place on.
  void add_group_seeds(const Runs& group) {
    for (Index node : std::set<Index>(group.begin(), group.end())) {
      if (problem_.seed[node] == 0 || units_of_[node].size() < 2) continue;
      for (std::size_t unit : units_of_[node]) units_[unit].seed = bit(std::min(bytes_.size(), kMost));
      bytes_.push_back(problem_.seed[node]);
    }
  }

  void complete(std::size_t at) {
    Unit& unit = units_[at];
    for (Index input : problem_.inputs(unit.node)) unit.inputs |= entry_bit_[input];
    problem_.for_each_entry(unit.node, [&](Index entry) { unit.makes |= entry_bit_[entry]; });
    for (Index overwritten : problem_.overwritten_by(unit.node)) unit.overwrites |= entry_bit_[overwritten];
    for (Index reader : problem_.readers_before(unit.node)) {
      for (std::size_t earlier : units_of_[reader]) unit.after |= bit(earlier);
    }
    for (Index writer : problem_.writers_after(unit.node)) {
      for (std::size_t later : units_of_[writer]) unit.never |= bit(later);
    }
  }

  [[nodiscard]] std::int64_t bytes_of(Bits entries) const {
    std::int64_t sum = 0;
    for (std::size_t at = 0; at < bytes_.size(); ++at) sum += (entries & bit(at)) != 0 ? bytes_[at] : 0;
    return sum;
  }

  void expand(Bits state, std::int64_t cost) {
    const Bits ran = state >> 32U;
    const Bits live = state & 0xFFFFFFFFU;
    for (std::size_t at = 0; at < std::max(bytes_.size(), units_.size()); ++at) {
      if (at < bytes_.size() && (live & bit(at)) != 0) reach((ran << 32U) | (live & ~bit(at)), cost, {state, kDropped});
      if (at < units_.size()) try_unit(state, cost, at);
    }
  }

  void try_unit(Bits state, std::int64_t cost, std::size_t at) {
    const Unit& unit = units_[at];
    const Bits ran = state >> 32U;
    const Bits live = state & 0xFFFFFFFFU;
    const bool is_rerun = (ran & bit(at)) != 0;
    if ((is_rerun && (!unit.may_rerun || (unit.makes & ~live) == 0)) || (unit.inputs & ~live) != 0) return;
    if ((unit.after & ~ran) != 0 || (unit.never & ran) != 0) return;
    // Only a node of a group has several units, and the seed begins with the first of them.
    const bool is_first = !is_rerun && units_of_[unit.node].front() == at;
    if (!is_first && (unit.seed & ~live) != 0) return;
    run(state, cost, static_cast<Index>(at), live);
    if (is_first && unit.seed != 0) run(state, cost, static_cast<Index>(at), live | unit.seed);
  }

  // Adds the state after a run, if it fits beside what is live.
  void run(Bits state, std::int64_t cost, Index at, Bits live) {
    const Unit& unit = units_[at];
    const Bits ran = state >> 32U;
    if (bytes_of(live & ~unit.makes) + problem_.own_load[unit.node] > problem_.budget) return;
    const bool is_more = (ran & bit(at)) != 0 || units_of_[unit.node].front() != at;
    const std::int64_t more = is_more ? problem_.cost[unit.node] : 0;
    const Bits after = (live | unit.makes) & ~unit.overwrites;
    reach(((ran | bit(at)) << 32U) | after, cost + more, {state, at});
  }

  void reach(Bits state, std::int64_t cost, std::pair<Bits, Index> step) {
    const auto [found, is_new] = known_.try_emplace(state, Known{cost, step.second, step.first});
    if (!is_new) {
      if (found->second.cost <= cost) return;
      found->second = Known{cost, step.second, step.first};
    }
    open_.push({cost, state});
  }

  [[nodiscard]] Runs runs_to(Bits state) const {
    Runs runs;
    while (state != 0) {
      const Known& known = known_.at(state);
      if (known.last != kDropped) runs.push_back(units_[known.last].node);
      state = known.from;
    }
    std::reverse(runs.begin(), runs.end());
    return runs;
  }

  using Open = std::pair<std::int64_t, Bits>;  // cost and state

  const RunProblem& problem_;
  std::vector<std::int64_t> bytes_;  // by entry or seed
  std::vector<Bits> entry_bit_;      // by entry of the problem
  std::vector<Unit> units_;
  std::vector<std::vector<std::size_t>> units_of_;  // by node
  Bits outputs_ = 0;
  // A state has the units that ran in its upper half, and the live entries in its lower half.
  std::unordered_map<Bits, Known> known_;  // never iterated
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open_;
};

}  // namespace

SmallAnswer search_small(const RunProblem& problem, std::int64_t most_states) {
  SmallSearch search(problem);
  if (!search.is_small()) return {};
  return search.search(most_states);
}

}  // namespace lowtide::budget_internal
