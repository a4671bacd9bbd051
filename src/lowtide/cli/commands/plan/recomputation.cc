// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/plan/recomputation.h"

#include <string>

#include "lowtide/report/summary.h"

namespace lowtide::cli_internal {

Json json_of(const std::optional<Recomputation>& found, const Labels& labels) {
  if (!found) return nullptr;
  const bool is_found = found->outcome == BudgetOutcome::found;
  Json json;
  json["outcome"] = std::string(to_string(found->outcome));
  json["recomputed"] = Json::array();
  for (const Rerun& rerun : found->reruns) {
    json["recomputed"].push_back({{"node", json_of(shown_node(labels, rerun.node))},
                                  {"times", rerun.times},
                                  {"bytes", rerun.bytes.count()},
                                  {"picoseconds", rerun.picoseconds}});
  }
  json["moved"] = Json::array();
  for (const Swap& swap : found->swaps) {
    Json returns = Json::array();
    for (StepId id : swap.returns) returns.push_back(id.value());
    json["moved"].push_back({{"tensor", json_text(labels.tensors[swap.tensor].name)},
                             {"bytes", swap.bytes.count()},
                             {"out", swap.out.value()},
                             {"in", returns},
                             {"picoseconds", swap.picoseconds}});
  }
  json["kept"] = Json::array();
  for (const KeptTensor& kept : found->kept) {
    Json absent = Json::array();
    for (TensorId id : kept.absent) absent.push_back(json_text(labels.tensors[id].name));
    const bool is_estimated = kept.reason == KeptReason::costs_more;
    json["kept"].push_back({{"tensor", json_text(labels.tensors[kept.tensor].name)},
                            {"bytes", kept.bytes.count()},
                            {"step", kept.step.value()},
                            {"next_read", kept.next_read ? Json(kept.next_read->value()) : Json(nullptr)},
                            {"reason", std::string(to_string(kept.reason))},
                            {"picoseconds", is_estimated ? Json(kept.picoseconds) : Json(nullptr)},
                            {"absent", absent}});
  }
  json["has_link"] = found->has_link;
  json["outside_bytes"] = found->outside.count();
  json["stall"] = is_found ? Json(found->stall_picoseconds) : Json(nullptr);
  json["cost"] = is_found ? Json(found->picoseconds) : Json(nullptr);
  json["base_cost"] = found->base_picoseconds;
  json["overhead"] = is_found && found->base_picoseconds > 0
                         ? Json(static_cast<double>(found->picoseconds - found->base_picoseconds) /
                                static_cast<double>(found->base_picoseconds))
                         : Json(nullptr);
  json["cost_bound"] = found->bound_picoseconds;
  json["cost_bound_kind"] = std::string(to_string(found->bound_kind));
  json["smallest_arena"] = found->tries > 0 ? Json(found->arena.count()) : Json(nullptr);
  json["tries"] = found->tries;
  json["obstruction"] = nullptr;
  if (const std::optional<Obstruction>& proof = found->obstruction) {
    json["obstruction"] = {{"kind", std::string(to_string(proof->kind))},
                           {"node", proof->node ? json_of(shown_node(labels, *proof->node)) : Json(nullptr)},
                           {"sets", proof->sets}};
  }
  return json;
}

}  // namespace lowtide::cli_internal
