// The GPU backend on a real GPU. Without one these cases pass and say so.

#include <cstring>
#include <memory>

#include "harness/execute/executor.h"
#include "harness/execute/gpu_backend.h"
#include "harness/execute/gpu_timing.h"
#include "harness/execute/sim_backend.h"
#include "tests/catch.h"
#include "tests/harness/sample_plans.h"

using namespace tilewise;
namespace t = tilewise::testing;

namespace {

constexpr uint32_t kWidth = 8;

// Null, with the reason printed, on a machine without a GPU.
std::unique_ptr<GpuBackend> real_gpu() {
  try {
    return std::make_unique<GpuBackend>();
  } catch (const HarnessError& error) {
    WARN("skipped: " << error.what());
    return nullptr;
  }
}

Execution run(Backend& backend, const std::string& kernel) {
  t::TemporaryFolder folder;
  plan::Plan plan = t::device_plan(kWidth, folder.put("module0.ptx", t::kSimPtx));
  plan.ops = {t::launch(kernel, kWidth)};
  Executor executor(plan, backend, t::sample_m(kWidth), t::sample_n(kWidth));
  executor.run();
  if (auto* gpu = dynamic_cast<GpuBackend*>(&backend);
      gpu && executor.execution().status == Status::kOk) {
    time_plan(*gpu, executor, 5);
  }
  return executor.execution();
}

}  // namespace

TEST_CASE("gpu: a right kernel gives the simulator's bits and takes some time") {
  auto gpu = real_gpu();
  if (!gpu) return;
  Execution e = run(*gpu, "add");
  CHECK(e.status == Status::kOk);
  CHECK(e.faults.empty());
  REQUIRE(e.time_ms);
  CHECK(e.time_ms->median > 0);
  CHECK(e.kernels[0].time_ms->median <= e.time_ms->median);
  ::setenv("TILEWISE_DEVICES", TILEWISE_DEVICE_FOLDER, 1);
  Execution simulated = run(*make_sim_backend({}), "add");
  CHECK(std::memcmp(e.p().values.data(), simulated.p().values.data(), e.p().bytes()) == 0);
}

TEST_CASE("gpu: red zones, inputs and unwritten elements are seen") {
  auto gpu = real_gpu();
  if (!gpu) return;
  Execution e = run(*gpu, "past_end");
  REQUIRE(!e.faults.empty());
  CHECK(e.faults[0].diagnostic.code == warpsim::Code::kOutOfBoundsGlobal);
  CHECK(e.faults[0].diagnostic.offset_bytes == 256);
  CHECK(run(*gpu, "add_but_last").outputs.at("P").first_unwritten == 63);
  CHECK(run(*gpu, "change_input").modified_inputs.at(0).first_index == 5);
}

TEST_CASE("gpu: an address that belongs to nobody is a fault") {
  auto gpu = real_gpu();
  if (!gpu) return;
  Execution e = run(*gpu, "indirect");  // M holds no pointer
  CHECK(e.status == Status::kFault);
  CHECK(e.faults.at(0).diagnostic.code == warpsim::Code::kOutOfBoundsGlobal);
}
