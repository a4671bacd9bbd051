// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/target/description.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/graph/operator_traits.h"
#include "lowtide/target/described_catalogue.h"
#include "lowtide/target/toml_table.h"

namespace lowtide {
namespace {

using target_internal::KernelRule;
using target_internal::TomlErrors;
using target_internal::TomlTable;
using target_internal::TomlText;

constexpr std::int64_t kSchemaVersion = 1;
constexpr std::int64_t kMostMultiple = 1'000'000;
constexpr std::int64_t kMostWorkers = 1'000'000;
// Far above the times and rates of any machine. They keep sums and quotients finite.
constexpr double kMostSeconds = 1e9;
constexpr double kMostBytesPerSecond = 1e18;
constexpr double kMostLatencySeconds = 1e6;  // 1e18 picoseconds, below 2^63

// Rounds up, except that a decimal number such as 10e-6, which no binary fraction equals, is converted exactly.
std::int64_t picoseconds(double seconds) {
  const double exact = seconds * 1e12;
  const double nearest = std::round(exact);
  return static_cast<std::int64_t>(std::abs(exact - nearest) <= 1e-12 * exact ? nearest : std::ceil(exact));
}

class TargetReader {
 public:
  TargetReader(const toml::table& root, TomlErrors& errors) : root_(root), errors_(errors) {}

  Target read() {
    const TomlTable table(
        root_, "target",
        {"name", "schema_version", "constants", "integer_kernels", "region", "link", "worker", "kernel"}, errors_);
    target_.has_integer_kernels = table.boolean("integer_kernels", false);
    (void)table.integer("schema_version", kSchemaVersion, kSchemaVersion, kSchemaVersion);
    target_.name = table.name("name");
    for (const toml::table* region : table.tables("region")) read_region(*region);
    if (target_.machine.regions.empty()) table.refuse("region", "is missing; a target has at least one [[region]]");
    for (const toml::table* link : table.tables("link")) read_link(*link);
    for (const toml::table* worker : table.tables("worker")) read_worker(*worker);
    if (target_.machine.workers.empty()) target_.machine.workers.push_back({.name = "worker"});
    check_writable(table);
    read_constants(table);
    for (const toml::table* kernel : table.tables("kernel")) read_kernel(*kernel);
    find_unknown_operators();
    target_.catalogue = target_internal::described_catalogue(std::move(rules_));
    return std::move(target_);
  }

 private:
  void find_unknown_operators() {
    std::set<std::string> unknown;
    for (const KernelRule& rule : rules_) {
      if (rule.domain.empty() && rule.type != "*" && !operator_traits("", rule.type).is_known)
        unknown.insert(rule.type);
    }
    target_.unknown_operators.assign(unknown.begin(), unknown.end());
  }

  void read_region(const toml::table& source) {
    const TomlTable table(source, "region " + std::to_string(target_.machine.regions.size()),
                          {"name", "capacity", "alignment", "read_only"}, errors_);
    Region region{.name = table.name("name")};
    const auto [earlier, is_new] =
        region_ids_.try_emplace(region.name, static_cast<std::uint32_t>(target_.machine.regions.size()));
    if (!is_new)
      table.refuse("name",
                   quoted(region.name) + " is also the name of region " + std::to_string(earlier->second.value()));
    if (table.has("capacity")) {
      region.capacity =
          table.bytes("capacity", Bytes(1), 1, limits::kMaxArenaBytes, "; omit it for a region without a limit");
    }
    region.alignment = table.bytes("alignment", region.alignment, 1, limits::kMaxAlignment, " (kMaxAlignment)");
    if (!is_power_of_two(region.alignment.count())) {
      table.refuse("alignment", "is " + std::to_string(region.alignment.count()) + ", which is not a power of two");
    }
    region.is_read_only = table.boolean("read_only", false);
    target_.machine.regions.push_back(std::move(region));
  }

  // The first worker runs all kernels, so it needs a region for their results.
  void check_writable(const TomlTable& table) {
    if (!writable_regions(target_.machine, WorkerId(0)).empty()) return;
    table.refuse("region", "is read-only in all tables that worker " + quoted(first_worker().name) +
                               " can address; a plan needs a region that it can write");
  }

