// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Packs three buffers with lifespans into one arena. It needs only the packer, no model and no protobuf.

#include <iostream>

#include "lowtide/allocate/allocate.h"

using namespace lowtide;  // NOLINT(google-build-using-namespace): a short program

int main() {
  //   time      0    10   20   30
  //   a         |====|              64 bytes
  //   b              |====|         96 bytes, may use the bytes of a
  //   c         |==============|    32 bytes
  PackingProblem problem;
  problem.buffers = {{.lifespan = {0, 10}, .size = Bytes(64)},
                     {.lifespan = {10, 20}, .size = Bytes(96)},
                     {.lifespan = {0, 30}, .size = Bytes(32)}};
  const Result<Packing> packing = allocate(problem);
  if (!packing.ok()) {
    std::cerr << packing.error().describe() << '\n';
    return 3;
  }
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) {
    std::cout << "buffer " << id.value() << " at offset " << packing->offsets[id].position() << '\n';
  }
  std::cout << "height " << packing->height.count() << ", lower bound " << packing->bound.count()
            << (packing->proven_optimal ? ", proven optimal" : "") << '\n';
  return packing->outcome == PackingOutcome::found ? 0 : 1;
}
