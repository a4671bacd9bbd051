// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/netdef/onnx_of_net.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

#include "lowtide/base/article.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/earlier/conversion/element_bytes.h"
#include "lowtide/earlier/netdef/format.h"
#include "lowtide/earlier/netdef/net_walk.h"
#include "lowtide/earlier/netdef/op_conversion.h"

namespace lowtide {
namespace netdef_internal {
namespace {

constexpr std::size_t kMostShown = 8;

constexpr auto kRandomOps = std::to_array<std::string_view>(
    {"GaussianFill", "MSRAFill", "RandomCrop", "UniformFill", "UniformIntFill", "XavierFill"});

bool is_random_op(std::string_view type) { return std::ranges::find(kRandomOps, type) != kRandomOps.end(); }

// Why no conversion makes the operator run, and the way out. Empty: there is a conversion.
std::string why_op_does_not_run(const NetOp& op) {
  const std::string_view type = op.view.type();
  if (!op.captures.empty() || type == "RecurrentNetwork" || type == "If" || type == "While") {
    return "has nets inside, which have no conversion";
  }
  if (conversion_of_op(type) != nullptr) return "";
  if (is_random_op(type)) {
    return "is random; give the init net that the training saved, give its result with --input NAME=FILE.npy, or make "
           "it up with --synthetic SEED";
  }
  if (type.ends_with("Gradient") || type == "LabelCrossEntropy" || type == "AveragedLoss" || type == "Accuracy" ||
      type == "SoftmaxWithLoss" || type == "Iter" || type == "AtomicIter" || type == "LearningRate") {
    return "is for training; use the net for inference";
  }
  return "has no conversion to operators of ONNX; replace it in the net by operators that have one";
}

// One of the two nets while its operators become nodes.
class NetConversion {
 public:
  NetConversion(OnnxBuilder& to, const NetWalk& walk, std::vector<std::string> names, std::string place)
      : to_(to),
        walk_(walk),
        names_(std::move(names)),
        place_(std::move(place)),
        may_have_inputs_(place_.empty()),
        is_needed_(walk.ops().size(), false) {}

  // The readers of a version read this input of the model instead of what the net writes.
  void replace(std::uint32_t version, const std::string& input) { replaced_.emplace(version, input); }
  // Marks the operators that these versions depend on.
  void need(const std::vector<std::uint32_t>& versions);
  // What keeps a needed operator from running.
  void add_problems(std::vector<std::string>& problems) const;
  void add_unknown_types(std::vector<std::string>& unknown) const;
  Result<void> convert();

  [[nodiscard]] const NetWalk& walk() const { return walk_; }
  [[nodiscard]] const std::string& name(std::uint32_t version) const { return names_[version]; }
  [[nodiscard]] bool is_needed(std::uint32_t version) const { return needed_.contains(version); }
  [[nodiscard]] OnnxType type(std::uint32_t version) const {
    return {walk_.versions()[version].type->dtype, walk_.versions()[version].type->extents};
  }

 private:
  Result<void> convert_op(const NetOp& op);

