// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/check_sharing.h"
#include "lowtide/base/flags.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/verify/bytes/alias_meaning.h"
#include "lowtide/verify/check_packing.h"
#include "lowtide/verify/findings.h"
#include "lowtide/verify/sharing/sharing_order.h"

namespace lowtide {
namespace verify_internal {
namespace {

constexpr std::uint32_t kBeforeTheRun = 0;            // positions count from 1
constexpr std::int64_t kEnd = std::int64_t{1} << 40;  // after all positions and waves

// Tensors that have one place: a list of `same_place`, or a single tensor.
struct Unit {
  std::vector<TensorId> tensors;
  std::vector<std::uint32_t> accesses;        // positions of nodes that write or read one of them; ascending, each once
  std::uint32_t first_write = kBeforeTheRun;  // position of the first producer
  bool holds_output = false;
  Bytes size;
};

class SharingCheck {
 public:
  SharingCheck(const Graph& graph, const SharingClaim& claim, const VerifyOptions& options)
      : graph_(graph), claim_(claim), findings_(options) {}

  std::vector<Violation> run() && {
    if (!check_form() || !check_order()) return std::move(findings_).take();
    check_places();
    check_scratch();
    make_units();
    for (const Unit& unit : units_) check_same_place(unit);
    if (findings_.count() > 0) return std::move(findings_).take();
    if (claim_.execution == ExecutionModel::dataflow) {
      check_ordered();
    } else {
      check_times();
    }
    return std::move(findings_).take();
  }

 private:
  using enum ViolationKind;

  void add(ViolationKind kind, std::string message) { findings_.add(kind, std::move(message)); }
  void add(ViolationKind kind, std::vector<TensorId> tensors, std::string message) {
    findings_.add({.kind = kind, .tensors = std::move(tensors), .message = std::move(message)});
  }
  std::string name(TensorId id) const { return "tensor " + quoted(graph_.tensor(id).name); }
  std::string name(NodeId id) const { return "node " + std::to_string(id.value()); }
  bool is_output(TensorId id) const { return graph_.tensor(id).role == Role::output; }
  const std::optional<SharingPlace>& place(TensorId id) const { return claim_.places[id]; }
  std::optional<TensorId> view_of(TensorId id) const {
    return claim_.view_of.empty() ? std::nullopt : claim_.view_of[id];
  }
  // The position of the producer, or kBeforeTheRun for an input.
  std::uint32_t written(TensorId id) const {
    const std::optional<NodeId> producer = graph_.tensor(id).producer;
    return producer ? position_[*producer] : kBeforeTheRun;
  }
  std::uint32_t wave_at(std::uint32_t position) const { return claim_.wave[claim_.order[position - 1]]; }

  bool check_form();
  bool check_order();
  void check_edge(NodeId from, NodeId to);
  void check_places();
  void check_view(TensorId id);
  void check_scratch();
  void make_units();
  Unit unit_of(std::vector<TensorId> tensors) const;
  void check_same_place(const Unit& unit);
  void check_written_over(TensorId before, TensorId after);
  void check_times();
  void check_ordered();

