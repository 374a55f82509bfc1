// What compiled code needs of one worker while a launch runs, and the checks it calls.

#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <vector>

#include "warpsim/jit/code.h"
#include "warpsim/jit/window.h"
#include "warpsim/machine/engine.h"
#include "warpsim/machine/worker.h"
#include "warpsim/observe/shared_shadow.h"

namespace warpsim::jit {

class State final : public Engine {
 public:
  State(Worker& worker, std::shared_ptr<const CompiledImage> code);
  Warp& run(Warp& warp, const Op* op) override;
  void settle() override;

  // Whether all of the window's loads pass every check, so that the code may move their data; then
  // they are counted and noted down, and the memo's places say where the data lies. nullptr:
  // nothing done.
  static Memo* enter_window(Warp& w, const Window& window);
  // The memo was of another block, and all else that it says of shared memory holds: so that it is
  // of this one. False: not all that the window loads has been written by this block.
  static bool renew(Warp& w, const Window& window, Memo& memo);

 private:
  // A window's loads from shared memory with addresses of certain patterns and bases.
  struct Plan {
    const Window* window = nullptr;
    std::array<const Pattern*, kMaxGroups> pattern{};
    std::array<uint32_t, kMaxGroups> base{};
    uint64_t hash = 0;
    bool is_good = false;  // in bounds and aligned
    uint64_t times = 0;    // that it was executed, not yet in the sites' counters
    LoadPlan loads, stores;
  };
  static constexpr size_t kMaxPlans = 4096;

  bool check_shared(Warp& w, const Window& window, Memo& memo, Plan** plan);
  bool check_global(Warp& w, const Window& window, Memo& memo);
  void take_global(Warp& w, const Window& window, Memo& memo);
  // The memo of the window's present addresses; else a new one, or one to be written over.
  Memo& memo_of(const Warp& w, const Window& window);
  Memo& new_memo(const Window& window);
  // So that the next time the code passes by itself.
  void remember(Warp& w, const Window& window, Memo& memo, Plan* plan);
  bool can_be_fast(const Window& window, const Plan* plan) const;
  void settle_memo(const Window& window, Memo& memo);
  Plan* find_plan(Warp& w, const Window& window);
  Plan* make_plan(Warp& w, const Window& window);
  void grow_table();
  bool matches(const Plan& plan, const Warp& w, const Window& window) const;

  Worker& worker_;
  const std::shared_ptr<const CompiledImage> code_;
  const bool watch_, check_initialised_, check_shadow_;
  Warp* running_ = nullptr;
  bool unread_ = false;
  std::vector<Plan*> last_;  // by window and warp
  // The memos to be tried next: by warp, and there by window, behind what code.h says.
  std::vector<void*> memos_;
  void** memos_of(const Warp& w) { return memos_.data() + w.index * memo_stride() + kBeforeMemos; }
  size_t memo_stride() const { return size_t{code_->window_count} + kBeforeMemos; }
  struct Free {
    void operator()(Memo* memo) const { std::free(memo); }
  };
  struct Remembered {
    std::unique_ptr<Memo, Free> memo;
    const Window* window;
  };
  std::vector<Remembered> remembered_;
  uint64_t remembered_bytes_ = 0;
  struct Ring {
    uint32_t memos = 0;
    uint32_t misses = 0;  // so often the addresses were those of none
  };
  std::vector<Ring> rings_;  // by window and warp
  std::deque<Plan> plans_;
  // By hash; a power of two, which grows, as few launches need many.
  std::vector<Plan*> table_;
};

}  // namespace warpsim::jit
