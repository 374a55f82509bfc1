#include <map>
#include <set>

#include "harness/plan/error.h"
#include "harness/plan/files.h"
#include "harness/plan/json_fields.h"
#include "harness/plan/plan.h"

namespace tilewise::plan {

namespace {

constexpr uint32_t kLargestSide = 1u << 20;

template <typename Enum>
Enum choice(Fields& fields, const char* name, const std::map<std::string, Enum>& choices) {
  std::string text = fields.string(name);
  auto found = choices.find(text);
  if (found != choices.end()) return found->second;
  std::string known;
  for (const auto& [choice_name, value] : choices)
    known += (known.empty() ? "" : ", ") + choice_name;
  fields.fail(name, "expected one of " + known + ", found \"" + text + "\".");
}

std::array<uint32_t, 3> triple(Fields& fields, const char* name) {
  const Json& json = fields.array(name);
  std::array<uint32_t, 3> value{};
  bool good = json.size() == 3;
  for (size_t i = 0; good && i < 3; ++i) {
    good = json[i].is_number_unsigned() && json[i].get<uint64_t>() <= UINT32_MAX;
    if (good) value[i] = json[i].get<uint32_t>();
  }
  if (!good) fields.fail(name, "expected three whole numbers >= 0.");
  return value;
}

// Reads the ops of one plan, checking every reference against what the plan declares.
class OpReader {
 public:
  explicit OpReader(const Plan& plan) : plan_(plan) {
    for (const HostArray& array : plan.host) host_bytes_[array.name] = array.bytes;
  }

  Op read(const Json& json, const std::string& path) {
    Fields fields(json, path);
    std::string kind = fields.string("op");
    auto reader = readers().find(kind);
    if (reader == readers().end()) fields.fail("op", "unknown operation \"" + kind + "\".");
    Op op = (this->*reader->second)(fields);
    fields.finish();
    return op;
  }

 private:
  using Reader = Op (OpReader::*)(Fields&);
  static const std::map<std::string, Reader>& readers() {
    static const std::map<std::string, Reader> table = {
        {"malloc", &OpReader::read_malloc},
        {"free", &OpReader::read_free},
        {"copy_h2d", &OpReader::copy_to_device},
        {"copy_d2h", &OpReader::copy_to_host},
        {"copy_d2d", &OpReader::copy_on_device},
        {"memset", &OpReader::memset},
        {"symbol_write", &OpReader::symbol_write},
        {"set_attribute", &OpReader::set_attribute},
        {"launch", &OpReader::launch},
        {"sync", &OpReader::sync},
        {"error", &OpReader::error},
        {"unsupported", &OpReader::unsupported},
    };
    return table;
  }

  uint32_t buffer(Fields& fields, const char* name) {
    uint32_t id = fields.u32(name);
    if (id >= plan_.buffers.size())
      fields.fail(name, "there is no buffer " + std::to_string(id) + ".");
    return id;
  }

  uint32_t student_buffer(Fields& fields) {
    uint32_t id = buffer(fields, "buffer");
    if (plan_.buffers[id].role != Role::kStudent) {
      fields.fail("buffer", "buffer " + std::to_string(id) + " is no student's buffer.");
    }
    return id;
  }

  uint32_t module(Fields& fields) {
    uint32_t index = fields.u32("module");
    if (index >= plan_.modules.size())
      fields.fail("module", "there is no module " + std::to_string(index) + ".");
    return index;
  }

  // Throws unless [offset, offset + bytes) lies within `size`.
  void within(Fields& fields, const char* name, uint64_t offset, uint64_t bytes, uint64_t size,
              const std::string& what) {
    if (offset > size || bytes > size - offset) {
      fields.fail(name, std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                            " do not fit into " + what + " of " + std::to_string(size) + " bytes.");
    }
  }

  void within_buffer(Fields& fields, const char* name, uint32_t id, uint64_t offset,
                     uint64_t bytes) {
    within(fields, name, offset, bytes, plan_.buffers[id].bytes, "buffer " + std::to_string(id));
  }

