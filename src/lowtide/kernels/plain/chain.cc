// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/chain.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "lowtide/base/interval.h"
#include "lowtide/graph/chain.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/common/broadcast_rows.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/plain/elementwise_row.h"

namespace lowtide::kernels_internal {
namespace {

constexpr std::int64_t kChainBlock = 256;  // elements that all nodes compute before the next block begins
constexpr std::size_t kSlotBytes = kChainBlock * sizeof(float);

// Where a node of the program reads an operand.
struct ChainSource {
  enum class From : std::uint8_t { nowhere, operand, slot } from = From::nowhere;
  std::size_t index = 0;  // of the operand or of the slot
};

// A node of the program.
struct ChainStep {
  ElementwiseStep step;
  std::array<ChainSource, 3> sources;
  std::optional<std::size_t> slot;  // that gets the result; nullopt: it is the result of the chain
};

struct ChainParameters {
  std::vector<ChainStep> steps;
  std::optional<std::int64_t> channels;  // of a result in blocks, whose other lanes are zero
};

// Blocks of results between the nodes. A slot is filled before it is read.
struct alignas(64) Slots {
  Slots() {}  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::array<std::byte, kMostFusedNodes * kSlotBytes> bytes;
  [[nodiscard]] std::byte* at(std::size_t slot) { return bytes.data() + slot * kSlotBytes; }
};

// The elements of all operands and of the result for one row of the result.
struct ChainRow {
  struct Place {
    std::byte* bytes = nullptr;
    std::int64_t step = 0;  // in elements
    std::int64_t bytes_per_element = 0;
    [[nodiscard]] std::byte* element(std::int64_t at) const { return bytes + at * step * bytes_per_element; }
  };
  std::array<Place, kMostChainOperands> operands;
  Place result;
};

RunCode run_block(const ChainParameters& chain, const ChainRow& row, std::int64_t at, std::int64_t count,
                  Slots& slots) {
  for (const ChainStep& one : chain.steps) {
    Row part{.write = one.slot ? slots.at(*one.slot) : row.result.element(at), .count = count};
    for (std::size_t read = 0; read < one.sources.size(); ++read) {
      const ChainSource& source = one.sources[read];
      if (source.from == ChainSource::From::operand) {
        part.reads[read] = row.operands[source.index].element(at);
        part.steps[read] = row.operands[source.index].step;
      } else if (source.from == ChainSource::From::slot) {
        part.reads[read] = slots.at(source.index);
        part.steps[read] = 1;
      }
    }
    const RunCode code = run_step(one.step, part);
    if (code != RunCode::ok) return code;
  }
  return RunCode::ok;
}

// Writes zeros into the lanes of the last block [N, blocks, ..., lanes] that have no channel.
void clear_padding(const BoundTensor& result, std::int64_t channels) {
  const Extents extents(extents_of(result));
  const int rank = extents.rank();
  const std::int64_t lanes = extents[rank - 1];
  const std::int64_t used = channels - (extents[1] - 1) * lanes;
  if (used == lanes) return;
  const std::int64_t unit = element_bytes(result.dtype);
  const std::int64_t places = extents.product(2, rank - 1);
  for (std::int64_t image = 0; image < extents[0]; ++image) {
    const std::int64_t block = (image + 1) * extents[1] - 1;
    std::byte* at = *result.bytes + (block * places * lanes + used) * unit;
    for (std::int64_t place = 0; place < places; ++place, at += lanes * unit) {
      std::fill_n(at, (lanes - used) * unit, std::byte{0});
    }
  }
}

// Computes the elements [begin, end) of the result.
RunCode run_elements(const ChainParameters& chain, const Operands& operands, const Extents& extents,
                     Interval<std::int64_t> elements) {
  const BoundTensor& result = operands.writes[0];
  Slots slots;
  ChainRow row{.result = {*result.bytes, 1, element_bytes(result.dtype)}};
  std::int64_t row_begin = 0;
  for (BroadcastRows rows(operands.reads, extents); !rows.is_done() && row_begin < elements.end; rows.advance()) {
    const std::int64_t begin = std::max<std::int64_t>(elements.begin - row_begin, 0);
    const std::int64_t end = std::min(elements.end - row_begin, rows.length());
    row_begin += rows.length();
    if (begin >= end) {
      row.result.bytes += rows.length() * row.result.bytes_per_element;
      continue;
    }
    for (std::size_t read = 0; read < operands.reads.size(); ++read) {
      const BoundTensor& from = operands.reads[read];
      const std::int64_t unit = element_bytes(from.dtype);
      row.operands[read] = {*from.bytes + rows.begin_in(from) * unit, rows.step_in(from), unit};
    }
    for (std::int64_t at = begin; at < end; at += kChainBlock) {
      const RunCode code = run_block(chain, row, at, std::min(kChainBlock, end - at), slots);
      if (code != RunCode::ok) return code;
    }
    row.result.bytes += rows.length() * row.result.bytes_per_element;
  }
  return RunCode::ok;
}

RunStatus run_chain(const ChainParameters& chain, const Operands& operands, Team& team) {
  const std::optional<Extents> extents = broadcast(operands.reads);
  if (!extents) return {RunCode::bad_extents, 0};
  if (const RunStatus status = set_extents(operands.writes[0], *extents); status.code != RunCode::ok) return status;
  const std::int64_t count = extents->count();
  const auto steps = static_cast<std::int64_t>(chain.steps.size());
  const RunCode code = run_in_parts(team, count, count * steps, [&](std::int64_t begin, std::int64_t end) {
    return run_elements(chain, operands, *extents, {begin, end});
  });
  if (chain.channels && code == RunCode::ok) clear_padding(operands.writes[0], *chain.channels);
  return {code, 0};
}

// Gives each result between nodes a slot, and frees the slot after the last node that reads it.
class SlotChooser {
 public:
  explicit SlotChooser(const Graph& program) : program_(program), slot_of_(program.tensors().size()) {}

