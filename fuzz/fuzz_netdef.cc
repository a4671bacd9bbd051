// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Reads any bytes as a NetDef. A net that is not refused is planned and verified, shares memory by each rule, and is
// written and read again.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fuzz/plan_and_verify.h"
#include "lowtide/earlier/netdef/compare_nets.h"
#include "lowtide/earlier/netdef/graph_of_net.h"
#include "lowtide/earlier/netdef/net.h"
#include "lowtide/earlier/rewrite/share_net.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto file = lowtide::read_net({reinterpret_cast<const char*>(bytes), size});
  if (!file) return 0;
  const auto again = lowtide::read_net(*lowtide::write_net(file->net, lowtide::NetForm::binary));
  if (!file->net.fields.empty() && !again) std::abort();
  const auto graph = lowtide::graph_of_net(file->net, {.unit_sizes = true});
  if (!graph || graph->graph.nodes().size() > 200) return 0;
  lowtide::plan_and_verify(graph->graph);
  for (const std::string& rule : lowtide::share_rules()) {
    const auto shared = lowtide::share_net(file->net, *graph, {.rule = rule, .effort = 10'000});
    if (shared && !lowtide::compare_nets(file->net, shared->net)->is_same) std::abort();
  }
  return 0;
}
