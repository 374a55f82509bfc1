// Record mode: every call becomes an op of a launch plan; nothing is computed and device memory has
// no contents.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "cudart/backend.h"
#include "cudart/host_trace.h"
#include "cudart/host_use.h"
#include "cudart/record_control.h"
#include "plan/plan.h"

namespace warpsim::cudart {

// A segmentation fault on the host.
struct HostFault {
  TilewiseRecordReason reason = TilewiseRecordReason::kSegmentationFault;
  std::string array;     // the host array or device buffer it is about; "" if none
  std::string sentence;  // "solve ..."
};

class Recorder final : public Backend {
 public:
  Recorder(const Device& device, AddressMap& addresses);

  // The recorder's own interface, for record_control.cpp.
  bool begin(const TilewiseRecordCase& description, TilewiseRecordPointers* pointers);
  tilewise::plan::Plan finish(const std::vector<std::string>& modules);
  // The first call that solve made and this runtime does not provide; "" if there was none.
  std::string missing_feature() const;
  // What a segmentation fault of solve at `address` means.
  HostFault host_fault(uint64_t address) const;

  uint64_t allocate(uint64_t bytes, MemoryKind kind) override;
  Error release(const MemoryRange& range) override;
  // The executor's kernels run elsewhere.
  bool adopt(const MemoryRange&) override { return false; }
  void memory_info(uint64_t* free_bytes, uint64_t* total_bytes) override;
  void releases_in(uint32_t stream, const MemoryRange& range) override;
  void allocated_in(uint32_t stream, const MemoryRange& range) override;
  void copy_to_device(uint64_t target, const void* source, uint64_t bytes,
                      const StreamCopy& how) override;
  void copy_to_host(void* target, uint64_t source, uint64_t bytes, const StreamCopy& how) override;
  void copy_on_device(uint64_t target, uint64_t source, uint64_t bytes, uint32_t stream) override;
  void fill(uint64_t target, uint8_t value, uint64_t bytes, uint32_t stream) override;
  uint64_t variable_address(const RegisteredVariable& variable) override;
  void copy_to_variable(const RegisteredVariable& variable, uint64_t offset, const void* source,
                        uint64_t bytes, const StreamCopy& how) override;
  void set_attribute(const RegisteredKernel& kernel, const char* attribute, int64_t value) override;
  bool set_heap(uint64_t bytes) override;
  void set_stack(uint64_t bytes) override;
  Error launch(const LaunchRequest& request, Error* later) override;
  void stream_made(uint32_t stream, bool is_blocking) override;
  void event_recorded(uint32_t event, uint32_t stream) override;
  void stream_waits(uint32_t stream, uint32_t event) override;
  void host_waits(HostWait what, uint32_t id, bool is_implied) override;
  bool host_has_waited(HostWait what, uint32_t id) override;
  StreamOrder& order() override { return host_use_.order(); }
  void refuses(uint64_t target, uint64_t source, uint64_t bytes, int direction) override;
  void failed(const char* api, Error error) override;
  void failed_in_driver(const char* api, int result, const std::string& why) override;
  void not_provided(const char* api, const std::string& reason) override;
  void errors_looked_at() override { unchecked_errors_.clear(); }
  bool has_failed() const { return has_failed_; }
  Simulator& simulator() override { return simulator_; }

 private:
  using Op = tilewise::plan::Op;
  struct ReadBackOp {
    size_t number;  // of the trace
  };
  struct ImpliedWait {  // of a call that does more than waiting
    tilewise::plan::Sync sync;
  };
  // See record_shared.cpp.
  struct Shared {
    uint32_t buffer = 0;
    uint64_t bytes = 0;
    bool is_adopted = false;  // kernels use it: the plan allocates its buffer
    bool is_in_use = false;   // by a launch that the host has not waited for
    bool is_known = false;    // the buffer has what the host had when its contents were `known`
    uint64_t known = 0;
  };
  struct Place {
    uint32_t buffer;
    uint64_t offset;
  };

  uint32_t add_buffer(uint64_t bytes, std::string name, tilewise::plan::Role role);
  Place place_of(uint64_t address) const;
  bool nearest_buffer(uint64_t address, uint32_t* buffer) const;
  tilewise::plan::AskedSide asked_side(uint64_t address) const;
  std::vector<tilewise::plan::Relocation> relocations(const std::vector<std::byte>& params);
  // A tensor map of memory of the plan's at the start of the bytes. See record_maps.cpp.
  std::optional<tilewise::plan::BufferMap> tensor_map(std::span<const std::byte> bytes);
  // Takes the tensor maps out of a parameter block.
  std::vector<tilewise::plan::ParameterMap> tensor_maps(std::vector<std::byte>* params);
  // Literals of what goes to `target`: a tensor map among them becomes a segment of its own.
  std::vector<tilewise::plan::Segment> with_tensor_maps(
      std::vector<tilewise::plan::Segment> segments, uint64_t target);
  // One of solve's arrays, the `index`th; 0 if there is no memory.
  uint64_t make_host_array(int index, const tilewise::plan::Parameter& parameter, uint64_t bytes);
  uint64_t make_device_array(const tilewise::plan::Parameter& parameter, uint64_t bytes);
  // The bytes that a copy takes from the host; the plan ends there if they cannot be followed.
  std::vector<tilewise::plan::Segment> taken_from_host(const char* api, const void* source,
                                                       uint64_t bytes, Place target,
                                                       const StreamCopy& how);
  void note_early_reads(uint64_t call);
  // That words have been moved to where nobody follows them, if any since there were `before`.
  void note_lost(const char* api, uint64_t before);
  uint64_t allocate_shared(uint64_t bytes, MemoryKind kind);
  void release_shared(uint64_t address);
  void adopt(Shared* shared);
  // Before a launch, and when the host has waited.
  void hand_over(const tilewise::plan::Launch& launch);
  void take_back();
  bool is_in_use(const void* memory, uint64_t bytes) const;
  void settle_copies();
  std::vector<Op> final_ops() const;
  // The last operation, if it is one of these.
  template <class Kind>
  Kind* last() {
    auto* op = ops_.empty() ? nullptr : std::get_if<Op>(&ops_.back());
    return op ? std::get_if<Kind>(op) : nullptr;
  }
  void note_arguments(const LaunchRequest& request, const tilewise::plan::Launch& op);

  const Device& device_;
  AddressMap& addresses_;
  Simulator simulator_;  // loads modules, launches nothing
  tilewise::record::HostTrace trace_;
  tilewise::plan::Plan plan_;  // all but ops, which stay here until the end
  std::vector<std::variant<Op, ReadBackOp, ImpliedWait>> ops_;
  HostUse host_use_;
  std::optional<tilewise::plan::Asked> asked_;       // of the call that is being refused
  std::optional<tilewise::plan::Free> released_in_;  // cudaFreeAsync, on its way to release()
  std::map<uint64_t, uint32_t> buffer_at_;           // by address, freed ones included
  std::map<uint64_t, Shared> shared_;                // by address
  std::vector<bool> is_live_;                        // per buffer
  std::vector<std::string> unchecked_errors_;
  bool has_failed_ = false;  // a call has returned an error
  uint64_t next_address_ = DeviceMemory::kDeviceBase;
  uint64_t memory_bytes_;  // for buffers in all
  uint64_t used_bytes_ = 0;
  uint32_t allocations_ = 0;
};

// The process's recorder, nullptr unless the library is in record mode.
Recorder* process_recorder();

}  // namespace warpsim::cudart
