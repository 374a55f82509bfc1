// warpsim: executes PTX kernels on the CPU, 32-lane warp by 32-lane warp, and says what they did.
//
//   warpsim::Simulator sim(warpsim::load_device("h200"));
//   uint64_t d = sim.memory().allocate(1024, "M");
//   int module = sim.load_module(ptx_text, "matmul.cu");
//   LaunchReport r = sim.launch({.module = module, .kernel = "_Z5tiledPKfS0_Pfi",
//                                .grid = {4, 4}, .block = {16, 16}, .params = bytes});
//
// Results (memory, counters, diagnostics) do not depend on the number of worker threads.
// A Simulator is used by one thread at a time; it runs thread blocks on its own workers inside
// launch().
//
// What is exact and what is not:
// - Single and double precision results are the GPU's bit for bit, but for the approximate
//   functions of the special function unit (ex2, lg2, sin, cos, tanh, rsqrt, and .approx division,
//   reciprocal and root), which are computed correctly rounded and lie within the GPU's documented
//   error.
// - An access is out of bounds when it leaves the allocation it falls in. One that strays from a
//   buffer right into another buffer is not seen: the 4 KB between any two catch near misses. A
//   shared array is known by name, so straying into the next one is seen.
// - Races: accesses by different threads, one a write that changes the value, with no barrier (in a
//   warp: no bar.warp.sync) between; volatile and atomic accesses do not race with their like.
//   Blocks are ordered by a fence and an atomic after it, and the atomic of who relies on it.
// - Memory that nobody has written reads as 0xFF bytes (shared, local, registers) or as the NaN
//   0x7FC0DEAD (global).
// - Blocks run one after the other until one waits in a loop for what others will write; from then
//   on those that the device holds at once take turns, and so do lanes of a warp that wait for each
//   other. A wait that none of them can end is a deadlock. A block that runs very long, in a kernel
//   with atomics or volatile accesses, lets others begin as well.
// - Time stands still but for clock, which counts the warp's instructions and hurries where a warp
//   only waits for it; %smid is 0.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "warpsim/device.h"
#include "warpsim/memory.h"
#include "warpsim/report.h"

namespace warpsim {

namespace provenance {
class History;  // provenance/history.h
}
namespace trace {
class Recording;  // trace/recording.h
}
namespace ptx {
struct Module;  // ptx/ir.h
}
struct LaunchProfile;  // observe/profile.h
class TextureTable;    // machine/texture.h

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t{x} * y * z; }
};

// What is watched while a kernel runs. Everything is on by default; a check that is off costs
// nothing.
struct Checks {
  // out-of-bounds-global, out-of-bounds-shared. Off: accesses outside any allocation still stop the
  // launch.
  bool bounds = true;
  bool misaligned = true;
  // uninitialised-shared, uninitialised-global; never-written-copy under `warpsim run`.
  bool initialised = true;
  bool races = true;     // race-shared, race-global
  bool barriers = true;  // barrier-divergence
  bool launches = true;  // unchecked-launch: under `warpsim run`, as the next
  bool leaks = true;     // memory-leak
  bool counters = true;  // LaunchReport::counters and lines (instructions and divergence included)
  static Checks none();
  bool operator==(const Checks&) const = default;
};

// Reads "all", "none" or names of checks with commas between. False: `unknown` is none.
bool read_checks(std::string_view text, Checks* checks, std::string* unknown);
// The names, with a comma and a blank between.
std::string check_names();

// Executing some blocks of a grid instead of all, for the counters' sake: see docs/sampling.md.
// Memory then holds what the executed blocks wrote and is otherwise meaningless.
struct SampleOptions {
  bool on = false;
  uint64_t seed = 1;           // of the blocks that are drawn at random
  uint64_t max_blocks = 1024;  // classes executed before the rest is estimated
};

// Kernels of long launches are compiled to machine code, which does what the interpreter does, down
// to the last bit, finding and count. See docs/compiled-kernels.md.
enum class EngineChoice {
  kAuto,         // compiled where a launch proves to be long and the machine allows it
  kInterpreter,  // never
  kCompiled,     // from the first instruction on, where the machine allows it
  // Every launch runs on both and is compared, memory, findings and counters; `unsupported` if they
  // disagree. For tests.
  kCompared,
};

// The stack that a kernel needs, in bytes a thread, as ptxas says.
struct StackFrames {
  // By each call of the functions it calls, and its own, by mangled names. With the most that a
  // frame may lose by beginning at a multiple of its alignment.
  std::map<std::string, uint32_t> frames;
  // What a GPU sets aside beyond the limit: what does not depend on how deep a recursion goes.
  uint64_t reserved_bytes = 0;
};

