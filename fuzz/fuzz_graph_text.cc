// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Reads any bytes as a graph in text form. A graph that is not refused is printed, read back, planned and verified.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "fuzz/plan_and_verify.h"
#include "lowtide/graph/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto graph = lowtide::parse_graph({reinterpret_cast<const char*>(bytes), size}, "fuzz");
  if (!graph) return 0;
  const std::string text = lowtide::print_graph(*graph);
  const auto again = lowtide::parse_graph(text, "printed");
  if (!again || lowtide::print_graph(*again) != text) std::abort();
  lowtide::plan_and_verify(*graph);
  return 0;
}
