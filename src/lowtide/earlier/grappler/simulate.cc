// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/grappler/simulate.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "lowtide/earlier/graphdef/node_attributes.h"
#include "lowtide/earlier/grappler/placement.h"

namespace lowtide::grappler_internal {
namespace {

constexpr std::int64_t kMicrosecond = 1000;
constexpr double kMostSimulatedBytes = 1152921504606846976.0;  // 2^60

// A node of the graph, or one that sends or receives a tensor.
struct Task {
  std::string name;
  std::optional<NodeIndex> node;
  std::uint32_t device = 0;  // of the cluster, or behind them a channel between two of them
  std::int64_t cost = 1;
  std::size_t inputs = 0;
  std::size_t ready_inputs = 0;
  std::int64_t ready = 0;
  std::int64_t begin = 0;
  std::int64_t end = -1;
  std::vector<std::uint32_t> readers;  // once for each input
};

std::string without_colons(std::string text) {
  std::ranges::replace(text, ':', '_');
  return text;
}

// The nodes that run as tasks, with those that copy tensors between devices.
class TaskGraph {
 public:
  TaskGraph(const TypedGraph& graph, const Cluster& cluster) : graph_(graph), cluster_(cluster), placement_(cluster) {}

  void add_nodes(const std::vector<bool>& is_needed) {
    task_of_.assign(graph_.nodes.size(), 0);
    for (NodeIndex at = 0; at < graph_.nodes.size(); ++at) {
      if (!is_needed[at]) continue;
      task_of_[at] = static_cast<std::uint32_t>(tasks_.size());
      const std::uint32_t device = placement_.device_of(graph_.nodes[at].device);
      tasks_.push_back({.name = graph_.nodes[at].name,
                        .node = at,
                        .device = device,
                        .cost = nanoseconds_on(work_of(graph_.costed(at)), cluster_.devices[device])});
    }
    const std::size_t count = tasks_.size();
    for (std::uint32_t task = 0; task < count; ++task) connect(task);
  }

  [[nodiscard]] std::vector<Task>& tasks() { return tasks_; }
  [[nodiscard]] std::uint32_t task_of(NodeIndex node) const { return task_of_[node]; }
  [[nodiscard]] std::size_t count_devices() const { return cluster_.devices.size() + channels_.size(); }
  // The tensor that a task receives.
  [[nodiscard]] const std::map<std::uint32_t, std::pair<NodeIndex, std::int64_t>>& received() const {
    return received_;
  }

 private:
  void connect(std::uint32_t task) {
    const NodeIndex node = *tasks_[task].node;
    for (std::size_t input = 0; input < graph_.nodes[node].inputs.size(); ++input) {
      const DefInput name = read_input(graph_.nodes[node].inputs[input]);
      const NodeIndex source = graph_.links.inputs[node][input];
      const std::uint32_t from = task_of_[source];
      const bool is_direct = name.is_control || tasks_[from].device == tasks_[task].device;
      add_edge(is_direct ? from : receiver(source, name.port, tasks_[task].device), task);
    }
  }

  void add_edge(std::uint32_t from, std::uint32_t to) {
    tasks_[from].readers.push_back(to);
    ++tasks_[to].inputs;
  }

  // The task that receives an output on a device.
  std::uint32_t receiver(NodeIndex source, std::int64_t port, std::uint32_t device) {
    const auto [found, is_new] = receivers_.try_emplace({source, port, device}, 0);
    if (!is_new) return found->second;
    const std::uint32_t from = task_of_[source];
    const std::string source_name = tasks_[from].name + "_" + std::to_string(port);
    const std::string here = without_colons(cluster_.devices[device].name);
    const std::string there = without_colons(cluster_.devices[tasks_[from].device].name);
    const auto send = static_cast<std::uint32_t>(tasks_.size());
    tasks_.push_back({.name = "Send_" + source_name + "_from_" + there + "_to_" + here,
                      .node = std::nullopt,
                      .device = channel(tasks_[from].device, device)});
    tasks_.push_back({.name = "Recv_" + source_name + "_on_" + here, .node = std::nullopt, .device = device});
    add_edge(from, send);
    add_edge(send, send + 1);
    found->second = send + 1;
    received_[send + 1] = {source, port};
    return send + 1;
  }

