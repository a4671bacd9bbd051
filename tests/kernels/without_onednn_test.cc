// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowtide/kernels/cpu_target.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;

TEST(MachineKey, SaysThatThereIsNoLibrary) {
  EXPECT_THAT(texts_of(machine_key({.threads = 2})), ElementsAre("isa=any", "kernels=9", "library=none", "threads=2"));
}

}  // namespace
}  // namespace lowtide
