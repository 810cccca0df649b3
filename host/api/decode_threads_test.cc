// Tests of decoders on other threads than the one that sweeps the interner. A client of an API
// server decodes on a thread of its own; the scheduling thread uses the objects, destroys them, and
// sweeps.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/api/decode.h"
#include "host/api/test_objects.h"
#include "host/base/interner.h"

namespace berth::host {
namespace {

constexpr uint64_t kDecoders = 2;
constexpr int kPods = 4000;

// A pod and the text of its only label, which its name contains.
struct DecodedPod {
  PodRef pod;
  std::string text;
};

// Passes pods from the decoders to the thread that sweeps.
class PodBox {
 public:
  void Put(DecodedPod pod) {
    const std::scoped_lock lock(mutex_);
    pods_.push_back(std::move(pod));
  }
  std::vector<DecodedPod> Take() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(pods_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<DecodedPod> pods_;
};

void ExpectLabel(const Interner& interner, const DecodedPod& decoded) {
  const auto labels = Elements<berth_id_pair>(decoded.pod->meta().labels);
  ASSERT_EQ(labels.size(), 1u);
  EXPECT_EQ(interner.Text(labels[0].key), "key-" + decoded.text);
  EXPECT_EQ(interner.Text(labels[0].value), "value-" + decoded.text);
  EXPECT_EQ(decoded.pod->name(), "pod-" + decoded.text);
}

// Decodes pods with few different labels, so that texts are freed and interned again, and with a
// small cache, so that ids are released within an object.
void DecodePods(Interner& interner, PodBox& box, uint64_t seed) {
  DecodeOptions options;
  options.cached_ids = 16;
  Decoder decoder(interner, options);
  std::mt19937_64 random(seed);
  for (int i = 0; i < kPods; ++i) {
    DecodedPod decoded;
    decoded.text = std::to_string(random() % 100);
    Result<PodRef> pod = decoder.DecodePod(TestObjects::Json(
        {.name = "pod-" + decoded.text,
         .meta = "\"labels\":{\"key-" + decoded.text + "\":\"value-" + decoded.text + "\"}"}));
    ASSERT_TRUE(pod.ok()) << pod.status().ToString();
    decoded.pod = *pod;
    ExpectLabel(interner, decoded);
    // An object that is refused releases its ids.
    EXPECT_FALSE(
        decoder.DecodePod(R"({"metadata":{"labels":{"key-)" + decoded.text + R"(":"x"},"name":7}})")
            .ok());
    if (random() % 4 != 0) box.Put(std::move(decoded));
    if (random() % 64 == 0) decoder.ReleaseIds();
  }
}

TEST(DecodeThreadsTest, TextsOfDecodedObjectsSurviveSweepsElsewhere) {
  Interner interner;
  PodBox box;
  std::atomic<uint64_t> working{kDecoders};
  std::vector<std::thread> decoders;
  for (uint64_t i = 0; i < kDecoders; ++i) {
    decoders.emplace_back([&, i] {
      DecodePods(interner, box, i);
      working.fetch_sub(1);
    });
  }
  std::vector<DecodedPod> kept;
  size_t received = 0;
  while (working.load() != 0) {
    interner.Sweep();
    // The pods of the last round are destroyed while others are decoded.
    std::vector<DecodedPod> next = box.Take();
    received += next.size();
    for (const DecodedPod& pod : kept) ExpectLabel(interner, pod);
    kept = std::move(next);
    std::this_thread::yield();
  }
  for (std::thread& decoder : decoders) decoder.join();
  received += box.Take().size();
  EXPECT_GT(received, size_t{kPods});
  kept.clear();
  interner.Sweep();
  EXPECT_EQ(interner.size(), 1u);
  EXPECT_EQ(interner.unreferenced(), 0u);
}

}  // namespace
}  // namespace berth::host
