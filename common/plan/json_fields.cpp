#include "plan/json_fields.h"

#include <limits>

namespace tilewise {

namespace {

// A value as an error message shows it: short, on one line.
std::string shown(const Json& value) {
  if (value.is_array()) return "an array";
  if (value.is_object()) return "an object";
  if (value.is_string() && value.get_ref<const std::string&>().size() > 200) return "a long string";
  std::string text = json_text(value, -1, Letters::kAscii);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Throws where a text goes beyond what parse_json() takes. What is no JSON ends it: others say so.
class Limits {
 public:
  bool null() { return value(); }
  bool boolean(bool) { return value(); }
  bool number_integer(Json::number_integer_t) { return value(); }
  bool number_unsigned(Json::number_unsigned_t) { return value(); }
  bool number_float(Json::number_float_t, const Json::string_t&) { return value(); }
  bool string(Json::string_t&) { return value(); }
  bool binary(Json::binary_t&) { return value(); }
  bool start_object(size_t) { return start(); }
  bool end_object() { return end(); }
  bool start_array(size_t) { return start(); }
  bool end_array() { return end(); }
  bool key(Json::string_t& name) {
    std::set<std::string>& fields = open_.back();
    if (!fields.insert(name).second)
      throw FieldError("top level", "the field " + shown(name) + " stands there twice.");
    if (fields.size() > kMostFields) throw FieldError("top level", "an object of too many fields.");
    return value();
  }
  bool parse_error(size_t, const std::string&, const Json::exception&) { return false; }

 private:
  bool value() {
    if (open_.size() > static_cast<size_t>(kDeepest))
      throw FieldError("top level", "nested too deeply.");
    if (++values_ > kMostValues) throw FieldError("top level", "too many values.");
    return true;
  }
  bool start() {
    value();
    open_.emplace_back();
    return true;
  }
  bool end() {
    open_.pop_back();
    return value();
  }

  std::vector<std::set<std::string>> open_;  // the fields of each object that is open
  size_t values_ = 0;
};

}  // namespace

Fields::Fields(const Json& json, std::string path) : json_(json), path_(std::move(path)) {
  if (!json.is_object()) {
    throw FieldError(path_.empty() ? "top level" : path_,
                     "expected an object, found " + shown(json) + ".");
  }
}

std::string Fields::path_of(const char* name) const {
  return path_.empty() ? std::string(name) : path_ + "." + name;
}

void Fields::fail(const char* name, const std::string& problem) const {
  throw FieldError(path_of(name), problem);
}

bool Fields::has(const char* name) const {
  return json_.contains(name);
}

const Json* Fields::find(const char* name) {
  seen_.insert(name);
  auto found = json_.find(name);
  return found == json_.end() ? nullptr : &*found;
}

const Json& Fields::need(const char* name) {
  const Json* value = find(name);
  if (!value) fail(name, "missing.");
  return *value;
}

uint64_t Fields::u64(const char* name) {
  const Json& value = need(name);
  if (!value.is_number_unsigned())
    fail(name, "expected a whole number >= 0, found " + shown(value) + ".");
  return value.get<uint64_t>();
}

uint64_t Fields::u64_or(const char* name, uint64_t missing) {
  return has(name) ? u64(name) : missing;
}

int64_t Fields::i64(const char* name) {
  const Json& value = need(name);
  bool fits = value.is_number_integer() &&
              !(value.is_number_unsigned() &&
                value.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()});
  if (!fits) fail(name, "expected a whole number, found " + shown(value) + ".");
  return value.get<int64_t>();
}

int64_t Fields::i64_or(const char* name, int64_t missing) {
  return has(name) ? i64(name) : missing;
}

uint32_t Fields::u32(const char* name) {
  uint64_t value = u64(name);
  if (value > std::numeric_limits<uint32_t>::max()) {
    fail(name, "expected a whole number below 2^32, found " + std::to_string(value) + ".");
  }
  return static_cast<uint32_t>(value);
}

uint32_t Fields::u32_or(const char* name, uint32_t missing) {
  return has(name) ? u32(name) : missing;
}

uint64_t Fields::address(const char* name) {
  std::string text = string(name);
  uint64_t value = 0;
  bool good = text.size() > 2 && text.size() <= 18 && text[0] == '0' && text[1] == 'x';
  for (size_t i = 2; good && i < text.size(); ++i) {
    int digit = hex_digit(text[i]);
    good = digit >= 0;
    value = value << 4 | static_cast<uint64_t>(digit);
  }
  if (!good)
    fail(name, "expected an address such as \"0x2a6b20000000\", found " + shown(text) + ".");
  return value;
}

std::string Fields::string(const char* name) {
  const Json& value = need(name);
  if (!value.is_string()) fail(name, "expected a string, found " + shown(value) + ".");
  const std::string& text = value.get_ref<const std::string&>();
  if (text.size() > kLongestText) fail(name, "expected a shorter string.");
  for (unsigned char c : text) {
    if (c < 0x20 || c == 0x7f) fail(name, "expected a string without control characters.");
  }
  return text;
}

std::string Fields::string_or(const char* name, std::string missing) {
  return has(name) ? string(name) : missing;
}

std::vector<std::byte> Fields::hex(const char* name) {
  const Json& value = need(name);  // may be as long as what was copied
  if (!value.is_string()) fail(name, "expected a string, found " + shown(value) + ".");
  return parse_hex(value.get_ref<const std::string&>(), path_of(name));
}

const Json& Fields::array(const char* name) {
  const Json& value = need(name);
  if (!value.is_array()) fail(name, "expected an array, found " + shown(value) + ".");
  return value;
}

const Json& Fields::object(const char* name) {
  const Json& value = need(name);
  if (!value.is_object()) fail(name, "expected an object, found " + shown(value) + ".");
  return value;
}

void Fields::finish() const {
  for (const auto& [name, value] : json_.items()) {
    if (!seen_.count(name)) fail(name.c_str(), "unknown field.");
  }
}

Json parse_json(const std::string& text) {
  // Looked through before anything is built: the library's parser with a callback takes time with
  // the square of an array's length.
  Limits limits;
  Json::sax_parse(text, &limits);
  return Json::parse(text);
}

std::string element_path(const std::string& path, size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

std::vector<std::byte> parse_hex(std::string_view text, const std::string& path) {
  if (text.size() % 2 != 0)
    throw FieldError(path, "expected two hexadecimal digits a byte, found an odd number.");
  std::vector<std::byte> bytes(text.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i) {
    int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
    if (high < 0 || low < 0) {
      throw FieldError(path, "not a hexadecimal digit at position " +
                                 std::to_string(high < 0 ? 2 * i : 2 * i + 1) + ".");
    }
    bytes[i] = static_cast<std::byte>(high << 4 | low);
  }
  return bytes;
}

std::string to_hex(const std::vector<std::byte>& bytes) {
  static const char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (std::byte b : bytes) {
    text += kDigits[static_cast<unsigned>(b) >> 4];
    text += kDigits[static_cast<unsigned>(b) & 15];
  }
  return text;
}

}  // namespace tilewise
