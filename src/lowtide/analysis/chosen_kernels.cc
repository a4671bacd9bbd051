// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/chosen_kernels.h"

#include <algorithm>

#include "lowtide/base/check.h"

namespace lowtide {

Kernel least_of(const std::vector<Kernel>& kernels) {
  LOWTIDE_CHECK(!kernels.empty(), "a catalogue has a kernel for every node");
  Kernel least = kernels.front();
  for (const Kernel& kernel : kernels) {
    least.scratch = std::min(least.scratch, kernel.scratch);
    least.in_place.insert(least.in_place.end(), kernel.in_place.begin(), kernel.in_place.end());
    least.may_alias_views = least.may_alias_views || kernel.may_alias_views;
  }
  std::sort(least.in_place.begin(), least.in_place.end());
  least.in_place.erase(std::unique(least.in_place.begin(), least.in_place.end()), least.in_place.end());
  return least;
}

}  // namespace lowtide