  ChainStep step_of(NodeId id, ElementwiseStep step) {
    const Node& node = program_.node(id);
    ChainStep made{.step = step};
    for (std::size_t at = 0; at < node.inputs.size(); ++at) {
      if (node.inputs[at]) made.sources[at] = source_of(*node.inputs[at]);
    }
    const TensorId result = *node.outputs[0];
    // The slots of the operands are not free yet, so a node never writes where it reads.
    if (result != program_.outputs()[0]) slot_of_[result] = made.slot = next_slot();
    for (TensorId read : program_.reads(id)) {
      if (slot_of_[read] && program_.readers(read).back() == id) free_.push_back(*slot_of_[read]);
    }
    return made;
  }

 private:
  [[nodiscard]] ChainSource source_of(TensorId id) const {
    if (slot_of_[id]) return {ChainSource::From::slot, *slot_of_[id]};
    const auto input = std::ranges::find(program_.inputs(), id);
    return {ChainSource::From::operand, static_cast<std::size_t>(input - program_.inputs().begin())};
  }
  std::size_t next_slot() {
    if (free_.empty()) return used_++;
    const std::size_t slot = free_.back();
    free_.pop_back();
    return slot;
  }

  const Graph& program_;
  IdVector<TensorId, std::optional<std::size_t>> slot_of_;
  std::vector<std::size_t> free_;
  std::size_t used_ = 0;
};

// Returns an empty list if some node of the program has no function.
std::vector<ChainStep> steps_of(const Graph& program) {
  std::vector<ChainStep> steps;
  SlotChooser slots(program);
  for (NodeId id : all_ids<NodeId>(program.nodes().size())) {
    std::optional<ElementwiseStep> step = elementwise_step(program, id);
    if (!step) return {};
    steps.push_back(slots.step_of(id, *step));
  }
  return steps;
}

constexpr std::array kChainTypes{DType::f32, DType::f16, DType::boolean, DType::i8, DType::u8};
constexpr std::array kChainOperators{SupportedOperator{kOwnDomain, kChainType, kChainTypes}};

Offer offer_chain(const OfferInput& input) {
  const Result<Graph> program = chain_program(input.graph, input.node);
  if (!program) return {{}, program.error().message};
  if (steps_of(*program).empty()) return {{}, "no kernel has the element types of its program"};
  return offer_plain(input, kChainOperators[0]);
}

}  // namespace

Family chain_family() {
  return {.name = "chain",
          .operators = kChainOperators,
          .offer = &offer_chain,
          .prepare = [](const PrepareInput& input) -> Result<std::unique_ptr<PreparedKernel>> {
            Result<Graph> program = chain_program(input.graph, input.node);
            if (!program) return program.error();
            const Node& node = input.graph.node(input.node);
            return plain_kernel(input, &run_chain, ChainParameters{steps_of(*program), chain_channels(node)});
          }};
}

}  // namespace lowtide::kernels_internal
