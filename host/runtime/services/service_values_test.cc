// The service berth.values/1: values that plugins parse.

#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/runtime/services/test_services.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ValuesServiceTest : public ServicesTest {
 protected:
  const berth_values& service() { return Service<berth_values>(BERTH_SERVICE_VALUES); }
  berth_status* status() { return &status_; }

  std::vector<std::string> reasons_;

 private:
  berth_status status_{
      sizeof(berth_status), 0, &reasons_,
      [](berth_status* self, berth_str text) noexcept {
        static_cast<std::vector<std::string>*>(self->impl)->emplace_back(Text(text));
      },
      nullptr};
};

TEST_F(ValuesServiceTest, ParsesUntilReleased) {
  const berth_value* value = service().parse(abi(), AsStr(R"({"a": [1, "x"]})"), status());
  ASSERT_NE(value, nullptr);
  EXPECT_THAT(reasons_, IsEmpty());
  const berth_value* list = service().get(value, AsStr("a"));
  EXPECT_EQ(service().size(list), 2U);
  EXPECT_EQ(Text(service().as_string(service().at(list, 1, nullptr))), "x");
  EXPECT_EQ(ParsedValueCount(*host_), 1U);
  service().release(abi(), value);
  EXPECT_EQ(ParsedValueCount(*host_), 0U);
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(ValuesServiceTest, ExplainsWhatIsNotJson) {
  EXPECT_EQ(service().parse(abi(), AsStr("{"), status()), nullptr);
  ASSERT_EQ(reasons_.size(), 1U);
  EXPECT_THAT(reasons_[0], HasSubstr("malformed JSON"));
  EXPECT_EQ(service().parse(abi(), AsStr("{"), nullptr), nullptr);
  EXPECT_EQ(service().parse(abi(), {nullptr, 0}, status()), nullptr);
  EXPECT_EQ(ParsedValueCount(*host_), 0U);
}

TEST_F(ValuesServiceTest, WrongReleaseIsAFaultAndChangesNothing) {
  const berth_value* value = service().parse(abi(), AsStr("[1]"), nullptr);
  const berth_value* part = service().at(value, 0, nullptr);
  service().release(abi(), part);
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("releases a value that berth_values.parse did not")));
  EXPECT_EQ(service().as_int(part), 1);
  service().release(abi(), value);
  service().release(abi(), value);
  EXPECT_EQ(lines_.size(), 2U) << "the log has the first fault and each power of two";
  service().release(abi(), nullptr);
  EXPECT_EQ(lines_.size(), 2U);
}

TEST_F(ValuesServiceTest, ValueBelongsToTheInstanceThatParsedIt) {
  const auto other = Host("test.Other");
  const berth_value* value = service().parse(abi(), AsStr("1"), nullptr);
  service().release(other->abi(), value);
  EXPECT_EQ(ParsedValueCount(*host_), 1U);
  EXPECT_EQ(service().as_int(value), 1);
}

// The table that a value points to has the same functions.
TEST_F(ValuesServiceTest, TheReaderOfAValueParsesToo) {
  const berth_value* value = service().parse(abi(), AsStr("1"), nullptr);
  const berth_value* other = value->reader->parse(abi(), AsStr("2"), nullptr);
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(ParsedValueCount(*host_), 2U);
  other->reader->release(abi(), value);
  value = other;
  value->reader->release(abi(), value);
  EXPECT_EQ(ParsedValueCount(*host_), 0U);
}

TEST_F(ValuesServiceTest, AnyThreadParses) {
  const berth_values& values = service();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this, &values] {
      for (int round = 0; round < 50; ++round) {
        const berth_value* value = values.parse(abi(), AsStr(R"({"key":"text"})"), nullptr);
        EXPECT_EQ(Text(values.as_string(values.get(value, AsStr("key")))), "text");
        values.release(abi(), value);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ParsedValueCount(*host_), 0U);
}

TEST_F(ValuesServiceTest, HostReleasesTheRestAndServesNothingAfterwards) {
  const berth_values& values = service();
  values.parse(abi(), AsStr("[1]"), nullptr);
  host_->Retire();
  EXPECT_EQ(values.parse(abi(), AsStr("1"), nullptr), nullptr);
}

TEST_F(ValuesServiceTest, ReadsTimes) {
  const auto time_of = [&](const char* json) -> int64_t {
    const berth_value* value = service().parse(abi(), AsStr(json), nullptr);
    int64_t ns = -1;
    const berth_code code = service().as_time(value, &ns);
    EXPECT_EQ(code == BERTH_SUCCESS, ns != -1) << json;
    service().release(abi(), value);
    return ns;
  };
  EXPECT_EQ(time_of(R"("1970-01-01T00:00:01Z")"), 1'000'000'000);
  EXPECT_EQ(time_of(R"("1970-01-01T01:00:00.5+01:00")"), 500'000'000);
  for (const char* json :
       {"\"\"", "\"1970-01-01\"", "\"1970-01-01t00:00:01z\"", "1", "null", "[]"}) {
    EXPECT_EQ(time_of(json), -1) << json;
  }
  int64_t ns = -1;
  EXPECT_EQ(service().as_time(nullptr, &ns), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(ns, -1);
}

}  // namespace
}  // namespace berth::host
