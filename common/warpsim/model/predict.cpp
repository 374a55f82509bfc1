#include "warpsim/model/predict.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "warpsim/model/replay.h"

namespace warpsim {

namespace {

uint64_t count(const std::array<uint32_t, 3>& grid) {
  return uint64_t{grid[0]} * grid[1] * grid[2];
}

// Sectors a block touches.
std::set<uint64_t> footprint(const BlockTrace& block) {
  std::set<uint64_t> sectors;
  for (const auto& warp : block.warps) {
    for (const RequestTrace& site : warp) {
      for (uint64_t line : site.lines) {
        for (uint64_t s = 0; s < 4; ++s) {
          if (line >> s & 1) sectors.insert((line >> 4) * 4 + s);
        }
      }
    }
  }
  return sectors;
}

// How many distinct bytes nx x ny neighbouring blocks touch. Of the first block's sectors some are
// shared with its neighbour in x, some with its neighbour in y, some with both; so it goes on in
// regular kernels.
class Footprint {
 public:
  // Blocks `right` and `below` are neighbours in x and y, nullptr where the grid has none.
  Footprint(const BlockTrace& first, const BlockTrace* right, const BlockTrace* below) {
    const std::set<uint64_t> own = footprint(first);
    const std::set<uint64_t> x = right != nullptr ? footprint(*right) : own;
    const std::set<uint64_t> y = below != nullptr ? footprint(*below) : own;
    for (uint64_t sector : own) {
      const bool in_x = x.count(sector) != 0, in_y = y.count(sector) != 0;
      (in_x ? (in_y ? both_ : row_) : (in_y ? column_ : own_)) += 32;
    }
  }
  double bytes(double nx, double ny) const {
    return both_ + row_ * ny + column_ * nx + own_ * nx * ny;
  }

 private:
  double both_ = 0, row_ = 0, column_ = 0, own_ = 0;
};

const BlockTrace* find(const LaunchProfile& profile, uint64_t block) {
  for (const BlockTrace& trace : profile.blocks) {
    if (trace.block == block) return &trace;
  }
  return nullptr;
}

class Predictor {
 public:
  Predictor(const Device& device, const LaunchShape& shape, const LaunchProfile& profile,
            const MachineCode& code)
      : device_(device), t_(*device.timing), shape_(shape), profile_(profile), code_(code) {
    schedule_ = make_schedule(code, *profile.function, profile.executions);
    blocks_ = double(count(shape.grid));
    wave_ = double(device.sm_count) * shape.blocks_per_sm;
    hz_ = device.sm_clock_mhz * 1e6;
  }

  Prediction predict() {
    Prediction p;
    p.waves = blocks_ / wave_;
    p.from_machine_code = !code_.from_ptx;
    p.calibrated = t_.calibrated;
    p.error = t_.error;
    p.note = t_.note;
    const double full = std::floor(blocks_ / wave_);
    const double left = blocks_ - full * wave_;
    double cycles = 0;
    ReplayResult sum;
    if (full > 0) {
      const ReplayResult r = run(shape_.blocks_per_sm);
      cycles += full * r.cycles;
      add(sum, r, full);
      p.l1_hit_rate = r.l1_sectors > 0 ? r.l1_hits / r.l1_sectors : 0;
    }
    if (left > 0) {
      const auto residents = uint32_t(std::ceil(left / device_.sm_count));
      const ReplayResult r = run(residents);
      cycles += r.cycles;
      add(sum, r, left / device_.sm_count / residents);
      if (full == 0) p.l1_hit_rate = r.l1_sectors > 0 ? r.l1_hits / r.l1_sectors : 0;
    }
    const double starts = blocks_ / device_.sm_count * t_.block_start_ns * 1e-9;
    p.ms = 1e3 * std::max(cycles / hz_, starts) + 1e-3 * t_.launch_us;
    name_terms(p, sum);
    return p;
  }

 private:
  // Cycles of a multiprocessor's first wave with so many blocks on it.
  ReplayResult run(uint32_t residents) {
    ReplayInput in;
    in.code = &code_;
    in.schedule = &schedule_;
    in.profile = &profile_;
    in.timing = &t_;
    for (uint32_t i = 0; i < residents; ++i) {
      const uint64_t block = uint64_t{i} * device_.sm_count;
      const BlockTrace* trace = find(profile_, block);
      // A later wave's blocks are like the first's.
      in.blocks.push_back(trace != nullptr ? size_t(trace - profile_.blocks.data())
                                           : i % profile_.blocks.size());
    }
    in.l1_bytes = l1_bytes(residents);
    in.l2_bytes_per_cycle = std::min(t_.l2_port_bytes, t_.l2_gbs * 1e9 / hz_ / device_.sm_count);
    in.memory_bytes_per_cycle = t_.memory_gbs * 1e9 / hz_ / device_.sm_count;
    share_memory(in);
    return replay(in);
  }

