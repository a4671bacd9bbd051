// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/cli/commands/earlier/handlers.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/cli/output/output_files.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/cli/output/read_file.h"
#include "lowtide/earlier/formats/net_file.h"
#include "lowtide/earlier/netdef/net.h"
#include "lowtide/earlier/rewrite/share_net.h"
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
  options.gradients = arguments.values("--gradient");
  if (const std::optional<std::string> names = arguments.value("--gradient-names")) {
    options.gradient_names = from_string<GradientNames>(*names).value_or(GradientNames::suffix);
  }
  options.free_dead = arguments.has("--free");
  options.free_only = arguments.values("--free-only");
  if (const std::optional<std::string> order = arguments.value("--order")) {
    options.order = from_string<ShareOrder>(*order).value_or(ShareOrder::as_given);
  }
  for (const char* option : {"--order", "--assigned"}) {
    if (!arguments.has(option) || options.rule.starts_with("caffe2_interference")) continue;
    stop_usage(std::string(option) +
               " is for the rules caffe2_interference_greedy and caffe2_interference_exact; name one with --rule");
  }
  for (const char* option : {"--gradient", "--gradient-names"}) {
    if (!arguments.has(option) || options.rule.starts_with("caffe2_gradients")) continue;
    stop_usage(std::string(option) +
               " is for the rules caffe2_gradients and caffe2_gradients_sized; name one with --rule");
  }
  if (!options.free_only.empty() && !options.free_dead) stop_usage("--free-only needs --free");
  if (options.rule == kNoRule && !options.free_dead) stop_usage("--rule none shares nothing, so it needs --free");
  return options;
}

// The rows of --assigned, whose places begin with the name of the file.
std::vector<AssignedBlob> read_assigned(const std::string& path) {
  const std::string text = take(read_text_file(path, limits::kMaxFileBytes));
  std::vector<AssignedBlob> rows = take(parse_assigned_blobs(text), name_of_file(path));
  for (AssignedBlob& row : rows) row.place = shown_path(name_of_file(path)) + ": " + row.place;
  return rows;
}

SharedNet share(const ImportedNet& net, const ShareNetOptions& options, const std::string& path) {
  Result<SharedNet> shared = share_net(net.file.net, net.graph, options);
  const auto is_place = [&](const AssignedBlob& row) { return !shared && shared.error().place == row.place; };
  const bool is_in_rows = std::any_of(options.assigned.begin(), options.assigned.end(), is_place);
  return is_in_rows ? take(std::move(shared)) : take(std::move(shared), path);
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
    if (outcome.proven_optimal) {
      const std::string given = options.assigned.empty() ? "" : " from the assigned slots on";
      text.add("  No result of whole buffers in this order" + given + " needs less.").end_line();
    }
  }
  if (shared.freed > 0) text.add("  " + std::to_string(shared.freed) + " operators Free are added.").end_line();
  if (shared.is_reordered) {
    const bool is_longest = options.order == ShareOrder::longest_path;
    text.add(is_longest ? "  The operators have the order longest_path."
                        : "  The operators have another order, with a lower peak.")
        .end_line();
  }
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
  json["order"] = options.rule == kLowtideRule ? Json(nullptr) : Json(std::string(to_string(options.order)));
  json["assigned"] = options.assigned.size();
  json["unchanged"] = shared.names.empty() && !shared.is_reordered && shared.freed == 0;
  json["reordered"] = shared.is_reordered;
  json["free_operators"] = shared.freed;
  json["original_failure"] = outcome.original_failure ? Json(json_text(*outcome.original_failure)) : Json(nullptr);
  json["blobs"] = outcome.blobs;
  json["blobs_left"] = outcome.blobs_left ? Json(*outcome.blobs_left) : Json(nullptr);
  json["shared_buffers"] = outcome.shared_buffers;
  json["bytes"] = has_bytes ? Json(outcome.bytes.count()) : Json(nullptr);
  json["naive_bytes"] = has_bytes ? Json(outcome.naive.count()) : Json(nullptr);
  const auto texts = [](const std::vector<std::string>& names) {
    Json list = Json::array();
    for (const std::string& name : names) list.push_back(json_text(name));
    return list;
  };
  json["gradients"] = texts(shared.gradients);
  json["hosts"] = texts(shared.hosts);
  json["shareable"] = texts(shared.shareable);
  json["op_indices"] = shared.op_indices;
  json["names"] = Json::array();
  for (const auto& [name, renamed] : shared.names) {
    json["names"].push_back({{"blob", json_text(name)}, {"name", json_text(renamed)}});
  }
  return json;
}

OutputFiles share_outputs(const Arguments& arguments) {
  std::vector<std::string> inputs = {arguments.positional("NET")};
  for (const char* option : {"--init-net", "--shapes", "--assigned"}) {
    if (const std::optional<std::string> file = arguments.value(option)) inputs.push_back(*file);
  }
  std::vector<std::string> destinations;
  if (const std::optional<std::string> output = arguments.value("--output")) destinations.push_back(*output);
  return {destinations, inputs, arguments.has("--json")};
}

}  // namespace

ExitCode run_share(const Arguments& arguments, Console& console) {
  ShareNetOptions options = read_share_options(arguments);
  ImportOptions bindings = read_bindings(arguments);
  bindings.unit_sizes = bindings.unit_sizes || ignores_sizes(options.rule);
  const OutputFiles files = share_outputs(arguments);
  if (files.uses_stdout()) console.keep_stdout_free();
  const std::string& path = arguments.positional("NET");
  const ImportedNet net = take(import_net_file(path, bindings));
  console.notes(net.graph.notes);
  const bool has_bytes = has_sizes(net.graph);
  if (const std::optional<std::string> assigned = arguments.value("--assigned")) {
    options.assigned = read_assigned(*assigned);
  }
  const SharedNet shared = [&] {
    const Progress progress(console, "sharing");
    return share(net, options, path);
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
