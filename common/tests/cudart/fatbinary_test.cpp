#include "cudart/fatbinary.h"

#include <cstring>
#include <string>
#include <vector>

#include "cudart/decompress.h"
#include "tests/catch.h"

using namespace warpsim::cudart;

namespace {

constexpr uint64_t kLz4 = 0x2000, kZstd = 0x8000;

// A container built field by field from the layout in fatbinary.h.
class Container {
 public:
  Container() {
    put<uint32_t>(0xBA55ED50);
    put<uint16_t>(1);
    put<uint16_t>(16);
    put<uint64_t>(0);
  }
  Container& entry(uint16_t kind, uint32_t cc, const std::string& payload, uint64_t flags = 0x11,
                   uint64_t uncompressed = 0) {
    size_t padded = (payload.size() + 7) / 8 * 8;
    put<uint16_t>(kind);
    put<uint16_t>(0x101);
    put<uint32_t>(0x48);  // header: 0x40 and the name
    put<uint64_t>(padded);
    put<uint32_t>(flags & (kLz4 | kZstd) ? static_cast<uint32_t>(payload.size()) : 0);
    put<uint32_t>(0);
    put<uint16_t>(0);
    put<uint16_t>(9);
    put<uint32_t>(cc);
    put<uint32_t>(0x40);
    put<uint32_t>(4);
    put<uint64_t>(flags);
    put<uint64_t>(0);
    put<uint64_t>(uncompressed);
    append("a.cu\0\0\0\0", 8);
    append(payload.data(), payload.size());
    bytes_.resize(bytes_.size() + padded - payload.size());
    uint64_t body = bytes_.size() - 16;
    std::memcpy(bytes_.data() + 8, &body, 8);
    return *this;
  }
  std::vector<std::byte> bytes() const { return bytes_; }

 private:
  template <typename T>
  void put(T value) {
    append(&value, sizeof value);
  }
  void append(const void* data, size_t count) {
    bytes_.resize(bytes_.size() + count);
    std::memcpy(bytes_.data() + bytes_.size() - count, data, count);
  }
  std::vector<std::byte> bytes_;
};

std::string failure_of(const std::vector<std::byte>& bytes, uint32_t cc = 90) {
  try {
    select_ptx(bytes, cc);
  } catch (const FatBinaryError& error) {
    return error.what();
  }
  return "";
}

std::span<const std::byte> as_bytes(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

// "abcd" and then a match of 12 bytes at distance 4, and the literals "xyz12" that LZ4 wants at the
// end.
const std::string kLz4Block = std::string(
    "\x48"
    "abcd"
    "\x04\x00"
    "\x50"
    "xyz12",
    13);
const std::string kLz4Text = "abcdabcdabcdabcdxyz12";

}  // namespace

TEST_CASE("fatbinary: uncompressed PTX comes out without its padding") {
  Ptx ptx = select_ptx(Container().entry(1, 90, ".version 9.0\n").bytes(), 90);
  CHECK(ptx.text == ".version 9.0\n");
  CHECK(ptx.name == "a.cu");
}

TEST_CASE("fatbinary: the highest PTX that the device can run is chosen, machine code is not") {
  auto bytes = Container()
                   .entry(2, 90, "code")
                   .entry(1, 75, "old")
                   .entry(1, 86, "newer")
                   .entry(1, 100, "new")
                   .bytes();
  CHECK(select_ptx(bytes, 90).text == "newer");
  CHECK(select_ptx(bytes, 80).text == "old");
  CHECK(select_ptx(bytes, 120).text == "new");
}

TEST_CASE("fatbinary: a device older than any target takes the lowest PTX") {
  auto bytes = Container().entry(1, 90, "newer").entry(1, 75, "lowest").bytes();
  CHECK(select_ptx(bytes, 13).text == "lowest");
  CHECK(select_ptx(bytes, 70).text == "lowest");
  auto too_new = Container().entry(1, 90, "newer").bytes();
  CHECK(failure_of(too_new, 13) ==
        "The program's PTX is for compute capability 90 and later, the device has 13: compile with "
        "-gencode arch=compute_75,code=compute_75.");
}

TEST_CASE("fatbinary: what is missing is said with the options that help") {
  CHECK(failure_of(Container().entry(2, 90, "code").bytes()) ==
        "The program has machine code but no PTX: compile with -gencode "
        "arch=compute_90,code=compute_90.");
  CHECK(failure_of(Container().entry(1, 100, "new").bytes())
            .find("compute capability 100 and later, the device has 90") != std::string::npos);
  CHECK(failure_of(Container().bytes()).find("no device code") != std::string::npos);
}

TEST_CASE("fatbinary: an LZ4 payload is decompressed") {
  auto bytes = Container().entry(1, 90, kLz4Block, 0x11 | kLz4, kLz4Text.size()).bytes();
  CHECK(select_ptx(bytes, 90).text == kLz4Text);
}

TEST_CASE("fatbinary: payloads in an unknown compression or damaged are refused") {
  auto wrong_size = Container().entry(1, 90, kLz4Block, 0x11 | kLz4, kLz4Text.size() + 1).bytes();
  CHECK(failure_of(wrong_size).find("--no-compress") != std::string::npos);
  auto no_frame = Container().entry(1, 90, "not a frame", 0x11 | kZstd, 100).bytes();
  CHECK(failure_of(no_frame).find("--no-compress") != std::string::npos);
  auto huge = Container().entry(1, 90, kLz4Block, 0x11 | kLz4, uint64_t{1} << 50).bytes();
  CHECK(failure_of(huge).find("--no-compress") != std::string::npos);
}

TEST_CASE("fatbinary: every cut and every flipped byte is either read or refused") {
  auto bytes = Container()
                   .entry(1, 75, "first")
                   .entry(1, 90, kLz4Block, 0x11 | kLz4, kLz4Text.size())
                   .bytes();
  for (size_t length = 0; length < bytes.size(); ++length) {
    std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(length));
    CAPTURE(length);
    CHECK(!failure_of(cut).empty());
  }
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (int value : {0x00, 0x7F, 0xFF}) {
      auto changed = bytes;
      changed[at] = static_cast<std::byte>(value);
      failure_of(changed);  // the sanitizers and the process's life are the check
    }
  }
}

