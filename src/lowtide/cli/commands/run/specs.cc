// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/run/specs.h"

#include "lowtide/cli/commands/run/handlers.h"
#include "lowtide/cli/options/model_formats.h"
#include "lowtide/cli/options/shared_options.h"

namespace lowtide::cli_internal {
namespace {

OptionSpec threads_of_plan_option() { return threads_option("; default those of the plan, otherwise 1"); }

}  // namespace

CommandSpec run_command() {
  return {
      .name = "run",
      .summary = "run a model once, by its plan",
      .description =
          "Plans the model for this machine, or takes a plan file, verifies the plan, and runs the model in one arena. "
          "Inputs and outputs are files in NumPy's format .npy. With --synthetic, constants whose file is absent and "
          "inputs that are not given have values that follow from the seed and their names. Of a prepared file with "
          "several plans, --input, --dim and --shape choose one.\n"
          "A TFLite model runs with the kernels that 'lowtide export' writes, whose integers have the bits of "
          "TensorFlow "
          "Lite Micro's reference kernels. Then only --input, --output-dir and --synthetic have an effect.\n"
          "Ctrl-C ends the run. Then nothing is written, and the exit code is 1.",
      .positionals = {{.name = "MODEL",
                       .summary = std::string(files_of_models()) + ", or what 'lowtide prepare' wrote"}},
      .options = {{.name = "--plan",
                   .value = "PLAN",
                   .summary = "run this plan; one without --target cpu runs plain kernels without scratch, "
                              "which are slow",
                   .kind = ArgumentKind::file},
                  {.name = "--budget",
                   .value = "SIZE",
                   .summary = "most RAM for the arena and what the caller holds, such as 64MiB; nodes run again if "
                              "the plan does not fit otherwise; nothing runs if no plan is found that fits",
                   .kind = ArgumentKind::text},
                  hints_option(),
                  costs_option(),
                  link_option(),
                  link_latency_option(),
                  swap_dir_option(),
                  input_option(),
                  {.name = "--output-dir",
                   .value = "FOLDER",
                   .summary =
                       "write each output to FOLDER/NAME.npy, with _ in NAME for / and for characters that cannot be "
                       "seen; NAME ends after 200 bytes; makes the folder, and replaces files of these names",
                   .kind = ArgumentKind::file},
                  threads_of_plan_option(),
                  {.name = "--synthetic",
                   .value = "SEED",
                   .summary = "make up absent weights and inputs from this number",
                   .kind = ArgumentKind::text},
                  {.name = "--trace",
                   .value = "FILE",
                   .summary = "write the time of each step and the live bytes, for Perfetto (JSON); - is stdout",
                   .kind = ArgumentKind::file},
                  {.name = "--poison", .summary = "run again with a pattern in dead bytes, and find what touches them"},
                  {.name = "--guard", .summary = "run again with a page without access beside each buffer"},
                  {.name = "--compare",
                   .summary = "compare each value with that of a run in which no bytes are reused"},
                  without_option(),
                  dim_option(),
                  shape_option(),
                  at_most_option(),
                  init_net_option(),
                  shapes_option()},
      .examples = {{"lowtide run model.onnx --input x=image.npy --output-dir .", "Run a model on one image."},
                   {"lowtide run model.onnx --plan plan.json --synthetic 1", "Run a plan, on input that is made up."}},
      .run = run_run};
}

CommandSpec prepare_command() {
  return {
      .name = "prepare",
      .summary = "write a model, its plan and its packed weights to one file that is ready to run",
      .description =
          "Plans the model for this machine, or takes a plan file, verifies the plan, and does all that happens once "
          "when the model is loaded, such as putting weights into the order that kernels read. The file has the graph "
          "that runs, the plan and the weights, so the model is not needed any more. 'run' and 'bench' take it in "
          "place of a model. They map it, so it is open at once, and processes share its memory.\n"
          "Several values of --dim or --shape, or a plan file with several plans, make one file with a plan for each. "
          "Lists of several options go together, value by value, and have equal lengths: --dim height=320,640 "
          "--dim width=480,960 makes two plans, for 320x480 and for 640x960. The plans share the weights, and a run "
          "takes the plan for its inputs.\n"
          "The file has kernels for its number of threads, and is valid on machines with the same instruction set, "
          "library and kernels; others refuse it. Without kernels of the library, any machine with the instructions of "
          "its kernels runs it. It is not encrypted or compressed.\n"
          "Ctrl-C ends the command. Then nothing is written, and the exit code is 1.",
      .positionals = {model_positional()},
      .options = {output_option("the file to write; - is stdout"),
                  {.name = "--plan",
                   .value = "PLAN",
                   .summary =
                       "prepare for this plan, or for all plans of the file, which must be ones with --target cpu",
                   .kind = ArgumentKind::file},
                  {.name = "--budget",
                   .value = "SIZE",
                   .summary = "most RAM for the arena and what the caller holds, as in 'run'",
                   .kind = ArgumentKind::text},
                  hints_option(),
                  costs_option(),
                  link_option(),
                  link_latency_option(),
                  threads_of_plan_option(),
                  {.name = "--synthetic",
                   .value = "SEED",
                   .summary = "make up absent weights from this number",
                   .kind = ArgumentKind::text},
                  override_option(),
                  without_option(),
                  dim_option(),
                  shape_option(),
                  at_most_option(),
                  init_net_option(),
                  shapes_option()},
      .examples = {{"lowtide prepare model.onnx -o model.prepared", "Prepare a model."},
                   {"lowtide prepare model.onnx --dim batch=1,2,4 -o model.prepared", "Prepare it for three sizes."},
                   {"lowtide run model.prepared --input x=image.npy --output-dir .", "Run it."}},
      .run = run_prepare};
}

CommandSpec bench_command() {
  return {
      .name = "bench",
      .summary = "run a model repeatedly, and measure its time and memory",
      .description =
          "Plans the model for this machine, and runs it. Inputs that are not given are made up, and so are weights "
          "whose file is absent. Prints the latency of the runs, the memory of the plan and of the process, the "
          "allocations of "
          "a run, and a table of the operators with their time. No run warms up, because the first run is like every "
          "other. Of a prepared file with several plans, --input, --dim or --shape chooses the one to measure.",
      .positionals = {{.name = "MODEL", .summary = "an ONNX file, or what 'lowtide prepare' wrote"}},
      .options = {threads_option("; default 1"),
                  {.name = "--runs", .value = "N", .summary = "runs to time; default 100", .kind = ArgumentKind::text},
                  {.name = "--budget",
                   .value = "SIZE",
                   .summary = "most RAM, as in 'run'; also measures the plan without it, and prints the estimated "
                              "overhead of reruns beside the measured one",
                   .kind = ArgumentKind::text},
                  hints_option(),
                  costs_option(),
                  link_option(),
                  link_latency_option(),
                  swap_dir_option(),
                  {.name = "--profile",
                   .value = "FILE",
                   .summary = "also measure each kernel that a plan of the model may have, and write the times for "
                              "--costs; keeps the times of other models in FILE",
                   .kind = ArgumentKind::file},
                  input_option(),
                  html_option(),
                  dim_option(),
                  shape_option(),
                  at_most_option(),
                  init_net_option(),
                  shapes_option(),
                  without_option(),
                  json_option()},
      .examples = {{"lowtide bench model.onnx", "Measure 100 runs."},
                   {"lowtide bench model.onnx --threads 2 --runs 20 --json", "Measure 20 runs with two threads."},
                   {"lowtide bench model.onnx --profile costs.json",
                    "Measure each kernel, for plans with --costs costs.json."}},
      .run = run_bench};
}

}  // namespace lowtide::cli_internal
