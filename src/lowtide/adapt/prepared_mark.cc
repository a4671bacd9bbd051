// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/adapt/prepared_mark.h"

#include <cstdint>

#include "lowtide/import/import.h"

namespace lowtide {

bool is_prepared_file(const std::string& path) {
  const Result<std::string> begin = read_beginning(path, static_cast<std::int64_t>(kPreparedMark.size()));
  return begin.ok() && *begin == kPreparedMark;
}

}  // namespace lowtide
