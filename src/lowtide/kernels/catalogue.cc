// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "lowtide/base/article.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/parse_number.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/graph/body_names.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/graph/node_name.h"
#include "lowtide/graph/operand_types.h"
#include "lowtide/kernels/common/seconds_of.h"
#include "lowtide/kernels/cpu_target.h"
#include "lowtide/kernels/extents/check_extents.h"
#include "lowtide/kernels/families.h"
#include "lowtide/kernels/formats.h"
#include "lowtide/kernels/kernel.h"
#include "lowtide/kernels/onednn/onednn.h"
#include "lowtide/kernels/supported.h"
#include "lowtide/kernels/team.h"

namespace lowtide {
namespace {

using kernels_internal::families;
using kernels_internal::families_with;
using kernels_internal::Family;
using kernels_internal::has_onednn;
using kernels_internal::Offer;
using kernels_internal::OfferInput;
using kernels_internal::seconds_of;

// Families are in the order of their speed. Measured: a plain product of 256 x 768 x 50,257 takes 1.4 times as long as
// that of oneDNN, and the plain convolutions of randwire_s1 take 2.5 times as long as those in blocks.
constexpr double kTimeOfLaterFamilies = 2;

// MachineKey::kernels.
constexpr const char* kKernels = "10";

// Where texts of a key begin.
constexpr std::string_view kCachesOfKey = "caches=";
constexpr std::string_view kThreadsOfKey = "threads=";

// What follows `begin` in the first text that begins so.
std::optional<std::string_view> text_after(std::string_view begin, const std::vector<std::string>& texts) {
  const auto text = std::ranges::find_if(texts, [&](const std::string& one) { return one.starts_with(begin); });
  return text == texts.end() ? std::nullopt : std::optional(std::string_view(*text).substr(begin.size()));
}

// Whether a family has kernels here. oneDNN is loaded only where its kernels are asked for.
bool is_available(const Family& family, bool includes_onednn) {
  return !family.is_of_onednn || (includes_onednn && has_onednn());
}

std::string place_of(const Graph& graph, NodeId node) {
  return "graph " + quoted(graph.name()) + ": node " + std::to_string(node.value()) + " " +
         quoted(graph.node(node).name);
}

// A plain convolution is slow even where it is the only kernel, because in other formats the node has a faster one.
bool is_slow(const Kernel& kernel, const Operator& op, bool is_first) {
  return !is_first || (kernel.name == "plain" && op.type == kConvType);
}

void collect_unsupported(const Graph& graph, const std::string& path, std::vector<UnsupportedNode>& out) {
  const BodyNames names(graph);
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const Node& node = graph.node(id);
    const std::string name = node_name(graph, id);
    for (const Body& body : node.bodies) collect_unsupported(*body.graph, path + names.prefix(id, body), out);
    if (!node.bodies.empty() || is_caller(graph.op(id))) continue;
    Offer offer = kernels_internal::offer_of_all({.graph = graph, .node = id});
    if (offer.kernels.empty()) out.push_back({id, path, name, full_name(graph.op(id)), std::move(offer.missing)});
  }
}

// If several families have an operator, the row of the last one stays. It is the plain one, with the most types.
std::vector<SupportedOperator> list_operators() {
  std::map<std::pair<std::string_view, std::string_view>, SupportedOperator> rows;
  for (const Family& family : families()) {
    if (!is_available(family, true)) continue;
    for (const SupportedOperator& row : family.operators) rows.insert_or_assign({row.domain, row.type}, row);
  }
  std::vector<SupportedOperator> all;
  for (const auto& [key, row] : rows) all.push_back(row);
  return all;
}

class CpuCatalogue final : public Catalogue {
 public:
  CpuCatalogue(int threads, const CacheSizes& caches) : threads_(threads), caches_(caches) {}

  [[nodiscard]] std::vector<Kernel> kernels(const Graph& graph, NodeId node) const override {
    std::vector<Kernel> offered = offered_kernels(graph, node, threads_, caches_);
    if (!offered.empty()) return offered;
    std::vector<Kernel> unknown = dense_catalogue()->kernels(graph, node);
    const bool is_run_by_runtime = !graph.node(node).bodies.empty() || is_caller(graph.op(node));
    for (Kernel& kernel : unknown) kernel.is_memory_known = kernel.is_memory_known && is_run_by_runtime;
    return unknown;
  }

