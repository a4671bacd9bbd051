// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/rewrite/written_runs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "lowtide/earlier/graphdef/node_attributes.h"
#include "lowtide/earlier/rewrite/chain_of_runs.h"

namespace lowtide::rewrite_internal {
namespace {

using Position = std::uint32_t;  // in the sequence

// An output of a run, by the position of the run and the number of the output.
using RunOutput = std::pair<Position, std::int64_t>;

// What one input of a run reads.
struct Read {
  Position reader = 0;
  std::size_t input = 0;
  RunOutput output;
};

class RunWriter {
 public:
  RunWriter(const std::vector<DefNode>& nodes, const std::vector<std::vector<OutputType>>& types, const PlainRun& plain,
            const RunSequence& sequence)
      : before_(nodes), types_(types), plain_(plain), sequence_(sequence), runs_(nodes.size(), 0) {
    for (std::uint32_t at = 0; at < nodes.size(); ++at) by_name_[nodes[at].name] = at;
    find_pure();
  }

  WrittenRuns write() && {
    make_runs();
    for (const Transfer& transfer : sequence_.transfers) {
      if (transfer.direction == TransferDirection::in) returns_[transfer.run].insert(transfer.complete);
    }
    for (const Read& read : reads_) {
      const std::optional<Position> back = return_before(read.output.first, read.reader);
      if (back) ports_[{read.output.first, *back}].insert(read.output.second);
    }
    chain_runs();
    for (const Transfer& transfer : sequence_.transfers) {
      transfer.direction == TransferDirection::out ? add_out(transfer) : add_in(transfer);
    }
    for (const Read& read : reads_) redirect(read);
    return finish();
  }

 private:
  // The nodes that may run again, so that nothing but their results depends on when they run.
  void find_pure() {
    is_pure_.assign(before_.size(), false);
    for (const PlainRunNode& origin : plain_.origins) {
      if (origin.node) is_pure_[*origin.node] = true;
    }
    for (const NodeHint& hint : plain_.hints) {
      const std::optional<std::uint32_t> node = plain_.origins[hint.node].node;
      if (node && hint.kind == HintKind::keep) is_pure_[*node] = false;
    }
  }

  // Whether a node is only there to let nodes without effects run before others, as tf.gradients makes it. A part of a
  // pair that oneDNN joins would wait for the other part by way of it.
  [[nodiscard]] bool is_only_an_order(std::uint32_t at) const {
    if (before_[at].op != "NoOp") return false;
    return std::ranges::all_of(before_[at].inputs, [&](const std::string& input) {
      const auto found = by_name_.find(std::string(read_input(input).node));
      return found != by_name_.end() && is_pure_[found->second];
    });
  }

  void drop_orders(DefNode& node) const {
    if (node.op != "Identity") return;
    std::erase_if(node.inputs, [&](const std::string& input) {
      const DefInput name = read_input(input);
      const auto found = by_name_.find(std::string(name.node));
      return name.is_control && found != by_name_.end() && is_only_an_order(found->second);
    });
  }

  // The runs with their names. Control inputs are redirected to the latest runs, and data inputs are listed.
  void make_runs() {
    std::vector<std::optional<Position>> latest(before_.size());
    made_.resize(sequence_.runs.size());
    for (Position at = 0; at < sequence_.runs.size(); ++at) {
      const PlainRunNode& origin = plain_.origins[sequence_.runs[at]];
      if (!origin.node) continue;
      DefNode node = before_[*origin.node];
      drop_orders(node);
      if (++runs_[*origin.node] > 1) node.name = free_name("Recomputed", node.name, runs_[*origin.node] - 1);
      for (std::size_t input = 0; input < node.inputs.size(); ++input) {
        const DefInput name = read_input(node.inputs[input]);
        const auto found = by_name_.find(std::string(name.node));
        if (found == by_name_.end() || !latest[found->second]) continue;
        const Position source = *latest[found->second];
        if (name.is_control) {
          node.inputs[input] = "^" + made_[source]->name;
        } else {
          reads_.push_back({.reader = at, .input = input, .output = {source, name.port}});
        }
      }
      latest[*origin.node] = at;
      made_[at] = std::move(node);
      if (origin.has_place) placed_.push_back(at);
    }
  }

