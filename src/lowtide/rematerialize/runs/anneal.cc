// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/rematerialize/runs/anneal.h"

#include <algorithm>
#include <bit>

#include "lowtide/base/random.h"
#include "lowtide/rematerialize/runs/pruned_scan.h"

namespace lowtide::rematerialize_internal {
namespace {

using Index = RunProblem::Index;

constexpr double kSumShare = 0.005;  // of the price of the largest excess; with 0.03, some problems get stuck
constexpr int kRound = 256;          // moves between two changes of temperature and price
constexpr int kChainDepth = 12;

// A positive number with the exponential distribution of mean 1, from basic arithmetic only, because the logarithms of
// two libraries may differ in the last bit.
double exponential(Random& random) {
  const std::uint64_t bits = random.next() | 1U;
  const int zeros = std::countl_zero(bits);
  const std::uint64_t top = bits << static_cast<unsigned>(zeros);  // in [2^63, 2^64)
  const double mantissa = static_cast<double>(top >> 11U) * 0x1p-53;
  const double z = (1 - mantissa) / (1 + mantissa);
  return zeros * 0.6931471805599453 + 2 * z * (1 + z * z * (1.0 / 3 + z * z / 5));
}

}  // namespace

class Annealing::State {
 public:
  State(const RunProblem& problem, std::uint64_t seed)
      : problem_(problem), random_(seed), scan_(problem), is_reader_(problem.count(), 0), times_(problem.count(), 0) {}

  void cool(const Runs& start, double heat, std::int64_t goal, std::int64_t& work) {
    if (!scan_.scan(start, now_)) return;
    prices();
    note(now_);
    const std::int64_t total = work;
    const std::int64_t begin = scan_.work();
    std::int64_t moves = 0;
    const double base = static_cast<double>(problem_.base_cost) / static_cast<double>(problem_.count());
    const double hottest = heat * base + 1e-3;
    const double coldest = 0.005 * base + 1e-4;
    double temperature = hottest;
    double energy = energy_of(now_);
    while (work > 0 && !(found_.best && found_.best_cost <= goal)) {
      int over = 0;
      for (int move = 0; move < kRound; ++move) {
        if (change() && scan_.scan(candidate_, next_)) {
          const double changed = energy_of(next_);
          if (changed <= energy || changed - energy < temperature * exponential(random_)) {
            std::swap(now_, next_);
            energy = changed;
            note(now_);
          }
        }
        over += now_.peak > problem_.budget ? 1 : 0;
      }
      moves += kRound;  // a move that is impossible also takes time
      work = total - (scan_.work() - begin) * 2 - 20 * moves;
      adapt_price(over);
      energy = energy_of(now_);
      temperature = cooled(hottest, coldest,
                           1 - static_cast<double>(std::max<std::int64_t>(work, 0)) / static_cast<double>(total));
    }
  }

  [[nodiscard]] const Annealed& found() const { return found_; }

 private:
  // Between the two, linear in the logarithm to the base 2 by pieces, so that no library function is needed.
  static double cooled(double hottest, double coldest, double done) {
    double temperature = hottest;
    double steps = 0;
    double reached = coldest;
    while (reached < hottest) {
      reached *= 2;
      ++steps;
    }
    double left = steps * done;
    while (left >= 1) {
      temperature /= 2;
      left -= 1;
    }
    return temperature * (1 - left / 2);
  }

  void prices() {
    std::int64_t total = 0;
    for (std::int64_t size : problem_.size) total += size;
    const double mean_size = static_cast<double>(total) / static_cast<double>(problem_.count()) + 1;
    const double mean_cost = static_cast<double>(problem_.base_cost) / static_cast<double>(problem_.count()) + 1e-3;
    usual_price_ = mean_cost / mean_size;
    price_ = usual_price_;
  }

  void adapt_price(int over) {
    if (over > kRound / 2) price_ = std::min(price_ * 1.1, usual_price_ * 1e3);
    if (over < kRound / 4) price_ = std::max(price_ / 1.1, usual_price_ * 1e-3);
  }

  [[nodiscard]] double energy_of(const ScannedRuns& runs) const {
    const auto over = static_cast<double>(std::max<std::int64_t>(runs.peak - problem_.budget, 0));
    return static_cast<double>(runs.cost) + price_ * (over + kSumShare * runs.excess);
  }

  void note(const ScannedRuns& runs) {
    if (runs.peak <= problem_.budget && (!found_.best || runs.cost < found_.best_cost)) {
      found_.best = runs.runs;
      found_.best_cost = runs.cost;
    }
    if (found_.lowest.empty() || runs.peak < found_.lowest_peak) {
      found_.lowest = runs.runs;
      found_.lowest_peak = runs.peak;
    }
  }

  [[nodiscard]] std::size_t below(std::size_t count) { return static_cast<std::size_t>(random_.below(count)); }

  bool change() {
    const std::size_t kind = below(100);
    if (kind < 35) return insert();
    if (kind < 65) return remove();
    return move();
  }

