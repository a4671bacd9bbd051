// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/earlier/baselines/ports/aitemplate_port.h"

#include <algorithm>
#include <optional>
#include <set>

namespace lowtide::testing {
namespace {

struct Record {
  std::string name;
  std::int64_t first = 0;
  std::int64_t last = 0;  // inclusive
  std::int64_t size = 0;
  std::int64_t offset = 0;
};

std::string base_of(const PlainNet& net, std::string name) {
  while (net.view_of.contains(name)) name = net.view_of.at(name);
  return name;
}

// One record for each tensor, in the order in which the steps touch them. Views have none, but lengthen that of their
// base.
std::vector<Record> records_of(const PlainNet& net, const ParallelOps& steps) {
  std::vector<Record> records;
  const std::int64_t end = static_cast<std::int64_t>(steps.size());
  const auto touch = [&](const std::string& name, std::int64_t now) {
    if (net.constants.contains(name)) return;
    auto found = std::find_if(records.begin(), records.end(), [&](const Record& one) { return one.name == name; });
    if (found == records.end()) {
      const std::int64_t size = (net.bytes.at(name) + 63) / 64 * 64;
      found = records.insert(records.end(), {.name = name, .first = now, .last = now, .size = size});
    }
    found->first = std::min(found->first, now);
    found->last = net.outputs.contains(name) ? end - 1 : std::max(found->last, now);
  };
  for (std::int64_t now = 0; now < end; ++now) {
    for (std::size_t at : steps[static_cast<std::size_t>(now)]) {
      for (const std::string& name : net.ops[at].inputs) touch(name, now);
      for (const std::string& name : net.ops[at].outputs) touch(name, now);
    }
  }
  for (const Record& view : records) {
    const std::string base = base_of(net, view.name);
    for (Record& one : records) {
      if (one.name == base) one.last = std::max(one.last, view.last);
    }
  }
  std::erase_if(records, [&](const Record& one) { return net.view_of.contains(one.name); });
  return records;
}

AitemplatePlan packed(std::vector<Record> records) {
  std::stable_sort(records.begin(), records.end(), [](const Record& a, const Record& b) { return a.size > b.size; });
  AitemplatePlan plan;
  std::vector<Record> placed;  // by offset
  for (Record& record : records) {
    std::int64_t end = 0;
    std::optional<std::int64_t> best;
    std::int64_t smallest = INT64_MAX;
    for (const Record& other : placed) {
      if (std::max(record.first, other.first) > std::min(record.last, other.last)) continue;
      const std::int64_t gap = other.offset - end;
      if (gap >= record.size && gap < smallest) {
        smallest = gap;
        best = end;
      }
      end = std::max(end, other.offset + other.size);
    }
    record.offset = best.value_or(end);
    plan.offsets[record.name] = record.offset;
    plan.bytes = std::max(plan.bytes, record.offset + record.size);
    const auto above = std::upper_bound(placed.begin(), placed.end(), record.offset,
                                        [](std::int64_t at, const Record& one) { return at < one.offset; });
    placed.insert(above, record);
  }
  return plan;
}

}  // namespace

ParallelOps ported_waves(const PlainNet& net, std::size_t most) {
  std::set<std::string> ready(net.constants);
  ready.insert(net.inputs.begin(), net.inputs.end());
  std::vector<std::size_t> waiting;
  for (std::size_t at = 0; at < net.ops.size(); ++at) waiting.push_back(at);
  ParallelOps waves;
  while (!waiting.empty()) {
    std::vector<std::size_t> runs;
    for (std::size_t at : waiting) {
      const std::vector<std::string>& inputs = net.ops[at].inputs;
      if (std::all_of(inputs.begin(), inputs.end(), [&](const std::string& name) { return ready.contains(name); })) {
        runs.push_back(at);
      }
    }
    for (std::size_t at : runs) {
      std::erase(waiting, at);
      ready.insert(net.ops[at].outputs.begin(), net.ops[at].outputs.end());
    }
    for (std::size_t at = 0; at < runs.size(); ++at) {
      if (at % most == 0) waves.emplace_back();
      waves.back().push_back(runs[at]);
    }
  }
  return waves;
}

AitemplatePlan ported_greedy(const PlainNet& net) {
  ParallelOps steps;
  for (std::size_t at = 0; at < net.ops.size(); ++at) steps.insert(steps.end(), net.ops[at].outputs.size(), {at});
  return packed(records_of(net, steps));
}

AitemplatePlan ported_multistream(const PlainNet& net, std::size_t most) {
  return packed(records_of(net, ported_waves(net, most)));
}

}  // namespace lowtide::testing
