// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <iostream>

#include "lowtide/allocate/allocate.h"
#include "lowtide/plan/packing.h"
#include "lowtide/verify/check_packing.h"

// Packs two buffers that are live together and a third that is live after both, and prints the height.
int main() {
  using namespace lowtide;  // NOLINT(google-build-using-namespace): a short program
  PackingProblem problem;
  problem.buffers.push_back({.lifespan = {0, 2}, .size = Bytes(64)});
  problem.buffers.push_back({.lifespan = {1, 3}, .size = Bytes(64)});
  problem.buffers.push_back({.lifespan = {3, 4}, .size = Bytes(128)});
  const Result<Packing> packed = allocate(problem);
  if (!packed || !check_packing(problem, packed->offsets).empty()) return 1;
  std::cout << "packed " << packed->height.count() << '\n';
}
