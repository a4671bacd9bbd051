// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/grappler/placement.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "lowtide/base/parse_number.h"

namespace lowtide::grappler_internal {
namespace {

// The parts of a device name in small letters. Those that a name does not have stay as they are.
struct NameParts {
  std::string job;
  std::int64_t replica = 0;
  std::int64_t task = 0;
  std::string type;
  std::int64_t number = 0;
};

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return small;
}

bool skip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool read_index(std::string_view text, std::int64_t& number) {
  const auto found = parse_number(text);
  if (!found) return false;
  number = *found;
  return true;
}

bool read_type(std::string_view text, NameParts& parts) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  parts.type = text.substr(0, colon);
  return read_index(text.substr(colon + 1), parts.number);
}

bool read_part(std::string_view text, NameParts& parts) {
  if (skip(text, "job:")) {
    parts.job = text;
    return !text.empty();
  }
  if (skip(text, "replica:")) return read_index(text, parts.replica);
  if (skip(text, "task:")) return read_index(text, parts.task);
  if (skip(text, "device:")) return read_type(text, parts);
  return (text.starts_with("cpu:") || text.starts_with("gpu:")) && read_type(text, parts);
}

// "/job:worker/task:1/device:gpu:0", "/gpu:0", "device:gpu:0", "gpu:0" or "gpu"
std::optional<NameParts> parts_of(std::string_view name) {
  NameParts parts;
  if (name == "cpu" || name == "gpu") {
    parts.job = "localhost";
    parts.type = name;
    return parts;
  }
  if (!name.starts_with('/')) {
    parts.job = "localhost";
    skip(name, "device:");
    return read_type(name, parts) ? std::optional(parts) : std::nullopt;
  }
  while (!name.empty()) {
    if (!skip(name, "/")) return std::nullopt;
    const std::size_t end = std::min(name.find('/'), name.size());
    if (!read_part(name.substr(0, end), parts)) return std::nullopt;
    name.remove_prefix(end);
  }
  return parts;
}

}  // namespace

Placement::Placement(const Cluster& cluster) {
  std::set<std::string> jobs;
  std::map<std::pair<int, std::int64_t>, std::uint32_t> preferred;
  for (std::uint32_t at = 0; at < cluster.devices.size(); ++at) {
    const std::string& name = cluster.devices[at].name;
    const std::string full = full_name(name);
    if (full.empty()) continue;
    by_full_name_[full] = at;
    const NameParts parts = parts_of(in_small_letters(name)).value();
    jobs.insert(parts.job.empty() ? job_ : parts.job);
    if (parts.type == "gpu") preferred[{0, parts.number}] = at;
    if (parts.type == "cpu") preferred[{1, parts.number}] = at;
  }
  if (!preferred.empty() && cluster.devices.size() > 1) fallback_ = preferred.begin()->second;
  if (jobs.size() == 1) job_ = *jobs.begin();
}

std::string Placement::full_name(std::string_view name) const {
  const std::optional<NameParts> parts = parts_of(in_small_letters(name));
  if (!parts) return "";
  return "/job:" + (parts->job.empty() ? job_ : parts->job) + "/replica:" + std::to_string(parts->replica) +
         "/task:" + std::to_string(parts->task) + "/device:" + parts->type + ":" + std::to_string(parts->number);
}

std::uint32_t Placement::device_of(std::string_view name) const {
  if (name.empty()) return fallback_;
  const auto found = by_full_name_.find(full_name(name));
  return found == by_full_name_.end() ? fallback_ : found->second;
}

bool Placement::has(std::string_view name) const { return by_full_name_.contains(full_name(name)); }

}  // namespace lowtide::grappler_internal
