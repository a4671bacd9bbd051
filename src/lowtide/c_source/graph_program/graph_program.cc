// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/graph_program/graph_program.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "lowtide/adapt/size_choice.h"
#include "lowtide/base/check.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/c_source/graph_program/c_target.h"
#include "lowtide/c_source/graph_program/node_calls.h"
#include "lowtide/c_source/graph_program/program_of_plan.h"
#include "lowtide/engine/engine.h"
#include "lowtide/engine/open_weights.h"
#include "lowtide/import/import.h"
#include "lowtide/lower/lower.h"
#include "lowtide/pipeline/plan_graph.h"

namespace lowtide {
namespace {

using graph_program_internal::BytesOf;

// All passes that make a graph of fewer operators of ONNX, without those that make operators of Lowtide.
LowerOptions lowering_for(const ImportedModel& model) {
  LowerOptions options;
  options.passes = PassSet{PassId::unneeded,   PassId::padding,   PassId::halves,         PassId::batch_norm,
                           PassId::layer_norm, PassId::load_time, PassId::inputs_in_arena};
  options.constants = static_cast<std::uint32_t>(model.constants.sources.size());
  options.table = &model.constants;
  return options;
}

// The bytes of constants: those of the weights, and content that only the graph has.
class Constants {
 public:
  Constants(const Graph& graph, const ModelWeights& weights) : graph_(graph), weights_(weights) {}

  std::optional<std::span<const std::byte>> operator()(TensorId id) {
    const Tensor& tensor = graph_.tensor(id);
    if (tensor.role != Role::constant) return std::nullopt;
    if (tensor.constant) return weights_.bytes(*tensor.constant);
    const std::vector<std::int64_t>* known = graph_.known_integers(id);
    if (known == nullptr) return std::nullopt;
    return made_from(id, tensor.dtype, *known);
  }

 private:
  template <typename T>
  static void append(std::vector<std::byte>& bytes, std::int64_t number) {
    const T element = static_cast<T>(number);
    const std::size_t end = bytes.size();
    bytes.resize(end + sizeof(T));
    std::memcpy(bytes.data() + end, &element, sizeof(T));
  }

  std::optional<std::span<const std::byte>> made_from(TensorId id, DType dtype,
                                                      const std::vector<std::int64_t>& known) {
    const auto [place, is_new] = made_.emplace(id, std::vector<std::byte>());
    std::vector<std::byte>& bytes = place->second;
    if (is_new) {
      for (std::int64_t number : known) {
        switch (dtype) {
          case DType::i64: append<std::int64_t>(bytes, number); break;
          case DType::i32: append<std::int32_t>(bytes, number); break;
          case DType::boolean: append<std::uint8_t>(bytes, number); break;
          default: return std::nullopt;
        }
      }
    }
    return std::span<const std::byte>(bytes);
  }

  const Graph& graph_;
  const ModelWeights& weights_;
  std::map<TensorId, std::vector<std::byte>> made_;
};

PlanOptions planning_for(const std::string& path, const GraphProgramOptions& options, const ImportedModel& model,
                         const Lowered& lowered) {
  PlanOptions planning = options.plan;
  planning.model = std::filesystem::path(path).filename().string();
  planning.model_sha256 = model.sha256;
  planning.lowering = lowered.passes;
  for (const auto& [name, extents] : model.given_shapes) planning.dims.push_back(written_shape(name, extents));
  std::sort(planning.dims.begin(), planning.dims.end());
  return planning;
}

}  // namespace

Result<GraphProgram> graph_program(const std::string& path, const GraphProgramOptions& options) {
  initialize();
  ImportOptions import = options.import;
  import.to_run = true;
  import.makes_up_parameters = options.synthetic_seed.has_value();
  LOWTIDE_TRY(ImportedModel model, import_model(path, import));
  std::vector<std::string> inputs;
  for (TensorId id : model.graph.inputs()) inputs.push_back(model.graph.tensor(id).name);
  LOWTIDE_TRY(const Lowered lowered, lower(model.graph, lowering_for(model)));
  LOWTIDE_TRY(const std::shared_ptr<const ModelWeights> weights,
              open_weights(path, lowered, std::move(model.constants), options.synthetic_seed));
  Constants constants(lowered.graph, *weights);
  const BytesOf bytes_of = [&](TensorId id) { return constants(id); };
  Result<void> supported = graph_program_internal::check_nodes(lowered.graph, bytes_of);
  if (!supported) return Error{supported.error().code, supported.error().message, shown_path(path)};

  LOWTIDE_TRY(PlannedGraph planned, plan_graph(lowered.graph, graph_program_internal::c_target(),
                                               planning_for(path, options, model, lowered)));
  LOWTIDE_CHECK(planned.violations.empty(), "a plan that was just made is correct");
  LOWTIDE_TRY(CProgram program, graph_program_internal::program_of_plan(lowered.graph, planned.plan, inputs, bytes_of));
  return GraphProgram{std::move(program), std::move(planned), std::move(model.notes)};
}

std::vector<std::string_view> operators_with_c_kernels() { return graph_program_internal::exported_operators(); }

}  // namespace lowtide
