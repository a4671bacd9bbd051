// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/sequence/known_sequences.h"

#include <utility>

#include "lowtide/pipeline/sequence/exchange.h"
#include "lowtide/pipeline/task/capacity.h"
#include "lowtide/pipeline/task/worker.h"

namespace lowtide::pipeline_internal {

KnownSequences::Key KnownSequences::key_of(const Task& task, const OptionIndices& indices, BoundScope scope) {
  return {&task.graph, scope, std::vector<std::size_t>(indices.begin(), indices.end())};
}

const Sequence* KnownSequences::find(const Task& task, const KernelChoice& choice, BoundScope scope) const {
  const auto found = sequences_.find(key_of(task, choice.indices, scope));
  return found == sequences_.end() ? nullptr : &found->second;
}

void KnownSequences::add(const Task& task, const Sequence& sequence) {
  sequences_.insert_or_assign(key_of(task, sequence.choice.indices, sequence.bound_scope), sequence);
}

bool keeps_offsets(const Task& task, const Sequence& known) {
  if (writable_regions(task.machine, kWorker).size() > 1) return false;
  const std::optional<Bytes> capacity = total_capacity(task.machine);
  return !capacity || !exceeds(task, known.placed.plan.layout) || known.placed.schedule.load > *capacity;
}

}  // namespace lowtide::pipeline_internal
