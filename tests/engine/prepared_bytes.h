// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "lowtide/engine/prepared_file.h"
#include "tests/engine/small_model.h"

namespace lowtide::testing {

inline std::string bytes_of(const PreparedFile& file) {
  std::string bytes = file.head;
  for (const std::string_view piece : file.pieces) bytes += piece;
  return bytes;
}

// Writes a temporary file. Other tests run at the same time, so each has names of its own.
inline std::string write_of_test(const std::string& name, const std::string& bytes) {
  const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
  return write_temporary(::testing::TempDir(), std::string(test.test_suite_name()) + "_" + test.name() + "_" + name,
                         bytes);
}

}  // namespace lowtide::testing
