// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/rewrite/lean_graphdef.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/graphdef/output_types.h"
#include "lowtide/earlier/rewrite/lean_variants.h"
#include "lowtide/earlier/rewrite/written_runs.h"

namespace lowtide {
namespace {

using rewrite_internal::LeanPlanner;
using rewrite_internal::Variant;
using rewrite_internal::WrittenRuns;

// The device whose memory is planned.
Result<std::uint32_t> device_of_run(const Cluster& cluster, const std::vector<CostedNodeOfRun>& costed) {
  std::vector<double> bytes(cluster.devices.size(), -1);
  for (const CostedNodeOfRun& one : costed) {
    if (one.is_resident) continue;
    bytes[one.device] = std::max(0.0, bytes[one.device]) + static_cast<double>(one.bytes);
  }
  std::vector<std::uint32_t> limited;
  for (std::uint32_t device = 0; device < cluster.devices.size(); ++device) {
    if (bytes[device] >= 0 && cluster.devices[device].memory_bytes > 0) limited.push_back(device);
  }
  if (limited.size() == 1) return limited.front();
  if (limited.size() > 1) {
    return Error{ErrorCode::unsupported,
                 "nodes run on " + quoted(cluster.devices[limited[0]].name, 80) + " and " +
                     quoted(cluster.devices[limited[1]].name, 80) +
                     ", and plans for TensorFlow keep the memory of one device; leave out the memory of the others",
                 ""};
  }
  return static_cast<std::uint32_t>(std::max_element(bytes.begin(), bytes.end()) - bytes.begin());
}

std::vector<LeanSwap> swaps_of(const Variant& variant, const WrittenRuns& written) {
  std::vector<LeanSwap> swaps;
  std::unordered_map<std::uint32_t, std::size_t> by_run;
  for (const Transfer& transfer : variant.sequence.transfers) {
    if (transfer.direction == TransferDirection::in) {
      ++swaps[by_run.at(transfer.run)].returns;
      continue;
    }
    const Graph& graph = variant.plain.graph;
    const TensorId output = *graph.node(variant.sequence.runs[transfer.run]).outputs.front();
    by_run.try_emplace(transfer.run, swaps.size());
    swaps.push_back({.node = written.run_names[transfer.run], .bytes = graph.tensor(output).size});
  }
  return swaps;
}

// What counts as 1 may also be empty, or take less time.
void claim_nothing(LeanGraphDef& lean) {
  if (lean.answer.outcome == BudgetOutcome::infeasible) lean.answer.outcome = BudgetOutcome::not_found;
  lean.answer.cost_bound = 0;
  lean.floor = Bytes(0);
}

std::string devices_of(const Cluster& cluster) {
  std::vector<std::string> names;
  for (const ClusterDevice& device : cluster.devices) names.push_back(quoted(device.name, 80));
  return listed_first(names, 4);
}

Result<LeanGraphDef> write_variant(const ProtoMessage& graphdef, const LeanGraphDefOptions& options,
                                   std::uint32_t device, const Variant& variant) {
  LOWTIDE_TRY(const std::vector<DefNode> shaped, with_shapes(variant.nodes, options.shapes));
  LOWTIDE_TRY(const std::vector<std::vector<OutputType>> types, infer_output_types(with_nodes({}, shaped)));
  WrittenRuns written = write_runs(variant.nodes, types, variant.plain, variant.sequence);
  LeanGraphDef lean{.graphdef = {},
                    .recomputed = written.recomputed,
                    .sums = variant.sums,
                    .swaps = swaps_of(variant, written),
                    .device = device,
                    .resident = variant.plain.resident,
                    .peak = variant.peak + variant.plain.resident,
                    .floor = variant.floor + variant.plain.resident,
                    .unsized = {},
                    .answer = variant.answer};
  for (const CostedNodeOfRun& one : variant.costed) {
    if (!one.is_sized) lean.unsized.push_back(variant.nodes[one.node].name);
  }
  if (!lean.unsized.empty()) claim_nothing(lean);
  lean.graphdef = with_nodes(graphdef, std::move(written.nodes));
  return lean;
}

}  // namespace

Result<LeanGraphDef> lean_graphdef(const ProtoMessage& graphdef, const LeanGraphDefOptions& options) {
  if (options.cluster.devices.empty()) return Error{ErrorCode::invalid, "the cluster has no device", ""};
  if (options.ends.fetches.empty()) return Error{ErrorCode::invalid, "nothing is fetched, so nothing runs", ""};
  const std::vector<DefNode> nodes = nodes_of_graphdef(graphdef);
  LOWTIDE_TRY(const std::vector<DefNode> shaped, with_shapes(nodes, options.shapes));
  LOWTIDE_TRY(const std::vector<CostedNodeOfRun> costed, cost_nodes(shaped, options.cluster, options.ends));
  if (const auto strange = node_on_unknown_device(nodes, costed, options.cluster)) {
    return Error{ErrorCode::invalid,
                 "the node is on " + quoted(nodes[*strange].device, 80) +
                     ", which the cluster file does not have; add it there, or place the node on " +
                     devices_of(options.cluster),
                 shown_node(nodes[*strange].name, nodes[*strange].op)};
  }
  LOWTIDE_TRY(const std::uint32_t device, device_of_run(options.cluster, costed));
  const ClusterDevice& planned = options.cluster.devices[device];
  if (options.link && planned.type != "GPU") {
    return Error{ErrorCode::unsupported,
                 quoted(planned.name, 80) + " is no GPU, and TensorFlow has no operators that copy from it to a host",
                 ""};
  }
  const LeanPlanner planner(options, device);
  Result<Variant> variant = planner.plan(nodes, {});
  if (!variant) return variant.error();
  if (planned.memory_bytes > 0 && has_room(*variant)) {
    variant = best_variant(planner, *std::move(variant));
    if (!variant) return variant.error();
  }
  return write_variant(graphdef, options, device, *variant);
}

}  // namespace lowtide
