// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowtide/kernels/cpu_target.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::MatchesRegex;

TEST(MachineKey, NamesTheLibraryAndItsInstructionSet) {
  EXPECT_THAT(texts_of(machine_key({.threads = 2})),
              ElementsAre("caches=" + to_text(machine_caches()), MatchesRegex("isa=(sse|avx)[a-z0-9_]+"), "kernels=10",
                          MatchesRegex("library=onednn 3\\.[0-9.]+"), "threads=2"));
}

}  // namespace
}  // namespace lowtide
