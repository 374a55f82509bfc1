// One launch: what its workers share, how many there are, and what is done again on one of them.

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <thread>

#include "warpsim/exec/block.h"
#include "warpsim/exec/residents.h"
#include "warpsim/exec/runner.h"
#include "warpsim/machine/sub_word.h"
#include "warpsim/provenance/follower.h"
#include "warpsim/run/helpers.h"
#include "warpsim/run/memory_image.h"
#include "warpsim/run/sampler.h"
#include "warpsim/run/simulator_impl.h"
#include "warpsim/trace/recorder.h"

namespace warpsim {

namespace {

constexpr size_t kMostTracedValues = size_t{1} << 22;  // of one launch: 128 MB
constexpr uint64_t kDefaultBudget = 4'000'000'000;     // warp instructions: minutes
// Launched warps that find nothing to do cost little, but something: what each adds to the budget,
// up to a number of instructions that takes some seconds.
constexpr uint64_t kBudgetOfWarp = 256, kMostOfWarps = 400'000'000;

// Whether a kernel touches parts of words of global memory: others of its module may.
bool touches_parts_of_words(const Image& image, const KernelFacts& facts) {
  return image.has_sub_word_global &&
         std::any_of(facts.functions.begin(), facts.functions.end(), [&](int32_t function) {
           const auto& code = image.module.functions[size_t(function)].code;
           return std::any_of(code.begin(), code.end(), touches_part_of_global_word);
         });
}

// What the parameters at these offsets point to, and these variables.
std::vector<uint64_t> pointers_of(const std::vector<std::byte>& params,
                                  const std::vector<uint32_t>& offsets,
                                  std::vector<uint64_t> variables) {
  for (uint32_t offset : offsets) {
    if (offset + sizeof(uint64_t) > params.size()) continue;
    uint64_t pointer = 0;
    std::memcpy(&pointer, params.data() + offset, sizeof pointer);
    variables.push_back(pointer);
  }
  return variables;
}

// What the stack's limit is rounded up to, and where a kernel's stack begins; a frame begins at a
// multiple of half of it (measured: docs/measurements/stack.md).
constexpr uint32_t kStackUnit = 16;

// Bytes that ptxas counts for a frame of this function, and that are not taken where all frames are
// multiples of the unit: local variables of a larger alignment may have to skip some.
uint32_t padding_of(const Image& image, int32_t function) {
  uint32_t alignment = kStackUnit / 2;
  for (const ptx::Variable& variable : image.module.variables)
    if (variable.function == function && variable.space == ptx::Space::kLocal)
      alignment = std::max(alignment, variable.align_bytes);
  return alignment - kStackUnit / 2;
}

// Only how deep a recursion goes is not known before the launch.
void watch_stack(LaunchContext* context, const Options& options, int module,
                 const ptx::Function& kernel) {
  if (!context->facts->has_recursion) return;
  // Local variables lie on the stack.
  if (context->local_bytes_per_thread != 0)
    context->local_bytes_per_thread =
        std::max(context->local_bytes_per_thread, uint32_t(options.stack_bytes));
  const auto known = options.stack_of ? options.stack_of(module, kernel.name) : std::nullopt;
  if (!known) return;
  const std::vector<ptx::Function>& functions = context->image->module.functions;
  context->frame_bytes.assign(functions.size(), 0);
  auto frame_of = [&](int32_t function) -> uint32_t {
    const auto frame = known->frames.find(functions[size_t(function)].name);
    if (frame == known->frames.end()) return 0;
    return frame->second - std::min(frame->second, padding_of(*context->image, function));
  };
  for (const int32_t f : context->facts->functions) context->frame_bytes[size_t(f)] = frame_of(f);
  context->kernel_frame_bytes = frame_of(context->function);
  const uint64_t limit = (options.stack_bytes + kStackUnit - 1) / kStackUnit * kStackUnit;
  context->stack_bytes =
      std::max<uint64_t>(limit, context->kernel_frame_bytes) + known->reserved_bytes;
}

}  // namespace

void Simulator::Impl::configure(LaunchContext& context, const Launch& launch, Image& image,
                                int32_t kernel) {
  const KernelFacts& facts = kernel_facts(image, kernel);
  context.image = &image;
  context.facts = &facts;
  context.kernel = &image.programs[size_t(kernel)];
  context.function = kernel;
  context.device = &device;
  context.options = &options;
  context.memory = &memory;
  context.textures = &textures;
  context.checks = options.checks;
  context.merge_shared = options.merge_shared && device.counting_rule == CountingRule::kSectors;
  context.grid = {launch.grid.x, launch.grid.y, launch.grid.z};
  context.block = {launch.block.x, launch.block.y, launch.block.z};
  context.threads_per_block = uint32_t(launch.block.count());
  context.warps_per_block = (context.threads_per_block + kLanes - 1) / kLanes;
  context.static_shared_bytes = facts.static_shared_bytes;
  context.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  context.shared_window_bytes = image.shared_bytes + launch.dynamic_shared_bytes + kSharedGap;
  context.local_bytes_per_thread = facts.local_bytes;
  watch_stack(&context, options, launch.module, image.module.functions[size_t(kernel)]);
  context.params = launch.params;
  context.params.resize(
      std::max<size_t>(launch.params.size(), image.module.functions[size_t(kernel)].param_bytes));
  context.number = launches;
  context.begins_early = launch.is_early && options.touched != Options::Touches::kNone;
  context.budget = options.instruction_budget != 0 ? options.instruction_budget : kDefaultBudget;
  context.block_count = launch.grid.count();
  context.grid_workspace = launch.is_cooperative ? grid_workspace : 0;
  context.may_interleave = !is_watched();
  context.nested = options.nested && !options.sample.on ? &nested : nullptr;
  // Of registers no more is known than that a thread has some.
  constexpr uint32_t kFewRegisters = 16;
  const uint64_t per_sm =
      occupancy(device, kFewRegisters, facts.static_shared_bytes + launch.dynamic_shared_bytes,
                context.threads_per_block)
          .blocks_per_sm;
  context.resident_blocks = std::max<uint64_t>(1, per_sm * device.sm_count);
  // Not their product: a grid may have 2^63 blocks.
  const uint64_t most = kMostOfWarps / kBudgetOfWarp / context.warps_per_block;
  context.budget += std::min(context.block_count, most) * context.warps_per_block * kBudgetOfWarp;
  context.budget /= 1 + facts.local_bytes / kLargeLocalBytes;
}

std::vector<AllocationRecord*> Simulator::Impl::may_be_written(const LaunchContext& context) {
  const KernelFacts& facts = *context.facts;
  MemoryView view(memory);
  std::vector<AllocationRecord*> records;
  if (facts.writes_anything) {
    for (AllocationRecord* r : view.live()) {
      if (!r->info.is_constant) records.push_back(r);
    }
    return records;
  }
  for (uint64_t pointer :
       pointers_of(context.params, facts.written_params, facts.written_variables)) {
    AllocationRecord* r = view.find(pointer);
    if (r != nullptr && std::find(records.begin(), records.end(), r) == records.end())
      records.push_back(r);
  }
  return records;
}

// True when the outcome, or what is reported, could depend on which block runs first.
bool Simulator::Impl::has_to_run_in_order(const LaunchContext& context,
                                          const std::vector<AllocationRecord*>& written) {
  const KernelFacts& facts = *context.facts;
  if (facts.has_global_atomics || facts.has_volatile || facts.calls_malloc || facts.prints)
    return true;
  if (written.empty()) return false;
  if (facts.reads_anything) return true;
  MemoryView view(memory);
  for (uint64_t pointer : pointers_of(context.params, facts.read_params, facts.read_variables)) {
    if (std::find(written.begin(), written.end(), view.find(pointer)) != written.end()) return true;
  }
  return false;
}

GlobalShadows Simulator::Impl::make_shadows(const LaunchContext& context,
                                            const std::vector<AllocationRecord*>& written) {
  const KernelFacts& facts = *context.facts;
  // Only these order blocks; a launch that has them runs on one worker.
  const bool ordered = !context.parallel && (facts.has_global_atomics || facts.has_volatile);
  GlobalShadows shadows(ordered ? std::make_unique<BlockOrder>(context.threads_per_block) : nullptr,
                        scratch.number_launch(context.block_count));
  if (!context.checks.races) return shadows;
  const uint32_t shift = touches_parts_of_words(*context.image, facts) ? 0 : 2;
  using Keeps = GlobalShadow::Keeps;
  const Keeps keeps = context.parallel ? Keeps::kWriters : Keeps::kWritersAndReaders;
  for (AllocationRecord* r : written) shadows.add(r, shift, keeps, scratch, context.begins_early);
  if (notes_all(context)) shadows.note_all(shift, scratch, context.begins_early);
  return shadows;
}

bool Simulator::Impl::notes_all(const LaunchContext& context) const {
  using Touches = Options::Touches;
  return options.touched == Touches::kAll ||
         (options.touched == Touches::kWrites &&
          (context.begins_early || context.facts->lets_next_begin));
}

// Until a worker asks for compiled code. Many short launches are as long as a long one; the code is
// made somewhere in the middle of a launch, when it is known where the lanes of addresses lie.
uint64_t Simulator::Impl::left_to_interpret(const LaunchContext& context,
                                            const Loaded& loaded) const {
  constexpr uint64_t kLong = 100'000;  // warp instructions: a millisecond or two
  const auto before = loaded.executed.find(context.function);
  if (before == loaded.executed.end()) return kLong;
  const auto& [all, last] = before->second;
  return std::max(kLong - std::min(kLong, all), last / 2);
}

void Simulator::Impl::note_executed(const LaunchContext& context, int module) {
  auto& executed = modules[size_t(module)].executed[context.function];
  executed.last = context.used_instructions;
  executed.all += executed.last;
}

void Simulator::Impl::choose_engine(LaunchContext& context, int module) {
  if (options.engine == EngineChoice::kInterpreter || is_watched()) return;
  if (context.facts->calls_malloc) return;  // compiled code keeps where an allocation is
  if (context.begins_early) return;         // and does not tell the shadows each time
  Loaded& loaded = modules[size_t(module)];
  if (loaded.compiler == nullptr) loaded.compiler = std::make_unique<jit::Compiler>(*loaded.image);
  context.engines = loaded.compiler.get();
  const bool at_once =
      options.engine == EngineChoice::kCompiled || loaded.compiler->has_code_for(context.function);
  context.engine_after = engine_after.value_or(at_once ? 0 : left_to_interpret(context, loaded));
  // Compiled code goes through so many in the time that the interpreter takes for the default.
  constexpr uint64_t kFaster = 10;
  if (options.instruction_budget == 0 && options.engine == EngineChoice::kAuto)
    context.budget *= kFaster;
}

void Simulator::Impl::run(LaunchContext& context, unsigned threads, Collector& collector) {
  // Each makes what it works on in its own thread, so that what two workers write never shares a
  // cache line.
  std::vector<std::unique_ptr<Runner>> runners(threads);
  if (threads == 1) runners[0] = std::make_unique<Runner>(context);  // may be watched
  std::optional<provenance::Follower> follower;
  if (options.history != nullptr) {
    follower.emplace(options.history, context);
    runners[0]->worker.follower = &*follower;
  }
  // A trace follows values by a history of its own: only this launch, its arrays by their numbers.
  std::optional<provenance::History> history;
  std::optional<trace::Recorder> recorder;
  if (options.trace != nullptr) {
    Worker& worker = runners[0]->worker;
    if (options.history == nullptr && follows()) {
      history.emplace(kMostTracedValues);
      follower.emplace(&*history, context);
      worker.follower = &*follower;
    }
    recorder.emplace(options.trace, worker, history ? &*follower : nullptr,
                     history ? &*history : nullptr);
    worker.recorder = &*recorder;
    worker.events = worker.recorder;
  }
  Residents residents(context);
  if (threads == 1 && context.may_interleave) runners[0]->residents = &residents;
  std::vector<std::exception_ptr> failures(threads);
  const auto work = [&](unsigned i) {
    try {
      if (runners[i] == nullptr) runners[i] = std::make_unique<Runner>(context);
      runners[i]->run();
    } catch (...) {
      failures[i] = std::current_exception();
      context.stop = true;
    }
  };
  Helpers helpers(threads - 1, [&](unsigned i) { work(i + 1); });
  work(0);
  helpers.wait();
  for (const std::exception_ptr& failure : failures) {
    if (failure != nullptr) std::rethrow_exception(failure);
  }
  if (recorder) recorder->end();
  if (context.repeat_serially) return;
  for (auto& r : runners) {
    if (r != nullptr) collector.add(r->worker);  // there may be fewer threads than were wanted
  }
  for (auto& r : residents.helpers()) collector.add(r->worker);
}

// Runs the configured launch on as many workers as its kernel allows, and once more on one if what
// the workers met depends on their order.
void Simulator::Impl::execute(const Launch& launch, Image& image, int32_t kernel,
                              LaunchReport* report) {
  LaunchContext context;
  configure(context, launch, image, kernel);
  choose_engine(context, launch.module);
  const std::vector<AllocationRecord*> written = may_be_written(context);
  unsigned threads = options.threads > 0 ? unsigned(options.threads)
                                         : std::max(1u, std::thread::hardware_concurrency());
  threads = unsigned(std::min<uint64_t>(threads, context.block_count));
  if (is_watched() || notes_all(context)) threads = 1;
  if (threads > 1 && !has_to_run_in_order(context, written)) {
    context.parallel = true;
    const MemoryImage before(written, scratch, threads);
    GlobalShadows shadows = make_shadows(context, written);
    context.shadows = &shadows;
    Collector collector(context);
    run(context, threads, collector);
    if (!context.repeat_serially) {
      note_executed(context, launch.module);
      collector.finish(report);
      tell_touched(context, shadows, report);
      return;
    }
    before.restore();
  }
  LaunchContext ordered;
  configure(ordered, launch, image, kernel);
  choose_engine(ordered, launch.module);
  GlobalShadows shadows = make_shadows(ordered, written);
  ordered.shadows = &shadows;
  Collector collector(ordered);
  run(ordered, 1, collector);
  note_executed(ordered, launch.module);
  collector.finish(report);
  if (options.trace != nullptr) options.trace->end_launch(*report);
  tell_touched(ordered, shadows, report);
}

void Simulator::Impl::tell_touched(const LaunchContext& context, const GlobalShadows& shadows,
                                   LaunchReport* report) const {
  if (options.touched == Options::Touches::kNone) return;
  report->touched = shadows.touched(*context.image);
  report->lets_next_begin = context.lets_next_begin;
  report->waits_first = context.waits_first;
}

// One worker, and nothing to restore afterwards: few blocks are executed.
void Simulator::Impl::sample(const Launch& launch, Image& image, int32_t kernel,
                             LaunchReport* report) {
  LaunchContext context;
  configure(context, launch, image, kernel);
  const sample::Dependence dependence = sample::analyse_dependence(context);
  decode(launch.module, kernel, &dependence);
  GlobalShadows shadows = make_shadows(context, may_be_written(context));
  context.shadows = &shadows;
  sample::sample_launch(context, dependence, report);
}

}  // namespace warpsim
