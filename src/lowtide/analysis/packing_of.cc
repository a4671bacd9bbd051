// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/packing_of.h"

#include <algorithm>
#include <string>

#include "lowtide/analysis/peak.h"
#include "lowtide/base/check.h"

namespace lowtide {
namespace {

std::string name_of(const Plan& plan, const Labels& labels, BufferId id, const BufferUse& use) {
  std::string name = use.name ? labels.tensors[plan.program.values[*use.name].tensor].name : "scratch";
  for (char& letter : name) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == ',' || letter == '"' || code <= ' ' || code == 127) letter = '_';
  }
  return std::to_string(id.value()) + ":" + name;
}

}  // namespace

PackingProblem packing_of(const Plan& plan, const Labels& labels) {
  LOWTIDE_CHECK(plan.execution != ExecutionModel::dataflow, "a plan whose buffers have lifespans is not for dataflow");
  PackingProblem problem;
  const IdVector<BufferId, BufferUse> uses = buffer_uses(plan, labels);
  for (BufferId id : all_ids<BufferId>(plan.layout.buffers.size())) {
    const Buffer& buffer = plan.layout.buffers[id];
    if (!buffer.placement) continue;
    const auto begin = static_cast<std::int64_t>(buffer.lifespan.begin.value());
    // A program without steps has one moment.
    const auto end = std::max(begin + 1, static_cast<std::int64_t>(buffer.lifespan.end.value()));
    problem.buffers.push_back({.lifespan = {begin, end},
                               .gaps = {},
                               .size = buffer.size,
                               .alignment = plan.machine.regions[buffer.placement->region.index()].alignment});
    problem.names.push_back(name_of(plan, labels, id, uses[id]));
  }
  return problem;
}

}  // namespace lowtide
