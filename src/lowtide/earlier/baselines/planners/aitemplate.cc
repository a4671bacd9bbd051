// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/planners/aitemplate.h"

#include <algorithm>
#include <vector>

#include "lowtide/base/try.h"
#include "lowtide/earlier/baselines/rules/node_waves.h"
#include "lowtide/earlier/baselines/rules/sharing_rules.h"

namespace lowtide::baselines_internal {
namespace {

Decision arena_with_late_inputs(const BlobNet& net) {
  Decision decision = arena_of(net);
  decision.inputs_at_first_use = true;
  Flags<BlobId> is_used(net.blobs.size());
  for (const BlobOp& op : net.ops) {
    for (BlobId id : op.inputs) is_used.set(id);
    for (BlobId id : op.outputs) is_used.set(id);
  }
  for (BlobId id : all_ids<BlobId>(net.blobs.size())) {
    if (!is_used.test(id)) decision.block[id].reset();
  }
  return decision;
}

Result<void> pack_largest_first(const BlobNet& net, Decision& decision) {
  const Movable movable = arena_problem(net, decision);
  LOWTIDE_TRY(const auto offsets, largest_first_offsets(movable.problem));
  for (PackingId id : all_ids<PackingId>(offsets.size())) decision.offset[movable.blobs[id]] = offsets[id];
  return {};
}

}  // namespace

Result<Decision> aitemplate_naive(const BlobNet& net, const BaselineOptions& /*options*/) {
  Decision decision = arena_with_late_inputs(net);
  Offset end;
  for (BlobId id : all_ids<BlobId>(net.blobs.size())) {
    if (!decision.block[id]) continue;
    decision.offset[id] = end;
    end = end + net.blobs[id].size;
  }
  return decision;
}

Result<Decision> aitemplate_greedy_by_size(const BlobNet& net, const BaselineOptions& /*options*/) {
  Decision decision = arena_with_late_inputs(net);
  LOWTIDE_RETURN_IF_ERROR(pack_largest_first(net, decision));
  return decision;
}

Result<Decision> aitemplate_multistream(const BlobNet& net, const BaselineOptions& options) {
  std::vector<NodeId> order;
  for (const BlobOp& op : net.ops) order.push_back(op.node);
  Decision decision = arena_with_late_inputs(net);
  decision.execution = ExecutionModel::waves;
  decision.wave = IdVector<NodeId, std::uint32_t>(order.size());
  const std::vector<Wave> waves = split_waves(earliest_waves(order, net.sources), options.nodes_at_once);
  for (std::uint32_t at = 0; at < waves.size(); ++at) {
    decision.streams = std::max(decision.streams,
                                static_cast<std::uint32_t>(std::min<std::size_t>(waves[at].size(), options.streams)));
    for (NodeId id : waves[at]) decision.wave[id] = at;
  }
  LOWTIDE_RETURN_IF_ERROR(pack_largest_first(net, decision));
  return decision;
}

void lay_out_constants(const Graph& graph, Bytes alignment, BaselineOutcome& outcome) {
  outcome.constant_at = IdVector<TensorId, std::optional<Offset>>(graph.tensors().size());
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    const Tensor& tensor = graph.tensor(id);
    if (tensor.role != Role::constant) continue;
    outcome.constant_at[id] = Offset(0) + outcome.constants;
    outcome.constants += round_up(tensor.size, alignment);
  }
}

}  // namespace lowtide::baselines_internal
