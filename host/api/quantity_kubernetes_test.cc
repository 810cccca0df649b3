// Compares the parser with ParseQuantity, Value() and MilliValue() of k8s.io/apimachinery v0.36.2,
// whose results were recorded with go1.26.8.
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "host/api/quantity.h"

namespace berth::host {
namespace {

// Stands for an amount that does not fit in int64: there Value() and MilliValue() of Kubernetes
// return 0 or a part of the amount, and those of Berth are limited to this amount.
constexpr int64_t kBeyond = std::numeric_limits<int64_t>::max();

struct Recorded {
  std::string_view text;
  int64_t value;
  int64_t milli;
};

void ExpectRecorded(const std::vector<Recorded>& table) {
  for (const Recorded& r : table) {
    const Result<Quantity> quantity = ParseQuantity(r.text);
    if (!quantity.ok()) {
      ADD_FAILURE() << r.text << ": " << quantity.status().ToString();
      continue;
    }
    EXPECT_EQ(quantity->Value(), r.value) << r.text;
    EXPECT_EQ(quantity->MilliValue(), r.milli) << r.text;
  }
}

TEST(KubernetesQuantity, PlainNumbers) {
  ExpectRecorded({
      {"0", 0, 0},
      {"00", 0, 0},
      {"-0", 0, 0},
      {"+0", 0, 0},
      {"1", 1, 1000},
      {"+1", 1, 1000},
      {"-1", -1, -1000},
      {"007", 7, 7000},
      {"5.", 5, 5000},
      {".5", 1, 500},
      {"+.5", 1, 500},
      {"-.5", -1, -500},
      {"0.", 0, 0},
      {"00.", 0, 0},
      {"1.0", 1, 1000},
      {"1.000", 1, 1000},
      {"2.5", 3, 2500},
      {"-2.5", -3, -2500},
      {"0.1", 1, 100},
      {"0.001", 1, 1},
      {"0.0001", 1, 1},
      {"0.000000001", 1, 1},
      {"0.0000000001", 1, 1},
      {"1.0000000001", 2, 1001},
      {"0.9999999999", 1, 1000},
      {"123456789012345678", 123'456'789'012'345'678, kBeyond},
      {"1234567890123456789", 1'234'567'890'123'456'789, kBeyond},
      {"9223372036854775806.5", 9'223'372'036'854'775'807, kBeyond},
      {"9223372036854775.807", 9'223'372'036'854'776, 9'223'372'036'854'775'807},
      {"9223372036854775.8071", 9'223'372'036'854'776, kBeyond},
      {"000000000000000000000000000001.50", 2, 1500},
  });
}

TEST(KubernetesQuantity, Suffixes) {
  ExpectRecorded({
      {"1n", 1, 1},
      {"999999n", 1, 1},
      {"1000001n", 1, 2},
      {"1000000001n", 2, 1001},
      {"1u", 1, 1},
      {"1001u", 1, 2},
      {"1m", 1, 1},
      {"0.5m", 1, 1},
      {"1001m", 2, 1001},
      {"5.m", 1, 5},
      {"1k", 1000, 1'000'000},
      {"1.5k", 1500, 1'500'000},
      {"1M", 1'000'000, 1'000'000'000},
      {"1.G", 1'000'000'000, 1'000'000'000'000},
      {"1G", 1'000'000'000, 1'000'000'000'000},
      {"3T", 3'000'000'000'000, 3'000'000'000'000'000},
      {"9P", 9'000'000'000'000'000, 9'000'000'000'000'000'000},
      {"10P", 10'000'000'000'000'000, kBeyond},
      {"1E", 1'000'000'000'000'000'000, kBeyond},
      {"9E", 9'000'000'000'000'000'000, kBeyond},
      {"1Ki", 1024, 1'024'000},
      {"+1Ki", 1024, 1'024'000},
      {"1.5Gi", 1'610'612'736, 1'610'612'736'000},
      {"1.Ti", 1'099'511'627'776, 1'099'511'627'776'000},
      {".5Mi", 524'288, 524'288'000},
      {"0.1Ki", 103, 102'400},
      {"0.001Ki", 2, 1024},
      {"1.1Mi", 1'153'434, 1'153'433'600},
      {"7Pi", 7'881'299'347'898'368, 7'881'299'347'898'368'000},
      {"1Ei", 1'152'921'504'606'846'976, kBeyond},
      {"7Ei", 8'070'450'532'247'928'832, kBeyond},
      {"0.3Ei", 345'876'451'382'054'093, kBeyond},
      {"9007199254740991Ki", 9'223'372'036'854'774'784, kBeyond},
      {"0.0000000001Ki", 1, 1},
      {"100000000000000000000000000000n", kBeyond, kBeyond},
      {"9223372036854775807000000m", kBeyond, kBeyond},
  });
}

TEST(KubernetesQuantity, Exponents) {
  ExpectRecorded({
      {"1e3", 1000, 1'000'000},
      {"1E3", 1000, 1'000'000},
      {"1e+3", 1000, 1'000'000},
      {"1E+3", 1000, 1'000'000},
      {"1e-3", 1, 1},
      {"1E-3", 1, 1},
      {"12e6", 12'000'000, 12'000'000'000},
      {"1.25e1", 13, 12'500},
      {".5e1", 5, 5000},
      {"5.e1", 50, 50'000},
      {"1e0", 1, 1000},
      {"1e-0", 1, 1000},
      {"1e+0", 1, 1000},
      {"1e003", 1000, 1'000'000},
      {"1e00000000000000000000003", 1000, 1'000'000},
      {"1e-9", 1, 1},
      {"1e-10", 1, 1},
      {"1e-100", 1, 1},
      {"123456789e-9", 1, 124},
      {"1.5e-9", 1, 1},
      {"0e100", 0, 0},
      {"0.0e-100", 0, 0},
      {"1000000000000000000000000000000e-30", 1, 1000},
      {"0.0000000000000000000000000000001e33", 100, 100'000},
      {"1e18", 1'000'000'000'000'000'000, kBeyond},
      {"1e4294967299", 1000, 1'000'000},
      {"2e-4294967297", 1, 200},
      {"5e9223372036854771715", 1, 1},
      {"0e4294967299", 0, 0},
      {"1e100", kBeyond, kBeyond},
      {"1e19", kBeyond, kBeyond},
  });
}

TEST(KubernetesQuantity, TextsWithoutDigitsAreZero) {
  ExpectRecorded({
      {"m", 0, 0},
      {"Ki", 0, 0},
      {"Gi", 0, 0},
      {"E", 0, 0},
      {"e3", 0, 0},
      {"E3", 0, 0},
      {"e-3", 0, 0},
      {".", 0, 0},
      {"-", 0, 0},
      {"+", 0, 0},
      {"+.", 0, 0},
      {"-.", 0, 0},
      {".m", 0, 0},
      {"-m", 0, 0},
      {"+Gi", 0, 0},
      {".e3", 0, 0},
      {"-.Ki", 0, 0},
  });
}

TEST(KubernetesQuantity, AmountsBeyondInt64) {
  ExpectRecorded({
      {"9223372036854775807", 9'223'372'036'854'775'807, kBeyond},
      {"9223372036854775808", kBeyond, kBeyond},
      {"18446744073709551616", kBeyond, kBeyond},
      {"99999999999999999999999999999999999999", kBeyond, kBeyond},
      {"9.3E", kBeyond, kBeyond},
      {"10E", kBeyond, kBeyond},
      {"999999999999999999E", kBeyond, kBeyond},
      {"8Ei", 9'223'372'036'854'775'807, kBeyond},
      {"16Ei", 9'223'372'036'854'775'807, kBeyond},
      {"999999999999999999Ei", 9'223'372'036'854'775'807, kBeyond},
      {"9007199254740992Ki", 9'223'372'036'854'775'807, kBeyond},
      {"1e100", kBeyond, kBeyond},
      {"0.000001e100", kBeyond, kBeyond},
      {"9223372036854775807.000000001", kBeyond, kBeyond},
  });
}

TEST(KubernetesQuantity, NegativeAmounts) {
  ExpectRecorded({
      {"-1m", -1, -1},
      {"-1001m", -2, -1001},
      {"-100m", -1, -100},
      {"-1Ki", -1024, -1'024'000},
      {"-1.5Gi", -1'610'612'736, -1'610'612'736'000},
      {"-1e3", -1000, -1'000'000},
      {"-5", -5, -5000},
      {"-0.5", -1, -500},
  });
}

TEST(KubernetesQuantity, RefusesWhatKubernetesRefuses) {
  for (const std::string_view text : {
           "",
           " ",
           " 1",
           "1 ",
           "1\n",
           "abc",
           "NaN",
           "inf",
           "Infinity",
           "0x10",
           "1_000",
           "1,5",
           "1..2",
           "1.1.M",
           "--1",
           "+-1",
           "-+1",
           "1e",
           "1e+",
           "1e-",
           "1e+-3",
           "1e--3",
           "1e++3",
           "1ee3",
           "1e3m",
           "1e1.5",
           "1e 3",
           "e",
           "ee",
           "e+",
           "1e9223372036854775808",
           "1e-9223372036854775809",
           "1K",
           "K",
           "1g",
           "1mm",
           "1Mii",
           "1KiB",
           "1Ki3",
           "1e3Ki",
           "m1",
           "mi",
           "1i",
           "i",
           "1 Gi",
           "true",
           "\xc2\xb5",
           "1\xc2\xb5",
       }) {
    EXPECT_FALSE(ParseQuantity(text).ok()) << text;
  }
}

}  // namespace
}  // namespace berth::host
