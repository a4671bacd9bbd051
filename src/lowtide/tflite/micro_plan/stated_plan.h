// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

#include "lowtide/tflite/flatbuffer/tflite_model.h"
#include "lowtide/tflite/micro/micro.h"

namespace lowtide {

// The offsets that a file states for TensorFlow Lite Micro, as far as they count.
struct StatedPlan {
  bool is_stated = false;  // the file states offsets
  MicroOffsets offsets;    // empty: it states none, or wrong ones
  std::string fault;       // why they are wrong, as a sentence without its full stop; empty: they are not
};

// Reads the offsets of a file with these bytes, and checks them with check_offline_plan(). They are also wrong if they
// let a result have the place of an operand, and the kernels are not known to allow it.
[[nodiscard]] StatedPlan stated_plan(const TfliteModel& model, std::string_view file, MicroKernels kernels);

}  // namespace lowtide
