// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/runs/floor_search.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "lowtide/budget/runs/last_maker.h"

namespace lowtide::budget_internal {
namespace {

using Index = RunProblem::Index;
using Needed = std::vector<Index>;  // ascending

constexpr std::size_t kMostLevelSets = 2000;  // as in need_search.cc, because the check compares all pairs
constexpr std::size_t kMostBegins = 64;       // readers of an output that a path may begin with

std::vector<NodeId> node_ids_of(const Needed& nodes) {
  std::vector<NodeId> ids;
  for (Index node : nodes) ids.emplace_back(node);
  return ids;
}

}  // namespace

// The search for the level of one set of outputs. Levels below that of earlier nodes do not matter.
class LevelSearch {
 public:
  LevelSearch(const FloorSearch& known, std::int64_t own_bytes, std::int64_t& work)
      : known_(known), problem_(known.problem_), work_(work), level_(std::max(known.bound_, own_bytes)) {}

  // Returns the path to the set, or one that is not known if a limit ends the search.
  FloorSearch::Path search(Needed first) {
    add(std::move(first), level_, {kNone, 0});
    while (!open_.empty()) {
      const auto [level, bytes, at] = *open_.begin();
      open_.erase(open_.begin());
      level_ = level;
      if (auto path = finished(at)) return *path;
      if (work_ < 0 || sets_.size() > kMostLevelSets) break;
      for (std::size_t next = 0; next < sets_[at].nodes.size(); ++next) {
        const Index made = problem_.owner(sets_[at].nodes[next]);
        auto [live, before] = before_run(sets_[at].nodes, made);
        if (!add(std::move(before), std::max(level, live), {at, made}) || live > level) continue;
        if (auto path = finished(sets_.size() - 1)) return *path;
      }
    }
    return {};
  }