  const Graph& graph_;
  const SharingClaim& claim_;
  Findings findings_;
  IdVector<NodeId, std::uint32_t> position_;  // in the order, from 1
  std::vector<Unit> units_;
  IdVector<TensorId, std::uint32_t> unit_of_;  // an index into units_
  IdVector<TensorId, TensorId> root_;  // of a view: the tensor at the end of its chain of bases; otherwise itself
};

bool SharingCheck::check_form() {
  const std::size_t nodes = graph_.nodes().size();
  const std::size_t tensors = graph_.tensors().size();
  const auto fits = [&](std::size_t found, std::size_t expected, const char* what) {
    if (found != expected)
      add(malformed, std::to_string(found) + " " + what + ", expected " + std::to_string(expected));
  };
  fits(claim_.order.size(), nodes, "nodes in the order");
  fits(claim_.places.size(), tensors, "places");
  if (claim_.execution == ExecutionModel::streams) {
    add(malformed, "the claim is for streams, which it cannot list; use sequence, waves or dataflow");
  }
  if (!claim_.view_of.empty()) fits(claim_.view_of.size(), tensors, "entries of views");
  if (!claim_.scratch.empty()) fits(claim_.scratch.size(), nodes, "entries of scratch");
  if (!claim_.scratch.empty() && claim_.execution == ExecutionModel::dataflow) {
    add(malformed, "the claim has scratch in its blocks, which dataflow does not allow; use sequence or waves");
  }
  if (claim_.inputs_at_first_use && claim_.execution == ExecutionModel::dataflow) {
    add(malformed, "the claim has inputs at their first use, which dataflow does not allow; use sequence or waves");
  }
  if (!claim_.devices.empty()) fits(claim_.devices.size(), tensors, "devices");
  if (claim_.execution == ExecutionModel::waves) fits(claim_.wave.size(), nodes, "nodes in waves");
  Flags<TensorId> is_listed(tensors);
  for (const std::vector<TensorId>& list : claim_.same_place) {
    for (TensorId id : list) {
      if (!graph_.tensors().contains(id)) {
        add(malformed, "tensor " + std::to_string(id.value()) + " is listed in `same_place`, but does not exist");
      } else if (!is_listed.insert(id)) {
        add(malformed, name(id) + " is listed in `same_place` twice");
      }
    }
  }
  for (std::optional<TensorId> id : claim_.view_of) {
    if (id && !graph_.tensors().contains(*id))
      add(malformed, "`view_of` names tensor " + std::to_string(id->value()) + ", which does not exist");
  }
  return findings_.count() == 0;
}

bool SharingCheck::check_order() {
  position_ = IdVector<NodeId, std::uint32_t>(graph_.nodes().size(), 0);
  for (std::size_t at = 0; at < claim_.order.size(); ++at) {
    const NodeId id = claim_.order[at];
    if (!position_.contains(id) || position_[id] != 0) {
      add(malformed, name(id) + " is in the order twice, or does not exist");
      return false;
    }
    position_[id] = static_cast<std::uint32_t>(at + 1);
  }
  for (NodeId id : claim_.order) {
    for (TensorId tensor : graph_.reads(id)) {
      if (graph_.tensor(tensor).producer) check_edge(*graph_.tensor(tensor).producer, id);
    }
    for (NodeId before : graph_.node(id).control_inputs) check_edge(before, id);
  }
  return findings_.count() == 0;
}

void SharingCheck::check_edge(NodeId from, NodeId to) {
  if (position_[from] >= position_[to])
    add(data_flow, name(to) + " comes before " + name(from) + ", on which it depends");
  if (claim_.execution == ExecutionModel::waves && claim_.wave[from] >= claim_.wave[to]) {
    add(data_flow, name(to) + " is in wave " + std::to_string(claim_.wave[to]) + ", but " + name(from) +
                       ", on which it depends, is in wave " + std::to_string(claim_.wave[from]));
  }
}

void SharingCheck::check_places() {
  std::vector<std::optional<TensorId>> user(claim_.blocks.size());
  for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
    check_view(id);
    if (!place(id)) continue;
    const Tensor& tensor = graph_.tensor(id);
    const SharingPlace& at = *place(id);
    if (at.block >= claim_.blocks.size()) {
      add(malformed, name(id) + " is in block " + std::to_string(at.block) + ", but the number of blocks is " +
                         std::to_string(claim_.blocks.size()));
      continue;
    }
    if (tensor.role == Role::constant || tensor.role == Role::state) {
      add(role, {id}, name(id) + " has role " + std::string(to_string(tensor.role)) + ", but shares a block");
    }
    if (at.offset.position() < 0 || at.offset.position() > claim_.blocks[at.block].count() - tensor.size.count()) {
      add(out_of_region, {id},
          name(id) + " has " + std::to_string(tensor.size.count()) + " bytes at offset " +
              std::to_string(at.offset.position()) + " of a block of " +
              std::to_string(claim_.blocks[at.block].count()) + " bytes");
    }
    if (claim_.devices.empty()) continue;
    std::optional<TensorId>& other = user[at.block];
    if (other && claim_.devices[*other] != claim_.devices[id]) {
      add(unreachable, {id, *other},
          name(id) + " and " + name(*other) + " share a block, but are on devices " +
              std::to_string(claim_.devices[id]) + " and " + std::to_string(claim_.devices[*other]));
    }
    other = id;
  }
}

void SharingCheck::check_scratch() {
  for (NodeId id : all_ids<NodeId>(claim_.scratch.size())) {
    const auto& [at, size] = claim_.scratch[id];
    if (size == Bytes(0)) continue;
    if (at.block >= claim_.blocks.size()) {
      add(malformed, "the scratch of " + name(id) + " is in block " + std::to_string(at.block) +
                         ", but the number of blocks is " + std::to_string(claim_.blocks.size()));
    } else if (at.offset.position() < 0 || size < Bytes(0) ||
               at.offset.position() > claim_.blocks[at.block].count() - size.count()) {
      add(out_of_region, "the scratch of " + name(id) + " has " + std::to_string(size.count()) + " bytes at offset " +
                             std::to_string(at.offset.position()) + " of a block of " +
                             std::to_string(claim_.blocks[at.block].count()));
    }
  }
}

void SharingCheck::check_view(TensorId id) {
  const std::optional<TensorId> base = view_of(id);
  if (!base) return;
  const std::optional<NodeId> producer = graph_.tensor(id).producer;
  if (!producer) return add(bad_alias, {id}, name(id) + " is claimed to be a view, but no node produces it");
  const std::vector<std::optional<TensorId>>& inputs = graph_.node(*producer).inputs;
  if (inputs.empty() || inputs.front() != base)
    return add(bad_alias, {id, *base}, name(id) + " is not a view of " + name(*base));
  const std::string why = alias_meaning(graph_, *producer).obstacle;
  if (!why.empty()) add(bad_alias, {id, *base}, name(id) + " is not a view of " + name(*base) + ": " + why);
}

void SharingCheck::make_units() {
  constexpr std::uint32_t kNone = UINT32_MAX;
  unit_of_ = IdVector<TensorId, std::uint32_t>(graph_.tensors().size(), kNone);
  for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) root_.push_back(id);
  const auto add_unit = [&](std::vector<TensorId> tensors) {
    for (TensorId id : tensors) unit_of_[id] = static_cast<std::uint32_t>(units_.size());
    units_.push_back(unit_of(std::move(tensors)));
  };
  for (const std::vector<TensorId>& list : claim_.same_place) {
    if (!list.empty()) add_unit(list);
  }
  for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
    if (unit_of_[id] == kNone) add_unit({id});
  }
}

