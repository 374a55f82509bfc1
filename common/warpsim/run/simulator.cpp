#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "warpsim/exec/block.h"
#include "warpsim/exec/runner.h"
#include "warpsim/finding_text.h"
#include "warpsim/model/launch_limits.h"
#include "warpsim/observe/profile.h"
#include "warpsim/ptx/parser.h"
#include "warpsim/ptx/wmma.h"
#include "warpsim/run/memory_image.h"
#include "warpsim/run/simulator_impl.h"

namespace warpsim {

namespace {

void refuse(int cuda_error, Diagnostic finding, LaunchReport* report) {
  report->status = LaunchStatus::kBadLaunch;
  report->cuda_error = cuda_error;
  report->message = finding.message;
  report->diagnostics.push_back(std::move(finding));
}

KernelLimits limits_of(const ptx::Function& kernel, const KernelFacts& facts,
                       const Launch& launch) {
  KernelLimits limits;
  limits.static_shared_bytes = facts.static_shared_bytes;
  if (launch.max_dynamic_shared_bytes != 0)
    limits.granted_dynamic_shared_bytes = launch.max_dynamic_shared_bytes;
  limits.max_threads_per_block = kernel.max_threads_per_block;
  std::copy_n(kernel.required_block, 3, limits.required_block.begin());
  return limits;
}

}  // namespace

// What cooperative_groups finds in %envreg1 and %envreg2: the size of this, then the word of the
// grid's barrier.
void Simulator::Impl::clear_grid_workspace() {
  constexpr uint32_t kBytes = 16;
  if (grid_workspace == 0) grid_workspace = memory.allocate(kBytes, "the grid's barrier");
  memory.fill(grid_workspace, 0, kBytes);
  memory.write(grid_workspace, &kBytes, sizeof kBytes);
}

Simulator::Simulator(Device device) : impl_(std::make_unique<Impl>(std::move(device))) {}
Simulator::~Simulator() = default;
const Device& Simulator::device() const {
  return impl_->device;
}
DeviceMemory& Simulator::memory() {
  return impl_->memory;
}
TextureTable& Simulator::textures() {
  return impl_->textures;
}
Options& Simulator::options() {
  return impl_->options;
}

int Simulator::load_module(std::string_view text, std::string name) {
  auto image = std::make_unique<Image>();
  image->module = ptx::parse(text, std::move(name));
  ptx::expand_wmma(&image->module);
  if (impl_->options.trace != nullptr) image->text = text;
  place_variables(*image, impl_->memory);
  impl_->modules.emplace_back().image = std::move(image);
  return int(impl_->modules.size() - 1);
}

void Simulator::unload_module(int module) {
  Image& image = impl_->image(module);
  for (size_t i = 0; i < image.addresses.size(); ++i) {
    const ptx::Space space = image.module.variables[i].space;
    if (space == ptx::Space::kGlobal || space == ptx::Space::kConst)
      impl_->memory.release(image.addresses[i]);
  }
  impl_->modules[size_t(module)].compiler.reset();
  impl_->modules[size_t(module)].image.reset();
}

const ptx::Module& Simulator::module(int module) const {
  return impl_->image(module).module;
}

bool Simulator::find_variable(int module, const std::string& name, uint64_t* address,
                              uint64_t* size_bytes) const {
  const Image& image = impl_->image(module);
  const int32_t v = image.module.find_variable(name);
  if (v < 0) return false;
  const ptx::Variable& variable = image.module.variables[size_t(v)];
  if (variable.space != ptx::Space::kGlobal && variable.space != ptx::Space::kConst) return false;
  *address = image.addresses[size_t(v)];
  *size_bytes = variable.size_bytes;
  return true;
}

bool Simulator::kernel_info(int module, const std::string& kernel, KernelInfo* info) const {
  const int32_t f = impl_->find_kernel(module, kernel);
  if (f < 0) return false;
  Image& image = impl_->image(module);
  const ptx::Function& function = image.module.functions[size_t(f)];
  const KernelFacts& facts = kernel_facts(image, f);
  info->static_shared_bytes = facts.static_shared_bytes;
  info->local_bytes = facts.local_bytes;
  info->param_bytes = function.param_bytes;
  info->max_threads_per_block =
      function.max_threads_per_block != 0
          ? std::min(function.max_threads_per_block, impl_->device.max_threads_per_block)
          : impl_->device.max_threads_per_block;
  info->param_offsets.clear();
  info->param_sizes.clear();
  for (int32_t p : function.params) {
    info->param_offsets.push_back(image.module.variables[size_t(p)].param_offset_bytes);
    info->param_sizes.push_back(uint32_t(image.module.variables[size_t(p)].size_bytes));
  }
  return true;
}

// What an operation does is fixed when it is decoded, so other checks, or other things to watch,
// mean decoding again.
void Simulator::Impl::decode(int module, int32_t kernel, const sample::Dependence* sampling) {
  Loaded& loaded = modules[size_t(module)];
  Image& image = *loaded.image;
  if (!(loaded.decoded_for == options.checks) || loaded.has_watches || sampling != nullptr ||
      loaded.is_followed != follows() || loaded.is_traced != (options.trace != nullptr)) {
    for (Program& p : image.programs) {
      const uint32_t local = p.local_bytes;
      p = {};
      p.local_bytes = local;
    }
    image.sites.clear();
    image.blocks.clear();
    image.calls.clear();
    image.indirect_calls.clear();
    image.branches.clear();
    image.barriers.clear();
    image.guarded_fma.clear();
    image.textures.clear();
    image.group_count = 0;
    loaded.compiler.reset();
    loaded.decoded_for = options.checks;
    loaded.has_watches = sampling != nullptr;
    loaded.is_followed = follows();
    loaded.is_traced = options.trace != nullptr;
  }
  image.sampling = sampling;
  image.is_followed = follows();
  image.is_traced = options.trace != nullptr;
  decode_reachable(image, kernel, options.checks);
  image.sampling = nullptr;
}

std::optional<LaunchProfile> Simulator::profile(const Launch& launch,
                                                const std::vector<uint64_t>& blocks,
                                                std::string* refusal) {
  Impl& m = *impl_;
  const int32_t kernel = m.find_kernel(launch.module, launch.kernel);
  if (kernel < 0) return std::nullopt;
  Image& image = m.image(launch.module);
  const KernelFacts& facts = kernel_facts(image, kernel);
  *refusal =
      facts.has_global_atomics
          ? "the kernel uses atomics on global memory, whose speed the model does not know."
      : facts.has_volatile
          ? "the kernel may wait for other blocks (it reads or writes volatile memory), and "
            "the model looks at few blocks."
      : facts.meets_in_shared
          ? "warps of the kernel wait for each other, or for the copy engine, at barriers in "
            "shared memory, whose time the model does not know."
      : facts.calls_malloc ? "the kernel allocates memory, which the model does not know."
                           : "";
  if (!refusal->empty()) return std::nullopt;
  const Checks checks = std::exchange(m.options.checks, Checks::none());
  m.options.checks.counters = true;
  m.decode(launch.module, kernel, nullptr);
  for (AllocationRecord* r : MemoryView(m.memory).live()) r->settle();
  LaunchContext context;
  m.configure(context, launch, image, kernel);
  constexpr uint64_t kProfileBudget = 30'000'000;  // warp instructions: a second or two
  context.budget = std::min(context.budget, kProfileBudget);
  // What a sampled launch leaves in memory means nothing: no need to restore it.
  const std::vector<AllocationRecord*> written =
      m.options.sample.on ? std::vector<AllocationRecord*>{} : m.may_be_written(context);
  const MemoryImage before(written, m.scratch);
  GlobalShadows shadows = m.make_shadows(context, written);
  context.shadows = &shadows;
  Runner runner(context);
  Tracer tracer(runner.worker);
  runner.worker.tracer = &tracer;
  for (uint64_t block : blocks) {
    if (block >= context.block_count || context.stop) break;
    tracer.begin_block(block);
    run_block(runner.worker, block);
  }
  before.restore();
  m.options.checks = checks;
  if (context.stop) {
    *refusal = "the few blocks that the model looks at fail by themselves or run too long for it.";
    return std::nullopt;
  }
  return tracer.finish(uint32_t(kernel));
}

LaunchReport Simulator::launch(const Launch& launch) {
  const auto started = std::chrono::steady_clock::now();
  Impl& m = *impl_;
  ++m.launches;
  LaunchReport report;
  report.mangled = launch.kernel;
  report.kernel = launch.kernel;
  report.grid = {launch.grid.x, launch.grid.y, launch.grid.z};
  report.block = {launch.block.x, launch.block.y, launch.block.z};
  report.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  const int32_t kernel = m.find_kernel(launch.module, launch.kernel);
  if (kernel < 0) {
    Diagnostic missing;
    missing.code = Code::kLaunchConfig;
    missing.cause = Cause::kNoKernel;
    missing.kernel = launch.kernel;
    missing.count = 1;
    missing.message = sentence(missing);
    refuse(98, std::move(missing), &report);  // cudaErrorInvalidDeviceFunction
    return report;
  }
  Image& image = m.image(launch.module);
  const KernelFacts& facts = kernel_facts(image, kernel);
  report.kernel = image.module.functions[size_t(kernel)].source_name;
  report.static_shared_bytes = facts.static_shared_bytes;
  report.local_bytes = facts.local_bytes;
  const KernelLimits limits = limits_of(image.module.functions[size_t(kernel)], facts, launch);
  if (auto broken = broken_limit(m.device, launch, limits)) {
    broken->finding.kernel = report.kernel;
    refuse(broken->cuda_error, std::move(broken->finding), &report);
    return report;
  }
  m.nested.begin(launch.module, launch.depth);
  if (launch.is_cooperative) m.clear_grid_workspace();
  for (AllocationRecord* r : MemoryView(m.memory).live()) r->settle();
  if (m.options.sample.on) {
    m.sample(launch, image, kernel, &report);
  } else {
    m.decode(launch.module, kernel, nullptr);
    if (m.options.engine == EngineChoice::kCompared)
      m.compare_engines(launch, image, kernel, &report);
    else
      m.execute(launch, image, kernel, &report);
  }
  if (report.status != LaunchStatus::kOk) take_nested();
  report.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return report;
}

std::vector<Launch> Simulator::take_nested() {
  return impl_->nested.take(impl_->memory);
}

}  // namespace warpsim
