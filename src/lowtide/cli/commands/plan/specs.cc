// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/plan/specs.h"

#include <utility>
#include <vector>

#include "lowtide/cli/handlers.h"
#include "lowtide/cli/options/shared_options.h"
#include "lowtide/cli/options/stage_options.h"
#include "lowtide/cli/tflite.h"

namespace lowtide::cli_internal {
namespace {

std::vector<OptionSpec> plan_options() {
  return {output_option("write the plan (JSON); - is stdout"),
          html_option(),
          {.name = "--csv",
           .value = "FILE",
           .summary = "write sizes and lifespans of the buffers (CSV, for 'pack' and other packers), which may need "
                      "more than the arena unless --no-parts is given, because a CSV has no parts; - is stdout",
           .kind = ArgumentKind::file},
          {.name = "--budget",
           .value = "SIZE",
           .summary = "most RAM allowed for the arena and what the caller holds, such as 64MiB; nodes run again "
                      "if the plan does not fit otherwise; exit code 1 if none is found that fits; auto: the knee of "
                      "the curve",
           .kind = ArgumentKind::text},
          {.name = "--curve",
           .summary = "show what each budget costs, from the plan without a limit to the least that may fit; --json, "
                      "--csv and --html have the curve"},
          {.name = "--points",
           .value = "N",
           .summary = "budgets of --curve and --budget auto, 2 to 1000; default 10",
           .kind = ArgumentKind::text},
          hints_option(),
          costs_option(),
          link_option(),
          link_latency_option(),
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
          streams_option(),
          run_option(),
          stream_memory_option(),
          {.name = "--trade-offs",
           .summary = "with --streams: plan for several memory limits, in streams and in waves, and list "
                      "the time and memory of each plan"},
          {.name = "--check-bound",
           .summary = "confirm the lower bound with an independent search (up to about 20 seconds)"},
          no_in_place_option(),
          no_views_option(),
          no_parts_option(),
          no_load_time_option(),
          inputs_option(),
          outputs_option(),
          {.name = "--effort",
           .value = "N",
           .summary = "work units for the search over offsets, 0 for none; default 200000000 (a few seconds)",
           .kind = ArgumentKind::text},
          top_option(),
          wide_option(),
          json_option()};
}

}  // namespace

CommandSpec plan_command() {
  CommandSpec command = {
      .name = "plan",
      .summary = "choose an order of the operators and an offset for every tensor, and verify the plan",
      .description =
          "Chooses an order of the operators and an offset for every tensor, to make the arena as small as possible. "
          "Replays the finished plan against the model to verify it. Prints the arena next to a proven lower bound.\n"
          "In the table of the peak, 'x +2' is the buffer of x, in which 2 other tensors are live.\n"
          "With --budget, kernels that need less memory are used, and then nodes run again, only if the plan does not "
          "fit "
          "without. With --link, results also leave the arena and come back. The summary says what runs again or "
          "moves, and what it costs. Hints, in a file or in the model's metadata, "
          "say which results to compute again and which to keep.\n"
          "If the plan exceeds the --budget or the capacity of the target, prints by how many bytes (exit code 1). The "
          "files are written nevertheless, and say so.\n"
          "Ctrl-C or SIGTERM ends the search and keeps the best plan so far. A second signal ends the program.",
      .positionals = {model_positional()},
      .options = plan_options(),
      .examples = {{"lowtide plan model.onnx -o plan.json --html map.html", "Write a plan and a drawing of it."},
                   {"lowtide plan model.onnx --dim batch=8 --budget 64MiB", "Check whether a batch of 8 fits 64 MiB."},
                   {"lowtide plan model.onnx --budget 64MiB --link 12e9",
                    "Also move results to other memory and back, at 12 GB per second in each direction."},
                   {"lowtide plan model.onnx --curve --html curve.html", "Show what less memory costs."},
                   {"lowtide plan model.onnx --target cpu --costs costs.json --curve",
                    "Show it by times that 'lowtide bench' measured."},
                   {"lowtide plan model.onnx --streams 2 --trade-offs", "Show what two streams would gain."},
                   {"lowtide plan model.onnx --streams 4 --run waves -o plan.json",
                    "Plan for a thread pool that runs up to 4 steps and then waits for all of them."},
                   {"lowtide plan model.onnx --run dataflow -o plan.json",
                    "Plan for a runtime that starts every node when its inputs are ready."}},
      .run = run_plan};
  for (OptionSpec& option : micro_plan_options()) command.options.push_back(std::move(option));
  for (OptionSpec& option : stage_options()) command.options.push_back(std::move(option));
  return command;
}

}  // namespace lowtide::cli_internal
