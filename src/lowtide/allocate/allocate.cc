// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/allocate.h"

#include "lowtide/allocate/groups/allocate_groups.h"
#include "lowtide/allocate/problem/solve_options.h"
#include "lowtide/allocate/problem/validate.h"
#include "lowtide/allocate/strategies/allocate_ungrouped.h"

namespace lowtide {

Result<Packing> allocate(const PackingProblem& problem, const AllocateOptions& options) {
  LOWTIDE_RETURN_IF_ERROR(allocate_internal::validate_packing_problem(problem));
  const allocate_internal::SolveOptions solve{.effort = {.limit = options.effort, .stop = options.stop},
                                              .threads = options.threads,
                                              .on_improvement = options.on_improvement};
  return problem.colocations.empty() ? allocate_internal::allocate_ungrouped(problem, solve)
                                     : allocate_internal::allocate_groups(problem, solve);
}

}  // namespace lowtide
