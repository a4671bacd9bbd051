// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/run/outside.h"

#include <string>

#include "lowtide/cli/outcome.h"

namespace lowtide::cli_internal {

std::optional<Arena> read_outside(const Arguments& arguments, const Executable& executable, Console& console) {
  const std::optional<std::string> folder = arguments.value("--swap-dir");
  if (!folder) return std::nullopt;
  const Bytes needed = executable.memory().outside;
  if (needed > Bytes(0)) return take(Arena::in_file(*folder, needed));
  console.note(
      "nothing leaves the arena in this plan, so '--swap-dir' is not needed; '--budget' and '--link' make plans "
      "in which tensors leave it");
  return std::nullopt;
}

}  // namespace lowtide::cli_internal
