// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/cli/console.h"

namespace lowtide::cli_internal {

// The files that a command was told to write. Destinations are checked before the work begins, so that an hour of
// planning does not end at a folder that is not there.
class OutputFiles {
 public:
  // Stops if a destination cannot be, is one of `inputs`, or if two outputs (of --json too) want the same place.
  OutputFiles(std::vector<std::string> destinations, const std::vector<std::string>& inputs, bool prints_json);

  [[nodiscard]] bool uses_stdout() const { return uses_stdout_; }

  // Writes one of the destinations, whole or not at all, and remarks on it.
  void write(const std::string& destination, std::string_view bytes, Console& console) const;

 private:
  bool uses_stdout_ = false;
};

}  // namespace lowtide::cli_internal
