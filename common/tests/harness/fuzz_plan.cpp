// libFuzzer target: any text is a plan that can be carried out, or gives a PlanError. What is read
// is written and read again without a change, is held against its case, and is carried out on a
// device whose every buffer is a piece of heap, so that the address sanitizer sees each byte that a
// plan reaches and should not. Built and run by fuzz.sh.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>

#include "harness/execute/executor.h"
#include "plan/check.h"
#include "plan/error.h"
#include "plan/plan.h"

using namespace tilewise;

// Of the simulator, which is not part of this program.
void tilewise::Backend::assume_written(uint64_t, uint64_t) {
  std::abort();
}

namespace {

constexpr uint64_t kCapacity = 1 << 20;      // bytes of the device
constexpr uint64_t kMostToHold = 256 << 20;  // bytes of host arrays in one run

void require(bool truth, const char* what, const std::string& text) {
  if (truth) return;
  std::fprintf(stderr, "%s\n%s\n", what, text.c_str());
  std::abort();
}

// Buffers on the heap; a kernel writes nothing.
class HeapBackend : public Backend {
 public:
  const char* name() const override { return "heap"; }
  const warpsim::Device& device() const override { return device_; }
  Json describe() const override { return nullptr; }
  int load_module(const std::string&, const std::string&) override { return 0; }

  uint64_t allocate(uint64_t bytes, const std::string&) override {
    if (bytes > kCapacity - used_) return 0;
    used_ += bytes;
    const uint64_t address = next_;
    next_ += (bytes + 511) / 256 * 256;
    memory_[address] = std::vector<std::byte>(bytes);
    return address;
  }
  void release(uint64_t address) override {
    used_ -= memory_.at(address).size();
    memory_.erase(address);
  }
  void write(uint64_t address, const void* source, uint64_t bytes) override {
    if (bytes) std::memcpy(at(address, bytes), source, bytes);
  }
  void read(uint64_t address, void* target, uint64_t bytes) override {
    if (bytes) std::memcpy(target, at(address, bytes), bytes);
  }
  void copy(uint64_t target, uint64_t source, uint64_t bytes) override {
    if (bytes) std::memmove(at(target, bytes), at(source, bytes), bytes);
  }
  void fill(uint64_t address, uint8_t value, uint64_t bytes) override {
    if (bytes) std::memset(at(address, bytes), value, bytes);
  }
  bool find_variable(int, const std::string& name, uint64_t* address, uint64_t* bytes) override {
    if (!variables_.count(name)) variables_[name] = allocate(64, name);
    *address = variables_[name];
    *bytes = 64;
    return *address != 0;
  }
  bool set_heap(uint64_t bytes) override { return bytes <= kCapacity; }
  bool set_stack(uint64_t) override { return true; }
  bool set_attribute(int, const std::string&, const std::string&, int64_t value) override {
    return value >= 0;
  }
  LaunchOutcome launch(const warpsim::Launch& launch) override {
    LaunchOutcome outcome;
    outcome.report.mangled = launch.kernel;
    return outcome;
  }
  bool readable() const override { return true; }
  std::string printed() override { return ""; }

 private:
  // The checked plan may not name memory that is not there: that would be a fault of the check.
  std::byte* at(uint64_t address, uint64_t bytes) {
    auto after = memory_.upper_bound(address);
    require(after != memory_.begin(), "an address below every buffer", "");
    auto& [start, content] = *std::prev(after);
    require(address - start <= content.size() && bytes <= content.size() - (address - start),
            "an access outside of every buffer", "");
    return content.data() + (address - start);
  }