  void chain_runs() {
    std::vector<ChainedRun> chained;
    for (Position at : placed_) {
      ChainedRun& one = chained.emplace_back(ChainedRun{.at = at, .op = made_[at]->op});
      for (const std::string& input : made_[at]->inputs) one.has_waits = one.has_waits || read_input(input).is_control;
    }
    std::vector<OperandRead> reads;
    for (const Read& read : reads_) reads.push_back({read.reader, read.input, read.output.first});
    RunChain chain = chain_of_runs(chained, reads);
    for (const auto& [at, before] : chain.waits) add_control(at, made_[before]->name);
    links_ = std::move(chain.links);
  }

  // Where the output of a run that a reader reads came back last; nullopt: it has not left.
  [[nodiscard]] std::optional<Position> return_before(Position run, Position reader) const {
    const auto found = returns_.find(run);
    if (found == returns_.end()) return std::nullopt;
    const auto after = found->second.upper_bound(reader);
    return after == found->second.begin() ? std::nullopt : std::optional(*std::prev(after));
  }

  // The last link of the chain at or before a position, and the first one at or behind it.
  [[nodiscard]] std::optional<Position> placed_before(Position at) const {
    const auto after = std::upper_bound(links_.begin(), links_.end(), at);
    return after == links_.begin() ? std::nullopt : std::optional(*std::prev(after));
  }
  [[nodiscard]] std::optional<Position> placed_behind(Position at) const {
    const auto found = std::lower_bound(links_.begin(), links_.end(), at);
    return found == links_.end() ? std::nullopt : std::optional(*found);
  }

  // All outputs of the run that come back at some time.
  void add_out(const Transfer& transfer) {
    std::set<std::int64_t> ports;
    for (Position back : returns_[transfer.run]) ports.merge(std::set<std::int64_t>(ports_[{transfer.run, back}]));
    for (std::int64_t port : ports) {
      DefNode copy = copy_of(transfer.run, port, "swap_out", 1, "_CopyFromGpuToHost");
      copy.inputs = {port == 0 ? made_[transfer.run]->name : made_[transfer.run]->name + ":" + std::to_string(port)};
      outs_[{transfer.run, port}] = copy.name;
      add_copy(transfer, std::move(copy), last_out_);
      ends_of_outs_.emplace(transfer.complete, last_out_);
    }
  }

  void add_in(const Transfer& transfer) {
    const std::int64_t number = ++ins_[transfer.run];
    for (std::int64_t port : ports_[{transfer.run, transfer.complete}]) {
      DefNode copy = copy_of(transfer.run, port, "swap_in", number, "_CopyFromHostToGpu");
      copy.inputs = {outs_.at({transfer.run, port})};
      names_[{transfer.run, port, transfer.complete}] = copy.name;
      // The bytes that it needs may be those that left before the next run. Runs wait for what left before them.
      const std::optional<Position> before = placed_before(transfer.issue);
      const auto first = before ? ends_of_outs_.upper_bound(*before) : ends_of_outs_.begin();
      for (auto end = first; end != ends_of_outs_.upper_bound(transfer.issue + 1); ++end) {
        add_input_once(copy, end->second);
      }
      add_copy(transfer, std::move(copy), last_in_);
    }
  }

  DefNode copy_of(Position run, std::int64_t port, std::string_view prefix, std::int64_t number, std::string op) {
    const DefNode& made = *made_[run];
    DefNode copy{.name = free_name(prefix, made.name + (port == 0 ? "" : "/" + std::to_string(port)), number),
                 .op = std::move(op),
                 .device = made.device,
                 .inputs = {},
                 .attributes = {}};
    const std::vector<OutputType>& types = types_[*plain_.origins[sequence_.runs[run]].node];
    const std::int64_t type = static_cast<std::size_t>(port) < types.size() ? types[port].data_type : 0;
    if (type != 0) set_type(copy, "T", type);
    if (made.device.empty()) add_to_list(copy, "_class", "loc@" + made.name);
    return copy;
  }

