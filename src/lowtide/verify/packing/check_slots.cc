// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/check_packing.h"

#include <algorithm>
#include <utility>

namespace lowtide {
namespace {

std::string name(PackingId id) { return "buffer " + std::to_string(id.value()); }
std::string name(std::uint32_t slot) { return "slot " + std::to_string(slot); }

// Checks slots as if they were addresses: each buffer becomes one byte, at the number of its slot. So two buffers of
// one slot overlap if they are live together. Buffers without bytes overlap nothing.
std::vector<std::string> check_times(const PackingProblem& problem, const SlotClaim& claim, std::size_t most) {
  PackingProblem numbers;
  IdVector<PackingId, Offset> offsets;
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) {
    const PackingBuffer& buffer = problem.buffers[id];
    const Bytes size = std::min(buffer.size, Bytes(1));
    numbers.buffers.push_back({.lifespan = buffer.lifespan, .gaps = buffer.gaps, .size = size});
    offsets.push_back(Offset(claim.slot[id]));
  }
  numbers.conflicts = problem.conflicts;
  std::vector<std::string> lines = check_packing(numbers, offsets, most);
  for (std::string& line : lines) line.insert(0, "with slot numbers as offsets: ");
  return lines;
}

}  // namespace

std::vector<std::string> check_slots(const PackingProblem& problem, const SlotClaim& claim, std::size_t most) {
  std::vector<std::string> lines;
  const auto add = [&](std::string line) {
    if (lines.size() < most) lines.push_back(std::move(line));
  };
  if (claim.slot.size() != problem.buffers.size()) {
    add(std::to_string(claim.slot.size()) + " slots are named for " + std::to_string(problem.buffers.size()) +
        " buffers");
    return lines;
  }
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) {
    const std::uint32_t slot = claim.slot[id];
    const Bytes size = problem.buffers[id].size;
    if (slot >= claim.sizes.size()) {
      add(name(id) + " is in " + name(slot) + ", but the number of slots is " + std::to_string(claim.sizes.size()));
    } else if (claim.sizes[slot] < size) {
      add(name(id) + " has " + std::to_string(size.count()) + " bytes, but its " + name(slot) + " has " +
          std::to_string(claim.sizes[slot].count()));
    }
  }
  Bytes sum;
  for (Bytes size : claim.sizes) sum += size;
  if (sum != claim.total) {
    add("the slots have " + std::to_string(sum.count()) + " bytes in total, but the claim states " +
        std::to_string(claim.total.count()));
  }
  if (lines.size() < most) {
    for (std::string& line : check_times(problem, claim, most - lines.size())) add(std::move(line));
  }
  return lines;
}

}  // namespace lowtide
