// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/budget/problem/run_problem.h"
#include "lowtide/plan/cost_proof.h"

namespace lowtide::budget_internal {

// Looks for the floor: the smallest budget that some sequence keeps, whatever it costs. It lets every node run again at
// any time, so with rules, seeds or nodes that run only once it is a lower bound. Bytes of states do not count.
//
// For each node, it goes backwards from the set of its inputs. A set of outputs is preceded by the run that makes one
// of them, whose inputs are then live together with the others. A path ends with the empty set, or with a set that is
// live together when an earlier node runs. The highest number of live bytes on the best path is the level of the
// node, and the floor is the highest level of all nodes and of the end. Everything can be dropped between two nodes,
// so paths to all nodes make a sequence.
//
// Sets are tried by level, so each set that is tried proves that lower levels are impossible.
//
// At the end there may be too many sets. The bound of last_maker.h, which needs none, is where levels begin.
class FloorSearch {
 public:
  using Index = RunProblem::Index;

  // Nodes are searched in the order, which must be topological. At most 2,000 sets per node. `work` limits the rest;
  // without work there are no paths. On a chain, one set per node suffices.
  FloorSearch(const RunProblem& problem, const Runs& order, std::int64_t& work);

  // No sequence has a lower peak.
  [[nodiscard]] std::int64_t bound() const { return bound_; }
  // Whether a path to every node and the end is known. Then the bound is the floor, unless nodes must not run again.
  [[nodiscard]] bool is_reached() const { return is_reached_; }
  // Why no sequence keeps a budget of bound() - 1. Present unless the bound is 0.
  [[nodiscard]] const std::optional<InfeasibleProof>& proof() const { return proof_; }

  // Runs after which all inputs of the node are live, if nothing is live before. They heed no rules. Without a node:
  // all outputs of the problem. Each run needs at most bound() bytes. Returns nullopt if no path is known, or it has
  // more than `most` runs.
  [[nodiscard]] std::optional<Runs> path_to(std::optional<Index> node, std::size_t most) const;

 private:
  struct Path {
    bool is_known = false;
    std::optional<Index> begin;  // the path begins with the path to this node, and its run
    Runs steps;
  };
  friend class LevelSearch;

  const RunProblem& problem_;
  std::vector<Path> paths_;  // by node, and for the end
  std::int64_t bound_ = 0;
  bool is_reached_ = true;
  std::optional<InfeasibleProof> proof_;
};

}  // namespace lowtide::budget_internal