  warpsim::Device device_;
  std::map<uint64_t, std::vector<std::byte>> memory_;
  std::map<std::string, uint64_t> variables_;
  uint64_t used_ = 0, next_ = 0x10000;
};

Matrix matrix(uint32_t rows, uint32_t columns) {
  return {rows, columns, std::vector<float>(uint64_t{rows} * columns, 1.0f)};
}

void carry_out(plan::Plan plan) {
  uint64_t held = 0;
  for (const plan::HostArray& array : plan.host) held += array.bytes;
  if (held > kMostToHold) return;
  for (std::string& module : plan.modules) module = "/dev/null";
  HeapBackend backend;
  Executor executor(plan, backend, matrix(plan.j, plan.k), matrix(plan.k, plan.l));
  try {
    executor.run();
  } catch (const PlanError&) {  // a variable that the module lacks
    return;
  }
  require(executor.execution().p().values.size() == uint64_t{plan.j} * plan.l, "P lost its shape",
          "");
}

// A value in the tree, chosen at random.
Json* some_value(Json& top, std::mt19937& random) {
  Json* at = &top;
  while (at->is_structured() && !at->empty() && random() % 6 != 0) {
    auto child = at->begin();
    std::advance(child, random() % at->size());
    at = &*child;
  }
  return at;
}

// An object in the tree, chosen at random; null if none is met.
Json* some_object(Json& top, std::mt19937& random) {
  for (int tries = 0; tries < 8; ++tries) {
    Json* value = some_value(top, random);
    if (value->is_object() && !value->empty()) return value;
  }
  return nullptr;
}

Json invented(std::mt19937& random) {
  static const Json kValues[] = {0,
                                 1,
                                 2,
                                 3,
                                 4,
                                 16,
                                 63,
                                 64,
                                 65,
                                 1 << 20,
                                 -1,
                                 255,
                                 256,
                                 1u << 31,
                                 UINT32_MAX,
                                 UINT64_MAX,
                                 int64_t{1} << 62,
                                 true,
                                 false,
                                 nullptr,
                                 0.5,
                                 1e308,
                                 "",
                                 "M",
                                 "N",
                                 "P",
                                 "staging #0",
                                 "4",
                                 "input",
                                 "output",
                                 "student",
                                 "symbol",
                                 "square-host",
                                 "square-device",
                                 "rect-device",
                                 "0x0",
                                 "0xffffffffffffffff",
                                 "0x2a6b20000000",
                                 "00",
                                 "module0.ptx",
                                 Json::array(),
                                 Json::object()};
  return kValues[random() % std::size(kValues)];
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

// Changes the tree of a plan where there is one, and its bytes now and then: random bytes alone do
// not get past the JSON.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  std::mt19937 random(seed);
  Json tree = random() % 10 == 0
                  ? Json(Json::value_t::discarded)
                  : Json::parse(data, data + size, nullptr, /*allow_exceptions=*/false);
  if (tree.is_discarded()) return LLVMFuzzerMutate(data, size, most);
  for (unsigned changes = 1 + random() % 3; changes > 0; --changes) {
    Json& value = *some_value(tree, random);
    switch (random() % 6) {
      case 0:
        value = Json(*some_value(tree, random));  // a copy of another part
        break;
      case 1:
        if (value.is_array() && !value.empty()) {
          value.push_back(Json(value[random() % value.size()]));
          std::swap(value.back(), value[random() % value.size()]);
        } else {
          value = invented(random);
        }
        break;
      case 2:
        if (value.is_structured() && !value.empty()) {
          auto child = value.begin();
          std::advance(child, random() % value.size());
          value.erase(child);
        } else {
          value = invented(random);
        }
        break;
      case 3: {  // a field of another object, so that optional ones come where they were not
        Json* from = some_object(tree, random);
        Json* to = some_object(tree, random);
        if (from && to) {
          auto field = from->begin();
          std::advance(field, random() % from->size());
          const std::string name = field.key();
          const Json copy = field.value();
          (*to)[name] = copy;
        }
        break;
      }
      case 4:
        if (value.is_number_integer()) {
          value = value.get<uint64_t>() + random() % 9 - 4;
        } else {
          value = invented(random);
        }
        break;
      default:
        value = invented(random);
    }
  }
  const std::string text = tree.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  plan::Plan plan;
  try {
    plan = plan::parse({reinterpret_cast<const char*>(data), size}, "fuzz");
  } catch (const PlanError& error) {
    require(error.what()[0] != '\0', "an error without words", "");
    return 0;
  }
  const std::string text = plan::to_text(plan);
  try {
    require(plan::to_text(plan::parse(text, "again")) == text, "writing twice gives two texts",
            text);
  } catch (const PlanError& error) {
    require(false, error.what(), text);
  }
  try {
    check_case(plan, {"w4", plan.signature, 4, 4, 4, ""});
  } catch (const PlanError&) {
    return 0;
  }
  carry_out(std::move(plan));
  return 0;
}
