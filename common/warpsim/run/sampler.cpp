#include "warpsim/run/sampler.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "warpsim/exec/runner.h"
#include "warpsim/finding_text.h"
#include "warpsim/observe/collect.h"
#include "warpsim/sample/watch.h"

namespace warpsim::sample {

namespace {

constexpr uint64_t kEstimateBlocks = 32;  // executed for an estimate
constexpr uint64_t kChecked = 4;          // blocks that test the regions

// `once` added `times` times.
Counters multiplied(Counters once, uint64_t times) {
  Counters result;
  for (; times != 0; times >>= 1) {
    if (times & 1) result.add(once);
    const Counters doubled = once;
    once.add(doubled);
  }
  return result;
}

bool same_counts(const LaunchReport& a, const LaunchReport& b) {
  return std::equal(a.lines.begin(), a.lines.end(), b.lines.begin(), b.lines.end(),
                    [](const LineCounters& x, const LineCounters& y) {
                      return x.file == y.file && x.line == y.line && x.counters == y.counters;
                    });
}

class Sampler {
 public:
  Sampler(LaunchContext& context, const Dependence& dependence, LaunchReport* report)
      : context_(context),
        dependence_(dependence),
        options_(context.options->sample),
        report_(report),
        random_(options_.seed) {
    report->sampling.used = true;
    report->sampling.blocks = context.block_count;
  }

  void run() {
    Sampling& s = report_->sampling;
    if (context_.block_count > Cover::kMaxBlocks) {
      s.why = "the grid has more than 2^28 blocks";
      estimate(nullptr);
    } else {
      Cover cover(context_.grid, dependence_.distinctions);
      if (dependence_.is_regular) {
        cover_grid(cover);
      } else {
        s.why = dependence_.why;
      }
      if (cover.free_blocks() != 0 && !stopped()) estimate(&cover);
    }
    s.exact = s.why.empty() && !stopped();
    finish();
  }

 private:
  struct Class {
    Region region;
    LaunchReport counted;  // of one block
  };

  bool stopped() const { return context_.stop; }

  // Runs one block on a worker of its own.
  LaunchReport execute(uint64_t block, Region* region) {
    BlockIntervals intervals(dependence_);
    Runner runner(context_);
    runner.worker.intervals = &intervals;
    runner.run_block(block);
    Collector collector(context_);
    collector.add(runner.worker);
    LaunchReport counted;
    collector.finish(&counted);
    if (region != nullptr) *region = {context_.block_of(block), std::move(intervals.per_form)};
    executed_.insert(block);
    ++report_->sampling.executed;
    merge_findings(counted);
    return counted;
  }

  void cover_grid(Cover& cover) {
    Sampling& s = report_->sampling;
    std::vector<Class> classes;
    while (auto block = cover.first_free()) {
      if (classes.size() >= options_.max_blocks) {
        s.why = "its blocks differ in more than " + std::to_string(options_.max_blocks) + " ways";
        return;
      }
      Class c;
      c.counted = execute(*block, &c.region);
      if (stopped()) return;
      add(c.counted, cover.add(c.region));
      classes.push_back(std::move(c));
      ++s.classes;
    }
    check(cover, classes);
  }

  void check(const Cover& cover, const std::vector<Class>& classes) {
    Sampling& s = report_->sampling;
    for (uint64_t block : draw(nullptr, kChecked)) {
      const BlockIndex at = context_.block_of(block);
      const auto c = std::find_if(classes.begin(), classes.end(), [&](const Class& candidate) {
        return cover.contains(candidate.region, at);
      });
      const LaunchReport counted = execute(block, nullptr);
      if (stopped()) return;
      if (c == classes.end() || !same_counts(counted, c->counted)) {
        auto name = [&](uint64_t which) {
          return block_name(context_.block_of(which), {context_.grid, context_.block});
        };
        s.why = name(block) + " counts something else than " +
                (c == classes.end() ? "any block" : name(linear(c->region.centre))) +
                ", against the analysis";
        return;
      }
      ++s.checked;
    }
  }

