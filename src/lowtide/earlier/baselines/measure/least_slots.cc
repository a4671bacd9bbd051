// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/measure/least_slots.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lowtide/allocate/slots.h"
#include "lowtide/base/try.h"
#include "lowtide/earlier/baselines/measure/given_slots.h"

namespace lowtide::baselines_internal {
namespace {

// A slot has the name of its last blob.
void add_slots(const BlobNet& net, const Movable& movable, const IdVector<PackingId, std::uint32_t>& slot,
               BlockChoice& choice) {
  std::vector<std::vector<BlobId>> users;
  for (PackingId id : all_ids<PackingId>(slot.size())) {
    users.resize(std::max<std::size_t>(users.size(), slot[id] + 1));
    users[slot[id]].push_back(movable.blobs[id]);
  }
  for (const std::vector<BlobId>& row : users) {
    if (row.size() < 2) continue;
    for (BlobId id : row) choice.block[id] = static_cast<std::uint32_t>(choice.names.size());
    // The last one is the one that ends last; among equals, the one that is used first comes first.
    const BlobId last = *std::max_element(row.begin(), row.end(), [&](BlobId a, BlobId b) {
      return std::pair(net.blobs[a].last, a) < std::pair(net.blobs[b].last, b);
    });
    choice.names.emplace_back(net.blobs[last].name);
  }
}

BlockChoice no_choice(const BlobNet& net) {
  return {IdVector<BlobId, std::optional<std::uint32_t>>(net.blobs.size()), {}};
}

// The given slots of a device.
GivenBuffers given_in(const BlobNet& net, const Movable& movable, std::uint32_t device) {
  GivenBuffers given;
  if (net.given_slots.empty()) return given;
  IdVector<BlobId, PackingId> buffer_of(net.blobs.size());
  for (PackingId id : all_ids<PackingId>(movable.blobs.size())) buffer_of[movable.blobs[id]] = id;
  for (const std::vector<BlobId>& slot : net.given_slots) {
    if (net.blobs[slot.front()].device != device) continue;
    std::vector<PackingId>& members = given.emplace_back();
    for (BlobId id : slot) members.push_back(buffer_of[id]);
  }
  return given;
}

// The slots of the joined problem, for the buffers of the whole one.
IdVector<PackingId, std::uint32_t> slots_of_members(const PackingProblem& problem, const JoinedProblem& joined,
                                                    const SlotAssignment& assigned) {
  IdVector<PackingId, std::uint32_t> slot(problem.buffers.size());
  for (PackingId id : all_ids<PackingId>(joined.members.size())) {
    for (PackingId member : joined.members[id]) slot[member] = assigned.slot[id].value();
  }
  auto next = static_cast<std::uint32_t>(assigned.sizes.size());
  for (const std::vector<PackingId>& members : joined.empty) {
    for (PackingId member : members) slot[member] = next;
    ++next;
  }
  return slot;
}

Bytes bytes_of(const BlobNet& net, const BlockChoice& choice) {
  Bytes sum;
  std::vector<Bytes> sizes(choice.names.size());
  for (BlobId id : all_ids<BlobId>(net.blobs.size())) {
    const Blob& blob = net.blobs[id];
    if (choice.block[id]) {
      sizes[*choice.block[id]] = std::max(sizes[*choice.block[id]], blob.size);
    } else if (!blob.is_kept) {
      sum += blob.size;
    }
  }
  for (Bytes size : sizes) sum += size;
  return sum;
}

}  // namespace

std::vector<std::uint32_t> devices_of(const BlobNet& net) {
  std::vector<std::uint32_t> devices;
  for (const Blob& blob : net.blobs) devices.push_back(blob.device);
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

Movable movable_in_sequence(const BlobNet& net, std::uint32_t device) {
  Movable movable;
  for (BlobId id : all_ids<BlobId>(net.blobs.size())) {
    const Blob& blob = net.blobs[id];
    if (blob.is_kept || blob.device != device) continue;
    movable.problem.buffers.push_back({.lifespan = {blob.first, blob.last + std::int64_t{1}}, .size = blob.size});
    movable.blobs.push_back(id);
  }
  return movable;
}

BlockChoice nearest_size_choice(const BlobNet& net) {
  BlockChoice choice = no_choice(net);
  for (std::uint32_t device : devices_of(net)) {
    const Movable movable = movable_in_sequence(net, device);
    add_slots(net, movable, nearest_size_slots(movable.problem, given_in(net, movable, device)), choice);
  }
  return choice;
}

Result<LeastSlots> least_slots(const BlobNet& net, std::int64_t effort) {
  LeastSlots least{.choice = no_choice(net)};
  for (std::uint32_t device : devices_of(net)) {
    const Movable movable = movable_in_sequence(net, device);
    const JoinedProblem joined = join_given(movable.problem, given_in(net, movable, device));
    LOWTIDE_TRY(const SlotAssignment assigned, assign_slots(joined.problem, {.effort = effort}));
    add_slots(net, movable, slots_of_members(movable.problem, joined, assigned), least.choice);
    least.bound += assigned.proven_optimal ? assigned.total : assigned.bound;
  }
  least.bytes = bytes_of(net, least.choice);
  std::vector<BlockChoice> others = {nearest_size_choice(net)};
  if (net.given_slots.empty()) {  // the other rules do not begin with given slots
    others.push_back(recycle_in_sequence(net));
    others.push_back(storage_groups(net));
  }
  for (BlockChoice& other : others) {
    const Bytes bytes = bytes_of(net, other);
    if (bytes >= least.bytes) continue;
    least.choice = std::move(other);
    least.bytes = bytes;
  }
  return least;
}

}  // namespace lowtide::baselines_internal
