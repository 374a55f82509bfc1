#include "plan/npy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "plan/error.h"
#include "plan/files.h"
#include "tests/catch.h"
#include "tests/harness/sample_plans.h"

using namespace tilewise;
using tilewise::testing::contains;
using tilewise::testing::TemporaryFolder;

namespace {

std::string message_of(const std::string& path) {
  try {
    read_npy(path);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

// A version 1 file with this header dictionary.
std::string npy(std::string header, const std::string& data) {
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 255);
  file += static_cast<char>(header.size() >> 8);
  return file + header + data;
}

}  // namespace

TEST_CASE("A matrix written is read back bit for bit, NaNs and all") {
  TemporaryFolder folder;
  Matrix matrix{2, 3, {1.5f, -0.0f, INFINITY, 1e-40f, 0, 0}};
  uint32_t nan = 0x7fc0dead;
  std::memcpy(&matrix.values[4], &nan, 4);
  write_npy(folder.file("a.npy"), matrix);
  Matrix read = read_npy(folder.file("a.npy"));
  REQUIRE(read.rows == 2);
  REQUIRE(read.columns == 3);
  CHECK(std::memcmp(read.values.data(), matrix.values.data(), 24) == 0);
  CHECK(read_file(folder.file("a.npy")).find("'shape': (2, 3)") != std::string::npos);
  CHECK(std::filesystem::file_size(folder.file("a.npy")) == 128 + 24);
}

TEST_CASE("A version 2 header, as NumPy writes for long dictionaries, is read") {
  TemporaryFolder folder;
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }\n";
  std::string file("\x93NUMPY\x02\x00", 8);
  file += std::string{static_cast<char>(header.size()), 0, 0, 0} + header +
          std::string("\0\0\x80\x3f", 4);
  CHECK(read_npy(folder.put("v2.npy", file)).values.at(0) == 1.0f);
}

TEST_CASE("An .npy file that cannot be used is named with its fault") {
  TemporaryFolder folder;
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
  struct Fault {
    const char* name;
    std::string content;
    const char* expected;
  };
  const Fault faults[] = {
      {"empty", "", "not an .npy file"},
      {"text", "1 2 3 4 5 6 7 8 9 10", "not an .npy file"},
      {"version", std::string("\x93NUMPY\x07\x00\x00\x00", 10), "unknown .npy version 7"},
      {"cut-header", npy(good, "").substr(0, 30), "ends within its header"},
      {"short", npy(good, "1234567"), "needs 8 bytes of data, the file has 7"},
      {"long", npy(good, "123456789"), "needs 8 bytes of data, the file has 9"},
      {"double", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }", "12345678"),
       "neither little-endian float32 nor int32"},
      {"big-endian", npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1, 2), }", "12345678"),
       "neither little-endian float32 nor int32"},
      {"fortran", npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }", "12345678"),
       "Fortran order"},
      {"one-dimension",
       npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "12345678"),
       "1 dimensions, not 2"},
      {"no-shape", npy("{'descr': '<f4', 'fortran_order': False, }", ""), "no readable shape"},
      {"bad-shape", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 2), }", ""),
       "no readable shape"},
      {"huge",
       npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967295, 4294967295), }", ""),
       "too large"},
  };
  for (const Fault& fault : faults) {
    CAPTURE(fault.name);
    std::string message = message_of(folder.put(fault.name, fault.content));
    CHECK(contains(message, fault.expected));
    CHECK(contains(message, fault.name));  // names the file
  }
  CHECK(contains(message_of(folder.file("missing.npy")), "No such file"));
  CHECK(contains(message_of(folder.file("")), "directory"));
}

TEST_CASE("A file that cannot be written leaves nothing behind") {
  TemporaryFolder folder;
  REQUIRE_THROWS_AS(write_npy(folder.file("no/such/a.npy"), Matrix{1, 1, {1}}), HarnessError);
  CHECK(std::filesystem::is_empty(folder.file("")));
}

TEST_CASE("A pipe that a file is written to stays a pipe") {
  TemporaryFolder folder;
  std::string path = folder.file("pipe");
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  REQUIRE(reader >= 0);
  write_file(path, "result");
  char text[16] = {};
  CHECK(::read(reader, text, sizeof text) == 6);
  CHECK(std::string(text) == "result");
  CHECK(std::filesystem::is_fifo(path));
  ::close(reader);
}
