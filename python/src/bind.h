// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

// What each source adds to the module.
namespace lowtide::python {

void bind_plan(nanobind::module_& module);          // PlanHandle, plan(), read_plan(), explain(), verify()
void bind_pack(nanobind::module_& module);          // pack()
void bind_order(nanobind::module_& module);         // order(), keep_budget(), budget_curve(), budget_page()
void bind_order_link(nanobind::module_& module);    // keep_budget_over_link(), budget_page_over_link()
void bind_memory_meter(nanobind::module_& module);  // meter_install(), meter_remove(), meter_live(), ...
void bind_session(nanobind::module_& module);       // SessionHandle

}  // namespace lowtide::python
