// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/share/load.h"

#include <algorithm>

namespace lowtide {
namespace {

std::vector<Bytes> running_sum(const std::vector<std::int64_t>& change, std::size_t steps) {
  std::vector<Bytes> profile(steps);
  std::int64_t live = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    live = must_add(live, change[step]);
    profile[step] = Bytes(live);
  }
  return profile;
}

}  // namespace

std::vector<Bytes> load_profile(const AliasClasses& aliases, const ChosenKernels& kernels,
                                const std::vector<NodeId>& order, const AliasOptions& options) {
  const std::size_t moments = std::max<std::size_t>(order.size(), 1);
  std::vector<std::int64_t> change(moments + 1, 0);
  for (const AliasClass& alias : aliases.classes) {
    if (!is_in_arena(alias, options)) continue;
    for_each_part(alias, options.alignment, [&](Bytes size, const Lifespan& lifespan) {
      change[lifespan.begin.index()] += size.count();
      change[order.empty() ? moments : lifespan.end.index()] -= size.count();
    });
  }
  std::vector<Bytes> profile = running_sum(change, moments);
  for (std::size_t step = 0; step < order.size(); ++step) {
    profile[step] += round_up(scratch_of(aliases, kernels, order[step]), options.alignment);
  }
  return profile;
}

Bytes largest(const std::vector<Bytes>& profile) {
  return profile.empty() ? Bytes(0) : *std::max_element(profile.begin(), profile.end());
}

}  // namespace lowtide