 private:
  int threads_;
  CacheSizes caches_;
};

}  // namespace

namespace kernels_internal {

Offer offer_of_all(const OfferInput& input) {
  Offer all;
  all.missing = contradiction_of_types(input.graph, input.node);
  if (all.missing.empty()) all.missing = contradiction_of_extents(input.graph, input.node, {});
  if (!all.missing.empty()) return all;
  for (const Family* family : families_with(input.graph.op(input.node))) {
    if (!is_available(*family, input.includes_onednn)) continue;
    Offer one = family->offer(input);
    for (Kernel& kernel : one.kernels) {
      if (kernel.cost_seconds == 0 && is_slow(kernel, input.graph.op(input.node), all.kernels.empty()))
        kernel.cost_seconds = kTimeOfLaterFamilies * seconds_of(input.graph, input.node);
    }
    std::move(one.kernels.begin(), one.kernels.end(), std::back_inserter(all.kernels));
    if (!one.missing.empty()) all.missing = std::move(one.missing);
  }
  if (!all.kernels.empty()) {
    all.missing.clear();
  } else if (all.missing.empty()) {
    all.missing = "no kernel has this operator";
  }
  return all;
}

}  // namespace kernels_internal

std::vector<Kernel> offered_kernels(const Graph& graph, NodeId node, int threads, const CacheSizes& caches) {
  return kernels_internal::offer_of_all({.graph = graph, .node = node, .threads = threads, .caches = caches}).kernels;
}

Result<std::unique_ptr<PreparedKernel>> prepare(const PrepareInput& input) {
  LOWTIDE_TRY(PreparedOffer made, prepare_offer(input));
  return std::move(made.kernel);
}

Result<void> check_extents(const Graph& graph, NodeId node, const ConstantBytes& constant) {
  std::string contradiction = kernels_internal::contradiction_of_extents(graph, node, constant);
  if (contradiction.empty()) return {};
  return Error{ErrorCode::invalid, std::move(contradiction), place_of(graph, node)};
}

Result<PreparedOffer> prepare_offer(const PrepareInput& input) {
  LOWTIDE_RETURN_IF_ERROR(check_extents(input.graph, input.node, input.constant));
  const std::string_view wanted = input.kernel == "dense" ? "plain" : input.kernel;
  const bool is_of_onednn = is_onednn_kernel(wanted);
  const bool has_contradiction = !contradiction_of_types(input.graph, input.node).empty();
  for (const Family* family : families_with(input.graph.op(input.node))) {
    if (has_contradiction) break;
    if (!is_available(*family, is_of_onednn)) continue;
    Offer offer = family->offer({.graph = input.graph,
                                 .node = input.node,
                                 .threads = input.threads,
                                 .caches = input.caches,
                                 .includes_onednn = is_of_onednn});
    const auto found = std::ranges::find(offer.kernels, wanted, &Kernel::name);
    if (found == offer.kernels.end()) continue;
    PrepareInput of_family = input;
    of_family.kernel = wanted;
    LOWTIDE_TRY(std::unique_ptr<PreparedKernel> kernel, family->prepare(of_family));
    return PreparedOffer{std::move(*found), std::move(kernel)};
  }
  return Error{ErrorCode::unsupported,
               "no kernel " + quoted(input.kernel) + " for operator " + full_name(input.graph.op(input.node)) +
                   " with these types; make the plan again with --target cpu",
               place_of(input.graph, input.node)};
}

const std::vector<SupportedOperator>& supported_operators() {
  static const std::vector<SupportedOperator> all = list_operators();
  return all;
}

std::vector<UnsupportedNode> unsupported(const Graph& graph) {
  std::vector<UnsupportedNode> found;
  collect_unsupported(graph, "", found);
  return found;
}

namespace {

// An operator that ONNX Runtime writes when it optimizes a model.
bool is_of_runtime_optimizer(std::string_view type) {
  constexpr std::array<std::string_view, 4> kTypes = {"FusedConv", "FusedGemm", "FusedMatMul", "NhwcMaxPool"};
  constexpr std::string_view kBlocked = "com.microsoft.nchwc::";
  constexpr std::string_view kRuntime = "com.microsoft::";
  if (type.starts_with(kBlocked)) return true;
  return type.starts_with(kRuntime) && std::ranges::find(kTypes, type.substr(kRuntime.size())) != kTypes.end();
}

}  // namespace