  // What shared memory leaves of the cache: the driver gives it the next larger of a few sizes.
  double l1_bytes(uint32_t residents) const {
    if (t_.l1_bytes == 0) return 0;
    const double needed =
        double(residents) * (shape_.shared_bytes + device_.shared_bytes_reserved_per_block);
    double taken = double(device_.shared_bytes_per_sm);
    for (double kb : {0, 8, 16, 32, 64, 100, 132, 164, 196}) {
      if (shape_.shared_bytes > 0 ? kb * 1024 >= needed : kb == 0) {
        taken = std::min(taken, kb * 1024);
        break;
      }
    }
    taken = std::max(taken, double(t_.shared_least_bytes));
    return std::max(0.0, double(t_.l1_bytes) - taken);
  }

  // What comes from memory. The part of what misses in L1: the distinct bytes that a wave touches
  // and L2 does not have, over the bytes that its multiprocessors ask for. L2 may have some from
  // the wave before, or from the upload before the launch.
  void share_memory(ReplayInput& in) const {
    in.memory_share = in.cold_share = 1;
    if (t_.l1_bytes == 0) return;
    std::set<uint64_t> asked;
    for (size_t b : in.blocks) asked.merge(footprint(profile_.blocks[b]));
    if (asked.empty()) {
      in.memory_share = 0;
      return;
    }
    const double per_wave = 32.0 * double(asked.size()) * device_.sm_count;
    const double gx = shape_.grid[0], gy = double(shape_.grid[1]) * shape_.grid[2];
    const BlockTrace* first = find(profile_, 0);
    const Footprint f(*first, gx > 1 ? find(profile_, 1) : nullptr,
                      gy > 1 ? find(profile_, shape_.grid[0]) : nullptr);
    const double whole = f.bytes(gx, gy);
    const double waves = std::max(1.0, blocks_ / wave_);
    const double wave = f.bytes(std::min(gx, wave_), std::min(gy, std::ceil(wave_ / gx)));
    const double first_time = std::min(wave, whole / waves), again = wave - first_time;
    const double cold = missing_share(whole) * first_time + missing_share(wave) * again;
    in.cold_share = cold / wave;
    in.other_half_share = (1 - missing_share(whole)) * first_time / wave;
    in.memory_share = std::min(1.0, cold / per_wave);
  }

  // The part of so many bytes, read by all multiprocessors, that L2 has lost when they are read
  // again: nothing of 24 MB, half of 32, all of 64 on an H200 with 50 MB, whose halves keep
  // their own copies (docs/time-model.md).
  double missing_share(double bytes) const {
    const auto l2 = double(device_.l2_bytes);
    return std::clamp((bytes - l2 / 3) / (l2 - l2 / 3), 0.0, 1.0);
  }

  static void add(ReplayResult& sum, const ReplayResult& r, double times) {
    for (double ReplayResult::*field :
         {&ReplayResult::cycles, &ReplayResult::issue, &ReplayResult::fma, &ReplayResult::integer,
          &ReplayResult::multiply, &ReplayResult::slow, &ReplayResult::tensor,
          &ReplayResult::shared, &ReplayResult::global, &ReplayResult::l2_bytes,
          &ReplayResult::memory_bytes})
      sum.*field += r.*field * times;
    for (size_t i = 0; i < sum.waits.size(); ++i) sum.waits[i] += r.waits[i] * times;
  }

  void name_terms(Prediction& p, const ReplayResult& sum) const {
    const double per_scheduler = 1e3 / hz_ / t_.schedulers, per_sm = 1e3 / hz_;
    const double l2 = std::min(t_.l2_port_bytes * hz_ * device_.sm_count, t_.l2_gbs * 1e9);
    p.terms = {
        {"issue", sum.issue * per_scheduler},
        {"fma", sum.fma * per_scheduler},
        {"integer", std::max({sum.integer, sum.multiply, sum.slow}) * per_scheduler},
        {"tensor", sum.tensor * per_scheduler},
        {"shared", sum.shared * per_sm},
        {"l1", sum.global * per_sm},
    };
    if (t_.l1_bytes > 0) p.terms.push_back({"l2", 1e3 * sum.l2_bytes * device_.sm_count / l2});
    p.terms.push_back(
        {"memory", 1e3 * sum.memory_bytes * device_.sm_count / (t_.memory_gbs * 1e9)});
    choose_bound(p, sum);
    std::stable_sort(p.terms.begin(), p.terms.end(),
                     [](const Term& a, const Term& b) { return a.ms > b.ms; });
  }

