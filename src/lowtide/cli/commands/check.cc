// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/analysis/peak.h"
#include "lowtide/base/check.h"
#include "lowtide/base/quote.h"
#include "lowtide/cli/handlers.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/options/lowering.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/cli/output/read_file.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/plan/labels.h"
#include "lowtide/plan/plan_json.h"

namespace lowtide::cli_internal {
namespace {

// A buffer that is live at the peak, and has more live bytes there than at that of the baseline.
struct Growth {
  std::string name;  // of its largest tensor
  Bytes before;      // 0: it was not live there
  Bytes now;
};

struct CheckedModel {
  ModelFacts model;
  std::string baseline;         // the file, as messages name it
  Bytes before;                 // the arena of the baseline
  Bytes now;                    // the arena of a plan of the model
  Bytes limit;                  // `before` with the tolerance
  std::vector<Growth> growths;  // the largest growth first

  [[nodiscard]] bool is_within() const { return now <= limit; }
};

// The tolerance is "2%" or "0.5 %", as a share of the baseline, or a size such as "64KiB".
Bytes limit_of(Bytes before, const Arguments& arguments) {
  const std::string tolerance = arguments.value("--tolerance").value_or("0%");
  if (tolerance.find('%') == std::string::npos) return before + *read_size(arguments, "--tolerance");
  char* end = nullptr;
  const double percent = std::strtod(tolerance.c_str(), &end);
  const std::string rest(end);
  const bool is_number = end != tolerance.c_str() && std::isfinite(percent) && percent >= 0 && percent <= 1000;
  if (!is_number || (rest != "%" && rest != " %")) {
    stop_usage("--tolerance takes a share from 0% to 1000% or a size, such as 2% or 64KiB, not " +
               lowtide::quoted(tolerance));
  }
  return before + Bytes(static_cast<std::int64_t>(std::floor(static_cast<double>(before.count()) * percent / 100)));
}

// The live bytes at the peak, by the name of the buffer. Several buffers of one name are added up.
std::map<std::string, Bytes> live_at_peak(const Plan& plan, const Labels& labels) {
  std::map<std::string, Bytes> live;
  const std::vector<Peak> peaks = peaks_of(plan, labels);
  const Peak& peak = peaks.front();
  for (const LiveBuffer& one : peak.buffers) {
    const std::optional<ValueId>& name = peak.uses[one.buffer].name;
    live[name ? labels.tensors[plan.program.values[*name].tensor].name : "(scratch)"] += one.bytes;
  }
  return live;
}

std::vector<Growth> growths_of(const PlanFile& baseline, const Plan& plan, const Labels& labels) {
  const std::map<std::string, Bytes> before = live_at_peak(baseline.plan, baseline.labels);
  std::vector<Growth> growths;
  for (const auto& [name, now] : live_at_peak(plan, labels)) {
    const auto found = before.find(name);
    const Bytes then = found == before.end() ? Bytes(0) : found->second;
    if (now > then) growths.push_back({name, then, now});
  }
  std::ranges::stable_sort(growths,
                           [](const Growth& a, const Growth& b) { return a.now - a.before > b.now - b.before; });
  return growths;
}

CheckedModel check(const Arguments& arguments, Console& console) {
  const std::string& file = *arguments.value("--baseline");
  const PlanFile baseline = read_plan_file(file);
  const Provenance& of = baseline.plan.provenance;
  const Target target = read_target(arguments);
  if (of.target != target.name) {
    stop_unfit("the baseline is a plan for the target " + lowtide::quoted(of.target) + ", but the check is for " +
               lowtide::quoted(target.name) + "; add --target with that of the baseline");
  }
  ModelRequest request{.path = arguments.positional("MODEL"),
                       .bindings = read_bindings(arguments),
                       .lowering = read_lowering(arguments, target)};
  add_planned_sizes(of.dims, request.bindings);
  const LoadedModel loaded = load_model(request, console);
  PlanOptions options = read_plan_options(arguments);
  options.lowering = loaded.lowered.passes;
  const Progress progress(console, "planning");
  const PlannedGraph planned = take(plan_graph(loaded.lowered.graph, target, options), request.path);
  LOWTIDE_CHECK(planned.violations.empty(), "a plan that was just made is correct");
  CheckedModel checked{.model = loaded.facts,
                       .baseline = name_of_file(file),
                       .before = arena_bytes(baseline.plan),
                       .now = arena_bytes(planned.plan),
                       .limit = {},
                       .growths = growths_of(baseline, planned.plan, labels_of(loaded.lowered.graph))};
  checked.limit = limit_of(checked.before, arguments);
  return checked;
}

// "29,360,128 B (28.00 MiB), 3,145,728 B (3.00 MiB, 12.0 %) more than plan.json"
std::string change_text(const CheckedModel& checked) {
  const std::string now = "an arena of " + format_bytes(checked.now);
  if (checked.now == checked.before) return now + ", as in " + shown_name(checked.baseline);
  const bool is_more = checked.now > checked.before;
  const Bytes change = is_more ? checked.now - checked.before : checked.before - checked.now;
  return now + ", " + format_bytes(change) + " (" + percent(change.count(), checked.before.count()) + ") " +
         (is_more ? "more" : "less") + " than in " + shown_name(checked.baseline);
}

StyledText text_of(const CheckedModel& checked, std::size_t top) {
  StyledText out;
  const bool is_within = checked.is_within();
  out.add(is_within ? "ok" : "grown", is_within ? Style::good : Style::bad);
  out.add("  " + shown_name(checked.model.path) + " needs " + change_text(checked)).end_line();
  if (checked.limit > checked.before) out.add("  The tolerance allows " + format_bytes(checked.limit) + ".").end_line();
  if (is_within) return out;
  out.end_line().add("Live at the peak, and not or smaller in the baseline", Style::heading).end_line();
  TextTable table({TextTable::Align::right, TextTable::Align::right, TextTable::Align::right, TextTable::Align::left});
  table.add_row({StyledText("more", Style::dim), StyledText("now", Style::dim), StyledText("before", Style::dim),
                 StyledText("buffer", Style::dim)});
  const std::size_t rows = std::min(top, checked.growths.size());
  for (std::size_t at = 0; at < rows; ++at) {
    const Growth& one = checked.growths[at];
    table.add_row({format_bytes_short(one.now - one.before), format_bytes_short(one.now),
                   format_bytes_short(one.before), shown_name(one.name)});
  }
  out.append(table.text());
  if (rows < checked.growths.size()) {
    out.add("  and " + counted(static_cast<std::int64_t>(checked.growths.size() - rows), "more buffer")).end_line();
  }
  return out;
}

Json json_of_check(const CheckedModel& checked, std::size_t top) {
  Json json = json_head("check");
  json["model"] = json_of(checked.model);
  json["baseline"] = json_text(checked.baseline);
  json["bytes"] = {
      {"arena", checked.now.count()}, {"before", checked.before.count()}, {"limit", checked.limit.count()}};
  json["within"] = checked.is_within();
  json["grown"] = Json::array();
  for (const Growth& one : checked.growths) {
    if (json["grown"].size() == top) break;
    json["grown"].push_back(
        {{"buffer", json_text(one.name)}, {"bytes", one.now.count()}, {"before", one.before.count()}});
  }
  return json;
}

// The characters that end a property or a message of a command of a hosted workflow.
std::string escaped(const std::string& text, bool is_property) {
  std::string out;
  for (const char one : text) {
    if (one == '%') {
      out += "%25";
    } else if (one == '\n') {
      out += "%0A";
    } else if (one == '\r') {
      out += "%0D";
    } else if (is_property && one == ':') {
      out += "%3A";
    } else if (is_property && one == ',') {
      out += "%2C";
    } else {
      out += one;
    }
  }
  return out;
}

// A line that hosted workflows show as an annotation of the file.
std::string annotation_of(const CheckedModel& checked) {
  std::string text = shown_name(checked.model.path) + " needs " + change_text(checked) + ".";
  for (std::size_t at = 0; at < std::min<std::size_t>(checked.growths.size(), 5); ++at) {
    const Growth& one = checked.growths[at];
    text +=
        "\n" + shown_name(one.name) + ": " + format_bytes(one.before) + " before, " + format_bytes(one.now) + " now";
  }
  return "::error file=" + escaped(checked.model.path, true) + ",title=memory of a model::" + escaped(text, false) +
         "\n";
}

}  // namespace

ExitCode run_check(const Arguments& arguments, Console& console) {
  if (!arguments.has("--baseline")) stop_usage("a check needs --baseline PLAN; 'lowtide plan MODEL -o PLAN' makes one");
  const auto top = static_cast<std::size_t>(read_count(arguments, "--top", 0).value_or(8));
  const CheckedModel checked = check(arguments, console);
  if (arguments.has("--json")) {
    print_json(console, json_of_check(checked, top));
  } else {
    console.result(text_of(checked, top));
    if (arguments.has("--annotate") && !checked.is_within()) console.result(StyledText(annotation_of(checked)));
  }
  return checked.is_within() ? ExitCode::done : ExitCode::no;
}

}  // namespace lowtide::cli_internal
