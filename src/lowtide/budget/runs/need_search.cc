// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/runs/need_search.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "lowtide/budget/runs/last_maker.h"

namespace lowtide::budget_internal {
namespace {

using Index = RunProblem::Index;
using Needed = std::vector<Index>;  // ascending

constexpr std::size_t kMostSets = 2000;  // comparing all pairs of more sets takes too long, also in the check

std::int64_t bytes_of(const RunProblem& problem, const Needed& nodes) {
  std::int64_t sum = 0;
  for (Index node : nodes) sum += problem.size[node];
  return sum;
}

// The search for one set of outputs that must exist together.
class NeedSearch {
 public:
  NeedSearch(const RunProblem& problem, std::int64_t& work) : problem_(problem), work_(work) {}

  // Returns true if no sequence makes all outputs of `needed` exist at once.
  bool is_impossible(Needed needed) {
    found_.clear();
    open_.clear();
    add(std::move(needed));
    while (!open_.empty()) {
      const Needed here = found_[std::get<1>(*open_.begin())];
      open_.erase(open_.begin());
      if (bytes_of(problem_, here) > problem_.budget) continue;
      for (Index entry : here) {
        const Index made = problem_.owner(entry);
        Needed live = here;
        for (Index input : problem_.inputs(made)) live.push_back(input);
        std::sort(live.begin(), live.end());
        live.erase(std::unique(live.begin(), live.end()), live.end());
        work_ -= static_cast<std::int64_t>(20 * live.size());
        // A run makes its output and all its parts.
        std::erase_if(live, [&](Index other) { return problem_.owner(other) == made; });
        if (bytes_of(problem_, live) + problem_.own_load[made] > problem_.budget) continue;
        if (live.empty()) return false;
        add(std::move(live));
      }
      if (work_ < 0 || found_.size() > kMostSets) return false;
    }
    return true;
  }

  [[nodiscard]] const std::vector<Needed>& sets() const { return found_; }

 private:
  void add(Needed needed) {
    work_ -= static_cast<std::int64_t>(found_.size());
    for (const Needed& known : found_) {
      if (std::includes(needed.begin(), needed.end(), known.begin(), known.end())) return;
    }
    open_.insert({bytes_of(problem_, needed), found_.size()});
    found_.push_back(std::move(needed));
  }

  const RunProblem& problem_;
  std::int64_t& work_;
  std::vector<Needed> found_;
  std::set<std::tuple<std::int64_t, std::size_t>> open_;  // bytes and index into found_
};

std::vector<NodeId> ids_of(const Needed& nodes) {
  std::vector<NodeId> ids;
  for (Index node : nodes) ids.emplace_back(node);
  return ids;
}

}  // namespace

std::optional<InfeasibleProof> find_obstruction(const RunProblem& problem, std::int64_t& work) {
  std::vector<std::pair<std::int64_t, Index>> nodes;  // what a run takes, the most first
  for (Index node = 0; node < problem.count(); ++node) {
    if (!problem.is_run(node)) continue;
    std::int64_t bytes = problem.own_load[node];
    for (Index input : problem.inputs(node)) bytes += problem.size[input];
    nodes.emplace_back(-bytes, node);
  }
  std::sort(nodes.begin(), nodes.end());
  if (!nodes.empty() && -nodes.front().first > problem.budget) {
    return InfeasibleProof{.node = NodeId(nodes.front().second), .sets = {}};
  }
  if (const LastMaker last = bound_by_last_maker(problem); last.bytes > problem.budget && !last.makers.empty()) {
    return proof_of(last);
  }
  NeedSearch search(problem, work);
  const auto proof_for = [&](std::optional<NodeId> node, Needed needed) -> std::optional<InfeasibleProof> {
    if (needed.empty() || !search.is_impossible(std::move(needed))) return std::nullopt;
    InfeasibleProof proof{.node = node, .sets = {}};
    for (const Needed& set : search.sets()) proof.sets.push_back(ids_of(set));
    return proof;
  };
  Needed outputs;
  for (Index node = 0; node < problem.count(); ++node) {
    if (problem.is_output[node] != 0) outputs.push_back(node);
  }
  if (auto proof = proof_for(std::nullopt, outputs)) return proof;
  for (const auto& [bytes, node] : nodes) {
    if (work < 0) break;
    const auto inputs = problem.inputs(node);
    if (auto proof = proof_for(NodeId(node), Needed(inputs.begin(), inputs.end()))) return proof;
  }
  return std::nullopt;
}

}  // namespace lowtide::budget_internal
