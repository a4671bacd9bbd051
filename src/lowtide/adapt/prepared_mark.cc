// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/adapt/prepared_mark.h"

#include <cstdint>

#include "lowtide/import/import.h"

namespace lowtide {

namespace {

bool begins_with(const std::string& path, const std::string& mark) {
  const Result<std::string> begin = read_beginning(path, static_cast<std::int64_t>(mark.size()));
  return begin.ok() && *begin == mark;
}

}  // namespace

bool is_prepared_file(const std::string& path) { return begins_with(path, std::string(kPreparedMark)); }

bool is_prepared_range(const std::string& path) {
  return begins_with(path, std::string(kPreparedMark) + std::string(kPreparedSeveralPlans) + " ");
}

}  // namespace lowtide
