// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/options/command_spec.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/cli/commands/export/specs.h"
#include "lowtide/cli/commands/plan/specs.h"
#include "lowtide/cli/earlier.h"
#include "lowtide/cli/handlers.h"
#include "lowtide/cli/options/shared_options.h"
#include "lowtide/cli/runtime.h"

namespace lowtide::cli_internal {
namespace {

CommandSpec inspect_command() {
  return {
      .name = "inspect",
      .summary = "show what a model contains, and how much memory it needs without planning",
      .description =
          "Reads a model without its weights. Prints the bytes of its constants, inputs and outputs, the memory "
          "without any reuse, the peak in the order of the file, and proven lower bounds. Two tables follow: the "
          "operators by the bytes that they produce, with their multiply-accumulates, and the tensors that are live "
          "at the peak. --operators adds a table of all nodes.",
      .positionals = {model_positional()},
      .options = {{.name = "--operators",
                   .summary = "list all nodes with the bytes that they read and write, scratch, weights and "
                              "multiply-accumulates (MACs); with --top N, only the N nodes with the most MACs"},
                  {.name = "--csv",
                   .value = "FILE",
                   .summary = "write the table of --operators (CSV), always with all nodes; - is stdout",
                   .kind = ArgumentKind::file},
                  dim_option(),
                  shape_option(),
                  at_most_option(),
                  override_option(),
                  init_net_option(),
                  shapes_option(),
                  unit_sizes_option(),
                  target_option(),
                  threads_option(),
                  top_option(),
                  wide_option(),
                  json_option()},
      .examples = {{"lowtide inspect model.onnx", "Show the memory that the model needs."},
                   {"lowtide inspect model.onnx --operators --top 20",
                    "Also show the 20 nodes with the most multiply-accumulates."},
                   {"lowtide inspect model.onnx --csv nodes.csv", "Write a table of all nodes."},
                   {"lowtide inspect model.onnx --dim batch=8 --json", "Show it for a batch of 8, as JSON."}},
      .run = run_inspect};
}

CommandSpec explain_command() {
  return {
      .name = "explain",
      .summary = "explain where the peak is and why no order needs less",
      .description =
          "Plans the model as 'plan' does and explains its peak: the steps that reach it, and the buffers that are "
          "live there with their writers and next readers. Shows which of them are live at that step in every order. "
          "Then prints the proof that no order needs less, or, without a proof, the difference between this order and "
          "the bound. Finally lists what would lower the peak, and by how much if that is known.\n"
          "In the table, 'x +2' is the buffer of x, in which 2 other tensors are live.\n"
          "Writes no file. The exit code is 0 for every model that can be planned.",
      .positionals = {model_positional()},
      .options = {dim_option(),      shape_option(),    at_most_option(),      override_option(),
                  init_net_option(), shapes_option(),   unit_sizes_option(),   target_option(),
                  threads_option(),  order_option(),    order_effort_option(), no_in_place_option(),
                  no_views_option(), no_parts_option(), no_load_time_option(), without_option(),
                  inputs_option(),   outputs_option(),  top_option(),          wide_option(),
                  json_option()},
      .examples = {{"lowtide explain model.onnx", "Explain the peak of the model."},
                   {"lowtide explain model.onnx --dim batch=8 --order as_given --top 20",
                    "Explain a batch of 8 in the order of the file, with longer tables."}},
      .run = run_explain};
}

CommandSpec verify_command() {
  return {
      .name = "verify",
      .summary = "check a plan against its model, step by step",
      .description =
          "Replays the plan independently of the planner. Checks data flow, bytes, alignment, capacities, aliases, "
          "roles, and the figures that the plan states about itself. The extents that the plan was made for are read "
          "from the plan file. With --target, also checks that the target has the kernels of the plan, and that each "
          "has enough scratch.",
      .positionals = {{.name = "MODEL", .summary = "the file that the plan is for"},
                      {.name = "PLAN",
                       .summary = "a plan file; - is stdin; a TFLite model may be without, and then the offsets that "
                                  "it states for TensorFlow Lite Micro are checked",
                       .is_optional = true}},
      .options = {dim_option(), shape_option(), at_most_option(), init_net_option(), shapes_option(),
                  unit_sizes_option(), verified_target_option(), verified_threads_option(), json_option()},
      .examples = {{"lowtide verify model.onnx plan.json", "Verify a plan."},
                   {"lowtide plan model.onnx -o - | lowtide verify model.onnx -",
                    "Plan and verify without a plan file."}},
      .run = run_verify};
}

CommandSpec check_command() {
  return {
      .name = "check",
      .summary = "fail if a model needs more memory than a stored plan",
      .description =
          "Plans the model and compares its arena with that of the baseline, a plan file of an earlier version of the "
          "model. If it is larger than the tolerance allows, the exit code is 1, and the buffers are listed that are "
          "live at the peak and were not, or with fewer bytes. The extents that the baseline was made for are read "
          "from its file. The options should be those with which the baseline was planned.\n"
          "With --annotate, a line for hosted workflows follows, which shows the growth beside the change.",
      .positionals = {model_positional()},
      .options = {{.name = "--baseline",
                   .value = "PLAN",
                   .summary = "the plan file to compare with (required)",
                   .kind = ArgumentKind::file},
                  {.name = "--tolerance",
                   .value = "SHARE|SIZE",
                   .summary = "how much more is permitted, such as 2% or 64KiB; default 0%",
                   .kind = ArgumentKind::text},
                  {.name = "--annotate", .summary = "also print '::error ...' if the model has grown"},
                  dim_option(),
                  shape_option(),
                  at_most_option(),
                  override_option(),
                  init_net_option(),
                  shapes_option(),
                  unit_sizes_option(),
                  target_option(),
                  threads_option(),
                  order_option(),
                  order_effort_option(),
                  no_in_place_option(),
                  no_views_option(),
                  no_parts_option(),
                  no_load_time_option(),
                  without_option(),
                  inputs_option(),
                  outputs_option(),
                  top_option(),
                  json_option()},
      .examples = {{"lowtide check model.onnx --baseline plan.json --tolerance 2%",
                    "Fail if the model needs 2 % more than when plan.json was made."},
                   {"lowtide check model.onnx --baseline plan.json --annotate",
                    "Also print a line that a hosted workflow shows beside the change."}},
      .run = run_check};
}

CommandSpec view_command() {
  return {
      .name = "view",
      .summary = "draw a plan as one self-contained HTML page",
      .description =
          "Draws a plan as an HTML page that works offline in any browser. The horizontal axis shows the steps, the "
          "vertical axis the addresses. Each buffer is a rectangle, or a staircase if its parts have different "
          "lifespans. --against compares two plans of one model.",
      .positionals = {{.name = "PLAN", .summary = "a plan file; - is stdin"}},
      .options = {output_option("write the page (required); - is stdout"),
                  {.name = "--against",
                   .value = "PLAN",
                   .summary = "an older plan to compare with",
                   .kind = ArgumentKind::file}},
      .examples = {{"lowtide view plan.json -o map.html", "Draw a plan."},
                   {"lowtide view new.json --against old.json -o change.html", "Draw the effect of a change."}},
      .run = run_view};
}

CommandSpec pack_command() {
  return {
      .name = "pack",
      .summary = "find offsets for the buffers of a CSV file",
      .description =
          "Finds an offset for each buffer, to make the highest end of a buffer as low as possible.\n"
          "The file has a header line and one buffer per line: id, lower, upper, size, and optionally alignment, "
          "offset (fixed) and gaps. A buffer is live from time lower until just before time upper. Gaps are half-open "
          "intervals in between, such as '4-6 8-9', in which its bytes are free for other buffers.\n"
          "Checks offsets and bounds independently of the search. If it is proven that no offsets fit the --capacity, "
          "prints the proof: the buffers live at one time, or the number of decisions of an exhaustive search.\n"
          "Ctrl-C or SIGTERM ends the search and keeps the best answer so far. A second signal ends the program.",
      .positionals = {{.name = "FILE", .summary = "a packing problem (CSV); - is stdin"}},
      .options = {output_option("write the file with offsets, or with slots; - is stdout"),
                  html_option(),
                  {.name = "--capacity",
                   .value = "SIZE",
                   .summary = "largest height allowed, such as 1MiB; exit code 1 if the buffers do not fit",
                   .kind = ArgumentKind::text},
                  {.name = "--slots",
                   .summary = "assign whole buffers to shared slots instead of choosing offsets; minimizes the total "
                              "size of the slots"},
                  {.name = "--effort",
                   .value = "N",
                   .summary = "work units, 0 for no search; default 200000000, a few seconds (20000000 for slots)",
                   .kind = ArgumentKind::text},
                  {.name = "--threads",
                   .value = "N",
                   .summary = "threads of the search, 1 to 256; default 1; the answer does not depend on it",
                   .kind = ArgumentKind::text},
                  wide_option(),
                  json_option()},
      .examples = {{"lowtide pack buffers.csv -o packed.csv", "Find offsets and write them."},
                   {"lowtide pack buffers.csv --capacity 1MiB --json", "Check whether they fit 1 MiB, as JSON."},
                   {"lowtide pack buffers.csv --threads 4 --html map.html",
                    "Search with four threads and draw the result."},
                   {"lowtide pack buffers.csv --slots -o slots.csv",
                    "Assign slots, for runtimes that allocate each slot separately."}},
      .run = run_pack};
}

CommandSpec order_command() {
  return {
      .name = "order",
      .summary = "order a plain graph to minimize its peak memory",
      .description =
          "Finds an order of the nodes of a graph without operators, to make the peak of live bytes as low as "
          "possible. Prints the peak, a lower bound for all orders, the peaks of the strategies that were tried, and "
          "what is live at the peak, with the module and the source line if the file states them. With --json, also "
          "prints the order. The order is proven optimal if its peak equals the bound.\n"
          "The file (JSON) has 'nodes' with their 'bytes', and 'edges' as pairs of node numbers. Each node has one "
          "output, which is live until its last reader has run.\n"
          "With --budget, each node also has a 'cost', which is the time of a run, and may run several times. The "
          "answer has the sequence, its cost, a lower bound of the cost of all sequences that keep the budget, and the "
          "nodes that run again. With --curve, this is done for budgets in equal steps, from the lowest peak without "
          "reruns down to a bound that no sequence goes below. Less memory never costs less. With --link, outputs may "
          "also leave over a link and come back while nodes run. More effort never gives a worse answer. Ctrl-C or "
          "SIGTERM ends the search for reruns, and keeps the best answer so far. A second signal ends the program.\n"
          "The strategies of other systems are available by name, for comparison.",
      .positionals = {{.name = "FILE", .summary = "an ordering problem (JSON); - is stdin"}},
      .options = {order_option(),
                  {.name = "--effort",
                   .value = "N",
                   .summary = "work units for the search, 0 for none; default 30000000000 (up to about a minute), and "
                              "less with --budget for up to 150 nodes",
                   .kind = ArgumentKind::text},
                  {.name = "--budget",
                   .value = "BYTES",
                   .summary = "keep the live bytes within a budget such as 4GiB, by running nodes again",
                   .kind = ArgumentKind::text},
                  hints_option(),
                  {.name = "--curve", .summary = "solve budgets from the lowest peak without reruns to the floor"},
                  {.name = "--points",
                   .value = "N",
                   .summary = "with --curve, the number of budgets, 2 to 1000; default 20",
                   .kind = ArgumentKind::text},
                  {.name = "--csv",
                   .value = "FILE",
                   .summary = "with --curve, write budgets, costs and bounds as CSV; - is stdout",
                   .kind = ArgumentKind::file},
                  link_option(),
                  link_latency_option(),
                  {.name = "--cost-unit",
                   .value = "TIME",
                   .summary = "with --link, the time of a unit of 'cost', such as 0.01ms; default: the file's 'units'",
                   .kind = ArgumentKind::text},
                  html_option(),
                  json_option()},
      .examples = {{"lowtide order graph.json", "Find the lowest peak."},
                   {"lowtide order graph.json --budget 4GiB", "Find the fastest sequence within 4 GiB."},
                   {"lowtide order graph.json --budget 4GiB --html step.html",
                    "Also draw what is live at each run, where it comes from, and where it lies in one arena."},
                   {"lowtide order graph.json --curve", "Show what each budget costs."},
                   {"lowtide order graph.json --budget 4GiB --link 12e9 --cost-unit 0.01ms",
                    "Also move outputs over a link of 12 GB per second in each direction."},
                   {"lowtide order graph.json --order best_of_xla --json", "Show what XLA's choice would need."}},
      .run = run_order};
}

CommandSpec completion_command() {
  return {.name = "completion",
          .summary = "print a completion script for a shell",
          .description = "Prints a script that completes commands, options, their values and file names.",
          .positionals = {{.name = "SHELL",
                           .summary = "bash, zsh or fish",
                           .kind = ArgumentKind::choice,
                           .choices = {"bash", "zsh", "fish"}}},
          .options = {},
          .examples = {{"lowtide completion bash > ~/.local/share/bash-completion/completions/lowtide",
                        "Install the completion for bash."},
                       {"lowtide completion fish > ~/.config/fish/completions/lowtide.fish",
                        "Install the completion for fish."}},
          .run = run_completion};
}

CommandSpec help_command(std::vector<std::string> commands) {
  return {.name = "help",
          .summary = "show help for lowtide or one of its commands",
          .description = "Shows the help of a command. Without a command, lists the commands and the exit codes.",
          .positionals = {{.name = "COMMAND",
                           .summary = "the command to explain",
                           .kind = ArgumentKind::choice,
                           .choices = std::move(commands),
                           .is_optional = true}},
          .options = {{.name = "--man", .summary = "print the manual page (roff)"}},
          .examples = {{"lowtide help plan", "Show the help of 'plan'."},
                       {"lowtide help --man | man -l -", "Show the manual page."}},
          .run = run_help};
}

std::vector<CommandSpec> all_commands() {
  std::vector<CommandSpec> all = {inspect_command(), plan_command(),  explain_command(),
                                  verify_command(),  check_command(), export_command()};
  for (CommandSpec& command : runtime_commands()) all.push_back(std::move(command));
  for (const CommandSpec& command : {view_command(), pack_command(), order_command()}) all.push_back(command);
  for (CommandSpec& command : earlier_commands()) all.push_back(std::move(command));
  all.push_back(completion_command());
  std::vector<std::string> names;
  for (const CommandSpec& command : all) names.emplace_back(command.name);
  names.emplace_back("help");
  all.push_back(help_command(std::move(names)));
  for (CommandSpec& command : all) {
    drop_unused_format_options(command);
    drop_unused_kernel_options(command);
  }
  return all;
}

}  // namespace

const std::vector<CommandSpec>& commands() {
  static const std::vector<CommandSpec> all = all_commands();
  return all;
}

const std::vector<OptionSpec>& common_options() {
  static const std::vector<OptionSpec> common = {
      {.name = "--quiet", .letter = "-q", .summary = "print nothing on stderr except errors"},
      {.name = "--color",
       .value = "WHEN",
       .summary = "auto, always or never; auto respects NO_COLOR and CLICOLOR_FORCE",
       .kind = ArgumentKind::choice,
       .choices = {"auto", "always", "never"}},
      {.name = "--help", .letter = "-h", .summary = "show this help"}};
  return common;
}

const CommandSpec* find_command(std::string_view name) {
  const auto found = std::find_if(commands().begin(), commands().end(),
                                  [&](const CommandSpec& command) { return command.name == name; });
  return found == commands().end() ? nullptr : &*found;
}

std::vector<const OptionSpec*> options_of(const CommandSpec& command) {
  std::vector<const OptionSpec*> all;
  for (const OptionSpec& option : command.options) all.push_back(&option);
  for (const OptionSpec& option : common_options()) all.push_back(&option);
  return all;
}

const std::vector<ExitCodeSpec>& exit_codes() {
  const auto number = [](ExitCode code) { return std::to_string(static_cast<int>(code)); };
  static const std::vector<ExitCodeSpec> codes = {
      {number(ExitCode::done), "success: done and verified"},
      {number(ExitCode::no), "the answer is no: the plan or packing does not fit, or 'verify' found the plan wrong"},
      {number(ExitCode::usage),
       "the command line is wrong, whatever the files contain, such as an output that is also an input"},
      {number(ExitCode::bad_input),
       "a file cannot be read or written, is malformed or unsupported, or does not fit the options, such as an input "
       "that the model does not have"},
      {number(ExitCode::internal), "a bug in lowtide"},
      {"130", "Ctrl-C (SIGINT) ended the program; a command whose help says what Ctrl-C does has its own code for it"},
      {"128+N", "signal N ended the program, as shells show it: 129 (SIGHUP), 141 (SIGPIPE), 143 (SIGTERM)"}};
  return codes;
}

}  // namespace lowtide::cli_internal
