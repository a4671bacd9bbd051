// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/program.h"

#include <algorithm>
#include <map>

namespace lowtide {

std::optional<NodeId> node_of(const Step& step) {
  if (const Compute* compute = std::get_if<Compute>(&step.work)) return compute->node;
  if (const Alias* alias = std::get_if<Alias>(&step.work)) return alias->node;
  return std::nullopt;
}

std::string_view kind_name(const Step& step) {
  if (is_compute(step)) return "compute";
  return is_alias(step) ? "alias" : "copy";
}

IdVector<ValueId, std::uint32_t> ordinals_of(const Program& program) {
  std::map<TensorId, std::uint32_t> counts;
  IdVector<ValueId, std::uint32_t> ordinals;
  ordinals.reserve(program.values.size());
  for (const Value& value : program.values) ordinals.push_back(++counts[value.tensor]);
  return ordinals;
}

bool recomputes(const Program& program) {
  std::vector<NodeId> nodes;
  nodes.reserve(program.steps.size());
  for (const Step& step : program.steps) {
    if (const std::optional<NodeId> node = node_of(step)) nodes.push_back(*node);
  }
  std::sort(nodes.begin(), nodes.end());
  return std::adjacent_find(nodes.begin(), nodes.end()) != nodes.end();
}

bool copies(const Program& program) {
  return std::any_of(program.steps.begin(), program.steps.end(), [](const Step& step) { return is_copy(step); });
}

}  // namespace lowtide
