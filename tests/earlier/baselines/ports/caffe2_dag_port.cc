// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/earlier/baselines/ports/caffe2_dag_port.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <utility>

namespace lowtide::testing {
namespace {

struct Stopped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Free = std::vector<std::pair<std::int64_t, std::string>>;  // (-share count, name): a heap, the least on top
using Tokens = std::set<int>;

class Port {
 public:
  Port(const PlainNet& net, const DagQuestion& question) : net_(net), question_(question) {}

  std::map<std::string, std::string> run() {
    for (std::size_t at : question_.op_indices) {
      for (const std::string& name : net_.ops[at].outputs) written_.insert(name);
    }
    count();
    for (const std::string& head : question_.heads) {
      for (std::size_t at : std::vector<std::size_t>(readers_[head])) {
        if (visited_.contains(at)) continue;
        Free free;
        visit(at, free, {next_token_++});
      }
    }
    return mapping_;
  }

 private:
  void count() {
    std::map<std::string, int> seen;
    for (std::size_t at : question_.op_indices) {
      for (const std::string& name : net_.ops[at].inputs) {
        const bool is_head = std::find(question_.heads.begin(), question_.heads.end(), name) != question_.heads.end();
        if (!question_.shareable.contains(name) && !is_head) continue;
        if (written_.contains(name)) {
          if (!seen.contains(name)) throw Stopped("not output before");
          degree_[at] += seen[name];
        } else {
          share_count_[name] = 1;
        }
        readers_[name].push_back(at);
      }
      for (const std::string& name : net_.ops[at].outputs) {
        ++seen[name];
        device_[name] = net_.devices.contains(name) ? net_.devices.at(name) : 0;
      }
    }
  }

  std::string now(const std::string& name) const { return mapping_.contains(name) ? mapping_.at(name) : name; }

  void need(const std::string& name, const Tokens& tokens) {
    needed_[now(name)].insert(tokens.begin(), tokens.end());
    needed_[name].insert(tokens.begin(), tokens.end());
  }

  void visit(std::size_t at, Free& free, Tokens tokens) {
    tokens.insert(left_[at].begin(), left_[at].end());
    left_[at].clear();
    if (!visited_.insert(at).second) throw Stopped("visited");
    const PlainNet::Op& op = net_.ops[at];
    for (const std::string& name : op.inputs) need(name, tokens);
    for (const std::string& name : op.outputs) need(name, tokens);
    Free released;
    std::set<std::string> released_names;
    for (const std::string& name : op.inputs) {
      if (!question_.shareable.contains(name)) continue;
      if (++reads_[name] != readers_[name].size() || question_.dont_share.contains(now(name))) continue;
      released.emplace_back(-share_count_[now(name)], now(name));
      released_names.insert(now(name));
    }
    for (const std::string& name : op.outputs) {
      if (!question_.shareable.contains(name) || placed_.contains(name) || released_names.contains(name)) continue;
      placed_.insert(name);
      const std::string host = take(name, free, tokens);
      if (host.empty()) continue;
      needed_[host].insert(tokens.begin(), tokens.end());
      ++share_count_[host];
      mapping_[name] = host;
    }
    std::set<std::string> names;
    for (const auto& one : free) names.insert(one.second);
    for (const auto& one : released) {
      if (names.contains(one.second)) continue;
      free.push_back(one);
      std::push_heap(free.begin(), free.end(), std::greater<>());
    }
    go_on(op, free, tokens);
  }

  void go_on(const PlainNet::Op& op, Free& free, const Tokens& tokens) {
    std::size_t branches = 0;
    for (const std::string& name : op.outputs) branches += readers_[name].size();
    for (const std::string& name : op.outputs) {
      for (std::size_t reader : std::vector<std::size_t>(readers_[name])) {
        if (++reached_[reader] != degree_[reader]) {
          if (!visited_.contains(reader)) left_[reader].insert(tokens.begin(), tokens.end());
          continue;
        }
        Tokens more = tokens;
        if (branches > 1) more.insert(next_token_++);
        visit(reader, free, more);
      }
    }
  }

  bool may_use(const std::string& host, const std::string& name, const Tokens& tokens) {
    if (device_[host] != device_[name]) return false;
    return std::includes(tokens.begin(), tokens.end(), needed_[host].begin(), needed_[host].end());
  }

  std::string take(const std::string& name, Free& free, const Tokens& tokens) {
    if (question_.sizes.empty()) return take_most_shared(name, free, tokens);
    const std::int64_t need = question_.sizes.at(name);
    std::int64_t best = -1;
    std::size_t found = free.size();
    for (std::size_t at = 0; at < free.size(); ++at) {
      if (!may_use(free[at].second, name, tokens)) continue;
      const std::int64_t size = question_.sizes.at(free[at].second);
      if (size >= best && (best < need || best >= size)) {
        best = size;
        found = at;
      }
    }
    if (found == free.size()) return "";
    const std::string host = free[found].second;
    free.erase(free.begin() + static_cast<std::ptrdiff_t>(found));
    return host;
  }

  std::string take_most_shared(const std::string& name, Free& free, const Tokens& tokens) {
    Free refused;
    std::string host;
    while (host.empty() && !free.empty()) {
      std::pop_heap(free.begin(), free.end(), std::greater<>());
      const auto one = free.back();
      free.pop_back();
      if (may_use(one.second, name, tokens)) {
        host = one.second;
      } else {
        refused.push_back(one);
      }
    }
    for (const auto& one : refused) {
      free.push_back(one);
      std::push_heap(free.begin(), free.end(), std::greater<>());
    }
    return host;
  }

  const PlainNet& net_;
  const DagQuestion& question_;
  int next_token_ = 1;
  std::set<std::string> written_;
  std::map<std::string, std::vector<std::size_t>> readers_;
  std::map<std::string, std::size_t> reads_;
  std::map<std::size_t, int> degree_;
  std::map<std::size_t, int> reached_;
  std::map<std::string, std::int64_t> share_count_;
  std::map<std::string, Tokens> needed_;
  std::map<std::size_t, Tokens> left_;
  std::set<std::size_t> visited_;
  std::map<std::string, int> device_;
  std::set<std::string> placed_;
  std::map<std::string, std::string> mapping_;
};

}  // namespace

DagAnswer ported_dag(const PlainNet& net, const DagQuestion& question) {
  try {
    return {.stops = false, .mapping = Port(net, question).run()};
  } catch (const Stopped&) {
    return {.stops = true, .mapping = {}};
  }
}

}  // namespace lowtide::testing
