// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/options/lowering.h"

#include <algorithm>

#include "lowtide/cli/options/options.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/cpu_target.h"

namespace lowtide::cli_internal {
std::vector<std::string> kernel_passes() {
  return {std::string(kUnneededPass),  std::string(kPaddingPass),   std::string(kHalvesPass),
          std::string(kBatchNormPass), std::string(kLayerNormPass), std::string(kAttentionPass),
          std::string(kQuantizedPass), std::string(kLoadTimePass),  std::string(kChainsPass),
          std::string(kFormatsPass),   std::string(kEpiloguesPass), std::string(kWinogradPass)};
}

LowerOptions read_kernel_lowering(const Arguments& arguments) {
  LowerOptions lowering = options_for_kernels();
  const std::vector<std::string>& without = arguments.values("--without");
  const auto is_on = [&](std::string_view pass) { return std::ranges::find(without, pass) == without.end(); };
  lowering.unneeded = is_on(kUnneededPass);
  lowering.padding = is_on(kPaddingPass);
  lowering.halves = is_on(kHalvesPass);
  lowering.batch_norm = is_on(kBatchNormPass);
  lowering.layer_norm = is_on(kLayerNormPass);
  lowering.attention = is_on(kAttentionPass);
  lowering.quantized = is_on(kQuantizedPass);
  lowering.load_time = is_on(kLoadTimePass);
  lowering.chains = is_on(kChainsPass);
  lowering.formats = is_on(kFormatsPass);
  lowering.epilogues = is_on(kEpiloguesPass);
  lowering.winograd = is_on(kWinogradPass);
  return lowering;
}

LowerOptions read_lowering(const Arguments& arguments) {
  const bool is_cpu = arguments.value("--target") == "cpu";
  if (!is_cpu && arguments.has("--without"))
    stop_usage("--without leaves out a rewrite for the kernels of this machine; add --target cpu");
  LowerOptions lowering = is_cpu ? read_kernel_lowering(arguments) : LowerOptions{};
  if (lowering.formats || lowering.epilogues || lowering.winograd) lowering.machine = take(cpu_target()).formats;
  lowering.load_time = lowering.load_time && !arguments.has("--no-load-time");
  lowering.inputs_in_arena = arguments.value("--inputs").value_or("caller") == "arena";
  lowering.outputs_at_caller = arguments.value("--outputs").value_or("arena") == "caller";
  return lowering;
}

FormatChoice read_format_choice(const Arguments& arguments) {
  return {.budget = read_budget(arguments), .has_measured_costs = arguments.value("--costs").has_value()};
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
