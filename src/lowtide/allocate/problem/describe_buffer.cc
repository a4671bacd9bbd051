// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/problem/describe_buffer.h"

#include "lowtide/base/quote.h"

namespace lowtide::allocate_internal {

std::string describe_buffer(const PackingProblem& problem, PackingId buffer) {
  if (problem.names.contains(buffer)) return "buffer " + quoted(problem.names[buffer]);
  return "buffer " + std::to_string(buffer.value());
}

}  // namespace lowtide::allocate_internal
