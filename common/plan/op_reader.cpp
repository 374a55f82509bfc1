#include "plan/op_reader.h"

#include <map>

#include "plan/tensor_map.h"

namespace tilewise::plan {

namespace {

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
        {"malloc", &OpReader::life<Malloc>},
        {"free", &OpReader::life<Free>},
        {"copy_h2d", &OpReader::copy_to_device},
        {"copy_d2h", &OpReader::copy_to_host},
        {"copy_d2d", &OpReader::copy_on_device},
        {"memset", &OpReader::memset},
        {"symbol_write", &OpReader::symbol_write},
        {"set_attribute", &OpReader::set_attribute},
        {"set_heap", &OpReader::set_bytes<SetHeap>},
        {"set_stack", &OpReader::set_bytes<SetStack>},
        {"launch", &OpReader::launch},
        {"sync", &OpReader::sync},
        {"make_stream", &OpReader::make_stream},
        {"record_event", &OpReader::record_event},
        {"wait_for_event", &OpReader::wait_for_event},
        {"early_use", &OpReader::early_use},
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
      } else if (entry.has("tensor_map")) {
        segment.map = tensor_map(entry);
        segment.bytes = warpsim::TensorMap::kBytes;
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

  BufferMap tensor_map(Fields& fields) {
    Fields entry(fields.object("tensor_map"), fields.path_of("tensor_map"));
    BufferMap map = read_map(entry, plan_.buffers.size());
    entry.finish();
    return map;
  }

  std::vector<ParameterMap> parameter_maps(Fields& fields, uint64_t bytes) {
    std::vector<ParameterMap> maps;
    if (!fields.has("maps")) return maps;
    const Json& json = fields.array("maps");
    uint64_t end = 0;  // of the one before
    for (size_t i = 0; i < json.size(); ++i) {
      Fields entry(json[i], element_path(fields.path_of("maps"), i));
      ParameterMap found{entry.u32("offset"), tensor_map(entry)};
      entry.finish();
      within(entry, "offset", found.offset, warpsim::TensorMap::kBytes, bytes, "a parameter block");
      if (found.offset % kMapAlignment != 0 || found.offset < end)
        entry.fail("offset", "expected a multiple of " + std::to_string(kMapAlignment) +
                                 " behind the map before.");
      end = found.offset + warpsim::TensorMap::kBytes;
      maps.push_back(found);
    }
    return maps;
  }

  // Beginning and end of a buffer's life.
  template <class End>
  Op life(Fields& fields) {
    End op;
    op.buffer = student_buffer(fields);
    op.in_stream = fields.has("stream");
    op.stream = fields.u32_or("stream", 0);
    op.call = fields.u64_or("call", 0);
    return op;
  }

  Op copy_to_device(Fields& fields) {
    CopyToDevice op;
    op.buffer = buffer(fields, "buffer");
    op.offset = fields.u64("offset");
    op.bytes = fields.u64("bytes");
    op.stream = fields.u32_or("stream", 0);
    op.call = fields.u64_or("call", 0);
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
    op.call = fields.u64_or("call", 0);
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
    op.call = fields.u64_or("call", 0);
    op.rows = rows(fields);
    if (op.rows > 1) {
      op.pitch = pitch(fields, "pitch", op.rows, op.buffer, op.offset, op.bytes);
      op.source_pitch =
          pitch(fields, "source_pitch", op.rows, op.source, op.source_offset, op.bytes);
    }
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
    op.call = fields.u64_or("call", 0);
    op.rows = rows(fields);
    if (op.rows > 1) op.pitch = pitch(fields, "pitch", op.rows, op.buffer, op.offset, op.bytes);
    within_buffer(fields, "offset", op.buffer, op.offset, op.bytes);
    return op;
  }

  uint64_t rows(Fields& fields) {
    const uint64_t rows = fields.u64_or("rows", 1);
    if (rows == 0 || rows > kMostRows - rows_) {
      fields.fail("rows", "expected 1 to " + std::to_string(kMostRows) +
                              ", of all operations together, found " + std::to_string(rows) + ".");
    }
    if (rows > 1) rows_ += rows;
    return rows;
  }

  // Of pieces that all lie within the buffer. Each begins behind the one before, so that there are
  // no more of them than bytes.
  uint64_t pitch(Fields& fields, const char* name, uint64_t rows, uint32_t buffer, uint64_t offset,
                 uint64_t bytes) {
    const uint64_t pitch = fields.u64(name), size = plan_.buffers[buffer].bytes;
    if (pitch == 0 || pitch > size)
      fields.fail(name, "expected 1 to " + std::to_string(size) + ", the bytes of the buffer.");
    within_buffer(fields, name, buffer, offset, 0);
    const uint64_t rest = size - offset;
    if (rows - 1 > rest / pitch || bytes > rest - to_last(rows, pitch)) {
      fields.fail(name, std::to_string(rows) + " pieces do not fit into buffer " +
                            std::to_string(buffer) + " of " + std::to_string(size) + " bytes.");
    }
    return pitch;
  }

  Op symbol_write(Fields& fields) {
    SymbolWrite op;
    op.module = module(fields);
    op.symbol = fields.string("symbol");
    op.offset = fields.u64("offset");
    uint64_t total = 0;
    op.segments = segments(fields, &total);
    op.stream = fields.u32_or("stream", 0);
    op.call = fields.u64_or("call", 0);
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

  template <class Set>
  Op set_bytes(Fields& fields) {
    Set op;
    op.bytes = fields.u64("bytes");
    return op;
  }

  static bool flag(Fields& fields, const char* name) {
    const uint32_t value = fields.u32_or(name, 0);
    if (value > 1) fields.fail(name, "expected 0 or 1.");
    return value == 1;
  }

  Op launch(Fields& fields) {
    Launch op;
    op.module = module(fields);
    op.kernel = fields.string("kernel");
    op.grid = triple(fields, "grid");
    op.block = triple(fields, "block");
    op.shared_bytes = fields.u32("shared_bytes");
    op.stream = fields.u32_or("stream", 0);
    op.is_cooperative = flag(fields, "cooperative");
    op.is_early = flag(fields, "early");
    op.call = fields.u64_or("call", 0);
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
    op.maps = parameter_maps(fields, op.params.size());
    return op;
  }

  Op sync(Fields& fields) {
    if (fields.has("event")) return Sync{WaitsFor::kEvent, fields.u32("event")};
    if (fields.has("stream")) return Sync{WaitsFor::kStream, fields.u32("stream")};
    return Sync{};
  }

  Op make_stream(Fields& fields) {
    const uint32_t stream = fields.u32("stream"), blocking = fields.u32("blocking");
    if (blocking > 1) fields.fail("blocking", "expected 0 or 1.");
    return MakeStream{stream, blocking == 1};
  }

  Op record_event(Fields& fields) {
    const uint32_t event = fields.u32("event");
    return RecordEvent{event, fields.u32("stream")};
  }

  Op wait_for_event(Fields& fields) {
    const uint32_t stream = fields.u32("stream");
    return WaitForEvent{stream, fields.u32("event")};
  }

  Op early_use(Fields& fields) {
    using Kind = EarlyUse::Kind;
    static const std::map<std::string, Kind> kKinds = {
        {"read", Kind::kRead}, {"write", Kind::kWrite}, {"return", Kind::kReturn}};
    EarlyUse op;
    const auto kind = kKinds.find(fields.string("kind"));
    if (kind == kKinds.end()) fields.fail("kind", "expected read, write or return.");
    op.kind = kind->second;
    op.buffer = buffer(fields, "buffer");
    op.offset = fields.u64("offset");
    op.bytes = fields.u64("bytes");
    within_buffer(fields, "offset", op.buffer, op.offset, op.bytes);
    op.stream = fields.u32("stream");
    op.copy_call = fields.u64("copy_call");
    op.call = fields.u64("call");
    return op;
  }

  Op error(Fields& fields) {
    ApiError op;
    op.api = fields.string("api");
    op.code = fields.i64("code");
    op.code_name = fields.string_or("code_name", "");
    op.message = fields.string_or("message", "");
    op.call = fields.u64_or("call", 0);
    if (fields.has("asked")) op.asked = asked(fields);
    return op;
  }

  Asked asked(Fields& outer) {
    Fields fields(outer.object("asked"), outer.path_of("asked"));
    Asked asked;
    asked.to = asked_side(fields, "to");
    asked.from = asked_side(fields, "from");
    asked.bytes = fields.u64("bytes");
    asked.direction = fields.i64("direction");
    fields.finish();
    return asked;
  }

  AskedSide asked_side(Fields& outer, const char* name) {
    using Kind = AskedSide::Kind;
    static const std::map<std::string, Kind> kKinds = {{"none", Kind::kNone},
                                                       {"host", Kind::kHost},
                                                       {"device", Kind::kDevice},
                                                       {"freed", Kind::kFreed}};
    Fields fields(outer.object(name), outer.path_of(name));
    AskedSide side;
    const auto kind = kKinds.find(fields.string("kind"));
    if (kind == kKinds.end()) fields.fail("kind", "expected none, host, device or freed.");
    side.kind = kind->second;
    side.array = fields.string_or("array", "");
    if (side.kind == Kind::kDevice || side.kind == Kind::kFreed) {
      side.buffer = buffer(fields, "buffer");
      side.room = fields.u64("room");
    }
    fields.finish();
    return side;
  }

  Op unsupported(Fields& fields) {
    return Unsupported{fields.string("api"), fields.string_or("reason", "")};
  }

  const Plan& plan_;
  std::map<std::string, uint64_t> host_bytes_;
  uint64_t rows_ = 0;  // of operations that have several
};

}  // namespace

std::vector<Op> read_ops(const Plan& plan, const Json& array, const std::string& path) {
  OpReader reader(plan);
  std::vector<Op> ops;
  ops.reserve(array.size());
  for (size_t i = 0; i < array.size(); ++i)
    ops.push_back(reader.read(array[i], element_path(path, i)));
  return ops;
}

}  // namespace tilewise::plan
