// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/options/shared_options.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/limits.h"
#include "lowtide/cli/earlier.h"
#include "lowtide/cli/options/model_formats.h"
#include "lowtide/cli/runtime.h"
#include "lowtide/lower/lower.h"
#include "lowtide/lower/passes.h"
#include "lowtide/schedule/schedule.h"

namespace lowtide::cli_internal {
namespace {

std::vector<std::string> order_choices() {
  std::vector<std::string> choices = {"auto"};
  for (const std::string& name : schedule_strategies()) choices.push_back(name);
  return choices;
}

// What a summary says of the kernels of this machine. Nothing in a build without them.
std::string or_cpu(const char* text) { return left_out_runtime_commands().empty() ? text : ""; }

void drop_options(const std::vector<std::string_view>& names, CommandSpec& command) {
  std::erase_if(command.options,
                [&](const OptionSpec& option) { return std::ranges::find(names, option.name) != names.end(); });
}

}  // namespace

PositionalSpec model_positional() { return {.name = "MODEL", .summary = std::string(files_of_models())}; }

OptionSpec dim_option() {
  return {
      .name = "--dim",
      .value = "NAME=N",
      .summary =
          "set a symbolic extent of the model, such as batch=8; 'plan', 'run' and 'prepare' also take several "
          "values, batch=1..8 or batch=1,2,4, and make a plan for each; lists of several options go together, value "
          "by value; repeatable",
      .kind = ArgumentKind::text,
      .is_repeatable = true};
}

OptionSpec input_option() {
  return {.name = "--input",
          .value = "NAME=FILE",
          .summary = "the value of an input, such as x=image.npy; repeatable",
          .kind = ArgumentKind::file,
          .is_repeatable = true};
}

OptionSpec shape_option() {
  return {.name = "--shape",
          .value = "INPUT=AxBxC",
          .summary = earlier_model_formats().empty()
                         ? "set the shape of an input, such as image=1x3x224x224; ? keeps an extent; 'plan', 'run' and "
                           "'prepare' also take several, image=1x3x320x320,1x3x640x640; repeatable"
                         : "set the shape of an input, or of any result of a NetDef or GraphDef, such as "
                           "image=1x3x224x224; ? keeps an extent; 'plan', 'run' and 'prepare' also take several, "
                           "image=1x3x320x320,1x3x640x640; repeatable",
          .kind = ArgumentKind::text,
          .is_repeatable = true};
}

OptionSpec at_most_option() {
  return {.name = "--at-most",
          .value = "NAME=N",
          .summary =
              "plan for all sizes up to N: of an extent that depends on data or is open, such as frames=500 for "
              "a symbol, or pos=500 or 'pos[0]=500' for a tensor; a run checks it; repeatable",
          .kind = ArgumentKind::text,
          .is_repeatable = true};
}

OptionSpec override_option() {
  return {.name = "--override",
          .value = "INPUT",
          .summary = "let the caller give an input that has a default value in the file; repeatable",
          .kind = ArgumentKind::text,
          .is_repeatable = true};
}

OptionSpec init_net_option() {
  return {.name = "--init-net",
          .value = "FILE",
          .summary = "the net that fills the parameters of a Caffe2 net; their shapes are read from it",
          .kind = ArgumentKind::file};
}

OptionSpec shapes_option() {
  return {.name = "--shapes",
          .value = "FILE",
          .summary =
              "shapes of the blobs of a NetDef or the tensors of a GraphDef (CSV): name,shape,dtype; or several "
              "shapes of an input, as for --shape",
          .kind = ArgumentKind::file};
}

OptionSpec unit_sizes_option() {
  return {.name = "--unit-sizes", .summary = "count each blob of unknown size of a NetDef or GraphDef as one byte"};
}

OptionSpec target_option() {
  return {.name = "--target",
          .value = "FILE",
          .summary = "machine description (TOML)" + or_cpu(", or cpu for the kernels of this machine") +
                     "; default: one region without a size limit, alignment 64",
          .kind = ArgumentKind::file};
}

OptionSpec threads_option(const std::string& condition) {
  return {.name = "--threads",
          .value = "N",
          .summary = "threads of a run, 1 to " + std::to_string(limits::kMaxTeamThreads) + condition,
          .kind = ArgumentKind::text};
}

OptionSpec threads_option() { return threads_option(", with --target cpu; default 1, or 2 with several streams"); }

OptionSpec verified_threads_option() { return threads_option(", with --target cpu; default those of the plan"); }

OptionSpec verified_target_option() {
  return {.name = "--target",
          .value = "FILE",
          .summary = "the machine description (TOML) that the plan was made for" + or_cpu(", or cpu") +
                     "; without it, kernels are not checked",
          .kind = ArgumentKind::file};
}

OptionSpec top_option() {
  return {.name = "--top", .value = "N", .summary = "rows per table; default 8", .kind = ArgumentKind::text};
}

OptionSpec wide_option() {
  return {.name = "--wide", .summary = "do not shorten names in tables; sentences always have whole names"};
}

OptionSpec json_option() { return {.name = "--json", .summary = "print one JSON object instead of text"}; }

OptionSpec output_option(std::string_view summary) {
  return {
      .name = "--output", .letter = "-o", .value = "FILE", .summary = std::string(summary), .kind = ArgumentKind::file};
}

OptionSpec html_option() {
  return {.name = "--html",
          .value = "FILE",
          .summary = "draw the result as one offline HTML page; - is stdout",
          .kind = ArgumentKind::file};
}

OptionSpec hints_option() {
  return {.name = "--hints",
          .value = "FILE",
          .summary = "with --budget: which results to recompute, keep or swap (JSON); default: those of the model",
          .kind = ArgumentKind::file};
}

OptionSpec costs_option() {
  return {.name = "--costs",
          .value = "FILE",
          .summary =
              "use the times of kernels in this file, which 'lowtide bench MODEL --profile FILE' measured on this "
              "machine; default: estimates",
          .kind = ArgumentKind::file};
}

OptionSpec link_option() {
  return {.name = "--link",
          .value = "RATE",
          .summary =
              "with --budget, also move results to other memory and back, over a link of 12e9 or 11GiB "
              "per second and direction",
          .kind = ArgumentKind::text};
}

OptionSpec link_latency_option() {
  return {.name = "--link-latency",
          .value = "TIME",
          .summary = "time that each transfer takes beside that of its bytes, such as 20us; default 0ns",
          .kind = ArgumentKind::text};
}

OptionSpec swap_dir_option() {
  return {.name = "--swap-dir",
          .value = "DIR",
          .summary = "keep what leaves the arena in a file without a name in this folder; default: in memory",
          .kind = ArgumentKind::file};
}

OptionSpec order_option() {
  return {.name = "--order",
          .value = "NAME",
          .summary = "scheduling strategy; default auto tries all until one is proven optimal, and keeps the best",
          .kind = ArgumentKind::choice,
          .choices = order_choices()};
}

OptionSpec order_effort_option() {
  return {.name = "--order-effort",
          .value = "N",
          .summary = "work units for the search over orders, 0 for none; default 5000000000 (10 seconds, 256 MiB)",
          .kind = ArgumentKind::text};
}

OptionSpec no_in_place_option() { return {.name = "--no-in-place", .summary = "do not write results over inputs"}; }

OptionSpec no_views_option() {
  return {.name = "--no-views", .summary = "make every Reshape, Slice, Split and Concat copy"};
}

OptionSpec no_parts_option() {
  return {.name = "--no-parts",
          .summary = "treat every buffer as live as a whole, for runtimes that cannot free a part of a buffer"};
}

OptionSpec no_load_time_option() {
  return {.name = "--no-load-time",
          .summary = "run the nodes that depend on constants alone in every run, not once when the model is loaded"};
}

OptionSpec without_option() {
  OptionSpec option{.name = "--without",
                    .value = "PASS",
                    .summary = "leave out a pass of lowering for the kernels of this machine; repeatable",
                    .kind = ArgumentKind::choice,
                    .is_repeatable = true};
  const PassSet passes = options_for_kernels().passes;
  for (const Pass& pass : all_passes()) {
    if (!passes.has(pass.id)) continue;
    option.choices.emplace_back(pass.name);
    option.choice_help.push_back(pass.help);
  }
  return option;
}

OptionSpec inputs_option() {
  return {.name = "--inputs",
          .value = "WHERE",
          .summary =
              "where the inputs are: caller (the caller's memory) or arena (the caller writes them into the "
              "arena); default caller",
          .kind = ArgumentKind::choice,
          .choices = {"caller", "arena"}};
}

OptionSpec outputs_option() {
  return {.name = "--outputs",
          .value = "WHERE",
          .summary = "where the outputs are: arena or caller (the caller's memory, which counts as RAM); default arena",
          .kind = ArgumentKind::choice,
          .choices = {"arena", "caller"}};
}

OptionSpec streams_option() {
  return {.name = "--streams",
          .value = "N",
          .summary =
              "schedule onto N streams, and take the smallest plan that is at most 2 % slower than the fastest one "
              "within the memory limit; default 1",
          .kind = ArgumentKind::text};
}

OptionSpec run_option() {
  return {.name = "--run",
          .value = "FORM",
          .summary =
              "streams (with waits), waves (up to N steps, then a barrier) or dataflow (steps start when "
              "their inputs are ready); default streams",
          .kind = ArgumentKind::choice,
          .choices = {"streams", "waves", "dataflow"}};
}

OptionSpec stream_memory_option() {
  return {
      .name = "--stream-memory",
      .value = "PERCENT",
      .summary = "memory limit of --streams: how far the arena may exceed that of one stream, in percent; default 15",
      .kind = ArgumentKind::text};
}

void drop_unused_format_options(CommandSpec& command) {
  if (!earlier_model_formats().empty()) return;
  drop_options({init_net_option().name, shapes_option().name, unit_sizes_option().name}, command);
}

void drop_unused_kernel_options(CommandSpec& command) {
  if (left_out_runtime_commands().empty()) return;
  drop_options({threads_option().name, costs_option().name, without_option().name}, command);
  std::erase_if(command.examples,
                [](const auto& example) { return example.command.find(" --target cpu") != std::string_view::npos; });
}

}  // namespace lowtide::cli_internal
