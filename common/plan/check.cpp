#include "plan/check.h"

#include <set>

#include "plan/error.h"
#include "plan/json_fields.h"

namespace tilewise::plan {

namespace {

constexpr const char* kMatrices[] = {"M", "N", "P"};

bool is_matrix(const std::string& name) {
  return name == "M" || name == "N" || name == "P";
}

bool on_host(const Plan& plan) {
  return plan.signature == Signature::kSquareHost;
}

void check_size(const Plan& plan, const char* field, const std::string& name, uint64_t bytes) {
  uint32_t rows = 0, columns = 0;
  plan.shape(name, &rows, &columns);
  const uint64_t expected = uint64_t{4} * rows * columns;
  if (bytes == expected) return;
  throw FieldError(field, name + " has " + std::to_string(bytes) + " bytes, its shape needs " +
                              std::to_string(expected) + ".");
}

void expect_all(const char* field, const std::set<std::string>& found) {
  for (const char* name : kMatrices) {
    if (!found.count(name))
      throw FieldError(field, "expected one entry for " + std::string(name) + ".");
  }
}

void check_shapes(const Plan& plan) {
  if (plan.signature != Signature::kRectDevice && (plan.j != plan.k || plan.k != plan.l)) {
    throw FieldError("signature", std::string(to_string(plan.signature)) +
                                      " takes square matrices, j, k and l differ.");
  }
}

void check_buffers(const Plan& plan) {
  std::set<std::string> found;
  uint64_t end = 0;  // of the buffer before
  for (const Buffer& buffer : plan.buffers) {
    const std::string path = element_path("buffers", buffer.id);
    if (buffer.bytes > kLargestBuffer)
      throw FieldError(path + ".bytes", "more than a device has addresses.");
    if (buffer.address < end)
      throw FieldError(path + ".address", "the buffer does not lie behind the one before it.");
    end = buffer.address + buffer.bytes;
    const bool is_output = buffer.role == Role::kOutput;
    if (!is_output && buffer.role != Role::kInput) continue;
    if (on_host(plan))
      throw FieldError(path + ".role", "solve's matrices are host arrays in this signature.");
    if (!is_matrix(buffer.name) || is_output != (buffer.name == "P") ||
        !found.insert(buffer.name).second) {
      throw FieldError("buffers", "expected one entry for M, N and P each, M and N as inputs.");
    }
    check_size(plan, "buffers", buffer.name, buffer.bytes);
  }
  if (!on_host(plan)) expect_all("buffers", found);
}

void check_host(const Plan& plan) {
  std::set<std::string> found;
  uint64_t left = kMostHostBytes;
  for (const HostArray& array : plan.host) {
    if (!found.insert(array.name).second)
      throw FieldError("host", "there are two arrays \"" + array.name + "\".");
    if (array.bytes > left) {
      throw FieldError("host",
                       "all arrays have more than " + std::to_string(kMostHostBytes) + " bytes.");
    }
    left -= array.bytes;
    if (is_matrix(array.name)) {
      if (!on_host(plan))
        throw FieldError("host", array.name + " is a device buffer in this signature.");
      check_size(plan, "host", array.name, array.bytes);
    } else if (array.name.rfind("staging #", 0) != 0) {
      throw FieldError("host", "expected M, N, P or \"staging #...\".");
    }
  }
  if (on_host(plan)) expect_all("host", found);
}

// Follows which buffers are allocated, operation by operation.
class Life {
 public:
  explicit Life(const Plan& plan) : plan_(plan), live_(plan.buffers.size()) {
    for (const Buffer& buffer : plan.buffers) live_[buffer.id] = buffer.role != Role::kStudent;
  }

  void follow() {
    std::vector<bool> had(live_.size());
    for (size_t i = 0; i < plan_.ops.size(); ++i) {
      index_ = i;
      const Op& op = plan_.ops[i];
      if (const auto* made = std::get_if<Malloc>(&op)) {
        if (had[made->buffer]) fail("buffer", made->buffer, "is allocated twice.");
        had[made->buffer] = live_[made->buffer] = true;
      } else if (const auto* freed = std::get_if<Free>(&op)) {
        expect("buffer", freed->buffer);
        live_[freed->buffer] = false;
      } else if (const auto* down = std::get_if<CopyToDevice>(&op)) {
        expect("buffer", down->buffer);
      } else if (const auto* up = std::get_if<CopyToHost>(&op)) {
        expect("buffer", up->buffer);
      } else if (const auto* copy = std::get_if<CopyOnDevice>(&op)) {
        expect("buffer", copy->buffer);
        expect("source", copy->source);
      } else if (const auto* fill = std::get_if<Memset>(&op)) {
        expect("buffer", fill->buffer);
      }
      // A launch may hold the address of a freed buffer: the simulator finds the use of it.
    }
    check_leaked();
  }

 private:
  void expect(const char* field, uint32_t buffer) const {
    if (!live_[buffer]) fail(field, buffer, "is not allocated at that point.");
  }

  [[noreturn]] void fail(const char* field, uint32_t buffer, const char* problem) const {
    throw FieldError(element_path("ops", index_) + "." + field,
                     "buffer " + std::to_string(buffer) + " " + problem);
  }

  void check_leaked() const {
    const std::set<uint32_t> leaked(plan_.leaked_buffers.begin(), plan_.leaked_buffers.end());
    size_t count = 0;
    for (const Buffer& buffer : plan_.buffers)
      count += buffer.role == Role::kStudent && live_[buffer.id] && leaked.count(buffer.id);
    if (count != leaked.size() || count != plan_.leaked_buffers.size())
      throw FieldError("leaked_buffers", "expected ids of buffers that are never freed.");
  }

  const Plan& plan_;
  std::vector<bool> live_;
  size_t index_ = 0;
};

// solve may also compute words that it copies to the device: they are counted, and have no place in
// the host's P.
void check_host_writes(const Plan& plan) {
  const uint64_t elements = uint64_t{plan.j} * plan.l;
  const auto& writes = plan.host_writes;
  const bool in_p = writes.first >= 0 && static_cast<uint64_t>(writes.first) < elements;
  if (writes.first != -1 && (writes.count == 0 || !in_p))
    throw FieldError("host_writes.first", "expected an element of P, or -1 if there is none.");
}

}  // namespace

void check(const Plan& plan) {
  check_shapes(plan);
  check_buffers(plan);
  check_host(plan);
  check_host_writes(plan);
  Life(plan).follow();
}

void check_case(const Plan& plan, const Case& wanted) {
  const bool same = plan.case_id == wanted.id && plan.signature == wanted.signature &&
                    plan.j == wanted.j && plan.k == wanted.k && plan.l == wanted.l;
  if (same) return;
  throw PlanError("the plan is not of case " + wanted.id + ": " + to_string(wanted.signature) +
                  ", " + std::to_string(wanted.j) + " x " + std::to_string(wanted.k) + " x " +
                  std::to_string(wanted.l) + ".");
}

}  // namespace tilewise::plan
