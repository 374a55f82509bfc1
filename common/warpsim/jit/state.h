// What compiled code needs of one worker while a launch runs, and the checks it calls.

#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "warpsim/jit/window.h"
#include "warpsim/machine/engine.h"
#include "warpsim/machine/worker.h"
#include "warpsim/observe/shared_shadow.h"

namespace warpsim::jit {

struct CompiledImage;

class State final : public Engine {
 public:
  State(Worker& worker, std::shared_ptr<const CompiledImage> code);
  void run(Warp& warp, const Op* op) override;
  void settle() override;

  // Whether all of the window's loads pass every check, so that the code may move their data; then
  // they are counted and noted down, and `places` says where the data lies. False: nothing done.
  static bool enter_window(Warp& w, const Window& window);

 private:
  // A window's loads from shared memory with addresses of certain patterns and bases.
  struct Plan {
    const Window* window = nullptr;
    std::array<const Pattern*, kMaxGroups> pattern{};
    std::array<uint32_t, kMaxGroups> base{};
    bool is_good = false;  // in bounds and aligned
    uint64_t times = 0;    // that it was executed, not yet in the sites' counters
    LoadPlan loads;
    std::vector<LoadPlan::Load> stores;
  };
  static constexpr size_t kMaxPlans = 4096, kTableSize = 16384;

  bool check_shared(Warp& w, const Window& window, Plan** plan);
  bool check_global(Warp& w, const Window& window);
  void take_global(Warp& w, const Window& window);
  Plan* find_plan(Warp& w, const Window& window);
  Plan* make_plan(Warp& w, const Window& window);
  bool matches(const Plan& plan, const Warp& w, const Window& window) const;

  std::array<Place, kPlaces> places_{};
  Worker& worker_;
  const std::shared_ptr<const CompiledImage> code_;
  const bool watch_, check_initialised_, check_shadow_;
  std::vector<Plan*> last_;  // by window and warp
  std::deque<Plan> plans_;
  std::vector<Plan*> table_;
};

}  // namespace warpsim::jit