  // Plans copy nothing between regions, so the first worker must reach the constants where they are.
  void read_constants(const TomlTable& table) {
    if (!table.has("constants")) return;
    target_.machine.constants = named_region(table, "constants");
    if (can_address(first_worker(), *target_.machine.constants)) return;
    table.refuse("constants", "refers to a region that worker " + quoted(first_worker().name) +
                                  " cannot address; kernels must reach it, because plans copy nothing between regions");
  }

  [[nodiscard]] const Worker& first_worker() const { return target_.machine.workers[WorkerId(0)]; }

  [[nodiscard]] std::string no_such_region(const std::string& name) const {
    std::string known;
    for (const Region& region : target_.machine.regions) known += (known.empty() ? "" : ", ") + quoted(region.name, 40);
    return "refers to the region " + quoted(name) + ", which does not exist; the regions are " + known;
  }

  RegionId named_region(const TomlTable& table, std::string_view key) {
    const std::string name = table.name(key);
    const auto found = region_ids_.find(name);
    if (found != region_ids_.end()) return found->second;
    table.refuse(key, no_such_region(name));
    return RegionId();
  }

  void read_link(const toml::table& source) {
    const TomlTable table(source, "link " + std::to_string(target_.machine.links.size()),
                          {"from", "to", "bytes_per_second", "latency_seconds"}, errors_);
    Link link{.from = named_region(table, "from"), .to = named_region(table, "to")};
    link.bytes_per_second = std::llround(table.real("bytes_per_second", std::nullopt, 1, kMostBytesPerSecond));
    link.latency_picoseconds = picoseconds(table.real("latency_seconds", 0, 0, kMostLatencySeconds));
    if (link.from == link.to) table.refuse("to", "is the same region as from");
    if (link.to.index() < target_.machine.regions.size() && target_.machine.regions[link.to.index()].is_read_only)
      table.refuse("to", "refers to a region that is read-only, so nothing can be copied into it");
    if (!links_.emplace(link.from, link.to).second)
      table.refuse("to", "repeats a link; there is at most one from a region to another");
    target_.machine.links.push_back(link);
  }

  void read_worker(const toml::table& source) {
    const TomlTable table(source, "worker " + std::to_string(target_.machine.workers.size()),
                          {"name", "count", "addressable"}, errors_);
    Worker worker{.name = table.name("name")};
    worker.count = static_cast<int>(table.integer("count", 1, 1, kMostWorkers));
    if (!worker_names_.insert(worker.name).second)
      table.refuse("name",
                   quoted(worker.name) + " is also the name of another worker; use count for identical workers");
    worker.addressable = read_addressable(table);
    target_.machine.workers.push_back(std::move(worker));
  }

  // addressable = ["sram", "dram"]; ascending.
  std::vector<RegionId> read_addressable(const TomlTable& table) {
    std::vector<RegionId> regions;
    const std::vector<TomlText> names = table.names("addressable");
    if (names.empty() && table.has("addressable")) {
      table.refuse("addressable", "is empty; omit it for a worker that addresses every region");
    }
    for (const TomlText& name : names) {
      const auto found = region_ids_.find(name.text);
      if (found == region_ids_.end()) {
        table.refuse_at(name.at, "addressable", no_such_region(name.text));
      } else if (std::find(regions.begin(), regions.end(), found->second) != regions.end()) {
        table.refuse_at(name.at, "addressable", "refers to the region " + quoted(name.text) + " twice");
      } else {
        regions.push_back(found->second);
      }
    }
    std::sort(regions.begin(), regions.end());
    return regions;
  }

  // "Conv", "com.example::Scale" or "*".
  void read_operator(const TomlTable& table, KernelRule& rule) {
    const std::string op = table.name("operator");
    const std::size_t separator = op.rfind("::");
    rule.type = separator == std::string::npos ? op : op.substr(separator + 2);
    if (separator != std::string::npos) rule.domain = op.substr(0, separator);
    const bool has_star = op.find('*') != std::string::npos;
    if (rule.type.empty() || (separator != std::string::npos && rule.domain.empty()) || (has_star && op != "*")) {
      table.refuse("operator",
                   "should be a type such as \"Conv\", one of a domain such as \"com.example::Scale\", or \"*\", not " +
                       quoted(op, 40));
    }
    if (rule.domain == "ai.onnx") rule.domain.clear();
  }

