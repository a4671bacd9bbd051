// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/check_packing.h"
#include "lowtide/verify/findings.h"

#include <algorithm>
#include <utility>

namespace lowtide {
namespace {

std::string name(PackingId id) { return "buffer " + std::to_string(id.value()); }
std::string name(std::uint32_t slot) { return "slot " + std::to_string(slot); }

// Checks slots as if they were addresses: each buffer becomes one byte, at the number of its slot. So two buffers of
// one slot overlap if they are live together. Buffers without bytes overlap nothing.
void check_times(const PackingProblem& problem, const SlotClaim& claim, verify_internal::Findings& findings) {
  PackingProblem numbers;
  IdVector<PackingId, Offset> offsets;
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) {
    const PackingBuffer& buffer = problem.buffers[id];
    const Bytes size = std::min(buffer.size, Bytes(1));
    numbers.buffers.push_back({.lifespan = buffer.lifespan, .gaps = buffer.gaps, .size = size});
    offsets.push_back(Offset(claim.slot[id]));
  }
  numbers.conflicts = problem.conflicts;
  for (Violation& one : check_packing(numbers, offsets, {.most_violations = findings.left()})) {
    one.message.insert(0, "with slot numbers as offsets: ");
    one.bytes.reset();
    findings.add(std::move(one));
  }
}

}  // namespace

std::vector<Violation> check_slots(const PackingProblem& problem, const SlotClaim& claim,
                                   const VerifyOptions& options) {
  using enum ViolationKind;
  verify_internal::Findings findings(options);
  const auto add = [&](ViolationKind kind, std::string message) { findings.add(kind, std::move(message)); };
  if (claim.slot.size() != problem.buffers.size()) {
    add(malformed, std::to_string(claim.slot.size()) + " slots are named for " +
                       std::to_string(problem.buffers.size()) + " buffers");
    return std::move(findings).take();
  }
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) {
    const std::uint32_t slot = claim.slot[id];
    const Bytes size = problem.buffers[id].size;
    if (slot >= claim.sizes.size()) {
      add(malformed,
          name(id) + " is in " + name(slot) + ", but the number of slots is " + std::to_string(claim.sizes.size()));
    } else if (claim.sizes[slot] < size) {
      add(out_of_buffer, name(id) + " has " + std::to_string(size.count()) + " bytes, but its " + name(slot) + " has " +
                             std::to_string(claim.sizes[slot].count()));
    }
  }
  Bytes sum;
  for (Bytes size : claim.sizes) sum += size;
  if (sum != claim.total) {
    add(wrong_claim, "the slots have " + std::to_string(sum.count()) + " bytes in total, but the claim states " +
                         std::to_string(claim.total.count()));
  }
  if (!findings.is_full()) check_times(problem, claim, findings);
  return std::move(findings).take();
}

}  // namespace lowtide