  // Reruns a live output after some run, before its next reader.
  bool insert() {
    const std::size_t size = now_.runs.size();
    const std::size_t at = now_.peak > problem_.budget && random_.chance(60) ? now_.peak_at : below(size);
    live_.clear();
    const auto inputs = problem_.inputs(now_.runs[at]);
    for (std::uint32_t made = 0; made < at; ++made) {
      if (now_.last_use[made] <= at || problem_.runs_once[now_.runs[made]] != 0) continue;
      if (std::find(inputs.begin(), inputs.end(), now_.runs[made]) == inputs.end()) live_.push_back(made);
    }
    if (live_.empty()) return false;
    const std::uint32_t made = live_[below(live_.size())];
    const Index node = now_.runs[made];
    for (Index reader : problem_.readers(node)) is_reader_[reader] = 1;
    std::size_t to = at + 1;
    while (to < size && is_reader_[now_.runs[to]] == 0) ++to;
    for (Index reader : problem_.readers(node)) is_reader_[reader] = 0;
    if (random_.chance(15)) to = at + 1 + below(to - at);
    added_.clear();
    collect(node, to);
    candidate_.assign(now_.runs.begin(), now_.runs.begin() + static_cast<std::ptrdiff_t>(to));
    candidate_.insert(candidate_.end(), added_.begin(), added_.end());
    candidate_.insert(candidate_.end(), now_.runs.begin() + static_cast<std::ptrdiff_t>(to), now_.runs.end());
    return true;
  }

  // The node, after reruns of some of its inputs that are not live at a position.
  void collect(Index node, std::size_t to) {
    added_.push_back(node);
    const bool is_whole = random_.chance(50);  // all missing inputs run again, or each by chance
    for (std::size_t next = 0; next < added_.size() && next < kChainDepth; ++next) {
      for (Index input : problem_.inputs(added_[next])) {
        if (std::find(added_.begin(), added_.end(), input) != added_.end()) continue;
        if (is_live_at(input, to) || problem_.runs_once[input] != 0 || !(is_whole || random_.chance(40))) continue;
        added_.push_back(input);
      }
    }
    std::reverse(added_.begin(), added_.end());
    sort_by_first_run();
  }

  // Inputs before their readers, as in the first runs of the sequence.
  void sort_by_first_run() {
    if (added_.size() < 2) return;
    Runs sorted;
    for (Index node : now_.runs) {
      if (std::find(added_.begin(), added_.end(), node) == added_.end()) continue;
      if (std::find(sorted.begin(), sorted.end(), node) == sorted.end()) sorted.push_back(node);
      if (sorted.size() == added_.size()) break;
    }
    added_ = std::move(sorted);
  }

  [[nodiscard]] bool is_live_at(Index node, std::size_t to) const {
    for (std::size_t made = to; made-- > 0;) {
      if (now_.runs[made] == node) return now_.last_use[made] >= to;
    }
    return false;
  }

  bool remove() {
    for (Index node : now_.runs) ++times_[node];
    live_.clear();
    for (std::uint32_t at = 0; at < now_.runs.size(); ++at) {
      if (times_[now_.runs[at]] > 1) live_.push_back(at);
    }
    for (Index node : now_.runs) times_[node] = 0;
    if (live_.empty()) return false;
    candidate_ = now_.runs;
    candidate_.erase(candidate_.begin() + live_[below(live_.size())]);
    return true;
  }

  bool move() {
    const std::size_t from = below(now_.runs.size());
    const Index node = now_.runs[from];
    const bool is_later = random_.chance(50);
    std::size_t to = from;
    if (is_later) {
      while (to + 1 < now_.runs.size() && !reads(now_.runs[to + 1], node) && now_.runs[to + 1] != node) ++to;
    } else {
      while (to > 0 && !reads(node, now_.runs[to - 1]) && now_.runs[to - 1] != node) --to;
    }
    const std::size_t distance = is_later ? to - from : from - to;
    if (distance == 0) return false;
    const std::size_t step =
        random_.chance(30) ? distance : 1 + below(random_.chance(50) ? std::min<std::size_t>(distance, 8) : distance);
    candidate_ = now_.runs;
    const auto at = candidate_.begin() + static_cast<std::ptrdiff_t>(from);
    if (is_later) {
      std::rotate(at, at + 1, at + 1 + static_cast<std::ptrdiff_t>(step));
    } else {
      std::rotate(at - static_cast<std::ptrdiff_t>(step), at, at + 1);
    }
    return true;
  }

  [[nodiscard]] bool reads(Index reader, Index node) const {
    const auto inputs = problem_.inputs(reader);
    return std::find(inputs.begin(), inputs.end(), node) != inputs.end();
  }

  const RunProblem& problem_;
  Random random_;
  PrunedScan scan_;
  ScannedRuns now_;
  ScannedRuns next_;
  Runs candidate_;
  Runs added_;
  std::vector<std::uint32_t> live_;   // positions, of one move
  std::vector<char> is_reader_;       // by node; all 0 between moves
  std::vector<std::uint32_t> times_;  // by node; all 0 between moves
  double usual_price_ = 1;
  double price_ = 1;
  Annealed found_;
};

Annealing::Annealing(const RunProblem& problem, std::uint64_t seed) : state_(std::make_unique<State>(problem, seed)) {}
Annealing::~Annealing() = default;
void Annealing::cool(const Runs& start, double heat, std::int64_t goal, std::int64_t& work) {
  state_->cool(start, heat, goal, work);
}
const Annealed& Annealing::found() const { return state_->found(); }

}  // namespace lowtide::rematerialize_internal
