// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/export/specs.h"

#include <vector>

#include "lowtide/cli/handlers.h"
#include "lowtide/cli/options/shared_options.h"

namespace lowtide::cli_internal {
namespace {

OptionSpec kernels_option() {
  return {.name = "--kernels",
          .value = "SET",
          .summary =
              "of TFLite models. lowtide: in plain C (the default); cmsis-nn: call Arm's library CMSIS-NN for "
              "convolutions, pools and products, on processors without the vector extension; cmsis-nn-vector: "
              "on those with it, such as Cortex-M55. The program needs the header and the library",
          .kind = ArgumentKind::choice,
          .choices = {"lowtide", "cmsis-nn", "cmsis-nn-vector"}};
}

std::vector<OptionSpec> options() {
  return {{.name = "--output",
           .letter = "-o",
           .value = "DIR",
           .summary = "write the files into this folder, which is made if it is absent",
           .kind = ArgumentKind::file},
          {.name = "--name",
           .value = "NAME",
           .summary = "the begin of all names of functions and macros; default: made of the name of the file",
           .kind = ArgumentKind::text},
          {.name = "--reentrant",
           .summary = "functions take a context with the arena, so that a program can have several of them"},
          {.name = "--weights",
           .value = "FORM",
           .summary = "source: arrays in weights.c (the default); blob: the file weights.bin, whose address the "
                      "program gives at run time",
           .kind = ArgumentKind::choice,
           .choices = {"source", "blob"}},
          kernels_option(),
          {.name = "--budget",
           .value = "SIZE",
           .summary = "the largest arena, such as 64KiB; exit code 1, and nothing is written, if it is larger",
           .kind = ArgumentKind::text},
          dim_option(),
          shape_option(),
          override_option(),
          {.name = "--synthetic",
           .value = "SEED",
           .summary = "make up the constants of an ONNX model whose file is absent, from this number",
           .kind = ArgumentKind::text},
          {.name = "--force", .summary = "replace files of these names, whatever they are"},
          order_effort_option(),
          {.name = "--effort",
           .value = "N",
           .summary = "work units for the search over offsets, 0 for none; default 200000000 (a few seconds)",
           .kind = ArgumentKind::text},
          json_option()};
}

}  // namespace

CommandSpec export_command() {
  return {
      .name = "export",
      .summary = "write a model as C source for a microcontroller",
      .description =
          "Plans a model and writes it as C99: model.c with the kernels that it needs and the run, model.h with sizes, "
          "inputs, outputs and a map of the arena, and weights.c with the constants. The source allocates nothing, and "
          "calls no function except those of <math.h>, and of CMSIS-NN with --kernels. Quantized models have the same "
          "bits as in TensorFlow Lite "
          "Micro with its reference kernels. Sums of f32 have another order than in other runtimes.\n"
          "Everything is written or nothing. Files in the folder that Lowtide did not write are never replaced without "
          "--force.\n"
          "Macros of model.h set attributes of the arena and of the constants, such as their sections, put the arena "
          "where the caller wants it, and stop the compiler if the arena exceeds a budget.",
      .positionals = {{.name = "MODEL", .summary = "the model: a TFLite file, or an ONNX file with tensors of f32"}},
      .options = options(),
      .examples = {{"lowtide export model.tflite -o model_c", "Write C source, and print what it needs."},
                   {"lowtide export model.tflite -o model_c --name kws --budget 20KiB",
                    "The functions are kws_init, kws_run and so on. The arena has at most 20 KiB."},
                   {"lowtide export model.tflite -o model_c --reentrant --weights blob",
                    "Several contexts, and weights in a file of their own."},
                   {"lowtide export model.tflite -o model_c --kernels cmsis-nn",
                    "Call CMSIS-NN, with its scratch in the arena."},
                   {"lowtide export model.onnx -o model_c --dim batch=1",
                    "An ONNX model, for one size of its inputs."}},
      .run = run_export};
}

}  // namespace lowtide::cli_internal
