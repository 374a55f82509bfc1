// What a Simulator is made of: simulator.cpp holds what its users call, execute_launch.cpp how a
// launch is executed, compare_engines.cpp how one is executed by every engine.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "warpsim/exec/decode.h"
#include "warpsim/exec/nested.h"
#include "warpsim/jit/compiler.h"
#include "warpsim/machine/texture.h"
#include "warpsim/observe/collect.h"
#include "warpsim/observe/global_shadow.h"
#include "warpsim/scratch.h"
#include "warpsim/sim.h"
#include "warpsim/trace/recording.h"

namespace warpsim {

struct Simulator::Impl {
  Device device;
  DeviceMemory memory;
  Scratch scratch;  // for what launches need: shadows, images of memory
  TextureTable textures;
  Options options;
  struct Loaded {
    std::unique_ptr<Image> image;
    Checks decoded_for;
    std::unique_ptr<jit::Compiler> compiler;  // of what is decoded now
    bool has_watches = false;                 // decoded for one sampled launch
    bool is_followed = false;                 // decoded for a History
    bool is_traced = false;                   // for a trace::Recording
    // What the launches of each function have executed, warp instructions.
    struct Executed {
      uint64_t all = 0, last = 0;
    };
    std::unordered_map<int32_t, Executed> executed;
  };
  std::vector<Loaded> modules;
  uint64_t launches = 0;
  NestedLaunches nested;
  uint64_t grid_workspace = 0;           // of cooperative launches: address
  std::optional<uint64_t> engine_after;  // instead of what choose_engine would say

  explicit Impl(Device d) : device(std::move(d)), memory(device.global_bytes) {}

  Image& image(int module) {
    if (module < 0 || size_t(module) >= modules.size() ||
        modules[size_t(module)].image == nullptr) {
      throw std::out_of_range("there is no module " + std::to_string(module));
    }
    return *modules[size_t(module)].image;
  }
  int32_t find_kernel(int module, const std::string& name) {
    Image& i = image(module);
    const int32_t f = i.module.find_function(name);
    return f >= 0 && i.module.functions[size_t(f)].is_kernel ? f : -1;
  }
  // Whether values are followed; whether launches are watched so closely that only the interpreter
  // and one worker will do.
  bool follows() const {
    return options.history != nullptr ||
           (options.trace != nullptr && options.trace->settings().follows);
  }
  bool is_watched() const { return options.history != nullptr || options.trace != nullptr; }
  void clear_grid_workspace();
  void decode(int module, int32_t kernel, const sample::Dependence* sampling);
  void configure(LaunchContext& context, const Launch& launch, Image& image, int32_t kernel);
  std::vector<AllocationRecord*> may_be_written(const LaunchContext& context);
  bool has_to_run_in_order(const LaunchContext& context,
                           const std::vector<AllocationRecord*>& written);
  GlobalShadows make_shadows(const LaunchContext& context,
                             const std::vector<AllocationRecord*>& written);
  void choose_engine(LaunchContext& context, int module);
  uint64_t left_to_interpret(const LaunchContext& context, const Loaded& loaded) const;
  void note_executed(const LaunchContext& context, int module);
  // Whether all that the launch touches is noted.
  bool notes_all(const LaunchContext& context) const;
  void tell_touched(const LaunchContext& context, const GlobalShadows& shadows,
                    LaunchReport* report) const;
  void compare_engines(const Launch& launch, Image& image, int32_t kernel, LaunchReport* report);
  void run(LaunchContext& context, unsigned threads, Collector& collector);
  void execute(const Launch& launch, Image& image, int32_t kernel, LaunchReport* report);
  void sample(const Launch& launch, Image& image, int32_t kernel, LaunchReport* report);
};

}  // namespace warpsim
