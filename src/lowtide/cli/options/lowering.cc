// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/options/lowering.h"

#include "lowtide/cli/options/options.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/runtime.h"
#include "lowtide/lower/passes.h"

namespace lowtide::cli_internal {

LowerOptions read_kernel_lowering(const Arguments& arguments) {
  LowerOptions lowering = options_for_kernels();
  for (const std::string& name : arguments.values("--without")) {
    if (const Pass* pass = find_pass(name)) lowering.passes.erase(pass->id);
  }
  return lowering;
}

LowerOptions read_lowering(const Arguments& arguments, const Target& target) {
  const bool is_cpu = arguments.value("--target") == "cpu";
  if (!is_cpu && arguments.has("--without"))
    stop_usage("--without leaves out a rewrite for the kernels of this machine; add --target cpu");
  LowerOptions lowering = is_cpu ? read_kernel_lowering(arguments) : LowerOptions{};
  if (target.has_integer_kernels) lowering.passes = lowering.passes | integer_passes();
  if (ask_machine(lowering.passes)) lowering.machine = take(this_machine()).formats;
  if (arguments.has("--no-load-time")) lowering.passes.erase(PassId::load_time);
  if (arguments.value("--inputs") == "arena") lowering.passes.insert(PassId::inputs_in_arena);
  if (arguments.value("--outputs") == "caller") lowering.passes.insert(PassId::outputs_at_caller);
  return lowering;
}

FormatChoice read_format_choice(const Arguments& arguments, const Target& target) {
  return {.budget = read_budget(arguments),
          .target = std::make_shared<const Target>(target),
          .has_measured_costs = arguments.value("--costs").has_value()};
}

Json json_of(const std::optional<LoweringFacts>& facts) {
  if (!facts) return nullptr;
  Json json{{"left_out", facts->left_out},
            {"on_f32", facts->on_f32},
            {"at_load", facts->at_load},
            {"reorders", facts->reorders},
            {"reordered_bytes", facts->reordered.count()},
            {"rewrites", Json::array()}};
  for (const LoweringFacts::Rewrite& rewrite : facts->rewrites) {
    Json from = Json::array();
    for (const std::string& name : rewrite.from) from.push_back(json_text(name));
    json["rewrites"].push_back({{"node", json_text(rewrite.node)}, {"op", rewrite.op}, {"from", from}});
  }
  json["as_written"] = nullptr;
  if (facts->as_written) {
    json["as_written"] = {{"peak_bytes", facts->as_written->peak.count()},
                          {"arena_bytes", facts->as_written->arena.count()}};
  }
  return json;
}

}  // namespace lowtide::cli_internal
