// Device memory: allocations with names, red zones and, per byte, whether anybody has written it.
//
// A device address is not a host address: host code that dereferences one faults, as on a machine
// with a GPU (managed and mapped allocations excepted, whose device and host addresses are equal).

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace warpsim {

struct Allocation {
  uint64_t address = 0;  // device address, multiple of 256
  uint64_t size_bytes = 0;
  std::string name;          // "M", "buffer 2 (cudaMalloc)", "__device__ table"
  bool is_constant = false;  // a __constant__ variable: device code may not write
};

class DeviceMemory {
 public:
  explicit DeviceMemory(uint64_t capacity_bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Returns the address, or 0 when capacity is used up. Contents count as uninitialised (and are
  // filled with a NaN pattern). Between any two allocations lie at least 4 KB that belong to
  // nobody (set_wide_fences). `host_accessible`: device and host address are equal.
  uint64_t allocate(uint64_t size_bytes, std::string name, bool host_accessible = false);
  // Same at a given address (a launch plan's), false if it is taken or not in the device range.
  bool allocate_at(uint64_t address, uint64_t size_bytes, std::string name);
  // Memory of the host that kernels may use where it lies; false if it is known already.
  bool adopt(void* host, uint64_t size_bytes, std::string name);
  // False if `address` is not the start of a live allocation. Later accesses are out of bounds and
  // named as use after free. An allocation of the heap goes back to it.
  bool release(uint64_t address);
  void rename(uint64_t address, std::string name);

  // malloc() and free() of kernels: a heap of its own, whose size is no part of used_bytes().
  // False, and nothing changed, once something has been allocated in it.
  bool set_heap_bytes(uint64_t bytes);
  // 0 when the heap is used up.
  uint64_t allocate_in_heap(uint64_t size_bytes);
  bool is_in_heap(uint64_t address) const;  // the start of a live allocation there

  // The live allocation that holds `address`, nullptr if none. The pointer lives until the
  // allocation is released.
  const Allocation* find(uint64_t address) const;
  // The live or released allocation nearest to `address` (for messages), nullptr if there never was
  // one.
  const Allocation* nearest(uint64_t address, bool* released) const;
  bool is_device_address(uint64_t address) const;

  // Copies between host and device. False, and nothing copied, unless the whole range lies in one
  // live allocation. write and fill mark bytes initialised; copy carries the marks along.
  bool write(uint64_t address, const void* source, uint64_t bytes);
  bool read(uint64_t address, void* target, uint64_t bytes) const;
  bool fill(uint64_t address, uint8_t value, uint64_t bytes);
  bool copy(uint64_t target, uint64_t source, uint64_t bytes);
  // Counts a range as written without changing its bytes (for launches whose data do not matter).
  bool mark_initialised(uint64_t address, uint64_t bytes);
  // Marks a range as never written without changing its bytes (for poisoned outputs).
  bool mark_uninitialised(uint64_t address, uint64_t bytes);
  // Index of the first byte in the range that nobody has written, `bytes` if all are; count of such
  // bytes in *total.
  uint64_t first_uninitialised(uint64_t address, uint64_t bytes, uint64_t* total) const;

  // Allocations from now on lie far from each other, as long as addresses suffice: what goes astray
  // meets nobody's memory instead of another buffer.
  void set_wide_fences(bool is_wide);

  // Allocations from now on begin as zeros, not as NaNs, and take memory of the machine only where
  // they are touched.
  void set_lazy(bool is_lazy);

  uint64_t used_bytes() const;
  uint64_t capacity_bytes() const;

  // Lowest and one past the highest device address there can be. The lower half begins with a large
  // number: an int before a pointer in an argument, with the half of an address as padding between
  // them, would else read like an address itself.
  static constexpr uint64_t kDeviceBase = 0x2A6B20000000;
  static constexpr uint64_t kDeviceEnd = kDeviceBase + (uint64_t{1} << 40);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  friend class MemoryView;  // the executor's direct access (exec/)
};

}  // namespace warpsim
