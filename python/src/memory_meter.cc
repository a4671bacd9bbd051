// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <malloc.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "bind.h"
#include "heap_calls.h"
#include "placed_heap.h"
#include "requested_bytes.h"

namespace lowtide::python {
namespace nb = nanobind;
namespace {

std::vector<std::string> install(const std::vector<std::string>& names) { return redirect_heap_calls(names, false); }
std::vector<std::string> install_for_good(const std::vector<std::string>& names) {
  return redirect_heap_calls(names, true);
}

}  // namespace

void bind_memory_meter(nb::module_& module) {
  module.def("meter_install", &install, nb::arg("names"));
  module.def("meter_remove", &end_redirection);
  module.def("meter_live", &heap_live);
  module.def("meter_peak", &heap_peak);
  module.def("meter_reset", &reset_heap_peak);

  module.def("requests_begin", &begin_requests);
  module.def("requests_end", &end_requests);
  module.def("requests_live", &requested_live);
  module.def("requests_peak", &requested_peak);
  module.def("requests_reset", &reset_requested_peak);
  module.def("heap_block_bytes", &aligned_block_bytes, nb::arg("size"));

  module.def("heap_redirect", &install_for_good, nb::arg("names"));
  module.def("heap_trim", [] { malloc_trim(0); });
  module.def("heap_run", &begin_heap_run, nb::arg("run"));
  nb::class_<HeapTrace>(module, "HeapTrace")
      .def(nb::init<>())
      .def("enter", &HeapTrace::enter)
      .def("leave", &HeapTrace::leave)
      .def("blocks", &HeapTrace::blocks);
  nb::class_<PlacedHeap>(module, "PlacedHeap")
      .def(nb::init<const std::vector<PlacedHeap::Block>&, std::size_t>(), nb::arg("blocks"), nb::arg("bytes"))
      .def("enter", &PlacedHeap::enter)
      .def("leave", &PlacedHeap::leave)
      .def("give_back", &PlacedHeap::give_back)
      .def_prop_ro("missed", &PlacedHeap::missed);
}

}  // namespace lowtide::python
