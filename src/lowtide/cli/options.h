// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/cli/arguments.h"
#include "lowtide/import/import.h"
#include "lowtide/target/target.h"

// Values of options as what they mean. Whatever is wrong stops with a usage error that shows what is right.
namespace lowtide::cli_internal {

// "64MiB"; nothing if the option was not given.
[[nodiscard]] std::optional<Bytes> read_size(const Arguments& arguments, std::string_view option);

// The same, with 0 refused: where nothing can have the size, it is "no limit" that is meant.
[[nodiscard]] std::optional<Bytes> read_positive_size(const Arguments& arguments, std::string_view option);

// A whole number from `least` to `most`; nothing if the option was not given.
[[nodiscard]] std::optional<std::int64_t> read_count(const Arguments& arguments, std::string_view option,
                                                     std::int64_t least,
                                                     std::int64_t most = std::numeric_limits<std::int64_t>::max());

// --dim NAME=EXTENT and --shape INPUT=AxBxC ("?" keeps the extent of the file). Of several "=" the last one counts.
[[nodiscard]] ImportOptions read_bindings(const Arguments& arguments);

// Bindings as a plan keeps them, sorted: "batch=8" of --dim, "x=[1,3,?,?]" of --shape.
[[nodiscard]] std::vector<std::string> written_bindings(const ImportOptions& bindings);
// Inverse, for `verify`: a plan's bindings, those of the command line first. A line that is none is left out.
void add_written_bindings(const std::vector<std::string>& written, ImportOptions& bindings);

// --target FILE, or the built-in one.
[[nodiscard]] Target read_target(const Arguments& arguments);

}  // namespace lowtide::cli_internal
