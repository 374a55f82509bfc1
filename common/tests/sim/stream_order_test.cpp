// What streams, events and the host's waits order, and what meets without an order.

#include "warpsim/order/stream_order.h"

#include "tests/catch.h"
#include "warpsim/order/stream_work.h"

namespace warpsim::test {
namespace {

// Whether what `first` writes is written again in no order by `second`.
struct Writes {
  StreamWorkLog log;
  StreamWorkLog& operator()(uint32_t stream, size_t expected, uint64_t first = 0, uint64_t end = 64,
                            bool writes = true) {
    const StreamWork work{"work", true, 1, {{first, end, writes, "a.cu", 7}}};
    CHECK(log.add(stream, work).size() == expected);
    return log;
  }
};

TEST_CASE("One stream is an order, two are none") {
  Writes write;
  write(1, 0);
  write(1, 0);
  write(2, 2);
}

TEST_CASE("What only reads, and what lies apart, does not meet") {
  Writes write;
  write(1, 0, 0, 64, false);
  write(2, 0, 0, 64, false);
  write(3, 0, 64, 128);
  write(4, 1, 127, 129, false);
}

TEST_CASE("Blocking streams and the default stream wait for each other, others do not") {
  Writes write;
  write.log.order().make_stream(2, false);
  write(1, 0);
  write(0, 0);
  write(1, 0);
  write(3, 1);  // the default stream's orders 1's first work
  write(2, 4);
}

TEST_CASE("The host knows what it has waited for, and work that is new it does not know") {
  Writes write;
  StreamOrder& order = write.log.order();
  CHECK(order.host_has_waited_for_stream(1));
  CHECK(order.host_has_waited_for_event(9));
  write(1, 0);
  order.record_event(9, 1);
  write(2, 0, 64, 128);
  CHECK_FALSE(order.host_has_waited_for_stream(1));
  CHECK_FALSE(order.host_has_waited_for_event(9));
  order.host_waits_for_event(9);
  CHECK(order.host_has_waited_for_stream(1));
  CHECK_FALSE(order.host_has_waited_for_stream(2));
  order.host_waits_for_device();
  CHECK(order.host_has_waited_for_stream(2));
  write(1, 0);
  CHECK_FALSE(order.host_has_waited_for_stream(1));
  CHECK(order.host_has_waited_for_event(9));
}

TEST_CASE("An event orders what comes before its record and after the wait for it") {
  Writes write;
  StreamOrder& order = write(1, 0).order();
  order.wait_for_event(2, 9);  // not recorded: no order
  order.record_event(9, 1);
  write(1, 0, 64, 128);
  order.wait_for_event(2, 9);
  write(2, 0);
  write(2, 1, 64, 128);  // after the record
  order.record_event(8, 2);
  order.wait_for_event(3, 8);
  write(3, 0);  // orders pass on
}

TEST_CASE("The host orders what it has waited for") {
  Writes write;
  StreamOrder& order = write(1, 0).order();
  order.record_event(9, 1);
  write(1, 0, 64, 128);
  order.host_waits_for_event(9);
  write(2, 0);
  write(2, 1, 64, 128);
  order.host_waits_for_stream(1);
  write(3, 1, 64, 128);  // 2's
  order.host_waits_for_device();
  write(4, 0, 0, 128);
}

TEST_CASE("A finding names both, the later one first") {
  StreamWorkLog log;
  log.add(1, {"first", true, 10, {{0, 64, true, "a.cu", 7}}});
  const auto met = log.add(2, {"copy to the host", false, 20, {{32, 96, false, "", 0}}});
  REQUIRE(met.size() == 1);
  CHECK(met[0].address == 32);
  const Diagnostic d = unordered_finding(met[0]);
  CHECK(d.code == Code::kUnorderedStreams);
  CHECK(d.operation == "copy to the host");
  CHECK(d.stream == 2);
  CHECK_FALSE(d.writes());
  REQUIRE(d.other);
  CHECK(d.other->operation == "first");
  CHECK(d.other->line == 7);
  CHECK(d.other->writes());
}

}  // namespace
}  // namespace warpsim::test
