// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/tflite.h"

namespace lowtide::cli_internal {

std::span<const ModelFormat> tflite_model_formats() { return {}; }

}  // namespace lowtide::cli_internal
