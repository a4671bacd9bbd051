// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/report/page_planners.h"

namespace lowtide {

PlannersPage small_planners() {
  return {
      .name = "train.pbtxt",
      .device = "/gpu:0",
      .memory_bytes = 3000,
      .link = "16 GB/s each way",
      .runs = {{.planner = "as given",
                .live = {{0, 1000}, {1000, 4000}, {2000, 1000}},
                .peak_bytes = 4000,
                .nanoseconds = 3000,
                .verdict = "exceeds the memory"},
               {.planner = "Grappler, heuristics",
                .live = {{0, 1000}, {2000, 3500}, {3000, 1000}},
                .peak_bytes = 3500,
                .nanoseconds = 4000,
                .reruns = 2,
                .copies = 6,
                .verdict = "exceeds the memory"},
               {.planner = "Lowtide",
                .live = {{0, 1000}, {1000, 3000}, {3000, 1000}},
                .peak_bytes = 3000,
                .nanoseconds = 3500,
                .reruns = 1,
                .sums = 1,
                .copies = 2,
                .verdict = "keeps the memory; proven to take the least time",
                .keeps = true}},
      .curve = {{.memory_bytes = 4000,
                 .nanoseconds = 3000,
                 .bound_nanoseconds = 3000,
                 .verdict = "proven to take the least time"},
                {.memory_bytes = 3000,
                 .nanoseconds = 3500,
                 .bound_nanoseconds = 3200,
                 .reruns = 1,
                 .swaps = 1,
                 .verdict = "found"},
                {.memory_bytes = 2000,
                 .nanoseconds = 4000,
                 .bound_nanoseconds = 3400,
                 .reruns = 2,
                 .swaps = 4,
                 .verdict = "found"},
                {.memory_bytes = 1000, .verdict = "no sequence was found that keeps this memory", .is_found = false}},
      .shortfalls = {{"it stops above the memory and does not say so", "500 B too much", "2.93 KiB in 3 us"}},
      .scope = "Live bytes of tensors."};
}

PlannersPage hostile_planners() {
  PlannersPage page = small_planners();
  page.name = "<script>alert(1)</script>";
  page.device = "<img src=x onerror=alert(2)>";
  page.link = "</section><script>alert(3)</script>";
  page.shortfalls = {{"\"><svg onload=alert(4)>", "<b>", "&lt;"}};
  page.runs[0].planner = "</title><script>alert(5)</script>";
  page.curve = {};
  page.memory_bytes = 0;
  return page;
}

}  // namespace lowtide