Error unsupported_error(const std::vector<UnsupportedNode>& nodes) {
  LOWTIDE_CHECK(!nodes.empty(), "an error names at least one node");
  std::string message = with_count(static_cast<std::int64_t>(nodes.size()), "node") + " cannot run here:";
  for (const UnsupportedNode& node : nodes) {
    message += "\n  " + node.type + " " + quoted(node.path + node.name) + ": " + node.missing;
  }
  if (std::ranges::any_of(nodes, is_of_runtime_optimizer, &UnsupportedNode::type)) {
    message +=
        "\nONNX Runtime has optimized this model and saved it with operators of its own; run the model from before "
        "that";
  }
  return Error{ErrorCode::unsupported, std::move(message), ""};
}

Result<void> check_threads(int threads) {
  if (threads >= 1 && threads <= limits::kMaxTeamThreads) return {};
  return Error{ErrorCode::unsupported,
               std::to_string(threads) + " threads are not supported; choose a number from 1 to " +
                   std::to_string(limits::kMaxTeamThreads),
               ""};
}

Result<Target> cpu_target(const CpuOptions& options) {
  LOWTIDE_RETURN_IF_ERROR(check_threads(options.threads));
  // One member after another, because GCC 12 destroys parts of an aggregate twice if a later part throws.
  Target target;
  target.name = "cpu";
  target.machine.regions = {Region{.name = "arena"}};
  target.machine.workers = {Worker{.name = "cpu"}};
  target.catalogue = std::make_shared<CpuCatalogue>(options.threads, options.caches.value_or(machine_caches()));
  target.machine_key = texts_of(machine_key(options));
  target.formats = kernels_internal::cpu_formats();
  return target;
}

MachineKey machine_key(const CpuOptions& options) {
  kernels_internal::OnednnKey library = kernels_internal::onednn_key();
  return {.isa = std::move(library.isa),
          .library = std::move(library.version),
          .kernels = kKernels,
          .threads = options.threads,
          .caches = options.caches.value_or(machine_caches())};
}

bool is_onednn_kernel(std::string_view name) { return name.starts_with(kernels_internal::kOnednnPrefix); }

bool runs_here(const std::vector<std::string>& texts, int threads, std::span<const std::string_view> kernels) {
  const CpuOptions like{.threads = threads, .caches = options_of_key(texts).caches};
  if (std::ranges::any_of(kernels, &is_onednn_kernel)) return texts == texts_of(machine_key(like));
  const std::vector<std::string> own =
      texts_of({.isa = "", .library = "", .kernels = kKernels, .threads = threads, .caches = *like.caches});
  return std::ranges::equal(texts, own, [](std::string_view text, std::string_view of_own) {
    return text == of_own || (of_own.ends_with('=') && text.starts_with(of_own));
  });
}

bool is_key_of_machine(const std::vector<std::string>& texts) {
  return texts == texts_of(machine_key(options_of_key(texts)));
}

std::vector<std::string> texts_of(const MachineKey& key) {
  return {std::string(kCachesOfKey) + to_text(key.caches), "isa=" + key.isa, "kernels=" + key.kernels,
          "library=" + key.library, std::string(kThreadsOfKey) + std::to_string(key.threads)};
}

CpuOptions options_of_key(const std::vector<std::string>& texts) {
  CpuOptions options{.caches = CacheSizes()};
  const int threads = threads_of(texts).value_or(1);
  if (check_threads(threads).ok()) options.threads = threads;
  const std::optional<std::string_view> caches = text_after(kCachesOfKey, texts);
  if (const std::optional<CacheSizes> known = parse_caches(caches.value_or(""))) options.caches = known;
  return options;
}

std::optional<int> threads_of(const std::vector<std::string>& texts) {
  const std::optional<std::string_view> text = text_after(kThreadsOfKey, texts);
  if (!text) return std::nullopt;
  const std::optional<std::int64_t> count = parse_number(*text);
  if (!count || *count > limits::kMaxTeamThreads) return std::nullopt;
  return static_cast<int>(*count);
}

}  // namespace lowtide
