// Record mode: every call becomes an op of a launch plan; nothing is computed and device memory has
// no contents.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "cudart/backend.h"
#include "cudart/host_trace.h"
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
  void memory_info(uint64_t* free_bytes, uint64_t* total_bytes) override;
  void copy_to_device(uint64_t target, const void* source, uint64_t bytes,
                      uint32_t stream) override;
  void copy_to_host(void* target, uint64_t source, uint64_t bytes, uint32_t stream) override;
  void copy_on_device(uint64_t target, uint64_t source, uint64_t bytes, uint32_t stream) override;
  void fill(uint64_t target, uint8_t value, uint64_t bytes, uint32_t stream) override;
  uint64_t variable_address(const RegisteredVariable& variable) override;
  void copy_to_variable(const RegisteredVariable& variable, uint64_t offset, const void* source,
                        uint64_t bytes) override;
  void set_attribute(const RegisteredKernel& kernel, const char* attribute, int64_t value) override;
  Error launch(const LaunchRequest& request, Error* later) override;
  void synchronised() override;
  void failed(const char* api, Error error) override;
  void not_provided(const char* api, const std::string& reason) override;
  void errors_looked_at() override { unchecked_errors_.clear(); }
  Simulator& simulator() override { return simulator_; }

 private:
  using Op = tilewise::plan::Op;
  struct ReadBackOp {
    size_t number;  // of the trace
  };
  struct Place {
    uint32_t buffer;
    uint64_t offset;
  };

  uint32_t add_buffer(uint64_t bytes, std::string name, tilewise::plan::Role role);
  Place place_of(uint64_t address) const;
  bool nearest_buffer(uint64_t address, uint32_t* buffer) const;
  std::vector<tilewise::plan::Relocation> relocations(const std::vector<std::byte>& params);
  // One of solve's arrays, the `index`th; 0 if there is no memory.
  uint64_t make_host_array(int index, const tilewise::plan::Parameter& parameter, uint64_t bytes);
  uint64_t make_device_array(const tilewise::plan::Parameter& parameter, uint64_t bytes);
  // The bytes that a copy takes from the host; the plan ends there if they cannot be followed.
  std::vector<tilewise::plan::Segment> taken_from_host(const char* api, const void* source,
                                                       uint64_t bytes);
  std::vector<Op> final_ops() const;

  const Device& device_;
  AddressMap& addresses_;
  Simulator simulator_;  // loads modules, launches nothing
  tilewise::record::HostTrace trace_;
  tilewise::plan::Plan plan_;  // all but ops, which stay here until the end
  std::vector<std::variant<Op, ReadBackOp>> ops_;
  std::map<uint64_t, uint32_t> buffer_at_;  // by address, freed ones included
  std::vector<bool> is_live_;               // per buffer
  std::vector<std::string> unchecked_errors_;
  uint64_t next_address_ = DeviceMemory::kDeviceBase;
  uint64_t memory_bytes_;  // for buffers in all
  uint64_t used_bytes_ = 0;
  uint32_t allocations_ = 0;
};

// The process's recorder, nullptr unless the library is in record mode.
Recorder* process_recorder();

}  // namespace warpsim::cudart
