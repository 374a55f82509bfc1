// What device code calls to launch kernels: nvcc makes of k<<<grid, block>>>(...) a request for a
// buffer, stores of the arguments into it, and the launch. See nested.h.

#include <cstring>
#include <utility>

#include "warpsim/exec/call_params.h"
#include "warpsim/exec/nested.h"
#include "warpsim/exec/ops.h"
#include "warpsim/machine/worker.h"

namespace warpsim {

uint64_t NestedLaunches::prepare(Launch launch, uint32_t param_bytes, DeviceMemory& memory) {
  const uint64_t buffer =
      memory.allocate(param_bytes != 0 ? param_bytes : 1, "the arguments of a launch");
  if (buffer == 0) return 0;
  launch.module = module_;
  launch.depth = depth_ + 1;
  launch.params.resize(param_bytes);
  prepared_[buffer] = std::move(launch);
  return buffer;
}

bool NestedLaunches::launch(uint64_t arguments, uint64_t stream, const DeviceMemory& memory) {
  constexpr uint64_t kTailLaunch = 3;  // cudaStreamTailLaunch: when all else is done
  const auto found = prepared_.find(arguments);
  if (found == prepared_.end()) return false;
  Launch launch = found->second;
  memory.read(arguments, launch.params.data(), launch.params.size());
  (stream == kTailLaunch ? at_the_end_ : launched_).push_back(std::move(launch));
  return true;
}

std::vector<Launch> NestedLaunches::take(DeviceMemory& memory) {
  for (const auto& [buffer, launch] : prepared_) memory.release(buffer);
  prepared_.clear();
  std::vector<Launch> all = std::exchange(launched_, {});
  for (Launch& launch : at_the_end_) all.push_back(std::move(launch));
  at_the_end_.clear();
  return all;
}

namespace ops {

namespace {

Dim3 dim3_param(const Warp& w, uint32_t at, int lane) {
  return {param32(w, at, lane), param32(w, at + kRow32Bytes, lane),
          param32(w, at + 2 * kRow32Bytes, lane)};
}

constexpr uint64_t kNoBuffer = 0;
constexpr uint64_t kFirstStream = 16;  // a handle behind those that have names
constexpr uint32_t kInvalidValue = 1;  // cudaErrorInvalidValue
constexpr uint32_t kNoMemory = 2;      // cudaErrorMemoryAllocation

// Stores a handle where a lane's pointer leads, into local or global memory.
bool put_handle(const Warp& w, int lane, uint64_t address, uint64_t handle) {
  const uint64_t in_local = address - kLocalWindow, of_thread = w.worker->local_bytes_per_thread;
  if (in_local >= kWindowBytes)
    return w.worker->launch->memory->write(address, &handle, sizeof handle);
  if (in_local + sizeof handle > of_thread) return false;
  std::memcpy(w.local + uint64_t(lane) * of_thread + in_local, &handle, sizeof handle);
  return true;
}

}  // namespace

// a = kernel, b = grid, c = block, e = bytes of shared memory, d = where the arguments go.
const Op* call_parameter_buffer(Warp& w, const Op* op) {
  const LaunchContext& launch = *w.worker->launch;
  if (launch.nested == nullptr) return unsupported(w, op);
  const std::vector<ptx::Function>& functions = w.worker->image->module.functions;
  for_each_lane(w.mask, [&](int lane) {
    const uint64_t number = param64(w, op->a, lane) - kFunctionAddresses;
    uint64_t buffer = kNoBuffer;
    if (number < functions.size() && functions[number].is_kernel && !launch.nested->is_too_deep()) {
      Launch wanted;
      wanted.kernel = functions[number].name;
      wanted.grid = dim3_param(w, op->b, lane);
      wanted.block = dim3_param(w, op->c, lane);
      wanted.dynamic_shared_bytes = param32(w, op->e, lane);
      buffer =
          launch.nested->prepare(std::move(wanted), functions[number].param_bytes, *launch.memory);
    }
    set_param64(w, op->d, lane, buffer);
  });
  return op + 1;
}

// a = where the arguments are, b = stream, d = error.
const Op* call_launch_device(Warp& w, const Op* op) {
  const LaunchContext& launch = *w.worker->launch;
  if (launch.nested == nullptr) return unsupported(w, op);
  for_each_lane(w.mask, [&](int lane) {
    const bool is_good =
        launch.nested->launch(param64(w, op->a, lane), param64(w, op->b, lane), *launch.memory);
    if (op->d != 0) set_param32(w, op->d, lane, is_good ? 0 : kInvalidValue);
  });
  return op + 1;
}

// a = where its handle goes, d = error. All that is launched is carried out in order anyway.
const Op* call_stream_create(Warp& w, const Op* op) {
  if (w.worker->launch->nested == nullptr) return unsupported(w, op);
  for_each_lane(w.mask, [&](int lane) {
    const bool is_good = put_handle(w, lane, param64(w, op->a, lane), kFirstStream);
    if (op->d != 0) set_param32(w, op->d, lane, is_good ? 0 : kInvalidValue);
  });
  return op + 1;
}

// cudaMalloc() in a kernel takes of the heap. a = where the address goes, b = bytes, d = error.
const Op* call_device_malloc(Warp& w, const Op* op) {
  for_each_lane(w.mask, [&](int lane) {
    const uint64_t bytes = param64(w, op->b, lane);
    const uint64_t made = bytes == 0 ? 0 : w.worker->launch->memory->allocate_in_heap(bytes);
    const bool is_put = put_handle(w, lane, param64(w, op->a, lane), made);
    const uint32_t error = !is_put ? kInvalidValue : made == 0 && bytes != 0 ? kNoMemory : 0;
    if (op->d != 0) set_param32(w, op->d, lane, error);
  });
  return op + 1;
}
const Op* call_device_free(Warp& w, const Op* op) {
  for_each_lane(w.mask, [&](int lane) {
    if (op->d != 0) set_param32(w, op->d, lane, 0);
  });
  return call_free(w, op);
}

// Streams and events of device code order launches, which are carried out in their order anyway,
// and no error is kept: d = success.
const Op* call_without_effect(Warp& w, const Op* op) {
  if (w.worker->launch->nested == nullptr) return unsupported(w, op);
  for_each_lane(w.mask, [&](int lane) {
    if (op->d != 0) set_param32(w, op->d, lane, 0);
  });
  return op + 1;
}

// a = condition of a graph's node, which is an address, b = value.
const Op* call_set_conditional(Warp& w, const Op* op) {
  const LaunchContext& launch = *w.worker->launch;
  if (launch.nested == nullptr) return unsupported(w, op);
  for_each_lane(w.mask, [&](int lane) {
    const uint32_t value = param32(w, op->b, lane);
    launch.memory->write(param64(w, op->a, lane), &value, sizeof value);
  });
  return op + 1;
}

}  // namespace ops

}  // namespace warpsim
