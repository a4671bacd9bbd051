// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

namespace lowtide::report_internal {

// The page without a plan, split where the title and the sheets of a plan are inserted. The build generates it from
// page/ (page/embed.cmake).
struct PageSource {
  std::string_view before_title;
  std::string_view before_sheets;
  std::string_view after_sheets;
};

[[nodiscard]] const PageSource& page_source();

}  // namespace lowtide::report_internal
