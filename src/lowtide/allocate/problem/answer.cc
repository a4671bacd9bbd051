// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/problem/answer.h"

#include <optional>

namespace lowtide::allocate_internal {
namespace {

PackingOutcome outcome_of(const Packing& packing, std::optional<Bytes> capacity) {
  if (!capacity || packing.height <= *capacity) return PackingOutcome::found;
  return packing.bound > *capacity ? PackingOutcome::infeasible : PackingOutcome::not_found;
}

}  // namespace

Packing answer_of(const Placements& placements, std::string_view strategy, const StructureBound& proof,
                  const StoppingRule& stopping) {
  Packing packing;
  packing.offsets.reserve(placements.offsets.size());
  for (std::int64_t offset : placements.offsets) packing.offsets.push_back(Offset(offset));
  packing.height = Bytes(placements.height);
  packing.bound = Bytes(stopping.bound());
  packing.proven_optimal = packing.height == packing.bound;
  packing.strategy = strategy;
  packing.witness_time = proof.time;
  packing.witness_buffers = proof.clique;
  packing.is_bound_searched = stopping.bound() > proof.height;
  packing.outcome = outcome_of(packing, stopping.capacity());
  return packing;
}

}  // namespace lowtide::allocate_internal