  // Shared wavefronts and global requests go through one unit: together they may bind where neither
  // does. The same holds for all instructions and the multiply-adds among them.
  void choose_bound(Prediction& p, const ReplayResult& sum) const {
    auto term = [&](const char* name) {
      for (const Term& t : p.terms) {
        if (t.name == name) return t.ms;
      }
      return 0.0;
    };
    const double load_store = term("shared") + term("l1");
    double best = 0;
    auto offer = [&](const char* name, double ms) {
      if (ms > best) {
        best = ms;
        p.bound = name;
      }
    };
    offer(term("fma") > 0.75 * term("issue") ? "fma" : "issue",
          std::max(term("issue"), term("fma")));
    offer("integer", term("integer"));
    offer("tensor", term("tensor"));
    offer(term("shared") >= term("l1") ? "shared" : "l1", load_store);
    offer("l2", term("l2"));
    offer("memory", term("memory"));
    constexpr double kHidden = 0.67;  // of the time that a unit must be busy to be what binds
    if (best < kHidden * p.ms) p.bound = "latency";
    if (1e-3 * t_.launch_us > 0.5 * p.ms) p.bound = "launch";
    p.relief = relief(p.bound, sum);
  }

  static std::string relief(const std::string& bound, const ReplayResult& sum) {
    if (bound == "fma")
      return "fewer multiply-adds, or operands that stay in registers: near the peak";
    if (bound == "issue")
      return "fewer instructions per multiply-add: unroll, load wider, keep more results in "
             "registers";
    if (bound == "tensor")
      return "fewer products on tensor cores, or more of them at once: near what mma.sync can";
    if (bound == "integer") return "less address arithmetic inside the loop";
    if (bound == "shared")
      return "fewer shared wavefronts: keep more results in registers, load 16 bytes at a time, "
             "avoid bank conflicts";
    if (bound == "l1")
      return "fewer lines per request: let neighbouring lanes read neighbouring words, or go "
             "through shared memory";
    if (bound == "l2") return "larger tiles: every element is fetched fewer times";
    if (bound == "memory")
      return "fewer bytes: larger tiles, or an order of blocks that keeps data in L2";
    if (bound == "launch") return "a larger problem: the launch itself takes most of the time";
    const auto largest = std::max_element(sum.waits.begin(), sum.waits.end());
    switch (Wait(largest - sum.waits.begin())) {
      case Wait::kGlobalMemory:
        return "warps wait for global memory: load earlier than needed, or have more warps "
               "resident";
      case Wait::kSharedMemory:
        return "warps wait for shared memory: load operands before they are needed";
      case Wait::kBarrier:
        return "warps wait at barriers: more blocks per multiprocessor, or fewer barriers";
      default:
        return "warps wait for their own results: more independent work per thread, or more warps";
    }
  }

  const Device& device_;
  const Timing& t_;
  const LaunchShape shape_;
  const LaunchProfile& profile_;
  const MachineCode& code_;
  Schedule schedule_;
  double blocks_ = 0, wave_ = 1, hz_ = 1;
};

}  // namespace

std::vector<uint64_t> blocks_to_profile(const Device& device, const LaunchShape& shape) {
  std::vector<uint64_t> blocks;
  const uint64_t all = count(shape.grid);
  for (uint32_t i = 0; i < shape.blocks_per_sm; ++i) {
    const uint64_t block = uint64_t{i} * device.sm_count;
    if (block < all) blocks.push_back(block);
  }
  for (uint64_t neighbour : {uint64_t{1}, uint64_t{shape.grid[0]}}) {
    if (neighbour < all && std::find(blocks.begin(), blocks.end(), neighbour) == blocks.end())
      blocks.push_back(neighbour);
  }
  return blocks;
}

std::optional<Prediction> predict(const Device& device, const LaunchShape& shape,
                                  const LaunchProfile& profile, const MachineCode& code) {
  if (!device.timing || profile.blocks.empty() || shape.blocks_per_sm == 0) return std::nullopt;
  const Timing& t = *device.timing;
  for (const MachineInstruction& m : code.code) {
    const double cycles = m.tensor_bytes == 32 ? t.tensor_cycles : t.tensor_half_cycles;
    if (m.work == Work::kTensor && (m.tensor_bytes == 0 || cycles == 0)) return std::nullopt;
  }
  return Predictor(device, shape, profile, code).predict();
}

}  // namespace warpsim
