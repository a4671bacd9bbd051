// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/earlier/baselines/ports/interference_port.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace lowtide::testing {

PortedSlots ported_assignments(const PlainNet& net, const GivenNames& given) {
  PortedSlot ranges;
  const auto range = [&](const std::string& name) -> PortedRange& {
    const auto found =
        std::find_if(ranges.begin(), ranges.end(), [&](const PortedRange& one) { return one.name == name; });
    if (found != ranges.end()) return *found;
    ranges.push_back({.name = name, .used = std::nullopt, .size = net.bytes.at(name)});
    return ranges.back();
  };
  int last = 0;
  for (int at = 0; at < static_cast<int>(net.ops.size()); ++at) {
    const PlainNet::Op& op = net.ops[static_cast<std::size_t>(at)];
    for (const std::string& name : op.inputs) range(name).used = last = at;
    for (const std::string& name : op.outputs) {
      if (range(name).defined < 0) range(name).defined = at;
    }
  }
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const PortedRange& a, const PortedRange& b) { return a.used && (!b.used || *a.used < *b.used); });
  PortedSlots slots;
  std::set<std::string> visited;
  for (const std::vector<std::string>& names : given) {
    slots.emplace_back();
    for (const std::string& name : names) {
      PortedRange one = range(name);
      one.used = one.used.value_or(last + 1);
      slots.back().push_back(one);
      visited.insert(name);
    }
  }
  for (PortedRange& one : ranges) {
    if (visited.contains(one.name)) continue;
    const bool is_static = std::count(net.inputs.begin(), net.inputs.end(), one.name) > 0 ||
                           net.outputs.contains(one.name) || net.constants.contains(one.name);
    if (is_static) continue;
    one.used = one.used.value_or(last + 1);
    PortedSlot* best = nullptr;
    std::int64_t nearest = INT64_MAX;
    for (PortedSlot& slot : slots) {
      if (one.defined <= *slot.back().used) continue;
      std::int64_t most = 0;
      for (const PortedRange& other : slot) most = std::max(most, other.size);
      if (std::abs(most - one.size) >= nearest) continue;
      nearest = std::abs(most - one.size);
      best = &slot;
    }
    if (best == nullptr) best = &slots.emplace_back();
    best->push_back(one);
  }
  return slots;
}

}  // namespace lowtide::testing
