#include "warpsim/device.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "json/json.h"

namespace warpsim {

namespace {

using tilewise::Json;

namespace fs = std::filesystem;

// The program or the shared library that this code is in.
fs::path own_file() {
  std::error_code error;
  Dl_info info;
  if (::dladdr(reinterpret_cast<const void*>(&own_file), &info) != 0 && info.dli_fname != nullptr) {
    const fs::path name = info.dli_fname;  // of a program it may be the first word of the command
    if (name.has_parent_path() && fs::exists(name, error)) return fs::canonical(name, error);
  }
  return fs::read_symlink("/proc/self/exe", error);
}

// A checkout, and what is made of one, may lie anywhere.
fs::path device_folder() {
  const char* chosen = std::getenv("TILEWISE_DEVICES");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  const fs::path devices = fs::path("common") / "devices";
  std::error_code error;
  for (fs::path above = own_file().parent_path();; above = above.parent_path()) {
    if (fs::is_directory(above / devices, error)) return above / devices;
    if (!above.has_relative_path()) return devices;
  }
}

template <class T>
void read_field(const Json& json, const char* field, T* value) {
  if (!json.contains(field))
    throw std::runtime_error(std::string("the field \"") + field + "\" is missing");
  try {
    *value = json.at(field).get<T>();
  } catch (const Json::exception&) {
    throw std::runtime_error(std::string("the field \"") + field + "\" has the wrong type");
  }
}

// The enumerator whose name the field holds.
template <class T, size_t kCount>
void read_choice(const Json& json, const char* field,
                 const std::pair<const char*, T> (&choices)[kCount], T* value) {
  std::string text, known;
  read_field(json, field, &text);
  for (const auto& [name, choice] : choices) {
    if (text == name) {
      *value = choice;
      return;
    }
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  throw std::runtime_error(std::string("the field \"") + field + "\" is \"" + text +
                           "\"; known are: " + known);
}

// Every field may be left out: the default is then that of recent GPUs (model/timing.h).
Timing read_timing(const Json& json, const Device& device) {
  Timing t;
  t.l2_gbs = t.memory_gbs = device.memory_bandwidth_gbs;
  auto optional = [&](const char* field, auto* value) {
    if (json.contains(field)) read_field(json, field, value);
  };
  optional("calibrated", &t.calibrated);
  optional("error", &t.error);
  optional("note", &t.note);
  optional("schedulers", &t.schedulers);
  optional("issue_cycles", &t.issue_cycles);
  optional("fma_cycles", &t.fma_cycles);
  optional("integer_cycles", &t.integer_cycles);
  optional("multiply_cycles", &t.multiply_cycles);
  optional("slow_cycles", &t.slow_cycles);
  optional("double_cycles", &t.double_cycles);
  optional("tensor_cycles", &t.tensor_cycles);
  optional("tensor_half_cycles", &t.tensor_half_cycles);
  optional("wide_load_cycles", &t.wide_load_cycles);
  optional("alu_latency", &t.alu_latency);
  optional("load_store_cycles", &t.load_store_cycles);
  optional("line_cycles", &t.line_cycles);
  optional("request_cycles", &t.request_cycles);
  optional("shared_latency", &t.shared_latency);
  optional("constant_latency", &t.constant_latency);
  optional("l1_latency", &t.l1_latency);
  optional("l2_latency", &t.l2_latency);
  optional("memory_latency", &t.memory_latency);
  optional("l2_other_half", &t.l2_other_half);
  optional("l1_bytes", &t.l1_bytes);
  optional("shared_least_bytes", &t.shared_least_bytes);
  optional("l2_port_bytes", &t.l2_port_bytes);
  optional("l2_gbs", &t.l2_gbs);
  optional("memory_gbs", &t.memory_gbs);
  optional("barrier_latency", &t.barrier_latency);
  optional("barrier_cycles", &t.barrier_cycles);
  if (json.contains("shared_operands")) {
    const Json& operands = json.at("shared_operands");
    read_field(operands, "offsets", &t.shared_operands.emplace().offsets);
    read_field(operands, "issue_cycles", &t.shared_operands->issue_cycles);
    if (t.shared_operands->offsets < 1)
      throw std::runtime_error("the field \"shared_operands\" needs at least one offset");
  }
  optional("launch_us", &t.launch_us);
  optional("block_start_ns", &t.block_start_ns);
  if (t.schedulers < 1 || t.memory_gbs <= 0)
    throw std::runtime_error("the field \"timing\" needs at least one scheduler and a bandwidth");
  return t;
}

Device from_json(const Json& json, const std::string& id) {
  if (!json.is_object()) throw std::runtime_error("it is not a JSON object");
  Device d;
  d.id = id;
  std::array<int, 2> cc{};
  read_field(json, "name", &d.name);
  read_field(json, "compute_capability", &cc);
  d.cc_major = cc[0];
  d.cc_minor = cc[1];
  read_field(json, "sm_count", &d.sm_count);
  read_field(json, "max_threads_per_block", &d.max_threads_per_block);
  read_field(json, "max_block", &d.max_block);
  read_field(json, "max_grid", &d.max_grid);
  read_field(json, "max_threads_per_sm", &d.max_threads_per_sm);
  read_field(json, "max_blocks_per_sm", &d.max_blocks_per_sm);
  read_field(json, "max_warps_per_sm", &d.max_warps_per_sm);
  read_field(json, "shared_bytes_per_block", &d.shared_bytes_per_block);
  read_field(json, "shared_bytes_per_block_optin", &d.shared_bytes_per_block_optin);
  read_field(json, "shared_bytes_per_sm", &d.shared_bytes_per_sm);
  read_field(json, "shared_bytes_reserved_per_block", &d.shared_bytes_reserved_per_block);
  read_field(json, "shared_unit_bytes", &d.shared_unit_bytes);
  read_field(json, "registers_per_sm", &d.registers_per_sm);
  read_field(json, "registers_per_block", &d.registers_per_block);
  read_field(json, "max_registers_per_thread", &d.max_registers_per_thread);
  read_choice(json, "register_allocation",
              {{"warp", RegisterAllocation::kWarp}, {"block", RegisterAllocation::kBlock}},
              &d.register_allocation);
  read_field(json, "register_unit", &d.register_unit);
  read_field(json, "warp_allocation_unit", &d.warp_allocation_unit);
  read_field(json, "global_bytes", &d.global_bytes);
  read_field(json, "l2_bytes", &d.l2_bytes);
  read_field(json, "constant_bytes", &d.constant_bytes);
  read_field(json, "sm_clock_mhz", &d.sm_clock_mhz);
  read_field(json, "memory_clock_mhz", &d.memory_clock_mhz);
  read_field(json, "memory_bandwidth_gbs", &d.memory_bandwidth_gbs);
  read_field(json, "memory_bus_bits", &d.memory_bus_bits);
  read_field(json, "fp32_lanes_per_sm", &d.fp32_lanes_per_sm);
  read_choice(json, "counting_rule",
              {{"sectors", CountingRule::kSectors},
               {"warp-lines", CountingRule::kWarpLines},
               {"half-warp-segments", CountingRule::kHalfWarpSegments}},
              &d.counting_rule);
  if (json.contains("timing")) d.timing = read_timing(json.at("timing"), d);
  return d;
}

}  // namespace

std::vector<std::string> device_ids() {
  std::vector<std::string> ids;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(device_folder(), error)) {
    if (entry.path().extension() == ".json") ids.push_back(entry.path().stem().string());
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

Device load_device(const std::string& id) {
  const fs::path path = device_folder() / (id + ".json");
  const bool plain_name = !id.empty() && id.find_first_of("/\\") == std::string::npos;
  std::ifstream file(path);
  if (!plain_name || !file) {
    std::string known;
    for (const std::string& name : device_ids()) known += (known.empty() ? "" : ", ") + name;
    throw std::runtime_error("there is no device \"" + id + "\" in " + device_folder().string() +
                             "; known are: " + known);
  }
  try {
    std::ostringstream text;
    text << file.rdbuf();
    return from_json(tilewise::json_of(text.str()), id);
  } catch (const Json::parse_error& error) {
    throw std::runtime_error("device file " + path.string() + " is not JSON: " + error.what());
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("device file " + path.string() + ": " + error.what());
  }
}

}  // namespace warpsim
