// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"

namespace lowtide::engine_internal {

// A part of the load-time work that runs on its own, because no other part reads what it computes. Its nodes are in an
// order in which they can run.
struct LoadJob {
  std::vector<NodeId> nodes;
};

// Divides load-time work into jobs, so that only one of them needs memory for its operands and temporaries at a time.
// Nodes that are joined by a tensor that one of them computes are in one job. The jobs with the most bytes that are
// needed only while they run come first, because the fewest results exist then. A tie goes to the job whose first
// node comes first. Consecutive jobs are one as long as all their tensors have at most `small` bytes, because each
// job costs a plan.
//
//   w1 -> a -> r1     w2 -> b -> r2     [b] and then [a] if w2 is larger than w1; [b, a] if all four are small
//
// Requires: no node has bodies or control inputs, as split_load_time() promises. O((nodes + edges) log nodes).
[[nodiscard]] std::vector<LoadJob> load_jobs(const Graph& load, Bytes small);

// The graph of a job, with its results.
struct LoadJobGraph {
  Graph graph;
  std::vector<std::size_t> results;  // output k of `graph` is output results[k] of the load-time work
};

// Makes the graphs of jobs. Keeps a reference to the load-time work.
class LoadJobGraphs {
 public:
  // O(outputs log outputs).
  explicit LoadJobGraphs(const Graph& load);
  // Errors: those of GraphBuilder. O((edges of the job) log outputs).
  [[nodiscard]] Result<LoadJobGraph> graph_of(const LoadJob& job) const;

 private:
  const Graph& load_;
  std::vector<std::pair<TensorId, std::size_t>> outputs_;  // each output with its position, sorted
};

}  // namespace lowtide::engine_internal
