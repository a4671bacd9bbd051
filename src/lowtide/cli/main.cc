// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/program.h"

int main(int count, char** words) { return lowtide::cli_internal::run({words + (count > 0 ? 1 : 0), words + count}); }