  [[nodiscard]] std::int64_t level() const { return level_; }
  // The sets below the level: no run within the budget leads out of them.
  [[nodiscard]] std::vector<std::vector<NodeId>> sets_below() const {
    std::vector<std::vector<NodeId>> below;
    for (const Set& set : sets_) {
      if (set.level < level_) below.push_back(node_ids_of(set.nodes));
    }
    return below;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Set {
    Needed nodes;
    std::int64_t level;
    std::pair<std::size_t, Index> next;  // the set that a run leads to, and the run
  };

  // What is live while `run` runs, and the set before that. The run makes its output and all its parts.
  std::pair<std::int64_t, Needed> before_run(const Needed& after, Index run) {
    const auto inputs = problem_.inputs(run);
    Needed before;
    std::set_union(after.begin(), after.end(), inputs.begin(), inputs.end(), std::back_inserter(before));
    std::erase_if(before, [&](Index entry) { return problem_.owner(entry) == run; });
    std::int64_t live = problem_.own_load[run];
    for (Index node : before) live += problem_.size[node];
    work_ -= static_cast<std::int64_t>(10 * before.size());
    return {live, std::move(before)};
  }

  // Returns whether the set is new.
  bool add(Needed nodes, std::int64_t level, std::pair<std::size_t, Index> next) {
    work_ -= static_cast<std::int64_t>(4 * sets_.size());
    std::int64_t bytes = 0;
    for (Index node : nodes) bytes += problem_.size[node];
    for (const Set& known : sets_) {
      if (known.level <= level && known.nodes.size() <= nodes.size() &&
          std::includes(nodes.begin(), nodes.end(), known.nodes.begin(), known.nodes.end())) {
        return false;
      }
    }
    open_.insert({level, bytes, sets_.size()});
    sets_.push_back({std::move(nodes), level, next});
    return true;
  }

  // The path by way of a set, if that is empty or known to be live together at some time.
  std::optional<FloorSearch::Path> finished(std::size_t at) {
    FloorSearch::Path path{.is_known = true, .begin = std::nullopt, .steps = {}};
    if (!sets_[at].nodes.empty()) {
      path.begin = begin_with(sets_[at].nodes);
      if (!path.begin) return std::nullopt;
    }
    for (; sets_[at].next.first != kNone; at = sets_[at].next.first) path.steps.push_back(sets_[at].next.second);
    return path;
  }

  // A node with a path whose run has all these outputs live.
  std::optional<Index> begin_with(const Needed& nodes) {
    const auto has_all = [&](Index node) {
      work_ -= static_cast<std::int64_t>(5 * nodes.size());
      const auto inputs = problem_.inputs(node);
      return known_.paths_[node].is_known && std::all_of(nodes.begin(), nodes.end(), [&](Index other) {
               return problem_.owner(other) == node || std::binary_search(inputs.begin(), inputs.end(), other);
             });
    };
    const Index last = nodes.back();
    if (has_all(problem_.owner(last))) return problem_.owner(last);
    const auto readers = problem_.readers(last);
    const auto end = readers.begin() + static_cast<std::ptrdiff_t>(std::min(readers.size(), kMostBegins));
    const auto found = std::find_if(readers.begin(), end, has_all);
    if (found == end) return std::nullopt;
    return *found;
  }

  const FloorSearch& known_;
  const RunProblem& problem_;
  std::int64_t& work_;
  std::int64_t level_;
  std::vector<Set> sets_;
  std::set<std::tuple<std::int64_t, std::int64_t, std::size_t>> open_;  // level, bytes and index into sets_
};

FloorSearch::FloorSearch(const RunProblem& problem, const Runs& order, std::int64_t& work)
    : problem_(problem), paths_(problem.count() + 1) {
  Needed outputs;
  std::int64_t output_bytes = 0;
  for (Index node = 0; node < problem.count(); ++node) {
    if (problem.is_output[node] == 0) continue;
    outputs.push_back(node);
    output_bytes += problem.size[node];
  }
  const auto search = [&](std::optional<Index> node, Needed needed, std::int64_t own_bytes) {
    LevelSearch level(*this, own_bytes, work);
    Path& path = paths_[node ? *node : problem_.count()];
    path = level.search(std::move(needed));
    is_reached_ = is_reached_ && path.is_known;
    if (level.level() <= bound_) return;
    bound_ = level.level();
    proof_ = InfeasibleProof{.node = {}, .sets = {}};
    if (node) proof_->node = NodeId(*node);
    if (bound_ > own_bytes) proof_->sets = level.sets_below();
    if (bound_ == own_bytes && !node) proof_->sets = {node_ids_of(outputs)};
  };
  if (const LastMaker last = bound_by_last_maker(problem); !last.makers.empty()) {
    bound_ = last.bytes;
    proof_ = proof_of(last);
  }
  for (Index node : order) {
    if (work < 0) break;
    const auto inputs = problem.inputs(node);
    std::int64_t bytes = problem.own_load[node];
    for (Index input : inputs) bytes += problem.size[input];
    search(node, Needed(inputs.begin(), inputs.end()), bytes);
    work -= static_cast<std::int64_t>(100 + 20 * inputs.size());
  }
  if (work < 0) is_reached_ = false;
  if (work >= 0) {
    search(std::nullopt, outputs, output_bytes);
  } else if (output_bytes > bound_) {
    bound_ = output_bytes;
    proof_ = InfeasibleProof{.node = {}, .sets = {node_ids_of(outputs)}};
  }
}

std::optional<Runs> FloorSearch::path_to(std::optional<Index> node, std::size_t most) const {
  std::vector<const Path*> parts;
  std::vector<Index> begins;
  const Path* part = &paths_[node ? *node : problem_.count()];
  std::size_t length = 0;
  while (true) {
    length += part->steps.size() + 1;
    if (!part->is_known || length > most) return std::nullopt;
    parts.push_back(part);
    if (!part->begin) break;
    begins.push_back(*part->begin);
    part = &paths_[*part->begin];
  }
  Runs runs;
  for (std::size_t at = parts.size(); at-- > 0;) {
    runs.insert(runs.end(), parts[at]->steps.begin(), parts[at]->steps.end());
    if (at > 0) runs.push_back(begins[at - 1]);
  }
  return runs;
}

}  // namespace lowtide::budget_internal
