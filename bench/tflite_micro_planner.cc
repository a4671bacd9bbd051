// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <iostream>
#include <vector>

#include "tensorflow/lite/micro/memory_planner/greedy_memory_planner.h"

// Compiled by runtime_plans.py against a checkout of TFLite Micro. Reads problems: the number of buffers, then size,
// first and last use of each. Prints the size of the arena of each problem.
int main() {
  int count = 0;
  while (std::cin >> count) {
    std::vector<unsigned char> memory(tflite::GreedyMemoryPlanner::per_buffer_size() * (count + 1));
    tflite::GreedyMemoryPlanner planner;
    planner.Init(memory.data(), static_cast<int>(memory.size()));
    for (int at = 0; at < count; ++at) {
      int size = 0;
      int first = 0;
      int last = 0;
      std::cin >> size >> first >> last;
      planner.AddBuffer(size, first, last);
    }
    std::cout << planner.GetMaximumMemorySize() << "\n";
  }
  return 0;
}