  std::string host(Fields& fields, uint64_t offset, uint64_t bytes) {
    std::string name = fields.string("host");
    auto found = host_bytes_.find(name);
    if (found == host_bytes_.end()) fields.fail("host", "there is no host array \"" + name + "\".");
    within(fields, "offset", offset, bytes, found->second, "host array " + name);
    return name;
  }

  std::vector<Segment> segments(Fields& fields, uint64_t* total) {
    const Json& json = fields.array("segments");
    std::vector<Segment> result;
    *total = 0;
    for (size_t i = 0; i < json.size(); ++i) {
      Fields entry(json[i], element_path(fields.path_of("segments"), i));
      Segment segment;
      if (entry.has("hex")) {
        segment.literal = entry.hex("hex");
        segment.bytes = segment.literal.size();
      } else {
        segment.offset = entry.u64("offset");
        segment.bytes = entry.u64("bytes");
        segment.host = host(entry, segment.offset, segment.bytes);
      }
      entry.finish();
      *total += segment.bytes;
      result.push_back(std::move(segment));
    }
    return result;
  }

  Op read_malloc(Fields& fields) { return Malloc{student_buffer(fields)}; }
  Op read_free(Fields& fields) { return Free{student_buffer(fields)}; }

  Op copy_to_device(Fields& fields) {
    CopyToDevice op;
    op.buffer = buffer(fields, "buffer");
    op.offset = fields.u64("offset");
    op.bytes = fields.u64("bytes");
    op.stream = fields.u32_or("stream", 0);
    within_buffer(fields, "offset", op.buffer, op.offset, op.bytes);
    uint64_t total = 0;
    op.segments = segments(fields, &total);
    if (total != op.bytes) {
      fields.fail("segments", "they hold " + std::to_string(total) + " bytes, the copy " +
                                  std::to_string(op.bytes) + ".");
    }
    return op;
  }

  Op copy_to_host(Fields& fields) {
    CopyToHost op;
    op.offset = fields.u64("offset");
    op.buffer = buffer(fields, "buffer");
    op.buffer_offset = fields.u64("buffer_offset");
    op.bytes = fields.u64("bytes");
    op.stream = fields.u32_or("stream", 0);
    op.host = host(fields, op.offset, op.bytes);
    within_buffer(fields, "buffer_offset", op.buffer, op.buffer_offset, op.bytes);
    return op;
  }

  Op copy_on_device(Fields& fields) {
    CopyOnDevice op;
    op.buffer = buffer(fields, "buffer");
    op.offset = fields.u64("offset");
    op.source = buffer(fields, "source");
    op.source_offset = fields.u64("source_offset");
    op.bytes = fields.u64("bytes");
    op.stream = fields.u32_or("stream", 0);
    within_buffer(fields, "offset", op.buffer, op.offset, op.bytes);
    within_buffer(fields, "source_offset", op.source, op.source_offset, op.bytes);
    return op;
  }

  Op memset(Fields& fields) {
    Memset op;
    op.buffer = buffer(fields, "buffer");
    op.offset = fields.u64("offset");
    uint64_t value = fields.u64("value");
    if (value > 255)
      fields.fail("value", "expected a byte (0 to 255), found " + std::to_string(value) + ".");
    op.value = static_cast<uint8_t>(value);
    op.bytes = fields.u64("bytes");
    op.stream = fields.u32_or("stream", 0);
    within_buffer(fields, "offset", op.buffer, op.offset, op.bytes);
    return op;
  }

  Op symbol_write(Fields& fields) {
    SymbolWrite op;
    op.module = module(fields);
    op.symbol = fields.string("symbol");
    op.offset = fields.u64("offset");
    uint64_t total = 0;
    op.segments = segments(fields, &total);
    return op;
  }

  Op set_attribute(Fields& fields) {
    SetAttribute op;
    op.module = module(fields);
    op.kernel = fields.string("kernel");
    op.attribute = fields.string("attribute");
    if (op.attribute != "max_dynamic_shared_bytes" && op.attribute != "preferred_shared_carveout") {
      fields.fail("attribute", "unknown attribute \"" + op.attribute + "\".");
    }
    op.value = fields.i64("value");
    return op;
  }

