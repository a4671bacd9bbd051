// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/tools/forged_files.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/json_writer.h"
#include "lowtide/graph/text.h"
#include "lowtide/import/import.h"
#include "lowtide/kernels/cpu_target.h"
#include "lowtide/kernels/kernel.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/plan/labels.h"
#include "lowtide/plan/plan_json.h"
#include "lowtide/runtime/session.h"
#include "lowtide/weights/synthetic.h"

namespace lowtide::testing {
namespace {

template <typename T>
T take_from(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().describe());
  return *std::move(result);
}

// A type in the text form of a graph.
struct DeclaredType {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string line;  // that it is in
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The types outside of quotes: ": f32[2,3]".
std::vector<DeclaredType> declared_types(const std::string& text) {
  std::vector<DeclaredType> all;
  bool is_quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && is_quoted)
      ++at;
    else if (text[at] == '"')
      is_quoted = !is_quoted;
    else if (!is_quoted && text[at] == '[' && at > 0 && is_word(text[at - 1])) {
      std::size_t begin = at;
      while (begin > 0 && is_word(text[begin - 1])) --begin;
      const std::size_t end = text.find(']', at) + 1;
      if (!parse_tensor_type(text.substr(begin, end - begin))) continue;
      const std::size_t line = text.rfind('\n', begin) + 1;
      all.push_back({begin, end, text.substr(line, text.find('\n', begin) - line)});
    }
  }
  return all;
}

Shape with_extents(const Shape& like, std::vector<std::int64_t> extents, int shift) {
  Shape shape(std::move(extents));
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (axis - shift >= 0 && axis - shift < like.rank() && like.is_at_most(axis - shift)) shape.mark_at_most(axis);
  }
  return shape;
}

DType of_other_size(DType dtype) {
  switch (dtype) {
    case DType::f32: return DType::f16;
    case DType::i64: return DType::i32;
    case DType::i32: return DType::i64;
    case DType::f16: return DType::f32;
    default: return DType::i32;
  }
}

std::vector<TensorType> forged_types(const TensorType& honest) {
  std::vector<TensorType> all;
  const std::vector<std::int64_t>& extents = honest.shape.extents();
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    for (const std::int64_t change : {1, -1}) {
      std::vector<std::int64_t> other = extents;
      other[axis] += change;
      if (other[axis] >= 0) all.push_back({honest.dtype, with_extents(honest.shape, other, 0)});
    }
  }
  std::vector<std::int64_t> more = extents;
  more.insert(more.begin(), 1);
  all.push_back({honest.dtype, with_extents(honest.shape, more, 1)});
  if (!extents.empty()) {
    const std::vector<std::int64_t> less(extents.begin() + 1, extents.end());
    all.push_back({honest.dtype, with_extents(honest.shape, less, -1)});
  }
  for (const DType dtype : {of_other_size(honest.dtype), DType::i8}) {
    if (bits_of(dtype) != bits_of(honest.dtype)) all.push_back({dtype, honest.shape});
  }
  return all;
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
  Forger(const OpenedModel& model, std::string folder)
      : model_(model), folder_(std::move(folder)), graph_(model.executable->graph()), text_(print_graph(graph_)) {
    target_ = take_from(cpu_target({.threads = 1}));
    target_.catalogue = std::make_shared<HonestCatalogue>(graph_);
  }

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::string path() const { return folder_ + "/forged.prepared"; }

  // Says in a file what is tried.
  void tell(const std::string& what) const { std::ofstream(folder_ + "/forged.txt") << what << std::endl; }

  // Writes the file of a graph. Returns the reason why there is none, or an empty text.
  [[nodiscard]] std::string write(const std::string& text) const {
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
    std::string bytes;
    const std::string facts = facts_of(constants, bytes);
    std::string file = "lowtide-prepared 1";
    for (const std::string* part : {&facts, &text, &plan}) file += " " + std::to_string(part->size());
    file += " " + text_digest(facts + text + plan) + "\n" + facts + text + plan;
    file.resize((file.size() + 63) / 64 * 64, '\n');
    std::ofstream(path(), std::ios::binary) << file << bytes;
    return "";
  }

 private:
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

std::string role_of(const std::string& line) {
  const std::string_view begin = std::string_view(line).substr(std::min(line.find_first_not_of(' '), line.size()));
  for (const std::string_view role : {"input", "constant", "state"}) {
    if (begin.starts_with(role)) return std::string(role);
  }
  return begin.starts_with("capture") ? "captured" : "result";
}

}  // namespace

ForgedOutcomes try_forged_files(const OpenedModel& model, const std::string& folder, int part, int& number) {
  const Forger forger(model, folder);
  if (const std::string fault = forger.write(forger.text()); !fault.empty()) throw std::runtime_error(fault);
  const OpenedModel honest = take_from(open_model(forger.path()));
  if (run_synthetic(honest).empty()) throw std::runtime_error("the honest file has no outcome");
  ForgedOutcomes outcomes;
  for (const DeclaredType& declared : declared_types(forger.text())) {
    const std::string was = forger.text().substr(declared.begin, declared.end - declared.begin);
    for (const TensorType& forged : forged_types(*parse_tensor_type(was))) {
      if (number++ % part != 0) continue;
      const std::string type = print_tensor_type(forged.dtype, forged.shape);
      const std::string what = was + " as " + type + " in: " + declared.line;
      forger.tell(what);
      std::string text = forger.text();
      text.replace(declared.begin, declared.end - declared.begin, type);
      auto& [all, refused] = outcomes.by_role[role_of(declared.line)];
      ++all;
      std::string outcome = forger.write(text);
      if (outcome.empty()) {
        const Result<OpenedModel> opened = open_model(forger.path());
        outcome = opened ? run_synthetic(*opened) : "";
        if (opened) {
          ++(outcome == "ran" ? outcomes.harmless : outcomes.stopped);
          outcomes.listed += outcome + ": " + what + "\n";
          continue;
        }
        forger.tell(what + "\n" + opened.error().describe());
      }
      ++outcomes.refused;
      ++refused;
    }
  }
  return outcomes;
}

}  // namespace lowtide::testing
