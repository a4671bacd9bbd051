// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "lowtide/base/quote.h"
#include "lowtide/cli/command_runs.h"
#include "lowtide/cli/json.h"
#include "lowtide/cli/options.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output_files.h"
#include "lowtide/cli/progress.h"
#include "lowtide/export/share_net.h"
#include "lowtide/import/net_file.h"
#include "lowtide/netdef/net.h"
#include "lowtide/report/styled_text.h"

namespace lowtide::cli_internal {
namespace {

ShareNetOptions read_share_options(const Arguments& arguments) {
  ShareNetOptions options;
  options.rule = arguments.value("--rule").value_or(std::string(kLowtideRule));
  if (!arguments.values("--head").empty()) options.heads = arguments.values("--head");
  options.keep = arguments.values("--keep");
  options.namescope = arguments.value("--namescope").value_or("");
  if (!options.namescope.empty() && !options.namescope.ends_with('/')) options.namescope += '/';
  options.share_activations = arguments.has("--activations");
  options.free_dead = arguments.has("--free");
  return options;
}

// Whether all sizes are known; otherwise bytes mean nothing.
bool has_sizes(const NetGraph& graph) {
  for (const Operator& op : graph.graph.operators()) {
    if (op.domain == "caffe2.unsized") return false;
  }
  return true;
}

StyledText summary_of(const SharedNet& shared, const ShareNetOptions& options, bool has_bytes) {
  StyledText text;
  if (shared.already_has) {
    return text
        .add("The net already has the name " + quoted(*shared.already_has, 60) +
             ", so it was planned before. It is unchanged.")
        .end_line();
  }
  const BaselineOutcome& outcome = shared.outcome;
  text.add(options.rule, Style::strong)
      .add(": " + std::to_string(outcome.blobs) + " blobs, " +
           (outcome.blobs_left ? std::to_string(*outcome.blobs_left) + " left, " : "") +
           std::to_string(outcome.shared_buffers) + " shared buffers")
      .end_line();
  if (has_bytes) {
    text.add("  no reuse  " + format_bytes(outcome.naive)).end_line();
    text.add("  shared    " + format_bytes(outcome.bytes)).end_line();
    if (outcome.proven_optimal) text.add("  No result of whole buffers in this order needs less.").end_line();
  }
  if (shared.freed > 0) text.add("  " + std::to_string(shared.freed) + " operators Free are added.").end_line();
  if (shared.is_reordered) text.add("  The operators have another order, with a lower peak.").end_line();
  if (outcome.original_failure) {
    text.add("  Caffe2 has no valid result for this net, because " + *outcome.original_failure + ".").end_line();
  }
  text.add("  Verified: data flow and results in place are those of the net.").end_line();
  return text;
}

Json json_of_shared(const SharedNet& shared, const ShareNetOptions& options, bool has_bytes) {
  Json json = json_head("share");
  const BaselineOutcome& outcome = shared.outcome;
  json["rule"] = options.rule;
  json["unchanged"] = shared.names.empty() && !shared.is_reordered && shared.freed == 0;
  json["reordered"] = shared.is_reordered;
  json["free_operators"] = shared.freed;
  json["original_failure"] = outcome.original_failure ? Json(json_text(*outcome.original_failure)) : Json(nullptr);
  json["blobs"] = outcome.blobs;
  json["blobs_left"] = outcome.blobs_left ? Json(*outcome.blobs_left) : Json(nullptr);
  json["shared_buffers"] = outcome.shared_buffers;
  json["bytes"] = has_bytes ? Json(outcome.bytes.count()) : Json(nullptr);
  json["naive_bytes"] = has_bytes ? Json(outcome.naive.count()) : Json(nullptr);
  json["names"] = Json::array();
  for (const auto& [name, renamed] : shared.names) {
    json["names"].push_back({{"blob", json_text(name)}, {"name", json_text(renamed)}});
  }
  return json;
}

OutputFiles share_outputs(const Arguments& arguments) {
  std::vector<std::string> inputs = {arguments.positional("NET")};
  for (const char* option : {"--init-net", "--shapes"}) {
    if (const std::optional<std::string> file = arguments.value(option)) inputs.push_back(*file);
  }
  std::vector<std::string> destinations;
  if (const std::optional<std::string> output = arguments.value("--output")) destinations.push_back(*output);
  return {destinations, inputs, arguments.has("--json")};
}

}  // namespace

ExitCode run_share(const Arguments& arguments, Console& console) {
  const ShareNetOptions options = read_share_options(arguments);
  ImportOptions bindings = read_bindings(arguments);
  bindings.unit_sizes = bindings.unit_sizes || ignores_sizes(options.rule);
  const OutputFiles files = share_outputs(arguments);
  if (files.uses_stdout()) console.keep_stdout_free();
  const std::string& path = arguments.positional("NET");
  const ImportedNet net = take(import_net_file(path, bindings));
  console.notes(net.graph.notes);
  const bool has_bytes = has_sizes(net.graph);
  const SharedNet shared = [&] {
    const Progress progress(console, "sharing");
    return take(share_net(net.file.net, net.graph, options), path);
  }();
  if (const std::optional<std::string> output = arguments.value("--output")) {
    files.write(*output, take(write_net(shared.net, net.file.form), path), console);
  }
  if (arguments.has("--json")) {
    print_json(console, json_of_shared(shared, options, has_bytes));
  } else {
    console.result(summary_of(shared, options, has_bytes));
  }
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