  Op launch(Fields& fields) {
    Launch op;
    op.module = module(fields);
    op.kernel = fields.string("kernel");
    op.grid = triple(fields, "grid");
    op.block = triple(fields, "block");
    op.shared_bytes = fields.u32("shared_bytes");
    op.stream = fields.u32_or("stream", 0);
    op.params = fields.hex("params");
    const Json& json = fields.array("relocations");
    for (size_t i = 0; i < json.size(); ++i) {
      Fields entry(json[i], element_path(fields.path_of("relocations"), i));
      Relocation relocation;
      relocation.offset = entry.u32("offset");
      relocation.buffer = buffer(entry, "buffer");
      relocation.addend = entry.i64_or("addend", 0);
      entry.finish();
      within(entry, "offset", relocation.offset, 8, op.params.size(), "a parameter block");
      op.relocations.push_back(relocation);
    }
    return op;
  }

  Op sync(Fields& fields) {
    fields.u32_or("stream", 0);
    return Sync{};
  }

  Op error(Fields& fields) {
    ApiError op;
    op.api = fields.string("api");
    op.code = fields.i64("code");
    op.code_name = fields.string_or("code_name", "");
    op.message = fields.string_or("message", "");
    return op;
  }

  Op unsupported(Fields& fields) { return Unsupported{fields.string("api")}; }

