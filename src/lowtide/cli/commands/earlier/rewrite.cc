// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/article.h"
#include "lowtide/base/bytes.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/thousands.h"
#include "lowtide/cli/commands/earlier/beside_page.h"
#include "lowtide/cli/commands/earlier/handlers.h"
#include "lowtide/cli/commands/earlier/lean_run.h"
#include "lowtide/cli/options/link_options.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/cli/output/output_files.h"
#include "lowtide/cli/output/read_file.h"
#include "lowtide/earlier/graphdef/graph_of_graphdef.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/grappler/cluster.h"
#include "lowtide/earlier/grappler/grappler.h"
#include "lowtide/earlier/proto/raw_field.h"
#include "lowtide/report/styled_text.h"

namespace lowtide::cli_internal {
namespace {

constexpr std::int64_t kLeanEffort = 5'000'000'000;  // work units, up to about ten seconds

GrapplerOptions read_grappler_options(const Arguments& arguments) {
  GrapplerOptions options;
  if (const auto level = arguments.value("--level")) options.level = from_string<GrapplerLevel>(*level).value();
  options.target_scope = arguments.value("--scope").value_or("");
  options.feeds = arguments.values("--feed");
  options.fetches = arguments.values("--fetch");
  if (const auto path = arguments.value("--cluster")) {
    if (options.fetches.empty()) {
      throw Stop(ExitCode::usage, "--cluster needs --fetch NODE: memory is looked at only for what is fetched");
    }
    const std::string json = take(read_text_file(*path, limits::kMaxTargetFileBytes));
    options.cluster = take(read_cluster(json, name_of_file(*path)));
  }
  return options;
}

// Device, memory, and the peaks before and after.
StyledText peaks_table(const GrapplerResult& result) {
  using enum TextTable::Align;
  TextTable table({left, right, right, right});
  table.add_row({"Device", "Memory", "Peak before", "After"});
  for (const GrapplerPeak& one : result.peaks) {
    table.add_row({one.device, one.memory_bytes == 0 ? "unknown" : format_bytes_short(Bytes(one.memory_bytes)),
                   format_bytes_short(Bytes(one.before)), format_bytes_short(Bytes(one.after))});
  }
  StyledText text("  As Grappler simulates them, with variables and constants:");
  text.end_line().append(table.text());
  text.add("  A run takes " + shown_nanoseconds(result.nanoseconds_before) + ", and then " +
           shown_nanoseconds(result.nanoseconds_after) + ".");
  return text.end_line();
}

void add_remarks(const std::vector<GrapplerRemark>& remarks, std::string_view label, StyledText& text) {
  constexpr std::size_t kMostShown = 8;
  for (std::size_t at = 0; at < std::min(kMostShown, remarks.size()); ++at) {
    text.add("  " + std::string(label) + quoted(remarks[at].node, 60) + " " + remarks[at].text).end_line();
  }
  if (remarks.size() > kMostShown) {
    text.add("  and " + std::to_string(remarks.size() - kMostShown) + " more; --json lists all").end_line();
  }
}

bool changes_nothing(const GrapplerResult& result) {
  return result.recomputed.empty() && result.sums.empty() && result.swaps.empty();
}

// What another level would do, if this one had nothing to do.
std::string advice_for(const GrapplerResult& result, const GrapplerOptions& options) {
  if (!changes_nothing(result) || !result.left_out.empty()) return "";
  if (options.level == GrapplerLevel::manual && !result.has_hints) {
    return "Nothing was to do: level manual follows the attributes _recompute_hint and _swap_to_host, and no node has "
           "one. Try --level recomputation, or with --cluster and --fetch --level heuristics.";
  }
  const bool measures = !options.fetches.empty() && !options.cluster.devices.empty();
  const bool needs_cluster = options.level != GrapplerLevel::none && options.level != GrapplerLevel::recomputation;
  if (needs_cluster && !measures) return "Nothing was done: sums and swaps need --cluster and --fetch.";
  return "";
}

StyledText summary_of_rewriting(const GrapplerResult& result, const GrapplerOptions& options, std::int64_t before) {
  const auto count = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
  StyledText text("Grappler", Style::strong);
  text.add(": " + with_count(before, "node") + ", and " + std::to_string(count_nodes(result.graphdef)) +
           " after the rewriting")
      .end_line();
  text.add("  " + with_count(count(result.recomputed), "node") + (count(result.recomputed) == 1 ? " runs" : " run") +
           " again, in " + with_count(result.groups, "group"))
      .end_line();
  text.add("  Assignments that need no memory for transfers: " + std::to_string(result.relaxed.size())).end_line();
  if (!result.peaks.empty()) {
    text.add("  " + with_count(count(result.sums), "sum") + " in a temporary variable, " +
             with_count(count(result.swaps), "input") + " swapped to the host")
        .end_line();
  }
  add_remarks(result.warnings, "warning: ", text);
  add_remarks(result.left_out, "Left out: ", text);
  if (const std::string advice = advice_for(result, options); !advice.empty()) text.add("  " + advice).end_line();
  if (!result.peaks.empty()) return text.append(peaks_table(result));
  text.add("  Devices are taken to have enough memory, so nothing is swapped and no AddN is split.", Style::dim);
  return text.end_line();
}

Json json_of_rewriting(const GrapplerResult& result, const GrapplerOptions& options, std::int64_t before) {
  Json json = json_head("rewrite");
  json["planner"] = "grappler";
  json["level"] = std::string(to_string(options.level));
  json["nodes_before"] = before;
  json["nodes"] = count_nodes(result.graphdef);
  json["groups"] = result.groups;
  const auto texts = [](const std::vector<std::string>& names) {
    Json list = Json::array();
    for (const std::string& name : names) list.push_back(json_text(name));
    return list;
  };
  json["recomputed"] = texts(result.recomputed);
  json["relaxed"] = texts(result.relaxed);
  json["sums"] = texts(result.sums);
  json["swaps"] = Json::array();
  for (const GrapplerSwap& one : result.swaps) {
    json["swaps"].push_back({{"node", json_text(one.node)}, {"input", one.input}});
  }
  for (const auto& [key, remarks] :
       {std::pair("left_out", &result.left_out), std::pair("warnings", &result.warnings)}) {
    json[key] = Json::array();
    for (const GrapplerRemark& one : *remarks) {
      json[key].push_back({{"node", json_text(one.node)}, {"text", json_text(one.text)}});
    }
  }
  json["devices"] = Json::array();
  for (const GrapplerPeak& one : result.peaks) {
    json["devices"].push_back({{"name", json_text(one.device)},
                               {"memory_bytes", one.memory_bytes == 0 ? Json(nullptr) : Json(one.memory_bytes)},
                               {"peak_bytes_before", one.before},
                               {"peak_bytes", one.after}});
  }
  const bool is_timed = !result.peaks.empty();
  json["nanoseconds_before"] = is_timed ? Json(result.nanoseconds_before) : Json(nullptr);
  json["nanoseconds"] = is_timed ? Json(result.nanoseconds_after) : Json(nullptr);
  return json;
}

// What either planner made of a graph.
struct Rewriting {
  ProtoMessage graphdef;
  StyledText summary;
  Json json;
  ExitCode code = ExitCode::done;
  std::optional<LeanGraphDef> planned = std::nullopt;  // by Lowtide
};

Rewriting rewrite_as_grappler(const ProtoMessage& graphdef, const Arguments& arguments, const std::string& shown) {
  for (const char* name : {"--link", "--link-latency"}) {
    if (arguments.has(name) && !arguments.has("--html"))
      throw Stop(ExitCode::usage, std::string(name) + " is for --planner lowtide and --html");
  }
  const GrapplerOptions options = read_grappler_options(arguments);
  const GrapplerResult result = take(run_grappler(graphdef, options), shown);
  const std::int64_t before = count_nodes(graphdef);
  return {.graphdef = result.graphdef,
          .summary = summary_of_rewriting(result, options, before),
          .json = json_of_rewriting(result, options, before)};
}

std::optional<TransferLink> read_lean_link(const Arguments& arguments) {
  std::optional<TransferLink> link = read_link(arguments, "--cluster", "gpu.json");
  if (link) link->nanoseconds_per_cost = 1;
  return link;
}

// `asking` is the option that needs a cluster.
LeanGraphDefOptions read_lean_options(const Arguments& arguments, const std::string& asking) {
  const GrapplerOptions given = read_grappler_options(arguments);
  if (given.cluster.devices.empty()) throw Stop(ExitCode::usage, asking + " needs --cluster and --fetch");
  return {.cluster = given.cluster,
          .ends = {.feeds = given.feeds, .fetches = given.fetches},
          .shapes = read_bindings(arguments).shapes,
          .effort = kLeanEffort,
          .link = read_lean_link(arguments)};
}

Rewriting rewrite_as_lowtide(const ProtoMessage& graphdef, const Arguments& arguments, const std::string& shown) {
  for (const char* name : {"--level", "--scope"}) {
    if (arguments.has(name) && !arguments.has("--html"))
      throw Stop(ExitCode::usage, std::string(name) + " is for --planner grappler");
  }
  const LeanRun run = take(plan_lean_run(graphdef, read_lean_options(arguments, "--planner lowtide")), shown);
  return {.graphdef = run.lean.graphdef,
          .summary = lean_summary(run),
          .json = lean_json(run),
          .code = keeps_memory(run) ? ExitCode::done : ExitCode::no,
          .planned = run.lean};
}

std::string page_beside(const ProtoMessage& graphdef, const Rewriting& done, const Arguments& arguments,
                        const std::string& shown) {
  const LeanGraphDefOptions lean = read_lean_options(arguments, "--html");
  const GrapplerOptions given = read_grappler_options(arguments);
  // Grappler's own result beside the page has the level that is given, or manual.
  const bool uses_heuristics = done.planned && !arguments.has("--level");
  const BesideGrapplerOptions options{.lean = lean,
                                      .level = uses_heuristics ? GrapplerLevel::heuristics : given.level,
                                      .target_scope = given.target_scope};
  const LeanGraphDef planned = done.planned ? *done.planned : take(plan_lean_run(graphdef, lean), shown).lean;
  return take(beside_page(graphdef, planned, options, shown), shown);
}

}  // namespace

ExitCode run_rewrite(const Arguments& arguments, Console& console) {
  const std::string& path = arguments.positional("GRAPH");
  std::vector<std::string> destinations;
  for (const char* name : {"--output", "--html"}) {
    if (const auto output = arguments.value(name)) destinations.push_back(*output);
  }
  const OutputFiles files(destinations, {path}, arguments.has("--json"));
  if (files.uses_stdout()) console.keep_stdout_free();
  const std::string bytes = take(read_text_file(path, limits::kMaxFileBytes));
  const std::string shown = name_of_file(path);
  if (!is_graphdef(bytes)) {
    throw Stop(ExitCode::bad_input, shown + ": the file is not a GraphDef; 'rewrite' takes graphs of TensorFlow");
  }
  const ProtoMessage graphdef = take(read_graphdef(bytes), shown);
  const bool is_own = arguments.value("--planner") == "lowtide";
  const Rewriting done =
      is_own ? rewrite_as_lowtide(graphdef, arguments, shown) : rewrite_as_grappler(graphdef, arguments, shown);
  const auto html = arguments.value("--html");
  const std::string page = html ? page_beside(graphdef, done, arguments, shown) : "";
  if (const auto output = arguments.value("--output")) {
    files.write(*output, take(write_graphdef(done.graphdef, is_proto_text(bytes)), shown), console);
  }
  if (html) files.write(*html, page, console);
  if (arguments.has("--json")) {
    print_json(console, done.json);
  } else {
    console.result(done.summary);
  }
  return done.code;
}

}  // namespace lowtide::cli_internal
