// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/earlier/baselines/ports/static_runtime_port.h"

#include <algorithm>
#include <optional>

namespace lowtide::testing {
namespace {

std::string base_of_value(const PlainNet& net, std::string name) {
  while (net.view_of.contains(name)) name = net.view_of.at(name);
  return name;
}

// Names whose memory lives longer than the run or is not the runtime's: what is returned, and what is viewed by it.
std::set<std::string> always_alive(const PlainNet& net) {
  std::set<std::string> alive(net.inputs.begin(), net.inputs.end());
  alive.insert(net.constants.begin(), net.constants.end());
  for (const std::string& name : net.outputs) alive.insert(base_of_value(net, name));
  return alive;
}

std::int64_t aligned(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

std::vector<std::set<std::string>> ported_storage_groups(const PlainNet& net) {
  const std::set<std::string> alive = always_alive(net);
  std::map<std::string, std::size_t> last;  // of bases; a use of a view is one of its base
  std::vector<std::string> by_use;
  for (std::size_t at = 0; at < net.ops.size(); ++at) {
    for (const std::vector<std::string>& list : {net.ops[at].inputs, net.ops[at].outputs}) {
      for (const std::string& name : list) {
        const std::string base = base_of_value(net, name);
        if (!last.contains(base)) by_use.push_back(base);
        last[base] = at;
      }
    }
  }
  std::vector<std::set<std::string>> groups;
  std::map<std::string, std::size_t> group_of;
  std::vector<std::size_t> free;
  for (std::size_t at = 0; at < net.ops.size(); ++at) {
    for (const std::string& name : net.ops[at].outputs) {
      if (net.view_of.contains(name) || alive.contains(name)) continue;
      if (free.empty()) {
        free.push_back(groups.size());
        groups.emplace_back();
      }
      group_of[name] = free.back();
      groups[free.back()].insert(name);
      free.pop_back();
    }
    for (const std::string& name : by_use) {
      if (group_of.contains(name) && last[name] == at) free.push_back(group_of[name]);
    }
  }
  return groups;
}

namespace {

struct Storage {
  std::set<std::string> users;
  std::int64_t learned = 0;  // since the last run
  std::int64_t most = 0;     // in this run
};

class PortedRuntime {
 public:
  PortedRuntime(const PlainNet& net, bool has_groups, bool manages_outputs) : net_(net) {
    const std::set<std::string> alive = always_alive(net);
    std::set<std::string> viewed;
    for (const auto& [view, base] : net.view_of) viewed.insert({view, base});
    for (const std::set<std::string>& group : ported_storage_groups(net)) {
      if (has_groups) storages_.push_back({.users = group});
      for (const std::string& name : group) {
        if (!has_groups) storages_.push_back({.users = {name}});
      }
    }
    for (const std::string& name : net.outputs) {
      if (manages_outputs && !viewed.contains(name) && is_written(name)) outputs_.push_back({.users = {name}});
    }
  }

  PortedRun run(const PortedSizes& sizes) {
    PortedRun out;
    std::int64_t now = 0;
    if (has_planner_) {
      for (const Storage& storage : storages_) out.block += storage.learned;
      for (const Storage& storage : outputs_) out.outputs_block += storage.learned;
      now = out.block + out.outputs_block;
    }
    out.held = now;
    for (const PlainNet::Op& op : net_.ops) {
      for (const std::string& name : op.outputs) {
        if (net_.view_of.contains(name)) continue;
        const std::int64_t bytes = sizes.at(name);
        Storage* storage = storage_of(name);
        if (storage != nullptr) storage->most = std::max(storage->most, aligned(bytes));
        if (storage != nullptr && has_planner_ && bytes <= storage->learned) continue;
        out.grown += storage != nullptr && has_planner_ ? 1 : 0;
        out.outside += bytes;
        now += bytes;
        out.held = std::max(out.held, now);
      }
    }
    for (std::vector<Storage>* list : {&storages_, &outputs_}) {
      for (Storage& storage : *list) storage.learned = std::max(storage.learned, storage.most);
    }
    has_planner_ = true;
    return out;
  }

 private:
  [[nodiscard]] bool is_written(const std::string& name) const {
    return std::any_of(net_.ops.begin(), net_.ops.end(), [&](const PlainNet::Op& op) {
      return std::count(op.outputs.begin(), op.outputs.end(), name) > 0;
    });
  }

  Storage* storage_of(const std::string& name) {
    for (std::vector<Storage>* list : {&storages_, &outputs_}) {
      for (Storage& storage : *list) {
        if (storage.users.contains(name)) return &storage;
      }
    }
    return nullptr;
  }

  const PlainNet& net_;
  std::vector<Storage> storages_;
  std::vector<Storage> outputs_;
  bool has_planner_ = false;
};

}  // namespace

std::vector<PortedRun> ported_runs(const PlainNet& net, const std::vector<PortedSizes>& runs, bool has_groups,
                                   bool manages_outputs) {
  PortedRuntime runtime(net, has_groups, manages_outputs);
  std::vector<PortedRun> out;
  for (const PortedSizes& sizes : runs) out.push_back(runtime.run(sizes));
  return out;
}

}  // namespace lowtide::testing
