// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/runs/last_maker.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace lowtide::budget_internal {
namespace {

using Index = RunProblem::Index;

// A run that makes outputs of the problem.
struct Maker {
  Index run;
  std::int64_t needed;   // bytes beside outputs of the problem: of inputs, and what it takes
  std::int64_t outputs;  // bytes of the outputs of the problem that it makes
};

Maker maker_of(const RunProblem& problem, Index run) {
  Maker maker{.run = run, .needed = problem.own_load[run], .outputs = 0};
  problem.for_each_entry(run, [&](Index entry) {
    if (problem.is_output[entry] != 0) maker.outputs += problem.size[entry];
  });
  maker.needed -= maker.outputs;
  for (Index input : problem.inputs(run)) {
    if (problem.is_output[input] == 0) maker.needed += problem.size[input];
  }
  return maker;
}

// All makers whose outputs have bytes, those that need most first.
std::vector<Maker> makers_of(const RunProblem& problem) {
  std::vector<Maker> makers;
  for (Index run = 0; run < problem.count(); ++run) {
    if (!problem.is_run(run)) continue;
    const Maker maker = maker_of(problem, run);
    if (maker.outputs > 0) makers.push_back(maker);
  }
  std::stable_sort(makers.begin(), makers.end(), [](const Maker& a, const Maker& b) { return a.needed > b.needed; });
  return makers;
}

}  // namespace

LastMaker bound_by_last_maker(const RunProblem& problem) {
  const std::vector<Maker> makers = makers_of(problem);
  LastMaker found;
  std::size_t count = 0;
  std::int64_t outputs = 0;
  for (std::size_t at = 0; at < makers.size(); ++at) {
    outputs += makers[at].outputs;
    if (makers[at].needed + outputs <= found.bytes) continue;
    found.bytes = makers[at].needed + outputs;
    found.lowest = makers[at].run;
    count = at + 1;
  }
  for (std::size_t at = 0; at < count; ++at) found.makers.push_back(makers[at].run);
  std::sort(found.makers.begin(), found.makers.end());
  return found;
}

InfeasibleProof proof_of(const LastMaker& found) {
  InfeasibleProof proof{.node = NodeId(found.lowest), .sets = {}};
  if (found.makers.size() == 1) return proof;  // it needs this much alone
  for (Index maker : found.makers) proof.makers.emplace_back(maker);
  return proof;
}

}  // namespace lowtide::budget_internal
