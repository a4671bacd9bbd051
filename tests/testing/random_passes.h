// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <initializer_list>

#include "lowtide/base/random.h"
#include "lowtide/lower/passes.h"

namespace lowtide::testing {

struct PassChance {
  PassId pass;
  unsigned percent = 50;
};

// Some of the passes, each with its own probability.
inline PassSet random_passes(Random& random, std::initializer_list<PassChance> chances) {
  PassSet passes;
  for (const PassChance& chance : chances) {
    if (chance.percent == 100 || random.chance(chance.percent)) passes.insert(chance.pass);
  }
  return passes;
}

}  // namespace lowtide::testing