  uint64_t linear(const BlockIndex& b) const {
    return (uint64_t{b[2]} * context_.grid[1] + b[1]) * context_.grid[0] + b[0];
  }

  // Different blocks, none of them executed yet; with `cover`, only free ones. Fewer if there are
  // not so many.
  std::vector<uint64_t> draw(const Cover* cover, uint64_t wanted) {
    auto is_candidate = [&](uint64_t b) {
      return executed_.count(b) == 0 && (cover == nullptr || cover->is_free(b));
    };
    const uint64_t all = context_.block_count;
    const uint64_t there = cover != nullptr ? cover->free_blocks() : all - executed_.size();
    std::vector<uint64_t> blocks;
    if (there <= 2 * wanted && all <= Cover::kMaxBlocks) {
      for (uint64_t b = 0; b < all; ++b) {
        if (is_candidate(b)) blocks.push_back(b);
      }
      std::shuffle(blocks.begin(), blocks.end(), random_);
      blocks.resize(std::min<uint64_t>(blocks.size(), wanted));
      return blocks;
    }
    std::set<uint64_t> drawn;
    std::uniform_int_distribution<uint64_t> any(0, all - 1);
    while (drawn.size() < wanted) {
      const uint64_t b = any(random_);
      if (is_candidate(b)) drawn.insert(b);
    }
    return {drawn.begin(), drawn.end()};
  }

  // What the blocks outside all regions count: the mean of some of them.
  void estimate(const Cover* cover) {
    Sampling& s = report_->sampling;
    const uint64_t population = cover != nullptr ? cover->free_blocks() : context_.block_count;
    const std::vector<uint64_t> blocks = draw(cover, kEstimateBlocks);
    double mean = 0, squares = 0;
    for (size_t i = 0; i < blocks.size(); ++i) {
      const LaunchReport counted = execute(blocks[i], nullptr);
      if (stopped()) return;
      add(counted, population / blocks.size() + (i < population % blocks.size()));
      const double value = double(counted.counters.instructions);
      mean += value / double(blocks.size());
      squares += value * value / double(blocks.size());
    }
    const double all = double(report_->counters.instructions);
    if (blocks.size() == population || all == 0) return;
    const double deviation = std::sqrt(std::max(0.0, squares - mean * mean));
    s.relative_error =
        1.96 * deviation / std::sqrt(double(blocks.size())) * double(population) / all;
  }

  void add(const LaunchReport& counted, uint64_t times) {
    for (const LineCounters& line : counted.lines) {
      const Counters all = multiplied(line.counters, times);
      lines_[{line.file, line.line}].add(all);
      report_->counters.add(all);
    }
  }

  // The first block in order of execution that shows a fault describes it.
  void merge_findings(const LaunchReport& counted) {
    if (report_->status == LaunchStatus::kOk && counted.status != LaunchStatus::kOk) {
      report_->status = counted.status;
      report_->cuda_error = counted.cuda_error;
      report_->message = counted.message;
    }
    for (const Diagnostic& d : counted.diagnostics) {
      auto known = std::find_if(report_->diagnostics.begin(), report_->diagnostics.end(),
                                [&](const Diagnostic& k) {
                                  return k.code == d.code && k.file == d.file && k.line == d.line;
                                });
      if (known != report_->diagnostics.end())
        known->count += d.count;
      else
        report_->diagnostics.push_back(d);
    }
  }

  void finish() {
    for (const auto& [place, counters] : lines_)
      report_->lines.push_back({place.first, place.second, counters});
  }

  LaunchContext& context_;
  const Dependence& dependence_;
  const SampleOptions& options_;
  LaunchReport* report_;
  std::mt19937_64 random_;
  std::set<uint64_t> executed_;
  std::map<std::pair<std::string, uint32_t>, Counters> lines_;
};

}  // namespace

void sample_launch(LaunchContext& context, const Dependence& dependence, LaunchReport* report) {
  Sampler(context, dependence, report).run();
}

}  // namespace warpsim::sample
