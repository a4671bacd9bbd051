// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>

#include "lowtide/tflite/flatbuffer/tflite_model.h"

namespace lowtide {

// An operator of a model.
struct TfliteOperatorPlace {
  const TfliteModel& model;
  std::string_view file;       // the bytes that the model was read from
  std::uint32_t subgraph = 0;  // < model.subgraphs.size()
  std::uint32_t op = 0;        // < operators.size() of the subgraph
};

}  // namespace lowtide
