// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/plan/plan_range.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "lowtide/cli/options/options.h"
#include "lowtide/cli/options/size_choices.h"
#include "lowtide/cli/output/interrupt.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/plan/plans_json.h"

namespace lowtide::cli_internal {
namespace {

// What remains of the plan for one choice of sizes.
struct Member {
  std::string text;  // of the plan file
  Bytes load;
  Bytes arena;
  Bytes bound;
  Bytes shortfall;
};

Member plan_member(const RangeRequest& request, const ModelRequest& model, PlanOptions options,
                   const OutputFiles& files, Console& console) {
  const LoadedModel loaded = load_model(model, console);
  files.protect(weight_files(model.path, loaded.model.constants));
  options.model = std::filesystem::path(model.path).filename().string();
  options.model_sha256 = loaded.model.sha256;
  options.lowering = loaded.lowered.passes;
  options.dims = written_bindings(model.bindings);
  const PlannedGraph planned = take(plan_graph(loaded.lowered.graph, request.target, options), model.path);
  check_verified(planned);
  return {.text = write_plan_json(planned.plan, labels_of(loaded.lowered.graph)),
          .load = planned.plan.claims.load,
          .arena = arena_bytes(planned.plan),
          .bound = bound_of(planned.plan).bytes,
          .shortfall = planned.shortfall};
}

Bytes largest_arena(const std::vector<Member>& members) {
  Bytes most;
  for (const Member& member : members) most = std::max(most, member.arena);
  return most;
}

// The symbol of a range, if one symbol is all that differs.
std::optional<std::string> symbol_of(const std::vector<SizeChoice>& choices) {
  const SizeChoice& first = choices.front();
  if (!first.shapes.empty() || first.dims.size() != 1) return std::nullopt;
  return first.dims.begin()->first;
}

Json json_of_range(const std::vector<SizeChoice>& choices, const std::vector<Member>& members) {
  Json json = json_head("plan");
  const std::optional<std::string> symbol = symbol_of(choices);
  json["symbol"] = symbol ? Json(json_text(*symbol)) : Json(nullptr);
  json["bytes"] = {{"arena", largest_arena(members).count()}};
  json["plans"] = Json::array();
  for (std::size_t at = 0; at < members.size(); ++at) {
    const Member& member = members[at];
    json["plans"].push_back({{"extent", symbol ? Json(choices[at].dims.begin()->second) : Json(nullptr)},
                             {"sizes", json_text(sizes_text(choices[at]))},
                             {"load", member.load.count()},
                             {"arena", member.arena.count()},
                             {"bound", member.bound.count()},
                             {"shortfall", member.shortfall.count()}});
  }
  return json;
}

StyledText text_of_range(const std::vector<SizeChoice>& choices, const std::vector<Member>& members) {
  using Align = TextTable::Align;
  const std::optional<std::string> symbol = symbol_of(choices);
  TextTable table({symbol ? Align::right : Align::left, Align::right, Align::right, Align::right, Align::left});
  std::int64_t above = 0;
  table.add_row({symbol ? shown_name(*symbol) : "sizes", "peak", "arena", "bound"});
  for (std::size_t at = 0; at < members.size(); ++at) {
    const Member& member = members[at];
    const bool fits = member.shortfall == Bytes(0);
    above += fits ? 0 : 1;
    table.add_row(
        {symbol ? with_thousands(choices[at].dims.begin()->second) : sizes_text(choices[at]),
         with_thousands(member.load.count()), with_thousands(member.arena.count()),
         with_thousands(member.bound.count()),
         fits ? StyledText() : StyledText("exceeds the limit by " + format_bytes(member.shortfall), Style::bad)});
  }
  StyledText out = table.text();
  out.add("One arena of " + format_bytes(largest_arena(members)) + " is large enough for each plan").end_line();
  if (above == 0) return out;
  out.add(with_thousands(above) + " of " + counted(static_cast<std::int64_t>(members.size()), "plan") + " exceed" +
          (above == 1 ? "s" : "") + " the memory limit, which also counts what the caller holds, such as inputs");
  return out.end_line();
}

}  // namespace

void check_verified(const PlannedGraph& planned) {
  if (planned.violations.empty()) return;
  std::string lines = "the planner made a wrong plan; nothing was written";
  for (const Violation& violation : planned.violations)
    lines += "\n  " + std::string(to_string(violation.kind)) + ": " + violation.message;
  stop_bug(lines);
}

ExitCode plan_range(const Arguments& arguments, const RangeRequest& request, const std::vector<SizeChoice>& choices,
                    const OutputFiles& files, Console& console) {
  for (const char* name : {"--html", "--csv", "--trade-offs"}) {
    if (arguments.has(name)) {
      stop_usage(std::string(name) + " shows one plan; give '--dim' and '--shape' one value, or omit it");
    }
  }
  const Interrupt interrupt;
  std::vector<Member> members;
  std::vector<std::string> texts;
  for (const SizeChoice& choice : choices) {
    const Progress progress(console, "planning for " + sizes_text(choice));
    ModelRequest model = request.model;
    add_sizes(choice, model.bindings);
    PlanOptions options = request.options;
    options.stop = interrupt.flag();
    members.push_back(plan_member(request, model, std::move(options), files, console));
    texts.push_back(std::move(members.back().text));
  }
  if (request.plan_file) files.write(*request.plan_file, write_plans_json(texts), console);
  if (arguments.has("--json")) {
    print_json(console, json_of_range(choices, members));
  } else {
    console.result(text_of_range(choices, members));
  }
  const bool fits = std::ranges::all_of(members, [](const Member& one) { return one.shortfall == Bytes(0); });
  return fits ? ExitCode::done : ExitCode::no;
}

}  // namespace lowtide::cli_internal
