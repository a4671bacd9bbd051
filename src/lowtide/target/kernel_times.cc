// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/target/kernel_times.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/json_reader.h"
#include "lowtide/base/json_writer.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/graph/work_text.h"

namespace lowtide {
namespace {

constexpr std::string_view kFormat = "lowtide-kernel-times";
constexpr std::int64_t kVersion = 1;
constexpr std::int64_t kMostSamples = 1'000'000'000;

// The members of the file, of a work, and of a kernel.
constexpr std::string_view kFileMembers[] = {"format", "schema_version", "machine_key", "works"};
constexpr std::string_view kWorkMembers[] = {"work", "kernels"};
constexpr std::string_view kKernelMembers[] = {"name", "picoseconds", "samples"};

class TimesReader {
 public:
  TimesReader(std::string_view text, std::string source_name) : json_(text, std::move(source_name)) {}

  Result<KernelTimes> read() {
    const bool ok =
        json_.read_object(kFileMembers, [&](std::size_t member) { return read_member(member); }) && json_.read_end();
    if (!ok) return *json_.error();
    return std::move(times_);
  }

 private:
  bool read_member(std::size_t member) {
    switch (member) {
      case 0: return read_format();
      case 1: return read_version();
      case 2: return json_.read_array([&] { return json_.read_name(times_.machine_key.emplace_back()); });
      default: return json_.read_array([&] { return read_work(); });
    }
  }

  bool read_format() {
    std::string format;
    if (!json_.read_name(format)) return false;
    if (format == kFormat) return true;
    return json_.fail(ErrorCode::malformed, quoted(format, 60) + " is not " + quoted(kFormat) +
                                                "; 'lowtide bench MODEL --profile FILE' writes such a file");
  }

  bool read_version() {
    std::int64_t version = 0;
    if (!json_.read_integer("a version", 1, 1'000'000, version)) return false;
    if (version == kVersion) return true;
    return json_.fail(ErrorCode::unsupported, "this is version " + std::to_string(version) +
                                                  " of the format, and this program reads version " +
                                                  std::to_string(kVersion));
  }

  bool read_work() {
    std::string work;
    std::map<std::string, KernelTime> kernels;
    const auto read_member = [&](std::size_t member) {
      return member == 0 ? json_.read_name(work) : json_.read_array([&] { return read_kernel(kernels); });
    };
    if (!json_.read_object(kWorkMembers, read_member)) return false;
    if (times_.of_work.emplace(work, std::move(kernels)).second) return true;
    return json_.fail(ErrorCode::malformed, "the work " + quoted(work, 120) + " is listed twice");
  }

  bool read_kernel(std::map<std::string, KernelTime>& kernels) {
    std::string name;
    KernelTime time;
    const auto read_member = [&](std::size_t member) {
      if (member == 0) return json_.read_name(name);
      if (member == 1) return json_.read_integer("a time", 1, kMostMeasuredPicoseconds, time.picoseconds);
      return json_.read_integer("a number of samples", 1, kMostSamples, time.samples);
    };
    if (!json_.read_object(kKernelMembers, read_member)) return false;
    if (kernels.emplace(name, time).second) return true;
    return json_.fail(ErrorCode::malformed, "the kernel " + quoted(name, 60) + " is listed twice");
  }

  JsonReader json_;
  KernelTimes times_;
};

bool is_measured(const Kernel& kernel) { return kernel.cost_source == CostSource::measured; }

// Insertion sort: a kernel passes those before it that it beats clearly.
void sort_by_time(std::vector<Kernel>& kernels) {
  for (std::size_t from = 1; from < kernels.size(); ++from) {
    std::size_t to = from;
    while (to > 0 && kernels[from].cost_seconds < (1 - kLeastGain) * kernels[to - 1].cost_seconds) --to;
    const auto at = kernels.begin() + static_cast<std::ptrdiff_t>(from);
    std::rotate(kernels.begin() + static_cast<std::ptrdiff_t>(to), at, at + 1);
  }
}

class TimedCatalogue final : public Catalogue {
 public:
  TimedCatalogue(std::shared_ptr<const Catalogue> offered, std::shared_ptr<const KernelTimes> times)
      : offered_(std::move(offered)), times_(std::move(times)) {}

  [[nodiscard]] std::vector<Kernel> kernels(const Graph& graph, NodeId node) const override {
    std::vector<Kernel> kernels = offered_->kernels(graph, node);
    const auto work = times_->of_work.find(work_text(graph, node));
    if (work == times_->of_work.end()) return kernels;
    for (Kernel& kernel : kernels) {
      const auto time = work->second.find(kernel.name);
      if (time == work->second.end()) continue;
      kernel.cost_seconds = static_cast<double>(time->second.picoseconds) * 1e-12;
      kernel.cost_source = CostSource::measured;
    }
    if (std::ranges::all_of(kernels, is_measured)) sort_by_time(kernels);
    return kernels;
  }

 private:
  std::shared_ptr<const Catalogue> offered_;
  std::shared_ptr<const KernelTimes> times_;
};

Error other_machine(const std::vector<std::string>& measured, const std::vector<std::string>& wanted) {
  const auto shown = [](const std::vector<std::string>& key) {
    return key.empty() ? std::string("no key") : listed(key, "and");
  };
  return Error{ErrorCode::mismatch,
               "the times are of a machine with " + shown(measured) + ", and not of one with " + shown(wanted) +
                   "; 'lowtide bench MODEL --profile FILE' measures this one, into another file",
               ""};
}

}  // namespace

std::string print_kernel_times(const KernelTimes& times) {
  std::string out;
  JsonWriter json(out);
  json.begin_object(JsonWriter::Layout::lines);
  json.member("format", kFormat);
  json.member("schema_version", kVersion);
  json.key("machine_key");
  json.begin_array();
  for (const std::string& text : times.machine_key) json.value(text);
  json.end_array();
  json.key("works");
  json.begin_array(JsonWriter::Layout::lines);
  for (const auto& [work, kernels] : times.of_work) {
    json.begin_object();
    json.member("work", work);
    json.key("kernels");
    json.begin_array();
    for (const auto& [name, time] : kernels) {
      json.begin_object();
      json.member("name", name);
      json.member("picoseconds", time.picoseconds);
      json.member("samples", time.samples);
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return out + "\n";
}

Result<KernelTimes> parse_kernel_times(std::string_view text, std::string source_name) {
  return TimesReader(text, std::move(source_name)).read();
}

Result<void> add_times(KernelTimes& times, const KernelTimes& more) {
  if (times.machine_key != more.machine_key) return other_machine(times.machine_key, more.machine_key);
  for (const auto& [work, kernels] : more.of_work) {
    for (const auto& [name, time] : kernels) times.of_work[work][name] = time;
  }
  return {};
}

Result<Target> with_times(Target target, std::shared_ptr<const KernelTimes> times) {
  if (times->machine_key != target.machine_key) return other_machine(times->machine_key, target.machine_key);
  target.catalogue = std::make_shared<TimedCatalogue>(std::move(target.catalogue), std::move(times));
  return target;
}

}  // namespace lowtide
