// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/tools/forged_files.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/json_writer.h"
#include "lowtide/engine/range.h"
#include "lowtide/graph/text.h"
#include "lowtide/import/import.h"
#include "lowtide/kernels/cpu_target.h"
#include "lowtide/kernels/kernel.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/plan/labels.h"
#include "lowtide/plan/plan_json.h"
#include "lowtide/runtime/session.h"
#include "lowtide/weights/synthetic.h"
#include "tests/tools/forgeries.h"

namespace lowtide::testing {
namespace {

template <typename T>
T take_from(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().describe());
  return *std::move(result);
}

// The kernels that the honest graph has, whatever the types of the forged one are.
class HonestCatalogue final : public Catalogue {
 public:
  explicit HonestCatalogue(const Graph& graph) { add(graph); }

  [[nodiscard]] std::vector<Kernel> kernels(const Graph& graph, NodeId node) const override {
    const auto found = kernels_.find({graph.name(), node.value()});
    return found != kernels_.end() && !found->second.empty() ? found->second : dense_catalogue()->kernels(graph, node);
  }

 private:
  void add(const Graph& graph) {
    for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
      std::vector<Kernel> offered = offered_kernels(graph, id);
      for (Kernel& kernel : offered) {
        kernel.scratch = kernel.scratch * 4 + Bytes(4096);
        kernel.in_place.clear();
      }
      kernels_[{graph.name(), id.value()}] = std::move(offered);
      for (const Body& body : graph.node(id).bodies) add(*body.graph);
    }
  }

  std::map<std::pair<std::string, std::uint32_t>, std::vector<Kernel>> kernels_;
};

// Writes files of forged graphs.
class Forger {
 public:
  Forger(const OpenedModel& model, std::string folder, bool is_range)
      : model_(model),
        folder_(std::move(folder)),
        is_range_(is_range),
        graph_(model.executable->graph()),
        text_(print_graph(graph_)) {
    target_ = take_from(cpu_target({.threads = 1}));
    target_.catalogue = std::make_shared<HonestCatalogue>(graph_);
  }

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::string path() const { return folder_ + "/forged.prepared"; }

  // Says in a file what is tried.
  void tell(const std::string& what) const { std::ofstream(folder_ + "/forged.txt") << what << std::endl; }

  // Writes the file of a graph. In a file with several plans, the honest one is the first. Returns the reason why there
  // is none, or an empty text.
  [[nodiscard]] std::string write(const std::string& text) const {
    std::string line = is_range_ ? "lowtide-prepared 2 2" : "lowtide-prepared 1";
    std::string body;
    std::string constants;
    if (is_range_) {
      if (std::string fault = add_plan(text_, line, body, constants); !fault.empty()) return fault;
    }
    if (std::string fault = add_plan(text, line, body, constants); !fault.empty()) return fault;
    std::string file = line + " " + text_digest(body) + "\n" + body;
    file.resize((file.size() + 63) / 64 * 64, '\n');
    std::ofstream(path(), std::ios::binary) << file << constants;
    return "";
  }

  // The model that the file written last has for its graph.
  [[nodiscard]] Result<OpenedModel> open() const {
    if (!is_range_) return open_model(path());
    const Result<OpenedRange> range = open_range(path());
    if (!range) return range.error();
    return range->members.back();
  }

 private:
  // Plans a graph, and appends the sizes of its texts to the line, its texts to the body, and the bytes of its
  // constants. Returns the reason why there is no plan, or an empty text.
  [[nodiscard]] std::string add_plan(const std::string& text, std::string& line, std::string& body,
                                     std::string& constant_bytes) const {
    const Result<Graph> graph = parse_graph(text, "forged");
    if (!graph) return graph.error().message;
    const Provenance& of = model_.executable->plan().provenance;
    const Result<PlannedGraph> planned = plan_graph(*graph, target_,
                                                    {.order = "as_given",
                                                     .order_effort = 0,
                                                     .allocate_effort = 0,
                                                     .model = of.model,
                                                     .model_sha256 = of.model_sha256,
                                                     .lowering = of.lowering,
                                                     .dims = of.dims,
                                                     .skip = {PlanStage::verify}});
    if (!planned) return planned.error().message;
    std::map<ConstantId, const Tensor*> constants;
    add_constants(*graph, constants);
    const std::string plan = write_plan_json(planned->plan, labels_of(*graph));
    const std::string facts = facts_of(constants, constant_bytes);
    for (const std::string* part : {&facts, &text, &plan}) {
      line += " " + std::to_string(part->size());
      body += *part;
    }
    return "";
  }

