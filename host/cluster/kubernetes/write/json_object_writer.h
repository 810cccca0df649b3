// Writes JSON objects without values of JSON in between.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WRITE_JSON_OBJECT_WRITER_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WRITE_JSON_OBJECT_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace berth::host {

// Writes an object member by member, for texts that are written often: it needs no value of JSON.
// Keys are written as they are.
class JsonObjectWriter {
 public:
  // `expected_bytes` is an estimate of the size of the result.
  explicit JsonObjectWriter(size_t expected_bytes = 0) {
    json_.reserve(expected_bytes);
    json_.push_back('{');
  }

  // Writes the text as DumpJson() does. A text of printable ASCII, which nearly every text of the
  // API is, is only copied.
  void AddText(std::string_view key, std::string_view text);
  // Does nothing if the text is empty.
  void AddTextIfAny(std::string_view key, std::string_view text) {
    if (!text.empty()) AddText(key, text);
  }
  void AddNumber(std::string_view key, int64_t number);
  // The members until the matching EndObject() belong to the object at `key`.
  void BeginObject(std::string_view key);
  void EndObject() { json_.push_back('}'); }
  // Returns the whole object. REQUIRES: every object was ended. Must not: be called twice.
  std::string Finish() {
    json_.push_back('}');
    return std::move(json_);
  }

 private:
  void AddKey(std::string_view key);

  std::string json_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WRITE_JSON_OBJECT_WRITER_H_
