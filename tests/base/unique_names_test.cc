// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/unique_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "lowtide/base/limits.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;

std::string without_spaces(std::string_view name) {
  std::string valid(name.empty() ? "_" : name);
  std::replace(valid.begin(), valid.end(), ' ', '_');
  return valid;
}

TEST(UniqueNames, KeepsValidNamesAndNumbersOthers) {
  const std::vector<std::string> wanted = {"a b", "a_b", "", "a b", "a_b_2", "_", "c"};
  EXPECT_THAT(unique_names(wanted, without_spaces), ElementsAre("a_b_3", "a_b", "__2", "a_b_4", "a_b_2", "_", "c"));
}

TEST(UniqueNames, NumbersNamesThatAreWantedTwice) {
  const std::vector<std::string> wanted = {"a", "a", "a"};
  EXPECT_THAT(unique_names(wanted, without_spaces), ElementsAre("a", "a_2", "a_3"));
}

// The longest name has as many bytes as the limit. The numbers replace the last character of two bytes.
TEST(UniqueNames, StaysWithinTheLimit) {
  std::string longest;
  for (std::size_t at = 0; at < static_cast<std::size_t>(limits::kMaxNameBytes) / 2; ++at) longest += "é";
  const std::vector<std::string> wanted = {longest, longest, longest + "x"};
  const std::vector<std::string> names = unique_names(wanted, without_spaces);
  EXPECT_EQ(names[0], longest);
  EXPECT_EQ(names[1], longest.substr(0, limits::kMaxNameBytes - 2) + "_2");
  EXPECT_EQ(names[2], longest.substr(0, limits::kMaxNameBytes - 2) + "_3");
}

}  // namespace
}  // namespace lowtide
