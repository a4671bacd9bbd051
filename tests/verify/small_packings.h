// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <initializer_list>
#include <optional>

#include "lowtide/plan/packing.h"

namespace lowtide::testing {

inline PackingProblem problem_of(std::initializer_list<PackingBuffer> buffers,
                                 std::optional<Bytes> capacity = std::nullopt) {
  PackingProblem problem{.buffers = {}, .names = {}, .capacity = capacity};
  for (const PackingBuffer& buffer : buffers) problem.buffers.push_back(buffer);
  return problem;
}

}  // namespace lowtide::testing
