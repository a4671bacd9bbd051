// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/measure/given_slots.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "lowtide/base/flags.h"
#include "lowtide/base/quote.h"

namespace lowtide::baselines_internal {
namespace {

std::string blob_name(const BlobNet& net, BlobId id) { return quoted(net.blobs[id].name); }

// Why the tensor cannot be in a slot, whatever else is in it. `is_listed` has the blobs before it.
std::optional<std::string> fault_of_tensor(const BlobNet& net, TensorId id, const Flags<BlobId>& is_listed) {
  if (!net.blob_of.contains(id)) {
    return "tensor " + std::to_string(id.value()) + " is assigned to a slot, but the graph has only " +
           std::to_string(net.blob_of.size()) + " tensors";
  }
  const BlobId blob = net.blob_of[id];
  if (net.blobs[blob].is_kept) {
    return blob_name(net, blob) +
           " is assigned to a slot, but inputs, constants, states, outputs and what is to be kept share no memory";
  }
  if (is_listed.test(blob)) return blob_name(net, blob) + " is assigned twice; list it once";
  return std::nullopt;
}

struct Member {
  BlobId blob;
  std::size_t at;  // index in the given list
};

// Sorts the blobs of a slot by time. Returns a fault of two of them.
std::optional<AssignedFault> sort_members(const BlobNet& net, std::size_t slot, std::vector<Member>& members) {
  std::stable_sort(members.begin(), members.end(),
                   [&](const Member& a, const Member& b) { return net.blobs[a.blob].first < net.blobs[b.blob].first; });
  for (std::size_t at = 1; at < members.size(); ++at) {
    const Member& before = members[at - 1];
    const Member& after = members[at];
    const std::string both =
        blob_name(net, before.blob) + " and " + blob_name(net, after.blob) + " are assigned to one slot";
    const std::size_t later = std::max(before.at, after.at);
    if (net.blobs[before.blob].device != net.blobs[after.blob].device) {
      return AssignedFault{slot, later, both + ", but are on different devices"};
    }
    if (net.blobs[before.blob].last >= net.blobs[after.blob].first) {
      return AssignedFault{slot, later,
                           both + ", but the first is still needed when the second is written, by node " +
                               std::to_string(net.blobs[after.blob].first + std::size_t{1}) + " of the order"};
    }
  }
  return std::nullopt;
}

PackingBuffer joined_buffer(const PackingProblem& problem, const std::vector<PackingId>& members) {
  PackingBuffer joined{.lifespan = {0, 1}};
  for (PackingId id : members) {
    const PackingBuffer& buffer = problem.buffers[id];
    const std::int64_t begin = buffer.lifespan.begin + 1;
    if (begin > joined.lifespan.end) joined.gaps.push_back({joined.lifespan.end, begin});
    joined.lifespan.end = buffer.lifespan.end + 1;
    joined.size = std::max(joined.size, buffer.size);
  }
  return joined;
}

}  // namespace

std::optional<AssignedFault> add_given_slots(const BaselineOptions& options, BlobNet& net) {
  Flags<BlobId> is_listed(net.blobs.size());
  for (std::size_t slot = 0; slot < options.assigned.size(); ++slot) {
    const std::vector<TensorId>& list = options.assigned[slot];
    if (list.empty()) return AssignedFault{slot, 0, "a slot has no tensors; omit it"};
    std::vector<Member> members;
    for (std::size_t at = 0; at < list.size(); ++at) {
      if (std::optional<std::string> fault = fault_of_tensor(net, list[at], is_listed)) {
        return AssignedFault{slot, at, *std::move(fault)};
      }
      members.push_back({net.blob_of[list[at]], at});
      is_listed.set(members.back().blob);
    }
    if (std::optional<AssignedFault> fault = sort_members(net, slot, members)) return fault;
    std::vector<BlobId>& blobs = net.given_slots.emplace_back();
    for (const Member& member : members) blobs.push_back(member.blob);
  }
  return std::nullopt;
}

JoinedProblem join_given(const PackingProblem& problem, const GivenBuffers& given) {
  JoinedProblem joined;
  Flags<PackingId> is_given(problem.buffers.size());
  for (const std::vector<PackingId>& slot : given) {
    for (PackingId id : slot) is_given.set(id);
    PackingBuffer buffer = joined_buffer(problem, slot);
    if (buffer.size == Bytes(0)) {
      joined.empty.push_back(slot);
      continue;
    }
    joined.problem.buffers.push_back(std::move(buffer));
    joined.members.push_back(slot);
  }
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) {
    if (is_given.test(id)) continue;
    PackingBuffer buffer = problem.buffers[id];
    buffer.lifespan = {buffer.lifespan.begin + 1, buffer.lifespan.end + 1};
    joined.problem.buffers.push_back(std::move(buffer));
    joined.members.push_back({id});
  }
  return joined;
}

}  // namespace lowtide::baselines_internal
