// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Reads any bytes as a GraphDef. A graph that is not refused is planned and verified. Grappler's passes rewrite it on a
// device with little memory and on one with enough, and Lowtide writes its own plan, which is simulated.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "fuzz/plan_and_verify.h"
#include "lowtide/earlier/graphdef/graph_of_graphdef.h"
#include "lowtide/earlier/graphdef/graphdef_of_graph.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/grappler/grappler.h"
#include "lowtide/earlier/rewrite/lean_graphdef.h"
#include "lowtide/earlier/rewrite/timed_run.h"

namespace {

lowtide::Cluster cluster_with(std::int64_t memory) {
  return {.devices = {{.name = "/gpu:0",
                       .type = "GPU",
                       .memory_bytes = memory,
                       .cores = 1,
                       .megahertz = 1,
                       .kilobytes_per_second = 1000,
                       .architecture = "6"}}};
}

void write_own_plan(const lowtide::ProtoMessage& graphdef, const lowtide::RunEnds& ends) {
  const lowtide::TransferLink slow{.bytes_per_second = 1'000'000, .latency_nanoseconds = 10};
  for (const bool has_link : {false, true}) {
    const std::optional<lowtide::TransferLink> link = has_link ? std::optional(slow) : std::nullopt;
    const auto lean = lowtide::lean_graphdef(
        graphdef, {.cluster = cluster_with(1000), .ends = ends, .effort = 100'000, .link = link});
    if (!lean) return;
    const std::vector<lowtide::DefNode> nodes = lowtide::nodes_of_graphdef(lean->graphdef);
    if (!lowtide::simulate_run(nodes, cluster_with(0), ends)) std::abort();
    const auto run = lowtide::time_run(nodes, {.cluster = cluster_with(0), .ends = ends, .link = slow});
    if (!run || run->peak_bytes > lean->peak.count()) std::abort();
  }
}

// What the graph becomes as a GraphDef is read as the same graph, up to the order of its nodes.
void write_again(const lowtide::Graph& graph) {
  const lowtide::GraphDefOfGraph written = lowtide::graphdef_of_graph(graph);
  const auto bytes = lowtide::write_graphdef(written.graphdef, false);
  if (!bytes) return;
  const auto read = lowtide::read_graphdef(*bytes);
  if (!read) std::abort();
  const auto again = lowtide::graph_of_graphdef(*read, {.shapes = {}, .unit_sizes = true});
  if (!again || again->graph.nodes().size() != graph.nodes().size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto graphdef = lowtide::read_graphdef({reinterpret_cast<const char*>(bytes), size});
  if (!graphdef || lowtide::count_nodes(*graphdef) > 200) return 0;
  const auto binary = lowtide::write_graphdef(*graphdef, false);
  // Without nodes, the bytes of unknown fields may look like text.
  const bool has_nodes = lowtide::count_nodes(*graphdef) > 0;
  if (!binary || (has_nodes && !lowtide::read_graphdef(*binary))) std::abort();
  const auto graph = lowtide::graph_of_graphdef(*graphdef, {.shapes = {}, .unit_sizes = true});
  if (graph) {
    lowtide::plan_and_verify(graph->graph);
    write_again(graph->graph);
  }
  const std::vector<lowtide::DefNode> nodes = lowtide::nodes_of_graphdef(*graphdef);
  if (nodes.empty()) return 0;
  const auto ends = lowtide::with_placeholders(nodes, {.feeds = {}, .fetches = {nodes.back().name}});
  if (!ends) return 0;
  for (std::int64_t memory : {1000, 0}) {
    for (const auto& level : lowtide::kEnumNames<lowtide::GrapplerLevel>) {
      (void)lowtide::run_grappler(*graphdef, {.level = lowtide::from_string<lowtide::GrapplerLevel>(level).value(),
                                              .feeds = {},
                                              .fetches = ends->fetches,
                                              .cluster = cluster_with(memory)});
    }
  }
  write_own_plan(*graphdef, *ends);
  return 0;
}
