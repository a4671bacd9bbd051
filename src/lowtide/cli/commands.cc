// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands.h"

#include <algorithm>
#include <utility>

#include "lowtide/cli/stage_options.h"
#include "lowtide/cli/verbs.h"
#include "lowtide/schedule/schedule.h"

namespace lowtide::cli_internal {
namespace {

OptionSpec dim_option() {
  return {.name = "--dim",
          .value = "NAME=N",
          .summary = "bind a symbolic extent of the model, such as batch=8; repeatable",
          .kind = ArgumentKind::text,
          .is_repeatable = true};
}

OptionSpec shape_option() {
  return {.name = "--shape",
          .value = "INPUT=AxBxC",
          .summary = "give an input its shape, such as image=1x3x224x224; ? keeps what the file says; repeatable",
          .kind = ArgumentKind::text,
          .is_repeatable = true};
}

OptionSpec target_option() {
  return {.name = "--target",
          .value = "FILE",
          .summary = "description of the machine (TOML); default: one memory without a limit, alignment 64",
          .kind = ArgumentKind::file};
}

OptionSpec top_option() {
  return {.name = "--top", .value = "N", .summary = "lines of each table; default 8", .kind = ArgumentKind::text};
}

OptionSpec json_option() {
  return {.name = "--json", .summary = "print one JSON object on stdout instead of the text"};
}

std::vector<std::string> order_choices() {
  std::vector<std::string> choices = {"auto"};
  for (const std::string& name : schedule_strategies()) choices.push_back(name);
  return choices;
}

OptionSpec order_option() {
  return {.name = "--order",
          .value = "NAME",
          .summary = "the strategy for the order; default auto: all, the lowest load is kept",
          .kind = ArgumentKind::choice,
          .choices = order_choices()};
}

OptionSpec order_effort_option() {
  return {.name = "--order-effort",
          .value = "N",
          .summary = "work units for the search of orders; default 5000000000, up to some 10 seconds and 256 MiB",
          .kind = ArgumentKind::text};
}

OptionSpec no_in_place_option() { return {.name = "--no-in-place", .summary = "no operator writes over its input"}; }

OptionSpec no_views_option() {
  return {.name = "--no-views", .summary = "every Reshape, Slice, Split and Concat copies"};
}

OptionSpec no_parts_option() {
  return {.name = "--no-parts",
          .summary = "all bytes of a buffer live as long as one of them, for runtimes that know no other buffers"};
}

OptionSpec run_option() {
  return {.name = "--run",
          .value = "FORM",
          .summary =
              "how steps run at once: streams with waits; waves of at most N steps, with barriers; or dataflow, each "
              "step as soon as what it depends on has ended; default streams",
          .kind = ArgumentKind::choice,
          .choices = {"streams", "waves", "dataflow"}};
}

VerbSpec inspect_verb() {
  return {
      .name = "inspect",
      .summary = "what is in a model and what it needs, before any planning",
      .description =
          "Reads a model, never its weights, and prints its constants, inputs and outputs, the sum of its temporaries, "
          "the load in the order of the file, proven lower bounds, the operators by the bytes they produce, and the "
          "tensors at the peak with their producers and last readers.",
      .places = {{.name = "MODEL", .summary = "an ONNX file"}},
      .options = {dim_option(), shape_option(), target_option(), top_option(), json_option()},
      .examples = {{"lowtide inspect model.onnx", "What does it need?"},
                   {"lowtide inspect model.onnx --dim batch=8 --json", "The same for a batch of 8, for a script."}},
      .run = run_inspect};
}

VerbSpec plan_verb() {
  VerbSpec verb = {.name = "plan",
          .summary = "decide when each operator runs and where each tensor lies, and prove it",
          .description =
              "Chooses the order of the operators and a place for every tensor so that the arena is small, replays the "
              "finished plan against the model to verify it, and prints what it needs beside a proven lower bound.\n"
              "With --budget the answer may be no: then nothing is written, the shortfall and what holds the peak are "
              "printed, and the exit code is 1.",
          .places = {{.name = "MODEL", .summary = "an ONNX file"}},
          .options = {{.name = "--output",
                       .letter = "-o",
                       .value = "FILE",
                       .summary = "write the plan (JSON); - is stdout",
                       .kind = ArgumentKind::file},
                      {.name = "--html",
                       .value = "FILE",
                       .summary = "write the picture, one offline page; - is stdout",
                       .kind = ArgumentKind::file},
                      {.name = "--budget",
                       .value = "SIZE",
                       .summary = "the arena must fit, such as 64MiB; exit code 1 if it does not",
                       .kind = ArgumentKind::text},
                      dim_option(),
                      shape_option(),
                      target_option(),
                      order_option(),
                      order_effort_option(),
                      {.name = "--streams",
                       .value = "N",
                       .summary = "run on N streams at once, as fast as the room allows; default 1",
                       .kind = ArgumentKind::text},
                      run_option(),
                      {.name = "--stream-room",
                       .value = "PERCENT",
                       .summary = "how much larger than on one stream the arena may be; default 15",
                       .kind = ArgumentKind::text},
                      {.name = "--curve",
                       .summary = "with --streams: plans with less and more room, streams beside waves, in a table"},
                      {.name = "--check-bound",
                       .summary = "confirm the lower bound with an independent search; seconds, some 20 at most"},
                      no_in_place_option(),
                      no_views_option(),
                      no_parts_option(),
                      {.name = "--effort",
                       .value = "N",
                       .summary = "work units for the search of offsets; default 200000000, some seconds",
                       .kind = ArgumentKind::text},
                      top_option(),
                      json_option()},
          .examples = {{"lowtide plan model.onnx -o plan.json --html map.html", "Plan, keep the plan, draw it."},
                       {"lowtide plan model.onnx --dim batch=8 --budget 64MiB", "Does a batch of 8 fit 64 MiB?"},
                       {"lowtide plan model.onnx --streams 2 --curve", "What would two streams gain?"},
                       {"lowtide plan model.onnx --streams 4 --run waves -o plan.json",
                        "For a thread pool: at most 4 steps at once, then all wait."},
                       {"lowtide plan model.onnx --run dataflow -o plan.json",
                        "For a runtime that starts every node as soon as its inputs are there."}},
          .run = run_plan};
  for (OptionSpec& option : stage_options()) verb.options.push_back(std::move(option));
  return verb;
}

VerbSpec explain_verb() {
  return {
      .name = "explain",
      .summary = "which steps hold the peak, what lives there, and why no order lowers it",
      .description =
          "Plans the model as 'plan' does and says in plain words where the largest load is: the steps, the buffers "
          "that live then, largest first, who wrote them and who still reads them, and which of them live at that "
          "step in every order. Then the proof that no order needs less, or, where there is none, what lies "
          "between this order and the bound. Last, what would lower the load, with the figure that would be left: "
          "tensors that wait, outputs that could not be written over an input, bytes between the buffers.\n"
          "Nothing is written; the exit code is 0 whatever the model needs.",
      .places = {{.name = "MODEL", .summary = "an ONNX file"}},
      .options = {dim_option(), shape_option(), target_option(), order_option(), order_effort_option(),
                  no_in_place_option(), no_views_option(), no_parts_option(), top_option(), json_option()},
      .examples = {{"lowtide explain model.onnx", "Why does it need that much?"},
                   {"lowtide explain model.onnx --dim batch=8 --order as_given --top 20",
                    "For a batch of 8 in the file's order, with longer tables."}},
      .run = run_explain};
}

VerbSpec verify_verb() {
  return {
      .name = "verify",
      .summary = "check a plan against its model, step by step",
      .description =
          "Replays the plan from first principles, with nothing that the planner computed: data flow, bytes, "
          "alignment, "
          "capacity, aliases, roles, and the figures that the plan states about itself. Extents that the plan was made "
          "for are taken from the plan.",
      .places = {{.name = "MODEL", .summary = "the ONNX file that the plan is for"},
                 {.name = "PLAN", .summary = "a plan file; - is stdin"}},
      .options = {dim_option(), shape_option(), json_option()},
      .examples = {{"lowtide verify model.onnx plan.json", "Is the plan right?"},
                   {"lowtide plan model.onnx -o - | lowtide verify model.onnx -", "The same without a file."}},
      .run = run_verify};
}

VerbSpec view_verb() {
  return {
      .name = "view",
      .summary = "draw a plan as one self-contained HTML page",
      .description =
          "The page works offline in any browser: steps to the right, addresses upwards, a rectangle a buffer, a "
          "staircase where its bytes live part by part. With --against it compares two plans, the other one being the "
          "before.",
      .places = {{.name = "PLAN", .summary = "a plan file; - is stdin"}},
      .options = {{.name = "--output",
                   .letter = "-o",
                   .value = "FILE",
                   .summary = "where the page goes; - is stdout",
                   .kind = ArgumentKind::file},
                  {.name = "--against",
                   .value = "PLAN",
                   .summary = "a second plan to compare with",
                   .kind = ArgumentKind::file}},
      .examples = {{"lowtide view plan.json -o map.html", "Draw a plan."},
                   {"lowtide view new.json --against old.json -o change.html", "Draw what a change did."}},
      .run = run_view};
}

VerbSpec pack_verb() {
  return {
      .name = "pack",
      .summary = "give offsets to the buffers of a CSV file",
      .description =
          "The file has a header line and one buffer a line: id, lower, upper, size, and optionally alignment, offset "
          "(fixed) and gaps. Lifespans are half-open: a buffer lives from lower up to upper, which is not part of it. "
          "Gaps are times within them at which its bytes are free for others, such as '4-6 8-9', half-open too.\n"
          "Offsets and the bound are checked by code that shares nothing with the search. If nothing fits, what "
          "shows it is printed: the buffers of one moment, or that all possibilities were tried.\n"
          "Ctrl-C ends the search; the best found until then is the answer. A second one ends the program.",
      .places = {{.name = "FILE", .summary = "a packing problem (CSV)"}},
      .options = {{.name = "--output",
                   .letter = "-o",
                   .value = "FILE",
                   .summary = "write the file with offsets (or slots); - is stdout",
                   .kind = ArgumentKind::file},
                  {.name = "--html",
                   .value = "FILE",
                   .summary = "write the picture, one offline page; - is stdout",
                   .kind = ArgumentKind::file},
                  {.name = "--capacity",
                   .value = "SIZE",
                   .summary = "the buffers must fit, such as 1MiB; exit code 1 if they do not",
                   .kind = ArgumentKind::text},
                  {.name = "--slots",
                   .summary = "no offsets: share whole buffers, so that their slots are least in total"},
                  {.name = "--effort",
                   .value = "N",
                   .summary = "work units for the search; default 200000000, some seconds (20000000 for slots)",
                   .kind = ArgumentKind::text},
                  {.name = "--threads",
                   .value = "N",
                   .summary = "search with up to N threads, 1 to 256; default 1; the answer is the same",
                   .kind = ArgumentKind::text},
                  json_option()},
      .examples = {{"lowtide pack buffers.csv -o packed.csv", "Find offsets and keep them."},
                   {"lowtide pack buffers.csv --capacity 1MiB --json", "Do they fit 1 MiB? For a script."},
                   {"lowtide pack buffers.csv --threads 4 --html map.html", "Search on four cores, draw the packing."},
                   {"lowtide pack buffers.csv --slots -o slots.csv",
                    "One allocation a slot, where there are no offsets."}},
      .run = run_pack};
}

VerbSpec order_verb() {
  return {.name = "order",
          .summary = "order the nodes of a bare graph so that the largest load is least",
          .description =
              "The file (JSON) has 'nodes' with their 'bytes' and 'edges' as pairs of node numbers; one output a node, "
              "which lives until its last reader has run. The answer is an order, its largest load, and a bound below "
              "which no order gets; both are the same where the search ends, and then the order is proven optimal.\n"
              "The strategies of other systems can be asked for by name, for comparison.",
          .places = {{.name = "FILE", .summary = "an ordering problem (JSON)"}},
          .options = {order_option(),
                      {.name = "--effort",
                       .value = "N",
                       .summary = "work units for the search; default 30000000000, some 15 seconds",
                       .kind = ArgumentKind::text},
                      json_option()},
          .examples = {{"lowtide order graph.json", "What does the best order need?"},
                       {"lowtide order graph.json --order best_of_xla --json", "What would XLA's choice need?"}},
          .run = run_order};
}

VerbSpec compare_verb() {
  return {
      .name = "compare",
      .summary = "what earlier planners would have needed for a model, beside Lowtide's plan",
      .description =
          "Plans the model, and does with the same graph what Caffe2, Static Runtime and AITemplate would have done: "
          "buffers that several tensors share, storage groups, offsets. Every result is verified for the runs that it "
          "is meant for: one node after the other, in any order that the dependencies allow, or in waves. All sizes "
          "are rounded up to the same alignment, and all have the same scratch. Inputs are counted where the original "
          "holds them in its memory, which is AITemplate alone. Lowtide also chooses the order, writes in place and "
          "does "
          "without copies.\n"
          "Columns: buffers that are shared, names that are left when each shared buffer counts once, and the least "
          "that a search finds by the same rule.",
      .places = {{.name = "MODEL", .summary = "an ONNX file"}},
      .options = {{.name = "--same-order",
                   .summary = "the earlier planners get the order of Lowtide's plan, not that of the file"},
                  dim_option(),
                  shape_option(),
                  target_option(),
                  json_option()},
      .examples = {{"lowtide compare model.onnx", "What would the others need?"},
                   {"lowtide compare model.onnx --same-order --json", "In the same order, for a script."}},
      .run = run_compare};
}

VerbSpec completion_verb() {
  return {.name = "completion",
          .summary = "print the completion script of a shell",
          .description = "Prints a script that makes the shell complete verbs, options, their values and files.",
          .places = {{.name = "SHELL",
                      .summary = "bash, zsh or fish",
                      .kind = ArgumentKind::choice,
                      .choices = {"bash", "zsh", "fish"}}},
          .options = {},
          .examples = {{"lowtide completion bash > ~/.local/share/bash-completion/completions/lowtide", "For bash."},
                       {"lowtide completion fish > ~/.config/fish/completions/lowtide.fish", "For fish."}},
          .run = run_completion};
}

VerbSpec help_verb() {
  return {
      .name = "help",
      .summary = "explain lowtide or one of its verbs",
      .description = "Without a verb: the list of verbs and the exit codes.",
      .places = {{.name = "VERB",
                  .summary = "the verb to explain",
                  .kind = ArgumentKind::choice,
                  .choices = {"inspect", "plan", "explain", "verify", "view", "pack", "order", "compare", "completion",
                              "help"},
                  .is_optional = true}},
      .options = {{.name = "--man", .summary = "print the manual page (roff)"}},
      .examples = {{"lowtide help plan", "What can plan do?"}, {"lowtide help --man | man -l -", "The whole manual."}},
      .run = run_help};
}

}  // namespace

const std::vector<VerbSpec>& verbs() {
  static const std::vector<VerbSpec> all = {inspect_verb(),    plan_verb(), explain_verb(), verify_verb(),
                                            view_verb(),       pack_verb(), order_verb(),   compare_verb(),
                                            completion_verb(), help_verb()};
  return all;
}

const std::vector<OptionSpec>& common_options() {
  static const std::vector<OptionSpec> common = {
      {.name = "--quiet", .letter = "-q", .summary = "no remarks on stderr, only errors"},
      {.name = "--color",
       .value = "WHEN",
       .summary = "auto, always or never; auto honours NO_COLOR and CLICOLOR_FORCE",
       .kind = ArgumentKind::choice,
       .choices = {"auto", "always", "never"}},
      {.name = "--help", .letter = "-h", .summary = "print this help"}};
  return common;
}

const VerbSpec* find_verb(std::string_view name) {
  const auto found =
      std::find_if(verbs().begin(), verbs().end(), [&](const VerbSpec& verb) { return verb.name == name; });
  return found == verbs().end() ? nullptr : &*found;
}

std::vector<const OptionSpec*> options_of(const VerbSpec& verb) {
  std::vector<const OptionSpec*> all;
  for (const OptionSpec& option : verb.options) all.push_back(&option);
  for (const OptionSpec& option : common_options()) all.push_back(&option);
  return all;
}

const std::vector<ExitCodeSpec>& exit_codes() {
  const auto number = [](ExitCode code) { return std::to_string(static_cast<int>(code)); };
  static const std::vector<ExitCodeSpec> codes = {
      {number(ExitCode::done), "done and verified"},
      {number(ExitCode::no), "the answer is no: it does not fit, or the plan is wrong"},
      {number(ExitCode::usage), "the command line is wrong"},
      {number(ExitCode::bad_input), "a file cannot be read or written, is malformed, or is not supported"},
      {number(ExitCode::internal), "a bug in lowtide"},
      {"130", "interrupted: Ctrl-C (SIGINT) ended the program"},
      {"128+N", "as shells show it: signal N ended the program, such as 129 (SIGHUP), 141 (SIGPIPE), 143 (SIGTERM)"}};
  return codes;
}

}  // namespace lowtide::cli_internal
