// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "lowtide/base/quote.h"
#include "lowtide/cli/commands/earlier/handlers.h"
#include "lowtide/cli/commands/earlier/net_input.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/earlier/netdef/compare_nets.h"
#include "lowtide/earlier/netdef/net_of_graph.h"
#include "lowtide/report/styled_text.h"

namespace lowtide::cli_internal {
namespace {

// A net has the content of its constants in its operators; a graph does not have it.
StyledText same_text(const NetComparison& comparison, const std::string& both, bool are_nets) {
  StyledText text("same", Style::strong);
  text.add("  " + both + (are_nets ? " compute the same" : " have the same operators, types and data flow"));
  if (comparison.has_same_order) {
    text.add(", and " + std::to_string(comparison.renamed) + " results have another name");
  } else {
    text.add(", in another order of the operators");
  }
  text.end_line();
  if (!are_nets) text.add("  The content of constants is not compared.").end_line();
  return text;
}

StyledText summary_of(const NetComparison& comparison, const std::string& both) {
  StyledText text;
  text.add("different", Style::strong).add("  " + both).end_line();
  for (const std::string& difference : comparison.differences) text.add("  " + difference).end_line();
  if (comparison.left_out_differences > 0) {
    text.add("  and " + std::to_string(comparison.left_out_differences) + " more differences").end_line();
  }
  return text;
}

bool has_updates(const NetInput& input) { return input.graph && !input.graph->state_updates().empty(); }

ProtoMessage comparable(NetInput input, bool with_updates) {
  if (input.net) return std::move(input.net->net);
  return net_of_graph(*input.graph, {.for_comparison = true, .with_updates = with_updates});
}

}  // namespace

ExitCode run_diff(const Arguments& arguments, Console& console) {
  const std::string& first = arguments.positional("FIRST");
  const std::string& second = arguments.positional("SECOND");
  const ImportOptions bindings = read_bindings(arguments);
  NetInput a = read_net_input(first, bindings);
  NetInput b = read_net_input(second, bindings);
  if (a.net.has_value() != b.net.has_value()) {
    throw Stop(ExitCode::bad_input, "one file is a net of Caffe2 and the other is not: " + shown_path(first) + " is " +
                                        a.format + ", " + shown_path(second) + " is " + b.format +
                                        "; convert the net with 'lowtide convert' first");
  }
  const bool are_nets = a.net.has_value();
  // ONNX has no states.
  const bool with_updates = has_updates(a) && has_updates(b);
  const NetComparison comparison = take(compare_nets(comparable(std::move(a), with_updates),
                                                     comparable(std::move(b), with_updates), {.are_graphs = !are_nets}),
                                        second);
  if (!arguments.has("--json")) {
    const std::string both = shown_path(first) + " and " + shown_path(second);
    console.result(comparison.is_same ? same_text(comparison, both, are_nets) : summary_of(comparison, both));
  } else {
    Json json = json_head("diff");
    json["same"] = comparison.is_same;
    json["same_order"] = comparison.has_same_order;
    json["compares_constants"] = are_nets;
    json["renamed"] = comparison.renamed;
    json["differences"] = json_of(comparison.differences);
    json["left_out_differences"] = comparison.left_out_differences;
    print_json(console, json);
  }
  return comparison.is_same ? ExitCode::done : ExitCode::no;
}

}  // namespace lowtide::cli_internal
