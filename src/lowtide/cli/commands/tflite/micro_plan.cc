// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/cli/commands/tflite/micro_arena.h"
#include "lowtide/cli/commands/tflite/micro_file.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/output/interrupt.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/cli/output/output_files.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/cli/tflite.h"
#include "lowtide/tflite/flatbuffer/read_tflite.h"
#include "lowtide/tflite/micro_plan/plan_for_micro.h"
#include "lowtide/tflite/offline_check/check_offline_plan.h"

namespace lowtide::cli_internal {
namespace {

// Options of `plan` that make sense for a plan that the runtime executes itself.
constexpr std::array<std::string_view, 9> kAllowed = {"--tflm", "--kernels", "--target", "--effort", "--order-effort",
                                                      "--json", "--color",   "--quiet",  "--help"};

// The arena before and after.
struct Arenas {
  ArenaFigures before;
  ArenaFigures after;
  std::optional<std::vector<RegionUse>> uses;  // of --target; nullopt: not given, or the tail is not known

  [[nodiscard]] bool fits() const {
    return !uses || std::ranges::all_of(*uses, [](const RegionUse& use) { return use.missing() == Bytes(0); });
  }
};

void refuse_other_options(const Arguments& arguments, const CommandSpec& command) {
  for (const OptionSpec* option : options_of(command)) {
    if (!arguments.has(option->name) || std::ranges::find(kAllowed, option->name) != kAllowed.end()) continue;
    stop_usage(std::string(option->name) + " has no effect with --tflm, whose plan the runtime executes; omit it");
  }
}

std::int64_t reordered(const MicroPlan& plan) {
  std::int64_t subgraphs = 0;
  for (const auto& order : plan.orders) subgraphs += order.empty() ? 0 : 1;
  return subgraphs;
}

// Independent code has the last word.
void check_file(const MicroPlan& plan, const std::string& path) {
  const TfliteModel written = take(read_tflite(plan.file), path);
  const OfflineCheck check = take(check_offline_plan(written, plan.file), path);
  if (check.faults.empty()) return;
  stop_bug("the planned file is wrong: " + check.faults.front().place + ": " + check.faults.front().message);
}

std::optional<Target> read_machine(const Arguments& arguments) {
  if (!arguments.has("--target")) return std::nullopt;
  if (arguments.value("--target") == "cpu") stop_usage("--tflm needs a target file; cpu is not a microcontroller");
  return read_target(arguments);
}

Arenas arenas_of(const MicroFile& file, const MicroPlan& plan, MicroKernels kernels, const std::string& path,
                 const std::optional<Target>& target) {
  Arenas arenas;
  arenas.before = take(arena_figures(file.model, file.bytes, kernels), path);
  arenas.after = take(arena_figures(take(read_tflite(plan.file), path), plan.file, kernels), path);
  if (!target) return arenas;
  for (const auto& [build, arena] : arenas.after.builds) {
    if (build != MicroBuild::cortex_m) continue;
    arenas.uses = uses_of_regions(target->machine, arena, Bytes(static_cast<std::int64_t>(plan.file.size())));
  }
  return arenas;
}

StyledText text_of(const Arenas& arenas, const std::optional<Target>& target) {
  StyledText text;
  for (std::size_t at = 0; at < arenas.after.builds.size(); ++at) {
    const auto& [build, arena] = arenas.after.builds[at];
    const Bytes before = arenas.before.builds[at].second.smallest;
    text.add("    smallest arena  " + format_bytes(before));
    if (arena.smallest != before) text.add(" -> ").add(format_bytes(arena.smallest), Style::good);
    text.add(" " + where_it_runs(build) + ", with a tail of " + format_bytes(arena.tail)).end_line();
  }
  if (!arenas.after.unknown.empty()) {
    text.add("    the tail of the arena is not known, because of " + listed(arenas.after.unknown));
    if (target) text.add(", so it is not known whether the arena fits");
    text.end_line();
  }
  if (arenas.uses) text.append(text_of(*arenas.uses));
  return text;
}

Json json_of(const Arenas& arenas, const std::optional<Target>& target) {
  Json json = {{"unknown_operators", Json::array()}, {"builds", Json::array()}, {"target", nullptr}};
  for (const std::string& name : arenas.after.unknown) json["unknown_operators"].push_back(json_text(name));
  for (std::size_t at = 0; at < arenas.after.builds.size(); ++at) {
    const auto& [build, arena] = arenas.after.builds[at];
    const MicroArena& before = arenas.before.builds[at].second;
    json["builds"].push_back({{"build", std::string(to_string(build))},
                              {"pointer_bytes", pointer_bytes(build)},
                              {"tail_before_bytes", before.tail.count()},
                              {"tail_bytes", arena.tail.count()},
                              {"arena_before_bytes", before.smallest.count()},
                              {"arena_bytes", arena.smallest.count()},
                              {"separate_head_bytes", arena.separate_head.count()},
                              {"separate_tail_bytes", arena.separate_tail.count()}});
  }
  if (!target) return json;
  json["target"] = {{"name", json_text(target->name)},
                    {"fits", arenas.uses ? Json(arenas.fits()) : Json(nullptr)},
                    {"regions", arenas.uses ? json_of(*arenas.uses) : Json::array()}};
  return json;
}

StyledText text_of(const MicroPlan& plan, MicroKernels kernels, const std::string& path) {
  StyledText text;
  text.add(shown_name(path), Style::strong).add("  with the kernels " + std::string(to_string(kernels))).end_line();
  text.add("    head of the arena  " + format_bytes(plan.head_before));
  if (!plan.is_better()) {
    text.add(", and Lowtide finds no smaller one").end_line();
    text.add(plan.head_before == plan.bound ? "    no order and no offsets need less"
                                            : "    no plan needs less than " + format_bytes(plan.bound));
    return text.end_line().add("    the file is written as it is").end_line();
  }
  text.add(" -> ").add(format_bytes(plan.head), Style::good).end_line();
  text.add("    " + std::string(plan.head == plan.bound ? "no order and no offsets need less"
                                                        : "no plan needs less than " + format_bytes(plan.bound)));
  text.end_line().add(reordered(plan) > 0 ? "    operators run in another order" : "    operators keep their order");
  text.add(", and " + counted(plan.in_place, "result") + " may have the place of an operand").end_line();
  return text;
}

Json json_of(const MicroPlan& plan, MicroKernels kernels, const std::string& path) {
  Json json = json_head("plan");
  json["model"] = {{"path", json_text(path)}, {"format", "tflite"}};
  json["tflm"] = {{"kernels", std::string(to_string(kernels))},
                  {"head_before_bytes", plan.head_before.count()},
                  {"head_bytes", plan.head.count()},
                  {"bound_bytes", plan.bound.count()},
                  {"proven_optimal", plan.head == plan.bound},
                  {"changed", plan.is_better()},
                  {"reordered_subgraphs", reordered(plan)},
                  {"in_place", plan.in_place}};
  return json;
}

}  // namespace

ExitCode plan_micro(const Arguments& arguments, Console& console) {
  refuse_other_options(arguments, *find_command("plan"));
  const std::string& path = arguments.positional("MODEL");
  const std::string to = *arguments.value("--tflm");
  const std::optional<Target> target = read_machine(arguments);
  std::vector<std::string> inputs = {path};
  if (target) inputs.push_back(*arguments.value("--target"));
  const OutputFiles files({to}, inputs, arguments.has("--json"));
  if (files.uses_stdout()) console.keep_stdout_free();
  const MicroFile file = read_micro_file(path);
  MicroPlanOptions options{.kernels = read_micro_kernels(arguments)};
  options.order_effort = read_count(arguments, "--order-effort", 0).value_or(options.order_effort);
  options.allocate_effort = read_count(arguments, "--effort", 0).value_or(options.allocate_effort);
  const Interrupt interrupt;
  options.stop = interrupt.flag();
  const MicroPlan plan = [&] {
    const Progress progress(console, "planning");
    return take(plan_for_micro(file.model, file.bytes, options), path);
  }();
  if (plan.is_better()) check_file(plan, path);
  const Arenas arenas = arenas_of(file, plan, options.kernels, path, target);
  files.write(to, plan.file, console);
  if (arguments.has("--json")) {
    Json json = json_of(plan, options.kernels, path);
    json["tflm"]["arena"] = json_of(arenas, target);
    print_json(console, json);
  } else {
    console.result(text_of(plan, options.kernels, path).append(text_of(arenas, target)));
  }
  const bool is_known = !target || arenas.uses;
  return is_known && arenas.fits() ? ExitCode::done : ExitCode::no;
}

}  // namespace lowtide::cli_internal
