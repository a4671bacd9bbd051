// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/passes.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/lower/load/load_time.h"
#include "lowtide/lower/machine/choose_formats.h"
#include "lowtide/lower/machine/fuse_chains.h"
#include "lowtide/lower/machine/fuse_epilogues.h"
#include "lowtide/lower/machine/use_winograd.h"
#include "lowtide/lower/memory/inputs_in_arena.h"
#include "lowtide/lower/memory/outputs_at_caller.h"
#include "lowtide/lower/model/fold_batch_norm.h"
#include "lowtide/lower/model/fold_padding.h"
#include "lowtide/lower/model/fuse_attention.h"
#include "lowtide/lower/model/fuse_layer_norm.h"
#include "lowtide/lower/model/quantized_kernels.h"
#include "lowtide/lower/model/remove_unneeded.h"
#include "lowtide/lower/model/widen_halves.h"

namespace lowtide {
namespace {

using Changed = Result<std::optional<Rewritten>>;

Changed move_to_load(const Graph& graph, PassInput& input) {
  Result<LoadTimeSplit> split = split_load_time(graph, input.constants);
  if (!split) return split.error();
  input.load = std::move(split->load);
  return std::move(split->run);
}

constexpr std::string_view kRounding = "differ by rounding, and where an infinity is read";

// The rows have this order for these reasons. A BatchNormalization is folded before work on constants is found, because
// such work follows from it. Chains come after that work, so that they never contain any. Formats come after chains,
// which have one format each. Epilogues are chains in the format of their product. Last comes the algorithm of a
// product. Inputs and outputs get their place in the graph that results.
constexpr Pass kPasses[] = {
    {.id = PassId::unneeded,
     .name = "unneeded",
     .help = "leaves out copies, also a Dropout in training whose ratio is 0, and nodes whose results nothing needs",
     .differs = "",
     .use = PassUse::kernels,
     .traits = {},
     .run = [](const Graph& graph, PassInput& in) { return remove_unneeded(graph, in.table); }},
    {.id = PassId::padding,
     .name = "padding",
     .help = "lets a convolution or an average pool pad its image itself, in place of a Pad with zeros before it",
     .differs = "may differ in the sign of 0",
     .use = PassUse::kernels,
     .traits = {},
     .run = [](const Graph& graph, PassInput& in) { return fold_padding(graph, in.table); }},
    {.id = PassId::halves,
     .name = "halves",
     .help = "lets operators on f16 compute on f32, with f32 copies of their constants, which need twice the bytes",
     .differs = kRounding,
     .use = PassUse::kernels,
     .traits = {},
     .run = [](const Graph& graph, PassInput& /*in*/) { return widen_halves(graph); }},
    {.id = PassId::batch_norm,
     .name = "batch_norm",
     .help = "folds a BatchNormalization into the convolution before it, and computes the new weights when the model "
             "is loaded",
     .differs = kRounding,
     .use = PassUse::kernels,
     .traits = {},
     .run = [](const Graph& graph, PassInput& /*in*/) { return fold_batch_norm(graph); }},
    {.id = PassId::layer_norm,
     .name = "layer_norm",
     .help = "makes one LayerNormalization of the nodes that exporters write for it before opset 17",
     .differs = kRounding,
     .use = PassUse::kernels,
     .traits = {PassTrait::needs_table},
     .run = [](const Graph& graph, PassInput& in) { return fuse_layer_norm(graph, *in.table); }},
    {.id = PassId::attention,
     .name = "attention",
     .help = "makes one node of the products, the Softmax and the Transposes of an attention, so that its scores are "
             "only in memory for a few queries at a time",
     .differs = kRounding,
     .use = PassUse::kernels,
     .traits = {PassTrait::needs_table},
     .run = [](const Graph& graph, PassInput& in) { return fuse_attention(graph, *in.table); }},
    {.id = PassId::quantized,
     .name = "quantized",
     .help = "runs what is between DequantizeLinear and QuantizeLinear on integers of 8 bits, and reads weights as "
             "integers",
     .differs = "convolutions and products differ by at most one quantum; otherwise same bits",
     .use = PassUse::kernels,
     .traits = {PassTrait::makes_integers},
     .run = [](const Graph& graph, PassInput& /*in*/) { return use_quantized_kernels(graph); }},
    {.id = PassId::load_time,
     .name = "load_time",
     .help = "computes once, when the model is loaded, what depends on constants alone",
     .differs = "",
     .use = PassUse::always,
     .traits = {},
     .run = &move_to_load},
    {.id = PassId::integer_chains,
     .name = "integer_chains",
     .help = "for a target file with `integer_kernels`: runs element-wise nodes between DequantizeLinear and "
             "QuantizeLinear as one node on integers",
     .differs = "",
     .use = PassUse::integers,
     .traits = {PassTrait::makes_integers},
     .run = [](const Graph& graph, PassInput& /*in*/) { return fuse_integer_chains(graph); }},
    {.id = PassId::chains,
     .name = "chains",
     .help = "runs connected element-wise nodes as one node, so that no tensor is needed between them",
     .differs = "",
     .use = PassUse::kernels,
     .traits = {},
     .run = [](const Graph& graph, PassInput& /*in*/) { return fuse_chains(graph); }},
    {.id = PassId::formats,
     .name = "formats",
     .help = "runs convolutions, pools and the nodes between them on blocks of 8 or 16 channels, as many as a register "
             "holds, and packs their weights and the constant matrices of products when the model is loaded",
     .differs = kRounding,
     .use = PassUse::kernels,
     .traits = {PassTrait::asks_machine, PassTrait::adds_load_time},
     .run = [](const Graph& graph, PassInput& in) { return choose_formats(graph, *in.machine); }},
    {.id = PassId::epilogues,
     .name = "epilogues",
     .help = "lets convolutions and matrix products compute the element-wise nodes after them, and add what a residual "
             "connection adds, before they write their results",
     .differs = kRounding,
     .use = PassUse::kernels,
     .traits = {PassTrait::asks_machine},
     .run = [](const Graph& graph, PassInput& in) { return fuse_epilogues(graph, *in.machine); }},
    {.id = PassId::winograd,
     .name = "winograd",
     .help = "computes convolutions of 3 x 3 with steps of one by Winograd's algorithm, with 16 products for four "
             "results in place of 36, where that is faster",
     .differs = kRounding,
     .use = PassUse::kernels,
     .traits = {PassTrait::asks_machine},
     .run = [](const Graph& graph, PassInput& in) { return use_winograd(graph, *in.machine); }},
    {.id = PassId::inputs_in_arena,
     .name = "inputs_in_arena",
     .help = "lets the caller write the inputs into the arena, where later tensors may use their bytes",
     .differs = "",
     .use = PassUse::request,
     .traits = {PassTrait::changes_ports},
     .run = [](const Graph& graph, PassInput& /*in*/) { return place_inputs_in_arena(graph); }},
    {.id = PassId::outputs_at_caller,
     .name = "outputs_at_caller",
     .help = "writes the outputs into memory of the caller",
     .differs = "",
     .use = PassUse::request,
     .traits = {PassTrait::changes_ports},
     .run = [](const Graph& graph, PassInput& /*in*/) { return place_outputs_at_caller(graph); }},
};

consteval bool follow_their_ids() {
  for (std::size_t at = 0; at < std::size(kPasses); ++at) {
    if (static_cast<std::size_t>(kPasses[at].id) != at) return false;
  }
  return true;
}
static_assert(follow_their_ids(), "the rows have the order of PassId");

}  // namespace

std::span<const Pass> all_passes() { return kPasses; }

const Pass* find_pass(std::string_view name) {
  const Pass* found = std::ranges::find(kPasses, name, &Pass::name);
  return found == std::end(kPasses) ? nullptr : found;
}

std::string_view name_of(PassId pass) {
  const auto at = static_cast<std::size_t>(pass);
  LOWTIDE_CHECK(at < std::size(kPasses), "a pass has a row");
  return kPasses[at].name;
}

PassSet passes_for(PassUse use) {
  PassSet passes;
  for (const Pass& pass : kPasses) {
    if (pass.use == use) passes.insert(pass.id);
  }
  return passes;
}

PassSet integer_passes() {
  PassSet passes;
  for (const Pass& pass : kPasses) {
    if (pass.traits.has(PassTrait::makes_integers)) passes.insert(pass.id);
  }
  return passes;
}

bool ask_machine(PassSet passes) {
  return std::ranges::any_of(
      kPasses, [&](const Pass& pass) { return passes.has(pass.id) && pass.traits.has(PassTrait::asks_machine); });
}

}  // namespace lowtide