  void add_copy(const Transfer& transfer, DefNode copy, std::string& last) {
    if (const std::optional<Position> before = placed_before(transfer.issue)) {
      add_input_once(copy, made_[*before]->name);
    }
    if (!last.empty()) add_input_once(copy, last);
    if (const std::optional<Position> behind = placed_behind(transfer.complete)) add_control(*behind, copy.name);
    last = copy.name;
    copies_.push_back(std::move(copy));
  }

  void redirect(const Read& read) {
    const auto& [run, port] = read.output;
    std::string& input = made_[read.reader]->inputs[read.input];
    if (const std::optional<Position> back = return_before(run, read.reader)) {
      input = names_.at({run, port, *back});
      return;
    }
    const std::string_view old = read_input(input).node;
    const std::string port_text = input.substr(old.size());
    input = made_[run]->name + port_text;
  }

  // A number above 1 is a part of the name, and so is the next one that is free.
  std::string free_name(std::string_view prefix, const std::string& name, std::int64_t number) {
    while (true) {
      std::string made = std::string(prefix) + (number > 1 ? "_" + std::to_string(number) : "") + "/" + name;
      if (!by_name_.contains(made) && names_made_.insert(made).second) return made;
      ++number;
    }
  }

  static void add_input_once(DefNode& node, const std::string& before) {
    const bool is_there =
        std::ranges::any_of(node.inputs, [&](const std::string& input) { return read_input(input).node == before; });
    if (!is_there) node.inputs.push_back("^" + before);
  }

  void add_control(Position at, const std::string& before) { controls_.emplace_back(at, before); }

  WrittenRuns finish() {
    // After the data inputs have their last names, so that no node waits for what it reads.
    for (const auto& [at, before] : controls_) add_input_once(*made_[at], before);
    WrittenRuns written;
    for (std::uint32_t at = 0; at < before_.size(); ++at) {
      if (runs_[at] == 0) written.nodes.push_back(before_[at]);
      if (runs_[at] > 1) written.recomputed.emplace_back(before_[at].name, runs_[at] - 1);
    }
    for (std::optional<DefNode>& node : made_) {
      written.run_names.push_back(node ? node->name : "");
      if (node) written.nodes.push_back(*std::move(node));
    }
    std::ranges::move(copies_, std::back_inserter(written.nodes));
    return written;
  }

  const std::vector<DefNode>& before_;
  const std::vector<std::vector<OutputType>>& types_;
  const PlainRun& plain_;
  const RunSequence& sequence_;
  std::unordered_map<std::string, std::uint32_t> by_name_;
  std::vector<std::int64_t> runs_;  // by node, how often it runs
  std::vector<bool> is_pure_;       // by node
  std::set<std::string> names_made_;
  std::vector<std::optional<DefNode>> made_;  // by position
  std::vector<Position> placed_;              // runs that have a place, ascending
  std::vector<Position> links_;               // those that wait for each other, ascending
  std::vector<Read> reads_;
  std::vector<std::pair<Position, std::string>> controls_;  // what a run waits for

  std::map<Position, std::set<Position>> returns_;  // by run, when copies of its outputs are back
  std::map<std::pair<Position, Position>, std::set<std::int64_t>> ports_;      // outputs, by run and return
  std::map<RunOutput, std::string> outs_;                                      // names of the copies outside
  std::map<std::tuple<Position, std::int64_t, Position>, std::string> names_;  // by run, output and return
  std::map<Position, std::int64_t> ins_;                                       // by run, how often it came back
  std::multimap<Position, std::string> ends_of_outs_;                          // copies, by what waits for them
  std::string last_out_;
  std::string last_in_;
  std::vector<DefNode> copies_;
};

}  // namespace

WrittenRuns write_runs(const std::vector<DefNode>& nodes, const std::vector<std::vector<OutputType>>& types,
                       const PlainRun& plain, const RunSequence& sequence) {
  return RunWriter(nodes, types, plain, sequence).write();
}

}  // namespace lowtide::rewrite_internal
