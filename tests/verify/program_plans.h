// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/verify/verify.h"
#include "tests/verify/mutations.h"

// Plans that use what a planner of plain orders does not: written by hand, so that the model can be seen to hold them.
// Sizes and offsets vary with the seed.
namespace lowtide::testing {

// Relu runs twice, so that its result need not be kept while Neg and Abs run.
[[nodiscard]] Mutant recompute_plan(Random& random);
// A tensor leaves for host memory and comes back, on the streams of two links, beside the worker.
[[nodiscard]] Mutant swap_plan(Random& random);
// The same, each way in two pieces.
[[nodiscard]] Mutant pieces_plan(Random& random);
// A concat whose first operand is in place and whose second, an input, is copied to its side.
[[nodiscard]] Mutant partial_concat_plan(Random& random);
// A concat of one tensor with itself: in place once, copied once.
[[nodiscard]] Mutant doubled_concat_plan(Random& random);
// A weight is at home in flash; a link brings it in.
[[nodiscard]] Mutant weight_plan(Random& random);
// A state whose next content is copied into it at the end.
[[nodiscard]] Mutant copied_state_plan(Random& random);
// A state that a kernel updates in place.
[[nodiscard]] Mutant in_place_state_plan(Random& random);
// Draws random numbers, so one of its nodes must not run twice.
[[nodiscard]] Mutant random_numbers_plan(Random& random);

using MakePlan = Mutant (*)(Random& random);
[[nodiscard]] const std::vector<MakePlan>& program_plans();

// One kind of damage to some of these plans, and how the verifier must call it.
struct Damage {
  const char* name;
  ViolationKind kind;
  bool (*apply)(Random& random, Mutant& mutant);  // false: this plan has nothing to damage this way
};
[[nodiscard]] const std::vector<Damage>& transfer_damages();

}  // namespace lowtide::testing
