// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/options/command_spec.h"
#include "lowtide/cli/tflite.h"
#include "lowtide/tflite/micro/micro.h"
#include "lowtide/tflite/model_import/tflite_format.h"

namespace lowtide::cli_internal {

std::span<const ModelFormat> tflite_model_formats() { return tflite_formats(); }

std::vector<OptionSpec> micro_plan_options() {
  return {
      {.name = "--tflm",
       .value = "FILE",
       .summary = "write a TFLite model again with an order and offsets for TensorFlow Lite Micro, which reads both "
                  "from the file; only --kernels, --target and efforts may be added; - is stdout",
       .kind = ArgumentKind::file},
      {.name = "--kernels",
       .value = "NAME",
       .summary = "with --tflm: the kernels of the runtime, whose scratch is planned; default tflm-reference",
       .kind = ArgumentKind::choice,
       .choices = {kEnumNames<MicroKernels>.begin(), kEnumNames<MicroKernels>.end()}}};
}

}  // namespace lowtide::cli_internal
