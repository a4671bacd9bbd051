// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lowtide/adapt/size_choice.h"
#include "lowtide/cli/options/arguments.h"

// Options with several values, for which a model has a plan each: --dim batch=1..8, --dim batch=1,2,4 and
// --shape x=1x3x320x320,1x3x640x640, also as --shapes.
namespace lowtide::cli_internal {

// One entry per plan: the first values of all these options, then the second ones, and so on. Empty if no option has
// several values. The values of a single --dim are in ascending order, each once. Stops if the options have different
// numbers of values, or more than kMaxPlansPerFile.
[[nodiscard]] std::vector<SizeChoice> read_size_choices(const Arguments& arguments);

// Whether the value of a --dim has several values.
[[nodiscard]] bool has_several_extents(std::string_view value);
// The same for --shape.
[[nodiscard]] bool has_several_shapes(std::string_view value);
// Whether --shapes has shapes of inputs, and not the name of a file.
[[nodiscard]] bool has_shapes_of_inputs(const Arguments& arguments);

// Stops if a command that has one plan is given several values.
void refuse_size_choices(const Arguments& arguments);

// "batch=2", "x=1x3x320x320, y=1x4".
[[nodiscard]] std::string sizes_text(const SizeChoice& choice);

}  // namespace lowtide::cli_internal