Unit SharingCheck::unit_of(std::vector<TensorId> tensors) const {
  Unit unit;
  std::stable_sort(tensors.begin(), tensors.end(), [&](TensorId a, TensorId b) { return written(a) < written(b); });
  unit.first_write = written(tensors.front());
  for (TensorId id : tensors) {
    unit.accesses.push_back(written(id));
    for (NodeId reader : graph_.readers(id)) unit.accesses.push_back(position_[reader]);
    unit.holds_output |= is_output(id);
    unit.size = std::max(unit.size, graph_.tensor(id).size);
  }
  std::sort(unit.accesses.begin(), unit.accesses.end());
  unit.accesses.erase(std::unique(unit.accesses.begin(), unit.accesses.end()), unit.accesses.end());
  unit.tensors = std::move(tensors);
  return unit;
}

// Tensors come in the order of their producers. A view has the bytes of its base. Any other tensor is written over the
// one before it.
void SharingCheck::check_same_place(const Unit& unit) {
  std::optional<TensorId> last;
  std::optional<TensorId> content;  // the last one that is not a view
  for (TensorId id : unit.tensors) {
    if (last && place(*last) != place(id))
      add(misplaced, {id, *last}, name(id) + " is listed together with " + name(*last) + ", but has another place");
    last = id;
    const std::optional<TensorId> base = view_of(id);
    if (base) {
      if (unit_of_[*base] != unit_of_[id])
        add(bad_alias, {id, *base}, name(id) + " is a view of " + name(*base) + ", but is not listed together with it");
      root_[id] = root_[*base];  // of an earlier one, if the claim is right
      continue;
    }
    if (content) check_written_over(*content, id);
    content = id;
  }
  if (!content) return;
  for (TensorId id : unit.tensors) {
    if (!is_output(id) || id == *content) continue;
    if (root_[id] != *content)
      add(output_lost, {id, *content}, name(id) + " is an output, but " + name(*content) + " is written over it");
  }
}

// A read of a view of `before` is a read of `before`. A tensor of the list that is written when `after` is, or later,
// is not checked, because its readers do not need `before`.
void SharingCheck::check_written_over(TensorId before, TensorId after) {
  const std::uint32_t write = written(after);
  const auto check = [&](TensorId id) {
    for (NodeId reader : graph_.readers(id)) {
      const bool in_time = claim_.execution == ExecutionModel::waves && write != kBeforeTheRun
                               ? claim_.wave[reader] < wave_at(write) || position_[reader] == write
                               : position_[reader] <= write;
      if (!in_time)
        add(clobbered, {after, id},
            name(after) + " is written over " + name(id) + ", which " + name(reader) + " reads later");
    }
  };
  if (write == written(before))
    return add(clobbered, {after, before},
               name(after) + " and " + name(before) + " are written at the same time in the same place");
  for (TensorId id : units_[unit_of_[before]].tensors) {
    if (written(id) >= write && written(id) != kBeforeTheRun) break;
    check(id);
  }
}

