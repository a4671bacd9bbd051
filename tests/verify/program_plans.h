// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/verify/verify.h"
#include "tests/verify/mutations.h"

// Plans with features that a planner of plain orders does not use. They are written by hand, to show that the model can
// express them. Sizes and offsets vary with the seed.
namespace lowtide::testing {

// Relu runs twice, so that its result need not be kept while Neg and Abs run.
[[nodiscard]] Mutant recompute_plan(Random& random);
// A tensor is copied to host memory and back, on the streams of two links, beside the stream of the worker.
[[nodiscard]] Mutant swap_plan(Random& random);
// The same, each way in two pieces.
[[nodiscard]] Mutant pieces_plan(Random& random);
// A concat whose first operand is in place. The second one, an input, is copied next to it.
[[nodiscard]] Mutant partial_concat_plan(Random& random);
// A concat of one tensor with itself: in place once, copied once.
[[nodiscard]] Mutant doubled_concat_plan(Random& random);
// A weight whose home is flash. A link brings it in.
[[nodiscard]] Mutant weight_plan(Random& random);
// A state whose next content is copied into it at the end.
[[nodiscard]] Mutant copied_state_plan(Random& random);
// A state that a kernel updates in place.
[[nodiscard]] Mutant in_place_state_plan(Random& random);
// Draws random numbers, so one of its nodes must not run twice.
[[nodiscard]] Mutant random_numbers_plan(Random& random);

using MakePlan = Mutant (*)(Random& random);
[[nodiscard]] const std::vector<MakePlan>& program_plans();

// One kind of damage to some of these plans, and the kind of violation that the verifier must report.
struct Damage {
  const char* name;
  ViolationKind kind;
  bool (*apply)(Random& random, Mutant& mutant);  // false: this plan has nothing to damage this way
};
// Lets gtest print the name.
inline void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.name; }
[[nodiscard]] const std::vector<Damage>& transfer_damages();

}  // namespace lowtide::testing