  // The constants of a graph and its bodies, with the types that it declares.
  void add_constants(const Graph& graph, std::map<ConstantId, const Tensor*>& all) const {
    for (const Tensor& tensor : graph.tensors()) {
      const bool has_bytes = tensor.constant &&
                             model_.executable->weights().table().sources.contains(*tensor.constant) &&
                             model_.executable->weights().bytes(*tensor.constant);
      if (has_bytes) all[*tensor.constant] = &tensor;
    }
    for (const Node& node : graph.nodes()) {
      for (const Body& body : node.bodies) add_constants(*body.graph, all);
    }
  }

  // Also appends the bytes of the constants, with zeros where the model has fewer.
  [[nodiscard]] std::string facts_of(const std::map<ConstantId, const Tensor*>& constants, std::string& bytes) const {
    std::string out;
    JsonWriter json(out);
    json.begin_object(JsonWriter::Layout::lines);
    json.member("model_nodes", model_.model_nodes);
    json.key("default_inputs");
    json.begin_array();
    json.end_array();
    json.key("constants");
    json.begin_array(JsonWriter::Layout::lines);
    for (const auto& [id, tensor] : constants) {
      bytes.resize((bytes.size() + 63) / 64 * 64);
      json.begin_array();
      json.value(std::int64_t{id.value()});
      json.value(tensor->name);
      json.value(print_tensor_type(tensor->dtype, tensor->shape));
      json.value(static_cast<std::int64_t>(bytes.size()));
      json.end_array();
      const std::span<const std::byte> honest = *model_.executable->weights().bytes(id);
      std::string content(reinterpret_cast<const char*>(honest.data()), honest.size());
      content.resize(static_cast<std::size_t>(tensor->size.count()));
      bytes += content;
    }
    json.end_array();
    json.end_object();
    return out + "\n";
  }

  const OpenedModel& model_;
  std::string folder_;
  bool is_range_;
  const Graph& graph_;
  std::string text_;
  Target target_;
};

// "ran", or the code with which the run ended.
std::string run_synthetic(const OpenedModel& model) {
  const Executable& executable = *model.executable;
  const Arena arena = take_from(Arena::allocate(executable.required_bytes()));
  Session session = take_from(Session::open(model.executable, arena));
  std::vector<std::vector<std::byte>> inputs;
  for (const Port& port : executable.inputs()) {
    std::vector<std::byte>& bytes = inputs.emplace_back(static_cast<std::size_t>(port.size.count()));
    const ConstantSource like{port.name, port.dtype, port.shape, port.size, ConstantSource::Computed{}};
    if (!fill_synthetic(like, 1, bytes).ok()) return "input without synthetic content";
    const Result<void> bound = session.bind_input(port.name, {port.dtype, port.shape.extents(), bytes});
    if (!bound) return bound.error().message;
  }
  const RunResult result = session.run();
  return result.ok() ? "ran" : std::string(to_string(result.status.code));
}

}  // namespace

ForgedOutcomes try_forged_files(const OpenedModel& model, const std::string& folder, const ForgedOptions& options,
                                int& number) {
  const Forger forger(model, folder, options.is_range);
  if (const std::string fault = forger.write(forger.text()); !fault.empty()) throw std::runtime_error(fault);
  const OpenedModel honest = take_from(forger.open());
  if (run_synthetic(honest).empty()) throw std::runtime_error("the honest file has no outcome");
  ForgedOutcomes outcomes;
  for (const Forgery& forged : forgeries_of(forger.text())) {
    if (number++ % options.part != 0) continue;
    forger.tell(forged.what);
    auto& [all, refused] = outcomes.by_role[forged.role];
    ++all;
    std::string outcome = forger.write(forged.text);
    if (outcome.empty()) {
      const Result<OpenedModel> opened = forger.open();
      outcome = opened ? run_synthetic(*opened) : "";
      if (opened) {
        ++(outcome == "ran" ? outcomes.harmless : outcomes.stopped);
        outcomes.listed += outcome + ": " + forged.what + "\n";
        continue;
      }
      forger.tell(forged.what + "\n" + opened.error().describe());
    }
    ++outcomes.refused;
    ++refused;
  }
  return outcomes;
}

}  // namespace lowtide::testing
