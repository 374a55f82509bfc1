#include "plan/check.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <stdexcept>

#include "plan/error.h"
#include "plan/json_fields.h"

namespace tilewise::plan {

namespace {

Role role_of(Use use) {
  return use == Use::kIn ? Role::kInput : use == Use::kOut ? Role::kOutput : Role::kInOut;
}

// "M, N and P", "x and sum".
std::string array_names(const Signature& signature) {
  std::vector<std::string> names;
  for (const Parameter& one : signature.parameters) {
    if (one.is_array) names.push_back(one.name);
  }
  std::string text = names.at(0);
  for (size_t i = 1; i < names.size(); ++i)
    text += (i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

void check_size(const Plan& plan, const char* field, const std::string& name, uint64_t bytes) {
  uint32_t rows = 0, columns = 0;
  plan.shape(name, &rows, &columns);
  const uint64_t expected = uint64_t{4} * rows * columns;
  if (bytes == expected) return;
  throw FieldError(field, name + " has " + std::to_string(bytes) + " bytes, its shape needs " +
                              std::to_string(expected) + ".");
}

void expect_all(const Plan& plan, const char* field, const std::set<std::string>& found) {
  for (const Parameter& one : plan.signature.parameters) {
    if (one.is_array && !found.count(one.name))
      throw FieldError(field, "expected one entry for " + one.name + ".");
  }
}

void check_shapes(const Plan& plan) {
  if (plan.signature.is_square() && (plan.j != plan.k || plan.k != plan.l)) {
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
    if (buffer.role == Role::kStudent || buffer.role == Role::kSymbol) continue;
    if (plan.signature.on_host)
      throw FieldError(path + ".role", "solve's arrays are host arrays in this signature.");
    const int index = plan.signature.array(buffer.name);
    const bool fits =
        index >= 0 &&
        buffer.role == role_of(plan.signature.parameters[static_cast<size_t>(index)].use);
    if (!fits || !found.insert(buffer.name).second) {
      throw FieldError("buffers", "expected one entry for " + array_names(plan.signature) +
                                      " each, with the role that solve's parameters give it.");
    }
    check_size(plan, "buffers", buffer.name, buffer.bytes);
  }
  if (!plan.signature.on_host) expect_all(plan, "buffers", found);
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
    if (plan.signature.array(array.name) >= 0) {
      if (!plan.signature.on_host)
        throw FieldError("host", array.name + " is a device buffer in this signature.");
      check_size(plan, "host", array.name, array.bytes);
    } else if (array.name.rfind("staging #", 0) != 0) {
      throw FieldError("host",
                       "expected " + array_names(plan.signature) + ", or \"staging #...\".");
    }
  }
  if (plan.signature.on_host) expect_all(plan, "host", found);
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
// a host array.
void check_host_writes(const Plan& plan) {
  const auto& writes = plan.host_writes;
  const std::string name = plan.written_by_host();
  const std::vector<std::string> outputs = plan.signature.outputs();
  if (std::find(outputs.begin(), outputs.end(), name) == outputs.end())
    throw FieldError("host_writes.array", "expected an output of solve's.");
  uint32_t rows = 0, columns = 0;
  plan.shape(name, &rows, &columns);
  const uint64_t elements = uint64_t{rows} * columns;
  const bool inside = writes.first >= 0 && static_cast<uint64_t>(writes.first) < elements;
  if (writes.first != -1 && (writes.count == 0 || !inside)) {
    throw FieldError("host_writes.first",
                     "expected an element of " + name + ", or -1 if there is none.");
  }
}

}  // namespace

void check(const Plan& plan) {
  check_shapes(plan);
  check_buffers(plan);
  check_host(plan);
  check_host_writes(plan);
  Life(plan).follow();
}

Case case_of(const Signature& signature, const std::string& text) {
  const size_t colon = text.find(':');
  Case one{text.substr(0, colon), signature, 0, 0, 0, ""};
  const std::string sizes = colon == std::string::npos ? "" : text.substr(colon + 1);
  char rest = 0;
  bool good = !one.id.empty() && one.id.find('/') == std::string::npos;
  if (signature.is_product()) {
    good = good && sizes.find_first_not_of("0123456789x") == std::string::npos &&
           std::sscanf(sizes.c_str(), "%ux%ux%u%c", &one.j, &one.k, &one.l, &rest) == 3;
    for (uint32_t side : {one.j, one.k, one.l}) good = good && side >= 1 && side <= kLargestSide;
    if (!good) {
      throw std::invalid_argument(text + " is not of the form ID:JxKxL with sides from 1 to " +
                                  std::to_string(kLargestSide) + ".");
    }
    return one;
  }
  if (!good) throw std::invalid_argument(text + " is not of the form ID:NAME=SIZE,...");
  one.sizes = sizes;
  arguments_of(signature, sizes);  // throws
  return one;
}

void check_case(const Plan& plan, const Case& wanted) {
  const bool same = plan.case_id == wanted.id && plan.signature == wanted.signature &&
                    plan.j == wanted.j && plan.k == wanted.k && plan.l == wanted.l &&
                    plan.sizes == wanted.sizes;
  if (same) return;
  if (!wanted.signature.is_product())
    throw PlanError("the plan is not of case " + wanted.id + ": " + wanted.sizes + ".");
  throw PlanError("the plan is not of case " + wanted.id + ": " + to_string(wanted.signature) +
                  ", " + std::to_string(wanted.j) + " x " + std::to_string(wanted.k) + " x " +
                  std::to_string(wanted.l) + ".");
}

}  // namespace tilewise::plan
