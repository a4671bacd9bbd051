// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/page.h"

#include <gtest/gtest.h>

TEST(Page, Placeholder) {}