  std::uint32_t channel(std::uint32_t from, std::uint32_t to) {
    const auto number = static_cast<std::uint32_t>(cluster_.devices.size() + channels_.size());
    return channels_.try_emplace({from, to}, number).first->second;
  }

  const TypedGraph& graph_;
  const Cluster& cluster_;
  Placement placement_;
  std::vector<Task> tasks_;
  std::vector<std::uint32_t> task_of_;
  std::map<std::tuple<NodeIndex, std::int64_t, std::uint32_t>, std::uint32_t> receivers_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> channels_;
  std::map<std::uint32_t, std::pair<NodeIndex, std::int64_t>> received_;
};

// Ready tasks, the first one on top.
class ReadyTasks {
 public:
  explicit ReadyTasks(const std::vector<Task>& tasks) : tasks_(tasks), queue_(Later{&tasks}) {}

  void add(std::uint32_t task) { queue_.push({tasks_[task].ready, task}); }
  [[nodiscard]] bool empty() const { return queue_.empty(); }
  std::uint32_t take() {
    const std::uint32_t task = queue_.top().second;
    queue_.pop();
    return task;
  }

 private:
  using Entry = std::pair<std::int64_t, std::uint32_t>;
  struct Later {
    const std::vector<Task>* tasks;
    bool operator()(const Entry& a, const Entry& b) const {
      return a.first != b.first ? a.first > b.first : (*tasks)[a.second].name > (*tasks)[b.second].name;
    }
  };

  const std::vector<Task>& tasks_;
  std::priority_queue<Entry, std::vector<Entry>, Later> queue_;
};

// A task is ready when the last of its inputs has been run here, as in the original. That need not be the one that ends
// last, because a task of another device may run before. A fed task with inputs runs twice. A Merge runs with each
// input, but its readers wait for the first one.
std::int64_t run_tasks(const TypedGraph& graph, TaskGraph& all, const std::set<NodeIndex>& fed) {
  std::vector<Task>& tasks = all.tasks();
  std::vector<std::int64_t> free(all.count_devices(), 0);
  ReadyTasks ready(tasks);
  for (std::uint32_t task = 0; task < tasks.size(); ++task) {
    const bool is_fed = tasks[task].node && fed.contains(*tasks[task].node);
    if (tasks[task].inputs == 0 || is_fed) ready.add(task);
  }
  while (!ready.empty()) {
    Task& task = tasks[ready.take()];
    const bool was_run = task.end >= 0;
    task.begin = std::max(free[task.device], task.ready);
    task.end = std::min(task.begin + task.cost, kMostTime);
    free[task.device] = task.end;
    if (was_run && task.node && is_merge(graph.nodes[*task.node])) continue;
    for (std::uint32_t reader : task.readers) {
      Task& next = tasks[reader];
      ++next.ready_inputs;
      const bool merges = next.node && is_merge(graph.nodes[*next.node]);
      if (next.ready_inputs != next.inputs && !merges) continue;
      next.ready = task.end;
      ready.add(reader);
    }
  }
  return *std::ranges::max_element(free);
}

// Which tensors are live when, by device.
class MemoryOfDevices {
 public:
  MemoryOfDevices(const TypedGraph& graph, TaskGraph& all, std::size_t devices)
      : graph_(graph), all_(all), live_(devices) {}

  // False: a tensor is too large.
  bool add_tensors() {
    first_of_.assign(graph_.nodes.size(), 0);
    for (std::uint32_t at = 0; at < all_.tasks().size(); ++at) {
      const Task& task = all_.tasks()[at];
      if (task.end < 0) continue;
      if (task.node) {
        first_of_[*task.node] = live_[task.device].size();
        for (std::size_t port = 0; port < graph_.outputs[*task.node].size(); ++port) {
          if (!add(task, static_cast<std::int64_t>(port), bytes_of(graph_.outputs[*task.node][port]))) return false;
        }
      } else if (const auto found = all_.received().find(at); found != all_.received().end()) {
        const auto [source, port] = found->second;
        if (!add(task, 0, bytes_of(graph_.type_of(source, port)))) return false;
      }
    }
    for (const Task& task : all_.tasks()) {
      if (task.node && task.end >= 0) extend_inputs(task);
    }
    return true;
  }

