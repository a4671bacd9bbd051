// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lowtide/plan/budget_problem.h"

namespace lowtide::rematerialize_internal {

// A budget problem in the form that the searches work on. Nodes are numbers, and their inputs are in one row.
class RunProblem {
 public:
  using Index = std::uint32_t;

  explicit RunProblem(const BudgetProblem& problem);

  [[nodiscard]] std::size_t count() const { return size.size(); }
  [[nodiscard]] std::span<const Index> inputs(Index node) const {
    return {inputs_.data() + input_begin_[node], inputs_.data() + input_begin_[node + 1]};
  }
  [[nodiscard]] std::span<const Index> readers(Index node) const {
    return {readers_.data() + reader_begin_[node], readers_.data() + reader_begin_[node + 1]};
  }

  std::vector<std::int64_t> size;      // by node: bytes of its output
  std::vector<std::int64_t> own_load;  // by node: bytes that a run takes beside its inputs and what else is live
  std::vector<std::int64_t> cost;      // by node
  std::vector<char> is_output;         // by node: 0 or 1
  std::vector<char> runs_once;         // by node: 0 or 1
  std::int64_t budget = 0;
  std::int64_t base_cost = 0;  // of one run of each node

 private:
  std::vector<std::size_t> input_begin_;
  std::vector<std::size_t> reader_begin_;
  std::vector<Index> inputs_;
  std::vector<Index> readers_;
};

using Runs = std::vector<RunProblem::Index>;

// What the live bytes of a sequence are.
struct Loads {
  bool is_valid = false;    // every run finds its inputs, and every node runs, some of them only once
  std::int64_t cost = 0;    // with reruns
  std::int64_t peak = 0;    // the largest number of live bytes of a run
  std::size_t peak_at = 0;  // the first run that has it
  double excess = 0;        // the sum over all runs of the live bytes above the budget
};

// Counts live bytes by one walk from the end of a sequence to its begin. There, an output is needed from its last
// reader back to the run that makes it. O(runs + reads) per sequence, about 1 ns each.
class LoadScan {
 public:
  explicit LoadScan(const RunProblem& problem)
      : problem_(problem), is_needed_(problem.count()), has_run_(problem.count()) {}

  // If `loads` is given, it receives the live bytes of each run.
  Loads scan(const Runs& runs, std::vector<std::int64_t>* loads = nullptr);

 private:
  const RunProblem& problem_;
  std::vector<char> is_needed_;         // all 0 between scans
  std::vector<std::uint32_t> has_run_;  // the number of the last scan that met the node
  std::uint32_t number_ = 0;
};

}  // namespace lowtide::rematerialize_internal