TEST_CASE("lz4: overlapping matches, long lengths and bad distances") {
  std::string text;
  CHECK(decompress_lz4(as_bytes(kLz4Block), kLz4Text.size(), &text));
  CHECK(text == kLz4Text);
  // One literal, a match of 4 + 15 + 255 + 1 at distance 1, no final literals.
  std::string run(
      "\x1F"
      "a"
      "\x01\x00\xFF\x01"
      "\x00",
      7);
  CHECK(decompress_lz4(as_bytes(run), 1 + 4 + 15 + 255 + 1, &text));
  CHECK(text == std::string(276, 'a'));
  CHECK_FALSE(decompress_lz4(as_bytes(std::string("\x10"
                                                  "a"
                                                  "\x02\x00",
                                                  4)),
                             5, &text));  // before the start
  CHECK_FALSE(decompress_lz4(as_bytes(std::string("\x10"
                                                  "a"
                                                  "\x00\x00",
                                                  4)),
                             5, &text));  // distance 0
  CHECK_FALSE(decompress_lz4(as_bytes(std::string("\xF0"
                                                  "\xFF",
                                                  2)),
                             500, &text));                      // length cut off
  CHECK_FALSE(decompress_lz4(as_bytes(kLz4Block), 10, &text));  // more than asked for
}

TEST_CASE("zstd: a frame of one raw block") {
  // Magic, single segment with a 1-byte content size, a last raw block of 5 bytes.
  std::string frame(
      "\x28\xB5\x2F\xFD\x20\x05\x29\x00\x00"
      "hello",
      14);
  std::string text;
  ZstdResult result = decompress_zstd(as_bytes(frame), 5, &text);
  if (result == ZstdResult::kNoLibrary) {
    WARN("skipped: this machine has no libzstd.so.1");
    return;
  }
  CHECK(result == ZstdResult::kOk);
  CHECK(text == "hello");
  CHECK(decompress_zstd(as_bytes(frame), 6, &text) == ZstdResult::kMalformed);
}

TEST_CASE("fatbinary: a wrapper without the magic numbers is refused") {
  struct {
    uint32_t magic, version;
    const void* container;
    const void* other;
  } wrapper = {0x466243B1, 1, nullptr, nullptr};
  auto bytes = Container().entry(1, 90, "ptx").bytes();
  wrapper.container = bytes.data();
  CHECK(container_of_wrapper(&wrapper).size() == bytes.size());
  wrapper.magic = 1;
  CHECK_THROWS_AS(container_of_wrapper(&wrapper), FatBinaryError);
  wrapper.magic = 0x466243B1;
  bytes[0] = std::byte{0};
  CHECK_THROWS_AS(container_of_wrapper(&wrapper), FatBinaryError);
  CHECK_THROWS_AS(container_of_wrapper(nullptr), FatBinaryError);
}