// Of cudaLimitStackSize. The stack is local memory, and a thread has no more of that (CUDA C++
// Programming Guide).
constexpr uint64_t kDefaultStackBytes = 1024, kMostStackBytes = 512 << 10;

struct Options {
  Checks checks;
  EngineChoice engine = EngineChoice::kAuto;
  bool merge_shared = true;  // count accesses to shared memory as ptxas merges them (ptx/merge.h)
  int threads = 0;           // workers; 0: one per CPU
  // Warp instructions per launch before `timeout`; 0: a generous default.
  uint64_t instruction_budget = 0;
  // Distinct (code, kernel, line) that are kept; further occurrences are only counted.
  uint32_t max_diagnostics = 100;
  SampleOptions sample;
  // What launches touch is noted, for checks.races. kWrites: what they write, and all of those that
  // begin early or let the next one begin early. All takes one worker.
  enum class Touches { kNone, kWrites, kAll };
  Touches touched = Touches::kNone;
  // Where the values that launches store come from is noted here; one worker then, no sampling.
  provenance::History* history = nullptr;
  // What launches do is written down here; one worker then, and sampled launches leave nothing.
  // To be set before modules are loaded. Not together with a history.
  trace::Recording* trace = nullptr;
  // The limit of a thread's stack, and what is asked, of kernels with recursion alone, for the
  // bytes that each call takes: for all others a GPU sets enough aside. Unset, or nothing known:
  // the stack is not looked at.
  uint64_t stack_bytes = kDefaultStackBytes;
  std::function<std::optional<StackFrames>(int module, const std::string& kernel)> stack_of;
  // Kernels may launch kernels; whoever launched them carries these out: Simulator::take_nested().
  bool nested = false;
  std::function<void(std::string_view)> print;  // device printf; unset: standard output
};

struct Launch {
  int module = -1;
  std::string kernel;  // mangled name
  Dim3 grid, block;
  uint32_t dynamic_shared_bytes = 0;
  // What cudaFuncSetAttribute allowed the kernel to use
  // (cudaFuncAttributeMaxDynamicSharedMemorySize); 0: not called, so that static and dynamic shared
  // memory together are limited to Device::shared_bytes_per_block.
  uint32_t max_dynamic_shared_bytes = 0;
  std::vector<std::byte> params;  // the kernel's parameter block, laid out as PTX says
  bool is_cooperative = false;    // all blocks are resident, and may wait for each other
  uint32_t depth = 0;             // of launches by kernels; 0: by the host
  // It may begin before the launch before it in its stream has ended, for which it has to wait
  // itself (programmatic stream serialization, griddepcontrol.wait).
  bool is_early = false;
};

class Simulator {
 public:
  explicit Simulator(Device device);
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  const Device& device() const;
  DeviceMemory& memory();
  TextureTable& textures();  // the objects that kernels find by their handles
  Options& options();

  // Parses PTX (throws ptx::ParseError), places its global and constant variables in device memory;
  // returns a handle.
  int load_module(std::string_view ptx_text, std::string name);
  void unload_module(int module);
  const ptx::Module& module(int module) const;

  // Device address and size of a __device__ or __constant__ variable; false if the module has none
  // of that name.
  bool find_variable(int module, const std::string& name, uint64_t* address,
                     uint64_t* size_bytes) const;

  // Static shared memory (bytes per block), local memory (bytes per thread), parameter block size
  // of a kernel.
  struct KernelInfo {
    uint32_t static_shared_bytes = 0, local_bytes = 0, param_bytes = 0, max_threads_per_block = 0;
    std::vector<uint32_t> param_offsets, param_sizes;  // bytes
  };
  // False if the module has no such kernel.
  bool kernel_info(int module, const std::string& kernel, KernelInfo* info) const;

  // Runs one launch to its end. Never throws for anything a kernel does: faults are diagnostics in
  // the report, and a fault that a GPU would not survive (LaunchStatus::kFault and later) stops the
  // launch; memory written so far stays written.
  LaunchReport launch(const Launch& launch);

  // What the kernel of the last launch() has launched, in an order that it allows. A launch that
  // did not end well has launched nothing. To be launched before anything else is.
  std::vector<Launch> take_nested();

  // Executes only these blocks (linear indices, one after the other), unchecked, for the time
  // model; what they wrote is undone. Empty if they could not be executed by themselves: the kernel
  // waits for other blocks, uses global atomics, or fails; *refusal then says so in one sentence.
  std::optional<LaunchProfile> profile(const Launch& launch, const std::vector<uint64_t>& blocks,
                                       std::string* refusal);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace warpsim