  OnnxBuilder& to_;
  const NetWalk& walk_;
  std::vector<std::string> names_;                           // by version
  std::unordered_map<std::uint32_t, std::string> replaced_;  // names of inputs, by version
  std::string place_;                                        // of errors: "" or "the init net, "
  bool may_have_inputs_;         // external inputs of the init net are there only if the net has them too
  std::vector<bool> is_needed_;  // by operator
  std::unordered_set<std::uint32_t> needed_;
};

void NetConversion::need(const std::vector<std::uint32_t>& versions) {
  std::vector<std::uint32_t> open = versions;
  while (!open.empty()) {
    const std::uint32_t version = open.back();
    open.pop_back();
    if (!needed_.insert(version).second || replaced_.contains(version)) continue;
    const std::optional<std::uint32_t> writer = walk_.versions()[version].writer;
    if (!writer || is_needed_[*writer]) continue;
    is_needed_[*writer] = true;
    for (const std::optional<std::uint32_t>& input : walk_.ops()[*writer].inputs) {
      if (input) open.push_back(*input);
    }
  }
}

void NetConversion::add_problems(std::vector<std::string>& problems) const {
  for (std::size_t at = 0; at < walk_.ops().size(); ++at) {
    const NetOp& op = walk_.ops()[at];
    const std::string reason = is_needed_[at] ? why_op_does_not_run(op) : "";
    if (!reason.empty()) problems.push_back(place_ + shown_op(op.view, op.at) + " " + reason);
  }
}

void NetConversion::add_unknown_types(std::vector<std::string>& unknown) const {
  const auto is_known = [&](const std::optional<std::uint32_t>& version) {
    return !version || walk_.versions()[*version].type.has_value();
  };
  for (std::uint32_t id = 0; id < walk_.versions().size(); ++id) {
    const NetVersion& version = walk_.versions()[id];
    if (!needed_.contains(id)) continue;
    const bool has_no_source = !version.writer && !may_have_inputs_ && !replaced_.contains(id);
    if (version.type && !has_no_source) continue;
    const std::string name = quoted(walk_.blobs()[version.blob].name, 60);
    if (!version.writer) {
      unknown.push_back(place_ + "external input " + name);
      continue;
    }
    const NetOp& op = walk_.ops()[*version.writer];
    if (std::ranges::all_of(op.inputs, is_known)) unknown.push_back(place_ + name + " of " + shown_op(op.view, op.at));
  }
}

Result<void> NetConversion::convert() {
  for (std::size_t at = 0; at < walk_.ops().size(); ++at) {
    if (is_needed_[at]) LOWTIDE_RETURN_IF_ERROR(convert_op(walk_.ops()[at]));
  }
  return {};
}

Result<void> NetConversion::convert_op(const NetOp& op) {
  OpConversion conversion{.to = to_, .op = op.view, .inputs = {}, .outputs = {}, .operands = {}, .results = {}};
  for (const std::optional<std::uint32_t>& input : op.inputs) {
    conversion.inputs.push_back(input ? *walk_.versions()[*input].type : BlobType{});
    conversion.contents.push_back(input ? walk_.versions()[*input].content : std::nullopt);
    const auto replaced = input ? replaced_.find(*input) : replaced_.end();
    conversion.operands.push_back(replaced != replaced_.end() ? replaced->second : input ? names_[*input] : "");
  }
  for (const std::optional<std::uint32_t>& output : op.outputs) {
    const std::optional<BlobType> type = output ? walk_.versions()[*output].type : std::nullopt;
    conversion.outputs.push_back(type.value_or(BlobType{}));
    conversion.results.push_back(output ? names_[*output] : "");
  }
  const auto has_no_name = [](const std::string& name) { return name.empty(); };
  const bool needs_operand = op.view.type().find("Fill") == std::string_view::npos;
  if ((needs_operand && conversion.operands.empty()) || conversion.results.empty() ||
      std::ranges::any_of(conversion.operands, has_no_name) || std::ranges::any_of(conversion.results, has_no_name)) {
    conversion.fault = "an input or an output is missing";
  }
  for (const auto* types : {&conversion.inputs, &conversion.outputs}) {
    for (const BlobType& one : *types) {
      if (!has_element_bytes(one.dtype)) conversion.fault = no_such_elements(one.dtype);
    }
  }
  if (conversion.fault.empty()) {
    conversion_of_op(op.view.type())(conversion);
  }
  for (std::size_t at = 0; at < op.outputs.size() && conversion.fault.empty(); ++at) {
    if (!op.outputs[at] || !needed_.contains(*op.outputs[at]) || to_.writes(conversion.results[at])) continue;
    conversion.fault = "its output " + std::to_string(at) + " has no conversion";
  }
  if (conversion.fault.empty()) return {};
  return Error{ErrorCode::unsupported, "this operator cannot run here: " + conversion.fault,
               place_ + shown_op(op.view, op.at)};
}

class NetToOnnx {
 public:
  NetToOnnx(const ProtoMessage& net, const OnnxOfNetOptions& options, const NetWalk& walk, const NetWalk* init)
      : net_(net), options_(options), walk_(walk), init_(init) {}

  Result<OnnxOfNet> make() &&;

 private:
  std::vector<std::string> init_names();
  // The last version of a blob in the init net, if that net fills the blob and the caller does not give it.
  [[nodiscard]] std::optional<std::uint32_t> filled(const NetBlob& blob) const;
  Result<void> replace_filled(const NetConversion& main, std::uint32_t input, NetConversion& init);
  Result<void> add_inputs(const NetConversion& main, NetConversion* init);

