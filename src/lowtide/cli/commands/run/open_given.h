// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

#include "lowtide/cli/options/arguments.h"
#include "lowtide/cli/output/console.h"
#include "lowtide/cli/output/interrupt.h"
#include "lowtide/engine/range.h"

namespace lowtide::cli_internal {

// Opens MODEL, an ONNX file or a prepared file, as the options of 'run' and 'prepare' say. A range of extents or a file
// with several plans gives several members. Of a prepared file, only those that take the files of --input are opened.
// Stops with exit code 2 if options contradict each other or the file, and with exit code 3 if the model cannot be
// opened.
[[nodiscard]] OpenedRange open_given(const Arguments& arguments, const Interrupt& interrupt, Console& console);

// Stops with exit code 2 if MODEL is a prepared file and an option is given that only a model can have. Sizes choose
// among the plans of a file with several.
void check_options_of_prepared(const Arguments& arguments);

// Stops with exit code 2 if MODEL is a prepared file with several plans, and no option chooses one of them.
void refuse_several_plans(const Arguments& arguments);

// Stops with exit code 1 if the plan does not fit its budget, and says that nothing "ran" or "is written".
void check_fits(const OpenedModel& opened, std::string_view what_is_left_out = "ran");

}  // namespace lowtide::cli_internal
