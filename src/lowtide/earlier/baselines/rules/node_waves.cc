// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/rules/node_waves.h"

#include <algorithm>

namespace lowtide::baselines_internal {

std::vector<Wave> earliest_waves(const std::vector<NodeId>& order,
                                 const std::vector<std::vector<std::uint32_t>>& sources) {
  std::vector<Wave> waves;
  std::vector<std::size_t> wave_of(order.size(), 0);
  for (std::size_t at = 0; at < order.size(); ++at) {
    for (std::uint32_t source : sources[at]) wave_of[at] = std::max(wave_of[at], wave_of[source] + 1);
    if (wave_of[at] >= waves.size()) waves.resize(wave_of[at] + 1);
    waves[wave_of[at]].push_back(order[at]);
  }
  return waves;
}

std::vector<Wave> split_waves(const std::vector<Wave>& waves, std::size_t most) {
  std::vector<Wave> split;
  for (const Wave& wave : waves) {
    for (std::size_t at = 0; at < wave.size(); ++at) {
      if (at % most == 0) split.emplace_back();
      split.back().push_back(wave[at]);
    }
  }
  return split;
}

}  // namespace lowtide::baselines_internal
