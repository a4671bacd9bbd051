// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/graph_import.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/try.h"
#include "lowtide/import/onnx/bindings.h"
#include "lowtide/import/onnx/load/load.h"
#include "lowtide/import/onnx/proto/opsets.h"
#include "lowtide/import/onnx/walk/graph_walk.h"

namespace lowtide::import_internal {
namespace {

// The elements of content that may be held at once. Each takes 56 bytes, so they take 28 MB, less than half of the
// limit for parsing.
constexpr std::int64_t kHeldElements = std::int64_t{512} << 10;
constexpr std::int64_t kFileBytesPerHeldElement = 8;

// The elements that may be computed in total, in about half a second. No tested model needs more than 100,000.
constexpr std::int64_t kComputedElements = std::int64_t{16} << 20;
constexpr std::int64_t kComputedElementsPerNode = 64;

// Visits of nodes. A node in a body counts each time the body is inferred.
constexpr std::int64_t kNodeVisits = 100'000;
constexpr std::int64_t kVisitsPerNode = 16;

std::int64_t count_nodes(const onnx::GraphProto& graph) {
  std::int64_t count = graph.node_size();
  for (const onnx::NodeProto& node : graph.node()) {
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) count += count_nodes(attribute.g());
    }
  }
  return count;
}

// What the graph declares of its inputs, outputs and results. The first declaration of a name counts.
std::map<std::string, std::vector<std::string>> declared_extents(const onnx::GraphProto& graph) {
  std::map<std::string, std::vector<std::string>> declared;
  for (const auto* values : {&graph.input(), &graph.value_info(), &graph.output()}) {
    for (const onnx::ValueInfoProto& value : *values) {
      if (!value.type().tensor_type().has_shape()) continue;
      std::vector<std::string> extents;
      bool is_whole = true;
      for (const auto& dimension : value.type().tensor_type().shape().dim()) {
        const bool is_number = dimension.has_dim_value() && dimension.dim_value() >= 0;
        extents.push_back(is_number ? std::to_string(dimension.dim_value()) : dimension.dim_param());
        is_whole = is_whole && (is_number || is_symbol(dimension.dim_param()));
      }
      if (is_whole) declared.try_emplace(value.name(), std::move(extents));
    }
  }
  return declared;
}

// Removes the symbols that are not in the file. Inference names an unknown extent "y[0]", and sums of extents.
void keep_symbols_of_file(const std::set<std::string>& symbols, OpenSizes& open) {
  for (OpenSizes::OpenTensor& tensor : open.tensors) {
    for (std::string& symbol : tensor.symbols) {
      if (!symbols.contains(symbol)) symbol.clear();
    }
  }
}

}  // namespace

void register_operators() { static_cast<void>(find_schema("Relu", kOldestOpset, "")); }

Result<ImportedModel> import_onnx(const ByteSource& file, const ImportOptions& options) {
  LOWTIDE_TRY(ParsedModel model, load_model(file));
  const onnx::GraphProto& graph = model.proto->graph();
  LOWTIDE_TRY(BoundInputs inputs, bind_inputs(graph, options));

  const std::int64_t nodes = count_nodes(graph);
  WalkContext context{.opsets = model.opsets,
                      .ir_version = model.ir_version,
                      .dims = std::move(inputs.dims),
                      .overrides = options.overrides,
                      .content = ContentBudget(kHeldElements + file.size() / kFileBytesPerHeldElement, &file),
                      .constants = ConstantSources(file),
                      .free_names = {},
                      .node_visits_left = kNodeVisits + kVisitsPerNode * nodes,
                      .content_work_left = kComputedElements + kComputedElementsPerNode * nodes,
                      .bounds = UpperBounds(options.at_most),
                      .keeps_open = options.keeps_open_sizes};
  GraphWalk walk(context, graph, nullptr);
  if (const Result<void> visited = walk.visit_all(inputs.facts); !visited) {
    // Sizes that are unknown so far count as 0 or as an assumed bound, which may not fit an operator.
    if (context.is_error_of_sizes) LOWTIDE_RETURN_IF_ERROR(outcome_of(walk.findings()));
    return visited.error();
  }
  const std::set<std::string> symbols = options.keeps_open_sizes ? symbols_of(graph) : std::set<std::string>();
  std::map<std::string, std::vector<std::string>> declared;
  if (options.keeps_declared_extents) declared = declared_extents(graph);
  model.proto.reset();
  LOWTIDE_TRY(WalkedGraph walked, walk.finish());
  if (walked.findings.unsupported.empty())
    LOWTIDE_RETURN_IF_ERROR(context.bounds.check_all_met(open_names(walked.findings)));
  walked.findings.idle_bounds = context.bounds.without_effect();
  std::optional<OpenSizes> open;
  if (const Result<void> outcome = outcome_of(walked.findings); !outcome) {
    if (!options.keeps_open_sizes || outcome.error().code != ErrorCode::unresolved) return outcome.error();
    open = OpenSizes{std::move(walked.findings.open_tensors), outcome.error().message};
    keep_symbols_of_file(symbols, *open);
  }
  ConstantTable constants = std::move(context.constants).take_used_by(walked.graph);
  return ImportedModel{std::move(walked.graph),
                       nodes,
                       std::move(model.sha256),
                       "onnx",
                       notes_of(walked.findings),
                       std::move(constants),
                       std::move(walked.findings.default_values),
                       std::move(model.hints),
                       std::nullopt,
                       std::move(inputs.given),
                       std::move(open),
                       std::move(declared)};
}

}  // namespace lowtide::import_internal
