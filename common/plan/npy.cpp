#include "plan/npy.h"

#include <cctype>
#include <charconv>
#include <cstring>

#include "plan/error.h"
#include "plan/files.h"

namespace tilewise {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

[[noreturn]] void fail(const std::string& path, const std::string& problem) {
  throw InputError(path + ": " + problem +
                   " Save it with numpy.save as a 2-D float32 or int32 array in C order.");
}

// The text after 'key': in the header's Python dictionary, leading blanks removed; empty if there
// is none.
std::string_view value_of(std::string_view header, std::string_view key) {
  for (char quote : {'\'', '"'}) {
    std::string quoted = quote + std::string(key) + quote;
    size_t at = header.find(quoted);
    if (at == std::string_view::npos) continue;
    std::string_view rest = header.substr(at + quoted.size());
    while (!rest.empty() && (rest[0] == ' ' || rest[0] == ':')) rest.remove_prefix(1);
    return rest;
  }
  return {};
}

// "(3, 4)" -> {3, 4}; false for anything that is no tuple of whole numbers.
bool parse_shape(std::string_view text, std::vector<uint64_t>* shape) {
  size_t end = text.find(')');
  if (text.empty() || text[0] != '(' || end == std::string_view::npos) return false;
  text = text.substr(1, end - 1);
  while (!text.empty()) {
    while (!text.empty() && (text[0] == ' ' || text[0] == ',')) text.remove_prefix(1);
    if (text.empty()) break;
    uint64_t value = 0;
    auto [next, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<size_t>(next - text.data()));
    shape->push_back(value);
  }
  return true;
}

// Splits a file into header and data. The header's length field has 2 bytes in version 1, 4 in 2
// and 3.
void split(const std::string& path, std::string_view file, std::string_view* header,
           std::string_view* data) {
  if (file.size() < 10 || file.substr(0, kMagic.size()) != kMagic) fail(path, "not an .npy file.");
  int version = static_cast<unsigned char>(file[6]);
  if (version < 1 || version > 3)
    fail(path, "unknown .npy version " + std::to_string(version) + ".");
  size_t length_bytes = version == 1 ? 2 : 4;
  size_t length = 0;
  for (size_t i = 0; i < length_bytes && 8 + i < file.size(); ++i) {
    length |= static_cast<size_t>(static_cast<unsigned char>(file[8 + i])) << (8 * i);
  }
  size_t start = 8 + length_bytes;
  if (start > file.size() || length > file.size() - start)
    fail(path, "the file ends within its header.");
  *header = file.substr(start, length);
  *data = file.substr(start + length);
}

}  // namespace

Matrix read_npy(const std::string& path) {
  std::string file;
  try {
    file = read_file(path);
  } catch (const std::runtime_error& error) {
    throw InputError(error.what());
  }
  std::string_view header, data;
  split(path, file, &header, &data);
  std::string_view type = value_of(header, "descr").substr(0, 5);
  const bool is_int = type == "'<i4'" || type == "\"<i4\"";
  if (!is_int && type != "'<f4'" && type != "\"<f4\"")
    fail(path, "the elements are neither little-endian float32 nor int32.");
  if (value_of(header, "fortran_order").substr(0, 5) != "False")
    fail(path, "the array is in Fortran order.");
  std::vector<uint64_t> shape;
  if (!parse_shape(value_of(header, "shape"), &shape))
    fail(path, "the header has no readable shape.");
  if (shape.size() != 2)
    fail(path, "the array has " + std::to_string(shape.size()) + " dimensions, not 2.");
  if (shape[0] > UINT32_MAX || shape[1] > UINT32_MAX ||
      (shape[1] && shape[0] > (uint64_t{1} << 40) / shape[1])) {
    fail(path, "the array is too large.");
  }
  Matrix matrix{static_cast<uint32_t>(shape[0]),
                static_cast<uint32_t>(shape[1]),
                {},
                is_int ? plan::Element::kInt : plan::Element::kFloat};
  if (data.size() != matrix.bytes()) {
    fail(path, "the shape needs " + std::to_string(matrix.bytes()) +
                   " bytes of data, the file has " + std::to_string(data.size()) + ".");
  }
  matrix.values.resize(shape[0] * shape[1]);
  if (!data.empty()) std::memcpy(matrix.values.data(), data.data(), data.size());
  return matrix;
}

void write_npy(const std::string& path, const Matrix& matrix) {
  const std::string type = matrix.element == plan::Element::kInt ? "<i4" : "<f4";
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" +
                       std::to_string(matrix.rows) + ", " + std::to_string(matrix.columns) + "), }";
  // The data starts at a multiple of 64 bytes, the header ends with a newline.
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string file(kMagic);
  file += {'\x01', '\x00', static_cast<char>(header.size() & 255),
           static_cast<char>(header.size() >> 8)};
  file += header;
  file.append(reinterpret_cast<const char*>(matrix.values.data()), matrix.values.size() * 4);
  write_file(path, file);
}

}  // namespace tilewise
