// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Reads any bytes as a packing problem. A problem that is not refused is written, read back, packed and checked.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "lowtide/allocate/allocate.h"
#include "lowtide/import/csv.h"
#include "lowtide/plan/packing_csv.h"
#include "lowtide/verify/check_packing.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto problem = lowtide::parse_packing({reinterpret_cast<const char*>(bytes), size});
  if (!problem) return 0;
  const std::string text = lowtide::write_packing_csv(*problem);
  const auto again = lowtide::parse_packing(text);
  if (!again || lowtide::write_packing_csv(*again) != text) std::abort();
  const auto packed = lowtide::allocate(*problem, {.effort = 20'000});
  if (!packed) return 0;
  const std::vector<lowtide::Violation> wrong = lowtide::check_packing(*problem, packed->offsets);
  for (const lowtide::Violation& one : wrong) std::fprintf(stderr, "%s\n", one.message.c_str());
  if (!wrong.empty() || packed->height < packed->bound) std::abort();
  return 0;
}
