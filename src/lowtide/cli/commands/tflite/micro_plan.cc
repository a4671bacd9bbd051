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
#include "lowtide/cli/commands/tflite/firmware_fit.h"
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

// Whether the firmware fits the machine of --target.
struct TargetFit {
  const Target& target;
  std::optional<FirmwareFit> fit;  // nullopt: the tail is not known

  [[nodiscard]] std::optional<bool> fits() const { return fit ? fit->fits() : std::nullopt; }
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

TargetFit fit_of(const MicroPlan& plan, const Target& target) {
  TargetFit fit{target, std::nullopt};
  const auto file = Bytes(static_cast<std::int64_t>(plan.file.size()));
  if (const MicroArena* arena = plan.arenas.of(MicroBuild::cortex_m); arena != nullptr) {
    fit.fit = fit_firmware(target.machine, *arena, file);
  }
  return fit;
}

StyledText text_of_arenas(const MicroPlan& plan, const std::optional<TargetFit>& target) {
  StyledText text;
  for (const auto& [build, arena] : plan.arenas.builds) {
    const MicroArena* before = plan.arenas_before.of(build);
    text.add("    smallest arena  " + (before != nullptr ? format_bytes(before->smallest) : "above 2 GiB"));
    const bool is_other = before == nullptr || arena.smallest != before->smallest;
    if (is_other) text.add(" -> ").add(format_bytes(arena.smallest), Style::good);
    text.add(" " + where_it_runs(build) + ", with a tail of " + format_bytes(arena.tail)).end_line();
  }
  const char* unknown_fit = target ? ", so it is not known whether the arena fits" : "";
  if (!plan.arenas.unknown_operators.empty()) {
    text.add("    the tail of the arena is not known, because of " +
             listed(quoted_names(plan.arenas.unknown_operators)) + unknown_fit);
    text.end_line();
  }
  if (plan.arenas.is_above_limit) {
    text.add("    the arena with its tail is above the 2 GiB that it can have").end_line();
  }
  if (target && target->fit) text.append(text_of(*target->fit));
  return text;
}

Json json_of_arenas(const MicroPlan& plan, const std::optional<TargetFit>& target) {
  Json json = {{"unknown_operators", Json::array()},
               {"above_limit", plan.arenas.is_above_limit},
               {"builds", Json::array()},
               {"target", nullptr}};
  for (const std::string& name : quoted_names(plan.arenas.unknown_operators)) {
    json["unknown_operators"].push_back(json_text(name));
  }
  for (const auto& [build, arena] : plan.arenas.builds) {
    const MicroArena* before = plan.arenas_before.of(build);
    json["builds"].push_back(
        {{"build", std::string(to_string(build))},
         {"pointer_bytes", pointer_bytes(build)},
         {"tail_before_bytes", before != nullptr ? Json(before->tail.count()) : Json(nullptr)},
         {"tail_bytes", arena.tail.count()},
         {"arena_before_bytes", before != nullptr ? Json(before->smallest.count()) : Json(nullptr)},
         {"arena_bytes", arena.smallest.count()},
         {"separate_head_bytes", arena.separate_head.count()},
         {"separate_tail_bytes", arena.separate_tail.count()}});
  }
  if (!target) return json;
  const std::optional<bool> fits = target->fits();
  json["target"] = {{"name", json_text(target->target.name)},
                    {"fits", fits ? Json(*fits) : Json(nullptr)},
                    {"has_place_for_file", target->fit ? Json(target->fit->has_place_for_file) : Json(nullptr)},
                    {"regions", target->fit ? json_of(*target->fit) : Json::array()}};
  return json;
}

// What the plan wins.
StyledText text_of_head(const MicroPlan& plan) {
  StyledText text("    head of the arena  " + format_bytes(plan.head_before));
  const std::string bound = plan.head == plan.bound ? "no order and no offsets need less"
                                                    : "no plan needs less than " + format_bytes(plan.bound);
  if (plan.is_better()) {
    text.add(" -> ").add(format_bytes(plan.head), Style::good);
  } else {
    text.add(", and Lowtide finds no smaller one");
  }
  text.end_line().add("    " + bound).end_line();
  if (!plan.is_changed) return text.add("    the file is written as it is").end_line();
  text.add(reordered(plan) > 0 ? "    operators run in another order" : "    operators keep their order");
  return text.add(", and " + counted(plan.in_place, "result") + " may have the place of an operand").end_line();
}

StyledText text_of(const MicroPlan& plan, MicroKernels kernels, const std::string& path) {
  StyledText text;
  text.add(shown_name(path), Style::strong).add("  with the kernels " + std::string(to_string(kernels))).end_line();
  if (!plan.stated_fault.empty()) {
    text.add("    the offsets in the file are wrong and do not count: " + plan.stated_fault, Style::bad).end_line();
  }
  return text.append(text_of_head(plan));
}

Json json_of(const MicroPlan& plan, MicroKernels kernels, const std::string& path) {
  Json json = json_head("plan");
  json["model"] = {{"path", json_text(path)}, {"format", "tflite"}};
  json["tflm"] = {{"kernels", std::string(to_string(kernels))},
                  {"stated_fault", plan.stated_fault.empty() ? Json(nullptr) : Json(json_text(plan.stated_fault))},
                  {"head_before_bytes", plan.head_before.count()},
                  {"head_bytes", plan.head.count()},
                  {"bound_bytes", plan.bound.count()},
                  {"proven_optimal", plan.head == plan.bound},
                  {"changed", plan.is_changed},
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
  if (plan.is_changed) check_file(plan, path);
  std::optional<TargetFit> fit;
  if (target) fit.emplace(fit_of(plan, *target));
  files.write(to, plan.file, console);
  if (arguments.has("--json")) {
    Json json = json_of(plan, options.kernels, path);
    json["tflm"]["arena"] = json_of_arenas(plan, fit);
    print_json(console, json);
  } else {
    console.result(text_of(plan, options.kernels, path).append(text_of_arenas(plan, fit)));
  }
  return !fit || fit->fits() == true ? ExitCode::done : ExitCode::no;
}

}  // namespace lowtide::cli_internal