// Checks lifespans in steps or waves as a packing, with the blocks one above another.
void SharingCheck::check_times() {
  PackingProblem problem;
  IdVector<PackingId, Offset> offsets;
  std::vector<Offset> base;
  Offset end;
  for (Bytes size : claim_.blocks) {
    base.push_back(end);
    end = end + size;
  }
  const bool in_waves = claim_.execution == ExecutionModel::waves;
  const auto time = [&](std::uint32_t position) -> std::int64_t {
    if (position == kBeforeTheRun) return -1;
    return in_waves ? wave_at(position) : position;
  };
  for (const Unit& unit : units_) {
    if (!place(unit.tensors.front())) continue;
    const SharingPlace& at = *place(unit.tensors.front());
    std::int64_t first = time(unit.first_write);
    std::int64_t last = first;
    for (std::uint32_t access : unit.accesses) last = std::max(last, time(access));
    if (claim_.inputs_at_first_use && unit.first_write == kBeforeTheRun) first = last;
    for (std::uint32_t access : unit.accesses) {
      if (access != kBeforeTheRun) first = std::min(first, time(access));
    }
    if (unit.holds_output) last = kEnd;
    problem.names.push_back(graph_.tensor(unit.tensors.front()).name);
    problem.buffers.push_back({.lifespan = {first, last + 1}, .size = unit.size});
    offsets.push_back(base[at.block] + Bytes(at.offset.position()));
  }
  for (NodeId id : all_ids<NodeId>(claim_.scratch.size())) {
    const auto& [at, size] = claim_.scratch[id];
    if (size == Bytes(0)) continue;
    const std::int64_t now = time(position_[id]);
    problem.names.push_back("scratch of " + name(id));
    problem.buffers.push_back({.lifespan = {now, now + 1}, .size = size});
    offsets.push_back(base[at.block] + Bytes(at.offset.position()));
  }
  for (Violation& one : check_packing(problem, offsets, {.most_violations = findings_.left()})) {
    one.bytes.reset();  // the blocks lie one above another only here
    findings_.add(std::move(one));
  }
}

// In every block, each tensor must be written after all uses of the previous one. This relation is transitive, so
// neighbours suffice.
void SharingCheck::check_ordered() {
  std::vector<std::vector<const Unit*>> users(claim_.blocks.size());
  for (const Unit& unit : units_) {
    if (place(unit.tensors.front()) && unit.size > Bytes(0)) users[place(unit.tensors.front())->block].push_back(&unit);
  }
  std::vector<OrderQuestion> questions;
  for (std::vector<const Unit*>& row : users) {
    std::stable_sort(row.begin(), row.end(),
                     [](const Unit* a, const Unit* b) { return a->first_write < b->first_write; });
    for (std::size_t at = 1; at < row.size(); ++at) {
      const Unit& before = *row[at - 1];
      const Unit& after = *row[at];
      if (before.holds_output || after.first_write == kBeforeTheRun) {
        add(clobbered, {after.tensors.front(), before.tensors.front()},
            name(after.tensors.front()) + " shares a block with " + name(before.tensors.front()) +
                ", which must stay intact until the end of the run");
        continue;
      }
      for (std::uint32_t access : before.accesses) {
        if (access != kBeforeTheRun) {
          questions.push_back({access, after.first_write, before.tensors.front(), after.tensors.front()});
        }
      }
    }
  }
  for (const OrderQuestion& question : not_ordered(graph_, claim_.order, claim_.same_place, std::move(questions))) {
    add(race, {question.later, question.earlier},
        name(question.later) + " shares a block with " + name(question.earlier) + ", but " +
            name(claim_.order[question.write - 1]) + " may write the first before " +
            name(claim_.order[question.use - 1]) + " has used the second");
  }
}

}  // namespace
}  // namespace verify_internal

std::vector<Violation> check_sharing(const Graph& graph, const SharingClaim& claim, const VerifyOptions& options) {
  return verify_internal::SharingCheck(graph, claim, options).run();
}

}  // namespace lowtide