  const ProtoMessage& net_;
  const OnnxOfNetOptions& options_;
  const NetWalk& walk_;
  const NetWalk* init_;
  OnnxBuilder to_;
  std::vector<std::string> notes_;
};

std::optional<std::uint32_t> NetToOnnx::filled(const NetBlob& blob) const {
  if (init_ == nullptr || options_.given.contains(std::string(blob.name))) return std::nullopt;
  const std::optional<std::uint32_t> found = init_->find_blob(blob.name);
  if (!found) return std::nullopt;
  const std::uint32_t last = init_->blobs()[*found].versions.back();
  const std::optional<std::uint32_t> writer = init_->versions()[last].writer;
  if (!writer || (options_.makes_up_parameters && is_random_op(init_->ops()[*writer].view.type()))) return std::nullopt;
  return last;
}

// The last version of a blob that the net reads has its name there, unless it is an input. Others have names of their
// own.
std::vector<std::string> NetToOnnx::init_names() {
  std::vector<std::string> names(init_->versions().size());
  for (const NetBlob& blob : init_->blobs()) {
    const std::optional<std::uint32_t> read = walk_.find_blob(blob.name);
    for (std::uint32_t version : blob.versions) {
      const bool is_read = read && walk_.blobs()[*read].is_external && filled(blob) == version;
      names[version] = is_read ? std::string(blob.name) : to_.fresh("init/" + std::string(blob.name));
    }
  }
  return names;
}

// An input takes the place of what the init net writes last to the blob, also for the operators of that net.
Result<void> NetToOnnx::replace_filled(const NetConversion& main, std::uint32_t input, NetConversion& init) {
  const std::optional<std::uint32_t> found = init.walk().find_blob(main.name(input));
  if (!found) return {};
  const std::uint32_t last = init.walk().blobs()[*found].versions.back();
  const NetVersion& filled = init.walk().versions()[last];
  const BlobType& given = *main.walk().versions()[input].type;
  if (filled.type && filled.is_read && *filled.type != given) {
    return Error{ErrorCode::invalid,
                 "the parameter " + quoted(main.name(input), 60) + " is given as " + shown_type(given) +
                     ", but the init net, which also reads it, fills " + shown_type(*filled.type),
                 ""};
  }
  init.replace(last, main.name(input));
  return {};
}

Result<void> NetToOnnx::add_inputs(const NetConversion& main, NetConversion* init) {
  std::vector<std::uint32_t> from_init;
  std::vector<std::string> weights;
  for (const NetBlob& blob : walk_.blobs()) {
    if (!blob.is_external) continue;
    const std::uint32_t version = blob.versions.front();
    if (const std::optional<std::uint32_t> last = filled(blob)) {
      if (main.is_needed(version)) from_init.push_back(*last);
      continue;
    }
    if (!walk_.versions()[version].type) continue;
    to_.add_input(main.name(version), main.type(version));
    if (init != nullptr) LOWTIDE_RETURN_IF_ERROR(replace_filled(main, version, *init));
    if (blob.is_weight && !blob.is_written) weights.push_back(quoted(blob.name, 60));
  }
  if (init != nullptr) init->need(from_init);
  if (weights.empty()) return {};
  notes_.push_back("no init net fills " + with_count(static_cast<std::int64_t>(weights.size()), "parameter") +
                   ", which the caller gives as inputs: " + listed_first(weights, kMostShown) +
                   "; --init-net FILE names a net that fills them");
  return {};
}

Result<OnnxOfNet> NetToOnnx::make() && {
  std::vector<std::string> names = names_of_versions(walk_);
  for (const std::string& name : names) to_.reserve(name);
  NetConversion main(to_, walk_, std::move(names), "");
  LOWTIDE_TRY(const ReturnedVersions returned, returned_versions(net_, walk_));
  if (returned.versions.empty()) return Error{ErrorCode::unsupported, "the net has no result to compute", ""};
  if (!returned.are_listed) {
    notes_.push_back("the net lists no external outputs, so " + std::to_string(returned.versions.size()) +
                     " results that no operator reads are its outputs");
  }
  main.need(returned.versions);
  std::optional<NetConversion> init;
  if (init_ != nullptr) init.emplace(to_, *init_, init_names(), "the init net, ");
  LOWTIDE_RETURN_IF_ERROR(add_inputs(main, init ? &*init : nullptr));
  std::vector<std::string> problems;
  std::vector<std::string> unknown;
  main.add_problems(problems);
  main.add_unknown_types(unknown);
  if (init) {
    init->add_problems(problems);
    init->add_unknown_types(unknown);
  }
  if (!problems.empty()) {
    return Error{ErrorCode::unsupported,
                 "the net cannot run here: " + listed_first(problems, kMostShown) +
                     "; docs/netdef.md lists the operators that run, and commands without --target cpu plan such a net",
                 ""};
  }
  if (!unknown.empty()) {
    return Error{ErrorCode::unresolved,
                 "the sizes of some blobs are not known: " + listed_first(unknown, kMostShown) +
                     "; set them with --shape NAME=AxB, with --shapes FILE, or with --init-net FILE for parameters",
                 ""};
  }
  if (init) LOWTIDE_RETURN_IF_ERROR(init->convert());
  LOWTIDE_RETURN_IF_ERROR(main.convert());
  for (std::uint32_t version : returned.versions) to_.add_output(main.name(version), main.type(version));
  return OnnxOfNet{std::move(to_).finish(std::string(find_text(net_, net_field::kName).value_or("net"))),
                   std::move(notes_)};
}

}  // namespace
}  // namespace netdef_internal

Result<OnnxOfNet> onnx_of_net(const ProtoMessage& net, const OnnxOfNetOptions& options) {
  netdef_internal::NetWalk walk(net, options.graph);
  LOWTIDE_RETURN_IF_ERROR(walk.walk());
  for (const auto& [name, shape] : options.graph.shapes) {
    if (walk.find_blob(name)) continue;
    return Error{ErrorCode::invalid, "the shape of " + quoted(name, 60) + " is given, but the net has no such blob",
                 ""};
  }
  const NetGraphOptions none;
  std::optional<netdef_internal::NetWalk> init;
  if (options.init_net != nullptr) {
    init.emplace(*options.init_net, none);
    if (const Result<void> walked = init->walk(); !walked) {
      return Error{walked.error().code, walked.error().message, "the init net, " + walked.error().place};
    }
  }
  return netdef_internal::NetToOnnx(net, options, walk, init ? &*init : nullptr).make();
}

}  // namespace lowtide
