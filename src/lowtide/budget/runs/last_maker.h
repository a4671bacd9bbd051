// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/budget/problem/run_problem.h"
#include "lowtide/plan/cost_proof.h"

namespace lowtide::budget_internal {

// Runs that make outputs of the problem, and what they prove: whichever of them runs last, at least `bytes` are live.
struct LastMaker {
  std::int64_t bytes = 0;        // without those of states
  Runs makers;                   // ascending; empty if the problem has no outputs that have bytes
  RunProblem::Index lowest = 0;  // the maker that needs least; of `makers`
};

// Bounds the peak of all sequences by the outputs of the problem. Take some of the runs that make them. One of these
// runs for the last time behind the last runs of all others, in any sequence. The outputs of the others are then live,
// and so are its own inputs and what it takes.
//
//   x -> f -> g, x -> h, outputs f, g and h      the last run of f, g or h has the other two outputs beside its own
//
// A maker is worse the less it needs beside outputs, and better the more bytes of outputs it adds. So the best choice
// are all makers that need at least some number of bytes, and all such numbers are tried. What a maker needs before it
// runs counts nothing. O(reads + runs x log runs).
[[nodiscard]] LastMaker bound_by_last_maker(const RunProblem& problem);

// The proof that no sequence keeps a budget of LastMaker::bytes - 1. Requires: there are makers.
[[nodiscard]] InfeasibleProof proof_of(const LastMaker& found);

}  // namespace lowtide::budget_internal
