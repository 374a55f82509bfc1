#include "tests/oracle/simulate.h"

#include <cstdlib>
#include <random>

namespace oracle {

Buffers start_values(const Program& program, uint32_t seed) {
  std::mt19937 random(seed);
  Buffers buffers;
  uint32_t threads = program.grid[0] * program.block[0] * program.block[1] * program.block[2];
  // Random bits are rarely interesting numbers: mix in small integers and floats of moderate size.
  for (uint32_t n = 0; n < kInBytes / 4; ++n) {
    uint32_t bits = static_cast<uint32_t>(random());
    if (n % 4 == 1) bits %= 100;
    if (n % 4 == 2) bits = 0x3F000000 + (bits & 0x80FFFFFF);
    if (n % 16 == 7) bits = 0x40000000 + (bits & 0x000FFFFF);  // upper half of a double near 2
    for (int b = 0; b < 4; ++b) buffers.in.push_back(static_cast<uint8_t>(bits >> (8 * b)));
  }
  buffers.out.assign(threads * kOutBytesPerThread, 0xA5);
  buffers.counters.assign(kCounterBytes, 0);
  return buffers;
}

std::vector<uint8_t> parameters(std::initializer_list<uint64_t> words) {
  std::vector<uint8_t> bytes;
  for (uint64_t word : words) {
    for (int b = 0; b < 8; ++b) bytes.push_back(static_cast<uint8_t>(word >> (8 * b)));
  }
  return bytes;
}

warpsim::LaunchReport simulate(warpsim::Simulator* sim, const Program& program, Buffers* buffers) {
  warpsim::DeviceMemory& memory = sim->memory();
  auto upload = [&](const std::vector<uint8_t>& bytes, const char* name) {
    uint64_t address = memory.allocate(bytes.size(), name);
    memory.write(address, bytes.data(), bytes.size());
    return address;
  };
  uint64_t in = upload(buffers->in, "in"), out = upload(buffers->out, "out");
  uint64_t counters = upload(buffers->counters, "counters");
  warpsim::Launch launch;
  launch.module = sim->load_module(program.ptx, "random");
  launch.kernel = "k";
  launch.grid = {program.grid[0], program.grid[1], program.grid[2]};
  launch.block = {program.block[0], program.block[1], program.block[2]};
  for (uint8_t byte : parameters({in, out, counters})) launch.params.push_back(std::byte{byte});
  const warpsim::LaunchReport report = sim->launch(launch);
  memory.read(out, buffers->out.data(), buffers->out.size());
  memory.read(counters, buffers->counters.data(), buffers->counters.size());
  for (uint64_t address : {in, out, counters}) memory.release(address);
  sim->unload_module(launch.module);
  return report;
}

uint32_t from_environment(const char* name, uint32_t otherwise) {
  const char* text = std::getenv(name);
  return text ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10)) : otherwise;
}

}  // namespace oracle
