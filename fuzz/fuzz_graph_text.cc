// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Reads any bytes as a graph in text form. A graph that is not refused is printed, read back, planned and verified, and
// written in the other formats.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "fuzz/plan_and_verify.h"
#include "lowtide/earlier/graphdef/graph_of_graphdef.h"
#include "lowtide/earlier/graphdef/graphdef_of_graph.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/netdef/net.h"
#include "lowtide/earlier/netdef/net_of_graph.h"
#include "lowtide/export/onnx_of_graph.h"
#include "lowtide/graph/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto graph = lowtide::parse_graph({reinterpret_cast<const char*>(bytes), size}, "fuzz");
  if (!graph) return 0;
  const std::string text = lowtide::print_graph(*graph);
  const auto again = lowtide::parse_graph(text, "printed");
  if (!again || lowtide::print_graph(*again) != text) std::abort();
  lowtide::plan_and_verify(*graph);
  const lowtide::GraphDefOfGraph graphdef = lowtide::graphdef_of_graph(*graph);
  if (const auto bytes = lowtide::write_graphdef(graphdef.graphdef, true); bytes && !bytes->empty()) {
    if (!lowtide::read_graphdef(*bytes)) std::abort();
  }
  (void)lowtide::write_net(lowtide::net_of_graph(*graph), lowtide::NetForm::text);
  (void)lowtide::onnx_of_graph(*graph);
  return 0;
}
