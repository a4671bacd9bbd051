// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "call.h"
#include "model.h"

// NOLINTNEXTLINE: the macro of nanobind
NB_MODULE(_core, module) {
  using lowtide::python::Request;
  module.doc() = "The compiled part of lowtide. It is private: use the package lowtide.";
  lowtide::python::register_exceptions();
  nanobind::class_<Request>(module, "Request")
      .def(nanobind::init<>())
      .def_rw("model", &Request::model)
      .def_rw("dims", &Request::dims)
      .def_rw("shapes", &Request::shapes)
      .def_rw("given", &Request::given)
      .def_rw("given_types", &Request::given_types)
      .def_rw("at_most", &Request::at_most)
      .def_rw("overrides", &Request::overrides)
      .def_rw("written_dims", &Request::written_dims)
      .def_rw("tool", &Request::tool)
      .def_rw("load_time", &Request::load_time)
      .def_rw("inputs_in_arena", &Request::inputs_in_arena)
      .def_rw("outputs_at_caller", &Request::outputs_at_caller)
      .def_rw("target", &Request::target)
      .def_rw("target_text", &Request::target_text, nanobind::arg().none())
      .def_rw("threads", &Request::threads)
      .def_rw("system_threads", &Request::system_threads, nanobind::arg().none())
      .def_rw("order", &Request::order)
      .def_rw("budget", &Request::budget, nanobind::arg().none())
      .def_rw("views", &Request::views)
      .def_rw("parts", &Request::parts)
      .def_rw("in_place", &Request::in_place)
      .def_rw("effort", &Request::effort, nanobind::arg().none())
      .def_rw("order_effort", &Request::order_effort, nanobind::arg().none())
      .def_rw("streams", &Request::streams)
      .def_rw("run", &Request::run)
      .def_rw("check_bound", &Request::check_bound)
      .def_rw("synthetic", &Request::synthetic, nanobind::arg().none());
  lowtide::python::bind_plan(module);
  lowtide::python::bind_pack(module);
  lowtide::python::bind_order(module);
  lowtide::python::bind_order_link(module);
  lowtide::python::bind_memory_meter(module);
  lowtide::python::bind_session(module);
}
