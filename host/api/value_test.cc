#include "host/api/value.h"

#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "host/api/decode_testing.h"

namespace berth::host {
namespace {

class ValueTest : public DecodeTest {
 protected:
  // Returns the tree of `text`, which is valid until the next call.
  const berth_value* Tree(std::string_view text) {
    std::string whole = "{'apiVersion':'v1','kind':'A','metadata':{'name':'x'},'d':";
    const Result<ObjectRef> object = decoder_.DecodeObject(Json(whole.append(text).append("}")));
    EXPECT_TRUE(object.ok()) << object.status().ToString();
    object_ = object.ok() ? *object : nullptr;
    return object.ok() ? values_.get(object_->value(), AsStr("d")) : nullptr;
  }

  static uint64_t HashOf(const berth_value* value) {
    SipHash13 hash(Interner::kFixedKey);
    AddValue(value, hash);
    return hash.Finish();
  }

  const berth_values& values_ = *ValuesService();
  ObjectRef object_;
};

TEST_F(ValueTest, HasTheValuesServiceAsItsReader) {
  const berth_value* tree = Tree("{'a':[true]}");
  EXPECT_EQ(tree->reader, &values_);
  const berth_value* list = values_.get(tree, AsStr("a"));
  EXPECT_EQ(list->reader, &values_);
  EXPECT_EQ(values_.at(list, 0, nullptr)->reader, &values_);
  EXPECT_EQ(Text(values_.where(tree)), "") << "values of an object have no place";
}

TEST_F(ValueTest, AccessorsOfAnotherKindReturnAnEmptyValue) {
  for (const char* text : {"true", "7", "0.5", "'s'", "[1]", "{'a':1}"}) {
    SCOPED_TRACE(text);
    const berth_value* value = Tree(text);
    const uint32_t kind = values_.kind(value);
    EXPECT_EQ(values_.as_int(value) != 0, kind == BERTH_VALUE_INT || kind == BERTH_VALUE_BOOL);
    EXPECT_EQ(values_.as_float(value) != 0, kind == BERTH_VALUE_INT || kind == BERTH_VALUE_FLOAT);
    EXPECT_EQ(values_.as_string(value).len != 0, kind == BERTH_VALUE_STRING);
    EXPECT_EQ(values_.size(value) != 0, kind == BERTH_VALUE_ARRAY || kind == BERTH_VALUE_OBJECT);
    EXPECT_EQ(values_.at(value, 0, nullptr) != nullptr, values_.size(value) != 0);
    EXPECT_EQ(values_.at(value, 1, nullptr), nullptr);
    EXPECT_EQ(values_.get(value, AsStr("a")) != nullptr, kind == BERTH_VALUE_OBJECT);
    EXPECT_EQ(values_.get(value, AsStr("")), nullptr);
  }
}

TEST_F(ValueTest, QuantitiesAreStringsOrNumbers) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  struct Case {
    const char* text;
    int64_t units;
    int64_t milli;
  };
  constexpr Case kTable[] = {
      {"'1Gi'", int64_t{1} << 30, (int64_t{1} << 30) * 1000},
      {"'100m'", 1, 100},
      {"' 100m\\n'", 1, 100},
      {"'0.5m'", 1, 1},
      {"'-1500m'", -2, -1500},
      {"'8Ei'", kMost, kMost},
      {"'10P'", 10'000'000'000'000'000, kMost},
      {"5", 5, 5000},
      {"-9223372036854775808", -kMost, -kMost},
      {"0.1", 1, 100},
      {"1e3", 1000, 1'000'000},
      {"1e300", kMost, kMost},
  };
  for (const Case& c : kTable) {
    int64_t units = 0;
    int64_t milli = 0;
    EXPECT_EQ(values_.as_quantity(Tree(c.text), &units, &milli), BERTH_SUCCESS) << c.text;
    EXPECT_EQ(units, c.units) << c.text;
    EXPECT_EQ(milli, c.milli) << c.text;
  }
  for (const char* text : {"''", "' '", "'1 Gi'", "'x'", "true", "[1]", "{}", "null"}) {
    int64_t units = -1;
    int64_t milli = -2;
    EXPECT_EQ(values_.as_quantity(Tree(text), &units, &milli), BERTH_BAD_ARGUMENT) << text;
    EXPECT_EQ(units, -1) << text;
    EXPECT_EQ(milli, -2) << text;
  }
}

TEST_F(ValueTest, EqualTreesHaveEqualHashes) {
  constexpr const char* kDistinct[] = {
      "null",
      "false",
      "true",
      "0",
      "1",
      "1.0",
      "''",
      "'0'",
      "[]",
      "[0]",
      "[[0]]",
      "[0,0]",
      "[null]",
      "{}",
      "{'a':1}",
      "{'b':1}",
      "{'a':2}",
      "{'a':{}}",
      "{'a':1,'b':2}",
      "{'b':2,'a':1}",
  };
  std::vector<uint64_t> hashes;
  for (const char* text : kDistinct) {
    const uint64_t hash = HashOf(Tree(text));
    EXPECT_EQ(HashOf(Tree(text)), hash) << text;
    for (size_t i = 0; i < hashes.size(); ++i) EXPECT_NE(hashes[i], hash) << kDistinct[i] << text;
    hashes.push_back(hash);
  }
}

TEST(PlacedMember, RecordsWhereItWasWritten) {
  const std::array parts = {PlacedMember(Value::Int(1), "a", "f:1")};
  const PlacedMember root(Value::Object(std::span(parts)), "", "f:2");
  const berth_values& values = *ValuesService();
  EXPECT_EQ(Text(values.where(root.member.value.abi())), "f:2");
  const berth_value* part = values.get(root.member.value.abi(), AsStr("a"));
  EXPECT_EQ(values.as_int(part), 1);
  EXPECT_EQ(Text(values.where(part)), "f:1");
  const PlacedMember list(Value::Array(std::span(parts)), "", "f:3");
  EXPECT_EQ(Text(values.where(values.at(list.member.value.abi(), 0, nullptr))), "f:1");
}

}  // namespace
}  // namespace berth::host