  [[nodiscard]] std::vector<DevicePeak> peaks() const {
    std::vector<DevicePeak> all;
    for (const std::vector<LiveTensor>& tensors : live_) all.push_back(peak_of(tensors));
    return all;
  }

 private:
  static std::int64_t end_of(const Task& task) { return task.end / kMicrosecond * kMicrosecond + 1; }

  bool add(const Task& task, std::int64_t port, double bytes) {
    if (bytes > kMostSimulatedBytes) return false;
    total_ += bytes;
    live_[task.device].push_back({.node = task.name,
                                  .port = port,
                                  .bytes = static_cast<std::int64_t>(bytes),
                                  .begin = task.begin / kMicrosecond * kMicrosecond,
                                  .end = end_of(task)});
    return total_ <= kMostSimulatedBytes;
  }

  void extend_inputs(const Task& task) {
    const DefNode& node = graph_.nodes[*task.node];
    std::vector<std::int64_t> swapped;
    if (is_attribute_list(node, "_swap_to_host")) swapped = attribute_integers(node, "_swap_to_host");
    std::ranges::sort(swapped);
    for (std::size_t input = 0; input < node.inputs.size(); ++input) {
      const DefInput name = read_input(node.inputs[input]);
      if (name.is_control || std::ranges::binary_search(swapped, static_cast<std::int64_t>(input))) continue;
      const NodeIndex source = graph_.links.inputs[*task.node][input];
      if (static_cast<std::size_t>(name.port) >= graph_.outputs[source].size()) continue;
      const Task& from = all_.tasks()[all_.task_of(source)];
      LiveTensor& tensor = live_[from.device][first_of_[source] + static_cast<std::size_t>(name.port)];
      tensor.end = std::max(tensor.end, end_of(task));
    }
  }

  // The first of the moments with the most bytes. What ends at a moment is not live then.
  static DevicePeak peak_of(const std::vector<LiveTensor>& tensors) {
    std::map<std::int64_t, std::int64_t> changes;
    for (const LiveTensor& tensor : tensors) {
      changes[tensor.begin] += tensor.bytes;
      changes[tensor.end] -= tensor.bytes;
    }
    DevicePeak peak;
    std::int64_t at = -1;
    std::int64_t bytes = 0;
    for (const auto& [moment, change] : changes) {
      bytes += change;
      if (bytes <= peak.bytes) continue;
      peak.bytes = bytes;
      at = moment;
    }
    for (const LiveTensor& tensor : tensors) {
      if (tensor.begin <= at && at < tensor.end) peak.live.push_back(tensor);
    }
    std::ranges::sort(peak.live, {}, [](const LiveTensor& one) { return std::pair(one.node, one.port); });
    return peak;
  }

  const TypedGraph& graph_;
  TaskGraph& all_;
  std::vector<std::vector<LiveTensor>> live_;
  std::vector<std::size_t> first_of_;  // where the outputs of a node begin
  double total_ = 0;
};

}  // namespace

Result<Simulation> simulate(const TypedGraph& graph, const Cluster& cluster, const std::vector<std::string>& feeds,
                            const std::vector<std::string>& fetches) {
  const auto node_of = [&](const std::string& name) { return graph.links.by_name.at(read_input(name).node); };
  std::vector<NodeIndex> wanted;
  for (const std::string& fetch : fetches) wanted.push_back(node_of(fetch));
  if (wanted.empty()) return Error{ErrorCode::invalid, "nothing is fetched, so nothing runs", ""};
  std::set<NodeIndex> fed;
  for (const std::string& feed : feeds) fed.insert(node_of(feed));

  TaskGraph tasks(graph, cluster);
  tasks.add_nodes(needed_nodes(graph, wanted));
  Simulation simulation;
  simulation.nanoseconds = run_tasks(graph, tasks, fed);
  simulation.ends.assign(graph.nodes.size(), -1);
  for (const Task& task : tasks.tasks()) {
    if (task.node && task.end >= 0) simulation.ends[*task.node] = task.end / kMicrosecond;
  }
  MemoryOfDevices memory(graph, tasks, tasks.count_devices());
  if (!memory.add_tensors()) return Error{ErrorCode::over_limit, "the tensors have more than 2^60 bytes", ""};
  simulation.peaks = memory.peaks();
  simulation.peaks.resize(cluster.devices.size());
  return simulation;
}

}  // namespace lowtide::grappler_internal