  const Plan& plan_;
  std::map<std::string, uint64_t> host_bytes_;
};

void read_buffers(Fields& top, Plan& plan) {
  static const std::map<std::string, Role> kRoles = {{"input", Role::kInput},
                                                     {"output", Role::kOutput},
                                                     {"student", Role::kStudent},
                                                     {"symbol", Role::kSymbol}};
  const Json& json = top.array("buffers");
  for (size_t i = 0; i < json.size(); ++i) {
    Fields fields(json[i], element_path("buffers", i));
    Buffer buffer;
    buffer.id = fields.u32("id");
    if (buffer.id != i)
      fields.fail("id", "expected " + std::to_string(i) + ", the buffer's place in the list.");
    buffer.address = fields.address("address");
    buffer.bytes = fields.u64("bytes");
    if (buffer.bytes == 0) fields.fail("bytes", "a buffer has at least one byte.");
    if (buffer.address + buffer.bytes < buffer.address)
      fields.fail("bytes", "the buffer passes the address space's end.");
    buffer.name = fields.string("name");
    buffer.role = choice(fields, "role", kRoles);
    if (buffer.role == Role::kSymbol) {
      buffer.module = fields.u32("module");
      if (buffer.module >= plan.modules.size()) fields.fail("module", "there is no such module.");
      buffer.symbol = fields.string("symbol");
    }
    fields.finish();
    plan.buffers.push_back(std::move(buffer));
  }
}

void read_host(Fields& top, Plan& plan) {
  if (!top.has("host")) return;
  const Json& json = top.array("host");
  for (size_t i = 0; i < json.size(); ++i) {
    Fields fields(json[i], element_path("host", i));
    HostArray array{fields.string("name"), fields.u64("bytes")};
    fields.finish();
    plan.host.push_back(std::move(array));
  }
}

// solve's three matrices must be there, once each, and as large as their shapes.
void check_matrices(const Fields& top, const Plan& plan) {
  bool on_host = plan.signature == Signature::kSquareHost;
  if (plan.signature != Signature::kRectDevice && (plan.j != plan.k || plan.k != plan.l)) {
    top.fail("signature",
             std::string(to_string(plan.signature)) + " takes square matrices, j, k and l differ.");
  }
  for (const char* name : {"M", "N", "P"}) {
    uint32_t rows = 0, columns = 0;
    plan.shape(name, &rows, &columns);
    uint64_t expected = uint64_t{4} * rows * columns;
    int count = 0;
    auto check = [&](const std::string& found, uint64_t bytes) {
      if (found != name) return;
      ++count;
      if (bytes != expected) {
        top.fail(on_host ? "host" : "buffers", std::string(name) + " has " + std::to_string(bytes) +
                                                   " bytes, its shape needs " +
                                                   std::to_string(expected) + ".");
      }
    };
    if (on_host) {
      for (const HostArray& array : plan.host) check(array.name, array.bytes);
    } else {
      Role role = std::string(name) == "P" ? Role::kOutput : Role::kInput;
      for (const Buffer& buffer : plan.buffers) {
        if (buffer.role == role) check(buffer.name, buffer.bytes);
      }
    }
    if (count != 1)
      top.fail(on_host ? "host" : "buffers", "expected one entry for " + std::string(name) + ".");
  }
}

void read_head(Fields& top, Plan& plan) {
  static const std::map<std::string, Signature> kSignatures = {
      {"square-host", Signature::kSquareHost},
      {"square-device", Signature::kSquareDevice},
      {"rect-device", Signature::kRectDevice}};
  std::string schema = top.string("schema");
  if (schema != "tilewise.plan/1")
    top.fail("schema", "expected \"tilewise.plan/1\", found \"" + schema + "\".");
  plan.case_id = top.string("case");
  plan.signature = choice(top, "signature", kSignatures);
  auto side = [&](const char* name) {
    uint32_t value = top.u32(name);
    if (value < 1 || value > kLargestSide)
      top.fail(name, "expected 1 to " + std::to_string(kLargestSide) + ".");
    return value;
  };
  plan.j = side("j");
  plan.k = side("k");
  plan.l = side("l");
  plan.device = top.string_or("device", "");
  plan.runtime = top.string_or("runtime", "");
  const Json& modules = top.array("modules");
  for (size_t i = 0; i < modules.size(); ++i) {
    if (!modules[i].is_string()) throw FieldError(element_path("modules", i), "expected a string.");
    plan.modules.push_back(modules[i].get<std::string>());
  }
}

void read_tail(Fields& top, Plan& plan) {
  if (top.has("host_writes")) {
    Fields fields(top.object("host_writes"), "host_writes");
    plan.host_writes.count = fields.u64("count");
    plan.host_writes.first = fields.i64_or("first", -1);
    fields.finish();
  }
  if (top.has("leaked_buffers")) {
    for (const Json& id : top.array("leaked_buffers")) {
      if (!id.is_number_unsigned() || id.get<uint64_t>() >= plan.buffers.size()) {
        top.fail("leaked_buffers", "expected ids of buffers.");
      }
      plan.leaked_buffers.push_back(id.get<uint32_t>());
    }
  }
  if (top.has("unchecked_errors")) {
    for (const Json& api : top.array("unchecked_errors")) {
      if (!api.is_string()) top.fail("unchecked_errors", "expected names of API calls.");
      plan.unchecked_errors.push_back(api.get<std::string>());
    }
  }
}

Plan read(const Json& json) {
  Plan plan;
  Fields top(json, "");
  read_head(top, plan);
  read_buffers(top, plan);
  read_host(top, plan);
  check_matrices(top, plan);
  const Json& ops = top.array("ops");
  OpReader reader(plan);
  for (size_t i = 0; i < ops.size(); ++i)
    plan.ops.push_back(reader.read(ops[i], element_path("ops", i)));
  read_tail(top, plan);
  top.finish();
  return plan;
}

}  // namespace

Plan parse(const std::string& text, const std::string& name) {
  try {
    return read(Json::parse(text));
  } catch (const Json::parse_error& error) {
    throw HarnessError("plan " + name + " is not JSON: byte " + std::to_string(error.byte) + ".");
  } catch (const FieldError& error) {
    throw HarnessError("plan " + name + ": " + error.what());
  }
}

Plan load(const std::string& path) {
  std::string text;
  try {
    text = read_file(path);
  } catch (const std::runtime_error& error) {
    throw HarnessError(error.what());
  }
  Plan plan = parse(text, path);
  for (std::string& module : plan.modules) module = beside(path, module);
  return plan;
}

}  // namespace tilewise::plan
