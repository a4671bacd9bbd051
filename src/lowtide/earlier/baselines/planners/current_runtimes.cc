// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/planners/current_runtimes.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/try.h"
#include "lowtide/earlier/baselines/rules/first_fit.h"

namespace lowtide::baselines_internal {
namespace {

std::vector<PackingId> in_list_order(const PackingProblem& problem) {
  std::vector<PackingId> order;
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) order.push_back(id);
  return order;
}

// Sorts buffers from large to small, and keeps the order of equals.
void sort_by_size(const PackingProblem& problem, std::vector<PackingId>& order) {
  std::stable_sort(order.begin(), order.end(),
                   [&](PackingId a, PackingId b) { return problem.buffers[a].size > problem.buffers[b].size; });
}

// Lists tensors as ExecuTorch collects them: the inputs in the order of the graph, then the results in the order of the
// nodes.
std::vector<PackingId> as_collected(const BlobNet& net, const Movable& movable) {
  std::vector<PackingId> order = in_list_order(movable.problem);
  const auto rank = [&](PackingId id) {
    const Blob& blob = net.blobs[movable.blobs[id]];
    return blob.is_input ? std::pair(std::uint32_t{0}, blob.tensors.front().value())
                         : std::pair(blob.first + 1, movable.blobs[id].value());
  };
  std::sort(order.begin(), order.end(), [&](PackingId a, PackingId b) { return rank(a) < rank(b); });
  return order;
}

Decision arena_with_inputs_first(const BlobNet& net) {
  Decision decision = arena_of(net);
  decision.first_step = 1;
  return decision;
}

}  // namespace

Result<Decision> tflite_micro_greedy(const BlobNet& net, const BaselineOptions& options) {
  Decision decision = arena_with_inputs_first(net);
  for (Bytes size : options.workspaces.shared) decision.scratch.push_back(round_up(size, *options.alignment));
  const Movable movable = arena_problem(net, decision);
  // Tensors in the order of the graph, as in a TFLite file, then scratch in the order of the nodes.
  std::vector<PackingId> order = in_list_order(movable.problem);
  const std::int64_t tensors = static_cast<std::int64_t>(movable.blobs.size());
  std::sort(order.begin(), order.begin() + tensors, [&](PackingId a, PackingId b) {
    return net.blobs[movable.blobs[a]].tensors.front() < net.blobs[movable.blobs[b]].tensors.front();
  });
  std::reverse(order.begin(), order.end());
  sort_by_size(movable.problem, order);
  LOWTIDE_TRY(const auto offsets, lowest_free_offsets(movable.problem, order));
  for (PackingId id : all_ids<PackingId>(movable.blobs.size())) decision.offset[movable.blobs[id]] = offsets[id];
  decision.scratch_at = IdVector<NodeId, Offset>(decision.scratch.size());
  for (std::size_t at = 0; at < movable.scratch.size(); ++at) {
    decision.scratch_at[movable.scratch[at]] =
        offsets[PackingId(static_cast<std::uint32_t>(movable.blobs.size() + at))];
  }
  return decision;
}

Result<Decision> executorch_greedy(const BlobNet& net, const BaselineOptions& /*options*/) {
  Decision decision = arena_with_inputs_first(net);
  const Movable movable = arena_problem(net, decision);
  std::vector<PackingId> order = as_collected(net, movable);
  std::reverse(order.begin(), order.end());
  sort_by_size(movable.problem, order);
  LOWTIDE_TRY(const BucketChoice choice, bucket_offsets(movable.problem, order));
  decision.names.clear();
  for (std::size_t at = 0; at < choice.sizes.size(); ++at) decision.names.push_back("object " + std::to_string(at));
  for (PackingId id : all_ids<PackingId>(movable.blobs.size())) {
    decision.block[movable.blobs[id]] = choice.bucket[id];
    decision.offset[movable.blobs[id]] = choice.offset[id];
  }
  return decision;
}

Result<Decision> executorch_naive(const BlobNet& net, const BaselineOptions& /*options*/) {
  Decision decision = arena_with_inputs_first(net);
  const Movable movable = arena_problem(net, decision);
  Offset end;
  for (PackingId id : as_collected(net, movable)) {
    decision.offset[movable.blobs[id]] = end;
    end = end + movable.problem.buffers[id].size;
  }
  return decision;
}

}  // namespace lowtide::baselines_internal
