// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/plan/packing.h"

namespace lowtide::testing {

// The first and last step that uses a buffer, both inclusive, and its bytes.
struct Span {
  std::int64_t first;
  std::int64_t last;
  std::int64_t size;
};

[[nodiscard]] inline PackingProblem problem_of(const std::vector<Span>& spans) {
  PackingProblem problem;
  for (const Span& span : spans) {
    problem.buffers.push_back({.lifespan = {span.first, span.last + 1}, .size = Bytes(span.size)});
  }
  return problem;
}

}  // namespace lowtide::testing
