#include <cstdio>
#include <string>
#include <utility>

#include "warpsim/jit/vectors.h"
#include "warpsim/observe/global_record.h"
#include "warpsim/run/memory_image.h"
#include "warpsim/run/report_difference.h"
#include "warpsim/run/simulator_impl.h"

namespace warpsim {

// The interpreter's word is what is reported; what it notes of global memory it notes lane by lane.
// Compiled at once the code expects no shapes of
// addresses, compiled after a turn it expects those of the first warp; each for wide and for narrow
// vectors: four compilations.
void Simulator::Impl::compare_engines(const Launch& launch, Image& image, int32_t kernel,
                                      LaunchReport* report) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 28;  // of device memory, which is copied
  if (memory.used_bytes() > kMostBytes || is_watched())
    return execute(launch, image, kernel, report);
  const auto print = std::exchange(options.print, nullptr);
  const MemoryImage before(MemoryView(memory).live(), scratch);
  std::string printed;
  options.print = [&](std::string_view text) { printed += text; };
  options.engine = EngineChoice::kInterpreter;
  global_record::lane_by_lane = true;
  execute(launch, image, kernel, report);
  global_record::lane_by_lane = false;
  const MemoryImage after(MemoryView(memory).live(), scratch);
  for (uint64_t compilation : {0, 1, 2, 3}) {
    if (kernel_facts(image, kernel).calls_malloc || report->status == LaunchStatus::kUnsupported)
      break;
    before.restore();
    std::string printed_again;
    options.print = [&](std::string_view text) { printed_again += text; };
    options.engine = EngineChoice::kCompiled;
    modules[size_t(launch.module)].compiler.reset();
    engine_after = compilation % 2;
    jit::only_narrow_vectors = compilation >= 2;
    LaunchReport again;
    execute(launch, image, kernel, &again);
    std::string difference = report_difference(*report, again);
    if (difference.empty())
      difference = after.difference(MemoryImage(MemoryView(memory).live(), scratch));
    if (difference.empty() && printed != printed_again) difference = "what was printed";
    if (difference.empty()) continue;
    report->status = LaunchStatus::kUnsupported;
    report->message = "the engines disagree on " + difference;
  }
  jit::only_narrow_vectors = false;
  engine_after.reset();
  options.engine = EngineChoice::kCompared;
  options.print = print;
  if (printed.empty()) return;
  if (print)
    print(printed);
  else
    std::fwrite(printed.data(), 1, printed.size(), stdout);
}

}  // namespace warpsim
