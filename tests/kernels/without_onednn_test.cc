// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowtide/kernels/cpu_target.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;

TEST(MachineKey, SaysThatThereIsNoLibrary) {
  EXPECT_THAT(texts_of(machine_key({.threads = 2, .caches = CacheSizes()})),
              ElementsAre("caches=32K+1024K", "isa=any", "kernels=10", "library=none", "threads=2"));
}

}  // namespace
}  // namespace lowtide
