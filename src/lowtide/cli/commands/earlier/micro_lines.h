// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/cli/output/json.h"
#include "lowtide/cli/tflite.h"
#include "lowtide/report/styled_text.h"

namespace lowtide::cli_internal {

// What 'compare' shows of the head of TensorFlow Lite Micro's arena.
[[nodiscard]] StyledText text_of(const MicroFigures& figures);
[[nodiscard]] Json json_of(const MicroFigures& figures);

}  // namespace lowtide::cli_internal
