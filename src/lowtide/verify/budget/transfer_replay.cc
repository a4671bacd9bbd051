// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/budget/transfer_replay.h"

#include <algorithm>

namespace lowtide::verify_internal {
namespace {

std::string node_text(NodeId node) { return std::to_string(node.value()); }
std::string transfer_name(std::size_t transfer) { return "transfer " + std::to_string(transfer); }
std::string fetch_name(std::size_t fetch) { return "fetch " + std::to_string(fetch); }

}  // namespace

TransferReplay::TransferReplay(const BudgetProblem& problem, const SwapAnswer& answer, Findings& findings)
    : problem_(problem),
      answer_(answer),
      findings_(findings),
      runs_(problem, answer.runs, findings, Fetched::copies),
      made_(answer.runs.size()),
      fetched_stays_(problem.nodes.size()) {}

bool TransferReplay::report(ViolationKind kind, std::string message) {
  findings_.add(kind, std::move(message));
  return false;
}

bool TransferReplay::replay() {
  if (!check_transfers() || !check_fetches() || !runs_.replay()) return false;
  find_contents();
  return begin_stays() && begin_fetches() && use_all();
}

bool TransferReplay::check_transfers() {
  const std::size_t count = answer_.runs.size();
  std::size_t before = 0;
  for (std::size_t at = 0; at < answer_.transfers.size(); ++at) {
    const Transfer& transfer = answer_.transfers[at];
    if (transfer.run >= count) {
      return report(ViolationKind::malformed, transfer_name(at) + " is of a run that does not exist");
    }
    const bool is_part = transfer.part && problem_.nodes.contains(*transfer.part) &&
                         problem_.nodes[*transfer.part].part_of == answer_.runs[transfer.run];
    if (transfer.part && !is_part) {
      return report(ViolationKind::malformed, transfer_name(at) + " is of node " + node_text(*transfer.part) +
                                                  ", which is not a part of its run " + std::to_string(transfer.run));
    }
    if (transfer.issue < transfer.run || transfer.issue >= transfer.complete || transfer.complete > count) {
      return report(ViolationKind::malformed, transfer_name(at) + " has positions " + std::to_string(transfer.issue) +
                                                  " and " + std::to_string(transfer.complete) +
                                                  ", which do not follow its run " + std::to_string(transfer.run) +
                                                  " and each other");
    }
    if (transfer.issue < before) {
      return report(ViolationKind::malformed, transfer_name(at) + " is issued before another one");
    }
    before = transfer.issue;
  }
  return true;
}

bool TransferReplay::check_fetches() {
  std::size_t before = 0;
  for (std::size_t at = 0; at < answer_.fetches.size(); ++at) {
    const Fetch& fetch = answer_.fetches[at];
    if (!problem_.nodes.contains(fetch.entry) || !problem_.nodes[fetch.entry].fetched_over) {
      return report(ViolationKind::malformed, fetch_name(at) + " is of a node that does not begin outside");
    }
    if (fetch.issue > fetch.complete || fetch.complete > answer_.runs.size()) {
      return report(ViolationKind::malformed, fetch_name(at) + " has positions " + std::to_string(fetch.issue) +
                                                  " and " + std::to_string(fetch.complete) +
                                                  ", which do not follow each other");
    }
    if (fetch.issue < before) {
      return report(ViolationKind::malformed, fetch_name(at) + " is issued before another one");
    }
    before = fetch.issue;
  }
  return true;
}

void TransferReplay::find_contents() {
  const std::vector<RunReplay::Content>& contents = runs_.contents();
  stays_.resize(contents.size());
  for (std::size_t at = 0; at < contents.size(); ++at) {
    if (problem_.nodes[contents[at].entry].is_state) continue;
    made_[contents[at].made].push_back(at);
    stays_[at].push_back({.begin = contents[at].made, .usable = contents[at].made, .end = contents[at].made + 1});
  }
}

bool TransferReplay::begin_stays() {
  std::vector<std::optional<std::size_t>> outside(stays_.size());  // by content: where its copy outside is complete
  for (std::size_t at = 0; at < answer_.transfers.size(); ++at) {
    const Transfer& transfer = answer_.transfers[at];
    const std::vector<std::size_t>& made = made_[transfer.run];
    const NodeId entry = transfer.part.value_or(answer_.runs[transfer.run]);
    const std::size_t content =
        *std::find_if(made.begin(), made.end(), [&](std::size_t one) { return runs_.contents()[one].entry == entry; });
    const std::optional<std::size_t> overwritten = runs_.contents()[content].overwritten;
    if (overwritten && transfer.complete > *overwritten) {
      return report(ViolationKind::clobbered, transfer_name(at) + " is of an output that " +
                                                  runs_.run_name(*overwritten) + " overwrites before it is complete");
    }
    if (!begin_copy(at, stays_[content], outside[content])) return false;
  }
  return true;
}

bool TransferReplay::begin_copy(std::size_t number, Stays& stays, std::optional<std::size_t>& outside) {
  const Transfer& transfer = answer_.transfers[number];
  if (transfer.direction == TransferDirection::out) {
    if (outside) {
      return report(ViolationKind::malformed, transfer_name(number) + " copies an output out that is outside already");
    }
    outside = transfer.complete;
    stays.back().end = std::max<std::size_t>(stays.back().end, transfer.complete);
    return true;
  }
  if (!outside || *outside > transfer.issue) {
    return report(ViolationKind::data_flow, transfer_name(number) + " copies an output in that is not outside yet");
  }
  if (stays.back().usable > transfer.issue) {
    return report(ViolationKind::data_flow, transfer_name(number) + " copies an output in that is on its way already");
  }
  const std::size_t begin = transfer.issue + std::size_t{1};
  stays.push_back(
      {.begin = begin, .usable = transfer.complete, .end = std::max<std::size_t>(begin, transfer.complete)});
  return true;
}

bool TransferReplay::begin_fetches() {
  for (std::size_t at = 0; at < answer_.fetches.size(); ++at) {
    const Fetch& fetch = answer_.fetches[at];
    Stays& stays = fetched_stays_[fetch.entry];
    if (!stays.empty() && stays.back().usable > fetch.issue) {
      return report(ViolationKind::data_flow, fetch_name(at) + " is of a value that is on its way already");
    }
    stays.push_back({.begin = fetch.issue, .usable = fetch.complete, .end = fetch.complete});
  }
  for (NodeId id : all_ids<NodeId>(problem_.nodes.size())) {
    if (problem_.nodes[id].fetched_over && fetched_stays_[id].empty()) {
      return report(ViolationKind::missing_step, "node " + node_text(id) + " is never fetched");
    }
  }
  return true;
}

// A position sees the last stay that has begun.
bool TransferReplay::use(Stays& stays, std::size_t at, const std::string& what) {
  const std::string reader = at < answer_.runs.size() ? runs_.run_name(at) : "the end";
  const auto later = std::find_if(stays.begin(), stays.end(), [&](const Stay& stay) { return stay.begin > at; });
  if (later == stays.begin()) {
    return report(ViolationKind::data_flow, reader + " needs " + what + ", which is not fetched before");
  }
  Stay& stay = *std::prev(later);
  if (stay.usable > at) {
    return report(ViolationKind::data_flow, reader + " needs " + what + ", which is still on its way");
  }
  if (stay.overwritten) {
    return report(ViolationKind::clobbered, reader + " needs " + what + ", whose bytes " +
                                                runs_.run_name(*stay.overwritten) + " has overwritten");
  }
  stay.end = std::max(stay.end, at + 1);
  return true;
}

bool TransferReplay::use_all() {
  for (std::size_t at = 0; at <= answer_.runs.size(); ++at) {
    for (std::size_t content : runs_.needs()[at]) {
      const RunReplay::Content& needed = runs_.contents()[content];
      if (problem_.nodes[needed.entry].is_state) continue;
      const std::string of_part =
          problem_.nodes[needed.entry].part_of ? "part " + node_text(needed.entry) : "the output";
      if (!use(stays_[content], at, of_part + " of " + runs_.run_name(needed.made))) return false;
    }
    for (NodeId entry : runs_.fetched_needs()[at]) {
      if (!use(fetched_stays_[entry], at, "node " + node_text(entry))) return false;
    }
    if (at < answer_.runs.size()) spoil_fetched(at);
  }
  return true;
}

// A run may overwrite fetched copies.
void TransferReplay::spoil_fetched(std::size_t at) {
  spoil_fetched(at, answer_.runs[at]);
  for (NodeId part : runs_.parts_of(answer_.runs[at])) spoil_fetched(at, part);
}

void TransferReplay::spoil_fetched(std::size_t at, NodeId written) {
  const std::optional<NodeId> overwritten = problem_.nodes[written].overwrites;
  if (!overwritten) return;
  Stays& stays = fetched_stays_[runs_.storage().of(*overwritten)];
  const auto later = std::find_if(stays.begin(), stays.end(), [&](const Stay& stay) { return stay.begin > at; });
  if (later != stays.begin()) std::prev(later)->overwritten = at;
}

std::pair<Bytes, std::size_t> TransferReplay::peak() const {
  std::vector<Bytes> changes(answer_.runs.size() + 2);  // by position: live bytes more than at the position before
  const auto add = [&](NodeId entry, const Stays& stays) {
    for (const Stay& stay : stays) {
      if (stay.end <= stay.begin) continue;
      changes[stay.begin] += problem_.nodes[entry].size;
      changes[stay.end] -= problem_.nodes[entry].size;
    }
  };
  for (std::size_t at = 0; at < stays_.size(); ++at) add(runs_.contents()[at].entry, stays_[at]);
  for (NodeId id : all_ids<NodeId>(problem_.nodes.size())) add(id, fetched_stays_[id]);
  const std::vector<Bytes> fixed = runs_.fixed_loads();
  std::pair<Bytes, std::size_t> most{Bytes(0), 0};
  Bytes live;
  for (std::size_t at = 0; at <= answer_.runs.size(); ++at) {
    live += changes[at];
    if (live + fixed[at] > most.first) most = {live + fixed[at], at};
  }
  return most;
}

}  // namespace lowtide::verify_internal