  void read_kernel(const toml::table& source) {
    const TomlTable table(
        source, "kernel " + std::to_string(rules_.size()),
        {"operator", "name", "scratch", "scratch_per_input_byte", "scratch_per_output_byte", "scratch_per_weight_byte",
         "in_place", "may_alias_views", "cost_seconds", "cost_seconds_per_byte"},
        errors_);
    KernelRule rule;
    read_operator(table, rule);
    rule.name = table.name("name");
    rule.scratch = table.bytes("scratch", Bytes(), 0, limits::kMaxTensorBytes, " (kMaxTensorBytes)");
    rule.scratch_per_input_byte = table.integer("scratch_per_input_byte", 0, 0, kMostMultiple);
    rule.scratch_per_output_byte = table.integer("scratch_per_output_byte", 0, 0, kMostMultiple);
    rule.scratch_per_weight_byte = table.integer("scratch_per_weight_byte", 0, 0, kMostMultiple);
    rule.in_place = table.boolean("in_place", true);
    rule.may_alias_views = table.boolean("may_alias_views", true);
    rule.cost_seconds = table.real("cost_seconds", 0, 0, kMostSeconds);
    rule.cost_seconds_per_byte = table.real("cost_seconds_per_byte", 0, 0, kMostSeconds);
    if (!kernel_names_.insert({rule.domain, rule.type, rule.name}).second) {
      table.refuse("name", quoted(rule.name) + " is also the name of another kernel of this operator");
    }
    rules_.push_back(std::move(rule));
  }

  const toml::table& root_;
  TomlErrors& errors_;
  Target target_;
  std::vector<KernelRule> rules_;
  std::map<std::string, RegionId> region_ids_;
  std::set<std::pair<RegionId, RegionId>> links_;
  std::set<std::string> worker_names_;
  std::set<std::vector<std::string>> kernel_names_;
};

bool gives_up(std::string_view text) {
  try {
    (void)toml::parse(text);
  } catch (const toml::parse_error&) {
    return false;
  } catch (const target_internal::TomlGaveUp&) {
    return true;
  }
  return false;
}

// The line in which the parser gives up. It reads from the front, so it gives up on every prefix that contains this
// line, and on no shorter one.
std::uint32_t line_of_giving_up(std::string_view text) {
  std::vector<std::size_t> ends;
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    ends.push_back(at + 1);
  const auto first =
      std::partition_point(ends.begin(), ends.end(), [&](std::size_t end) { return !gives_up(text.substr(0, end)); });
  return static_cast<std::uint32_t>(first - ends.begin()) + 1;
}

// Returns nullopt if `errors` has a refusal.
std::optional<toml::table> parse_toml(std::string_view text, TomlErrors& errors) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    errors.refuse(error.source().begin, "not TOML: " + quoted(error.description(), 300), ErrorCode::malformed);
  } catch (const target_internal::TomlGaveUp&) {
    errors.refuse({line_of_giving_up(text), 1},
                  "not TOML: the parser gives up on this line; look for a missing bracket or quote",
                  ErrorCode::malformed);
  }
  return std::nullopt;
}

}  // namespace

Result<Target> parse_target(std::string_view toml, std::string source_name) {
  if (static_cast<std::int64_t>(toml.size()) > limits::kMaxTargetFileBytes) {
    return Error{ErrorCode::over_limit,
                 "a target file of " + std::to_string(toml.size()) + " bytes is above the limit of " +
                     std::to_string(limits::kMaxTargetFileBytes) + " (kMaxTargetFileBytes)",
                 std::move(source_name)};
  }
  if (toml.starts_with("\xEF\xBB\xBF")) toml.remove_prefix(3);  // the byte order mark that some editors write
  LOWTIDE_RETURN_IF_ERROR(target_internal::check_toml_surface(toml, source_name));
  TomlErrors errors(std::move(source_name));
  const std::optional<toml::table> root = parse_toml(toml, errors);
  if (!root) return *errors.first();
  Target target = TargetReader(*root, errors).read();
  if (errors.first()) return *errors.first();
  return target;
}

}  // namespace lowtide
