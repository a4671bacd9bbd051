// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/measure/measure.h"

#include <algorithm>
#include <utility>

#include "lowtide/allocate/allocate.h"
#include "lowtide/allocate/slots.h"
#include "lowtide/analysis/happens_before.h"
#include "lowtide/base/try.h"

namespace lowtide::baselines_internal {
namespace {

// The most blobs per device for which all conflicts are listed.
constexpr std::size_t kMostRelated = 2000;

// Whether a node writes the blob during the run.
bool is_made(const Blob& blob) { return blob.is_placed && !blob.is_input; }

// Lists the pairs that may not share in some run.
std::vector<PackingPair> pairs_in_conflict(const BlobNet& net, const IdVector<PackingId, BlobId>& blobs,
                                           const HappensBefore& runs,
                                           const IdVector<BlobId, std::vector<std::uint32_t>>& uses) {
  std::vector<BufferUsers> users;
  for (BlobId id : blobs) users.push_back({.firsts = {net.blobs[id].first}, .users = uses[id]});
  std::vector<PackingPair> conflicts;
  for (const auto& [first, second] : buffer_conflicts(runs, users)) {
    conflicts.push_back({PackingId(first), PackingId(second)});
  }
  return conflicts;
}

// What Lowtide's own search finds by the rule, and what it proves, for the blobs that may share.
struct Found {
  std::optional<Bytes> bytes;
  Bytes bound;
};

Result<Found> best_offsets(const BlobNet& net, const BaselineOptions& options, const Decision& decision) {
  LOWTIDE_TRY(const Packing packing, allocate(arena_problem(net, decision).problem, {.effort = options.effort}));
  return Found{packing.height, packing.bound};
}

Result<Found> best_in_sequence(const BlobNet& net, const BaselineOptions& options) {
  LOWTIDE_TRY(const LeastSlots least, least_slots(net, options.effort));
  return Found{least.bytes, least.bound};
}

// Searches each device. Returns nullopt if there would be too many pairs.
Result<Found> best_of_dependencies(const BlobNet& net, const BaselineOptions& options) {
  LOWTIDE_TRY(const HappensBefore runs, HappensBefore::make(chains_of(net.sources)));
  IdVector<BlobId, std::vector<std::uint32_t>> uses(net.blobs.size());
  for (std::uint32_t at = 0; at < net.ops.size(); ++at) {
    for (const std::vector<BlobId>& list : {net.ops[at].inputs, net.ops[at].outputs}) {
      for (BlobId id : list) uses[id].push_back(at);
    }
  }
  Found found{.bytes = Bytes(0)};
  for (std::uint32_t device : devices_of(net)) {
    Movable movable = movable_in_sequence(net, device);
    if (movable.blobs.size() > kMostRelated) return Found{};
    movable.problem.conflicts = pairs_in_conflict(net, movable.blobs, runs, uses);
    LOWTIDE_TRY(const SlotAssignment slots, assign_slots(movable.problem, {.effort = options.effort}));
    *found.bytes += slots.total;
    found.bound += slots.proven_optimal ? slots.total : slots.bound;
  }
  return found;
}

Result<Found> find_best(const BlobNet& net, const BaselineOptions& options, const Decision& decision) {
  if (!decision.all_may_share) return Found{};
  if (decision.has_offsets()) return best_offsets(net, options, decision);
  if (decision.execution == ExecutionModel::dataflow) return best_of_dependencies(net, options);
  return best_in_sequence(net, options);
}

}  // namespace

Decision decision_of(BlockChoice choice, ExecutionModel execution) {
  Decision decision;
  decision.execution = execution;
  decision.block = std::move(choice.block);
  decision.names = std::move(choice.names);
  return decision;
}

Decision arena_of(const BlobNet& net) {
  Decision decision;
  decision.names = {"arena"};
  decision.offset = IdVector<BlobId, Offset>(net.blobs.size());
  for (const Blob& blob : net.blobs) {
    decision.block.push_back(blob.is_placed ? std::optional<std::uint32_t>(0) : std::nullopt);
  }
  return decision;
}

namespace {

// The lifespan of each blob, and its rank among the first uses. A blob that no node uses has an empty lifespan.
struct Uses {
  IdVector<BlobId, TimeSpan> span;
  IdVector<BlobId, std::uint32_t> rank;
  std::int64_t end = 1;
};

Uses uses_in(const BlobNet& net, const Decision& decision) {
  Uses uses{.span = IdVector<BlobId, TimeSpan>(net.blobs.size(), TimeSpan{INT64_MAX, 0}),
            .rank = IdVector<BlobId, std::uint32_t>(net.blobs.size(), UINT32_MAX)};
  std::vector<const BlobOp*> ops;
  for (const BlobOp& op : net.ops) ops.push_back(&op);
  if (!decision.wave.empty()) {
    std::stable_sort(ops.begin(), ops.end(),
                     [&](const BlobOp* a, const BlobOp* b) { return decision.wave[a->node] < decision.wave[b->node]; });
  }
  std::uint32_t used = 0;
  for (std::size_t at = 0; at < ops.size(); ++at) {
    const BlobOp& op = *ops[at];
    const std::int64_t now =
        decision.first_step + (decision.wave.empty() ? static_cast<std::int64_t>(at) : decision.wave[op.node]);
    uses.end = std::max(uses.end, now + 1);
    for (const std::vector<BlobId>& list : {op.inputs, op.outputs}) {
      for (BlobId id : list) {
        uses.span[id] = {std::min(uses.span[id].begin, now), std::max(uses.span[id].end, now + 1)};
        if (uses.rank[id] == UINT32_MAX) uses.rank[id] = used++;
      }
    }
  }
  return uses;
}

}  // namespace

Movable arena_problem(const BlobNet& net, const Decision& decision) {
  Movable movable;
  Uses uses = uses_in(net, decision);
  std::vector<BlobId> by_begin;
  for (BlobId id : all_ids<BlobId>(net.blobs.size())) {
    if (!decision.block[id]) continue;
    const Blob& blob = net.blobs[id];
    TimeSpan& span = uses.span[id];
    const bool is_early = blob.is_input && !decision.inputs_at_first_use;
    if (is_early || span.empty()) span = {0, std::max<std::int64_t>(span.end, 1)};
    if (blob.is_output) span.end = uses.end;
    by_begin.push_back(id);
  }
  std::stable_sort(by_begin.begin(), by_begin.end(), [&](BlobId a, BlobId b) {
    return std::pair(uses.span[a].begin, uses.rank[a]) < std::pair(uses.span[b].begin, uses.rank[b]);
  });
  for (BlobId id : by_begin) {
    movable.problem.buffers.push_back({.lifespan = uses.span[id], .size = net.blobs[id].size});
    movable.blobs.push_back(id);
  }
  for (std::size_t at = 0; at < net.ops.size(); ++at) {
    const NodeId node = net.ops[at].node;
    if (decision.scratch.empty() || decision.scratch[node] == Bytes(0)) continue;
    const std::int64_t now = decision.first_step + static_cast<std::int64_t>(at);
    movable.problem.buffers.push_back({.lifespan = {now, now + 1}, .size = decision.scratch[node]});
    movable.scratch.push_back(node);
  }
  return movable;
}

void claim_scratch(const Decision& decision, BaselineOutcome& outcome) {
  BaselineBlock& arena = outcome.blocks.front();
  for (NodeId id : all_ids<NodeId>(decision.scratch.size())) {
    const Bytes size = decision.scratch[id];
    outcome.sharing.scratch.push_back({.place = {0, decision.scratch_at[id]}, .size = size});
    if (size > Bytes(0)) arena.size = std::max(arena.size, (decision.scratch_at[id] + size) - Offset(0));
  }
}

void claim(const BlobNet& net, const std::vector<NodeId>& order, const BaselineOptions& options,
           const Decision& decision, BaselineOutcome& outcome) {
  for (const std::string& name : decision.names) outcome.blocks.push_back({.name = name});
  outcome.blobs = static_cast<std::int64_t>(net.blobs.size());
  if (!decision.has_offsets()) outcome.blobs_left = outcome.blobs;
  outcome.shared_buffers = static_cast<std::int64_t>(decision.names.size());
  SharingClaim& sharing = outcome.sharing;
  sharing.execution = decision.execution;
  sharing.order = order;
  sharing.wave = decision.wave;
  sharing.view_of = net.view_of;
  sharing.devices = options.devices;
  sharing.inputs_at_first_use = decision.inputs_at_first_use;
  sharing.places = IdVector<TensorId, std::optional<SharingPlace>>(net.blob_of.size());
  for (BlobId id : all_ids<BlobId>(net.blobs.size())) {
    const Blob& blob = net.blobs[id];
    if (blob.tensors.size() > 1) sharing.same_place.push_back(blob.tensors);
    if (!decision.block[id]) continue;
    BaselineBlock& block = outcome.blocks[*decision.block[id]];
    const SharingPlace place{*decision.block[id], decision.has_offsets() ? decision.offset[id] : Offset(0)};
    block.size = std::max(block.size, (place.offset + blob.size) - Offset(0));
    ++block.blobs;
    for (TensorId tensor : blob.tensors) sharing.places[tensor] = place;
  }
  if (!decision.scratch.empty()) claim_scratch(decision, outcome);
  for (const BaselineBlock& block : outcome.blocks) {
    sharing.blocks.push_back(block.size);
    if (outcome.blobs_left) *outcome.blobs_left -= block.blobs - 1;
  }
}

Result<void> measure(const BlobNet& net, const BaselineOptions& options, const Decision& decision,
                     BaselineOutcome& outcome) {
  for (const BaselineBlock& block : outcome.blocks) outcome.bytes += block.size;
  Bytes fixed;  // written by nodes, but not shared by this rule
  for (BlobId id : all_ids<BlobId>(net.blobs.size())) {
    const Blob& blob = net.blobs[id];
    if (!decision.block[id] && !is_made(blob)) continue;
    outcome.naive += blob.size;
    if (decision.block[id]) continue;
    outcome.bytes += blob.size;
    if (blob.is_kept) fixed += blob.size;
  }
  for (Bytes size : decision.scratch) outcome.naive += size;
  LOWTIDE_TRY(const Found found, find_best(net, options, decision));
  outcome.bound = fixed + found.bound;
  if (found.bytes) outcome.best = std::min(fixed + *found.bytes, outcome.bytes);
  outcome.proven_optimal = outcome.bytes == outcome.bound;
  return {};
}

}  // namespace lowtide::baselines_internal
