// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bind.h"
#include "call.h"
#include "lowtide/allocate/allocate.h"
#include "lowtide/base/check.h"
#include "lowtide/verify/check_packing.h"

namespace lowtide::python {
namespace {

// Columns of the rows: lower, upper, size, alignment, and the fixed offset or -1.
using Rows = nb::ndarray<const std::int64_t, nb::shape<-1, 5>, nb::c_contig, nb::device::cpu>;

// A packing problem from Python.
struct PackRequest {
  std::vector<std::string> names;                                                    // empty, or one per row
  std::map<std::uint32_t, std::vector<std::pair<std::int64_t, std::int64_t>>> gaps;  // of some rows
  std::optional<std::vector<std::pair<std::uint32_t, std::uint32_t>>> conflicts;     // replace the lifespans
  std::optional<std::int64_t> capacity;                                              // bytes
  std::optional<std::int64_t> effort;
  int threads = 1;
};

PackingProblem problem_of(const PackRequest& request, const Rows& rows) {
  PackingProblem problem;
  problem.buffers.reserve(rows.shape(0));
  for (std::size_t at = 0; at < rows.shape(0); ++at) {
    const std::int64_t* const row = rows.data() + 5 * at;
    PackingBuffer buffer{.lifespan = {row[0], row[1]}, .size = Bytes(row[2]), .alignment = Bytes(row[3])};
    if (row[4] >= 0) buffer.fixed_offset = Offset(row[4]);
    const auto gaps = request.gaps.find(static_cast<std::uint32_t>(at));
    if (gaps != request.gaps.end()) {
      for (const auto& [begin, end] : gaps->second) buffer.gaps.push_back({begin, end});
    }
    problem.buffers.push_back(std::move(buffer));
  }
  for (const std::string& name : request.names) problem.names.push_back(name);
  if (request.capacity) problem.capacity = Bytes(*request.capacity);
  if (request.conflicts) {
    problem.conflicts.emplace();
    for (const auto& [first, second] : *request.conflicts)
      problem.conflicts->push_back({PackingId(first), PackingId(second)});
  }
  return problem;
}

// Finds offsets and checks them with other code.
Packing pack_checked(const PackingProblem& problem, const AllocateOptions& options) {
  Packing packing = take(allocate(problem, options));
  const auto check = packing.outcome == PackingOutcome::found ? check_packing : check_packing_without_capacity;
  LOWTIDE_CHECK(check(problem, packing.offsets, {}).empty(), "the offsets that were just found are correct");
  return packing;
}

std::string text_of(PackingOutcome outcome) {
  switch (outcome) {
    case PackingOutcome::found: return "found";
    case PackingOutcome::infeasible: return "infeasible";
    case PackingOutcome::not_found: return "not_found";
  }
  return "";
}

// A new array that owns its elements.
nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>> array_of(std::vector<std::int64_t> numbers) {
  auto* const kept = new std::vector<std::int64_t>(std::move(numbers));
  const nb::capsule owner(kept, [](void* data) noexcept { delete static_cast<std::vector<std::int64_t>*>(data); });
  return {kept->data(), {kept->size()}, owner};
}

AnyDict pack(const PackRequest& request, const Rows& rows) {
  const PackingProblem problem = problem_of(request, rows);
  const Packing packing = call_interruptibly([&](const std::atomic<bool>* stop) {
    AllocateOptions options;
    options.effort = request.effort.value_or(options.effort);
    options.threads = request.threads;
    options.stop = stop;
    return pack_checked(problem, options);
  });
  std::vector<std::int64_t> offsets;
  offsets.reserve(packing.offsets.size());
  for (const Offset offset : packing.offsets) offsets.push_back(offset.position());
  nb::dict answer;
  answer["outcome"] = text_of(packing.outcome);
  answer["offsets"] = array_of(std::move(offsets));
  answer["height"] = packing.height.count();
  answer["bound"] = packing.bound.count();
  answer["proven_optimal"] = packing.proven_optimal;
  answer["strategy"] = packing.strategy;
  return answer;
}

}  // namespace

void bind_pack(nb::module_& module) {
  nb::class_<PackRequest>(module, "PackRequest")
      .def(nb::init<>())
      .def_rw("names", &PackRequest::names)
      .def_rw("gaps", &PackRequest::gaps)
      .def_rw("conflicts", &PackRequest::conflicts, nb::arg().none())
      .def_rw("capacity", &PackRequest::capacity, nb::arg().none())
      .def_rw("effort", &PackRequest::effort, nb::arg().none())
      .def_rw("threads", &PackRequest::threads);
  module.def("pack", pack);
}

}  // namespace lowtide::python
