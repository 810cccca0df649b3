// Writes structs as JSON objects and reads them, from one list of fields.
#ifndef BERTH_TESTS_BENCH_WORKLOADS_JSON_FIELDS_H_
#define BERTH_TESTS_BENCH_WORKLOADS_JSON_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace berth::bench {

// Writes a struct as a JSON object. The struct must have
// `template <class Self, class Field> static void ForEach(Self& self, Field field)`, which calls
// field(name, member) for each member in the order of the JSON. Members are std::string, uint32_t,
// uint64_t, int64_t, double, std::optional<double>, vectors of std::string or of double, or structs
// with ForEach.
class FieldWriter {
 public:
  template <class Struct>
  static nlohmann::ordered_json Write(const Struct& self) {
    FieldWriter writer;
    Struct::ForEach(self, writer);
    return writer.json_;
  }

  template <class T>
  void operator()(const char* name, const T& value) {
    if constexpr (requires { T::ForEach(value, *this); }) {
      json_[name] = Write(value);
    } else {
      json_[name] = value;
    }
  }
  void operator()(const char* name, const std::optional<double>& value) {
    json_[name] = value.has_value() ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
  }

 private:
  nlohmann::ordered_json json_ = nlohmann::ordered_json::object();
};

// Reads a struct from a JSON object. Accepts only numbers from 0 to 1e18, the range of measured
// values.
class FieldReader {
 public:
  // Returns: the first error, such as "conditions.cpus: found -1, expected a whole number ...", or
  // an empty string. `where` is the path of `json` in the document; empty for the whole document.
  template <class Struct>
  static std::string Read(const nlohmann::json& json, const std::string& where, Struct& self) {
    FieldReader reader(json, where);
    if (!json.is_object()) {
      return (where.empty() ? "" : where + ": ") + "found " + Describe(json) +
             ", expected an object";
    }
    Struct::ForEach(self, reader);
    return reader.error_;
  }

  template <class T>
  void operator()(const char* name, T& value) {
    if (!error_.empty()) return;
    const std::string place = where_.empty() ? name : where_ + "." + name;
    const auto found = json_.find(name);
    if (found == json_.end()) {
      error_ = place + ": missing";
    } else if constexpr (requires { T::ForEach(value, *this); }) {
      error_ = Read(*found, place, value);
    } else if (const std::string_view expected = Take(*found, value); !expected.empty()) {
      error_ = (place + ": found " + Describe(*found) + ", expected ").append(expected);
    }
  }

 private:
  FieldReader(const nlohmann::json& json, std::string where)
      : json_(json), where_(std::move(where)) {}

  // Stores `found` in `value` if it has the right type and range.
  // Returns: a description of the expected value if it has not, otherwise an empty string.
  static std::string_view Take(const nlohmann::json& found, std::string& value);
  static std::string_view Take(const nlohmann::json& found, double& value);
  static std::string_view Take(const nlohmann::json& found, std::optional<double>& value);
  static std::string_view Take(const nlohmann::json& found, int64_t& value);
  static std::string_view Take(const nlohmann::json& found, uint64_t& value);
  static std::string_view Take(const nlohmann::json& found, uint32_t& value);
  static std::string_view Take(const nlohmann::json& found, std::vector<double>& value);
  static std::string_view Take(const nlohmann::json& found, std::vector<std::string>& value);
  // Returns a short description of any value: "an array", "-1", "\"many\"".
  static std::string Describe(const nlohmann::json& found);

  const nlohmann::json& json_;
  const std::string where_;
  std::string error_;
};

}  // namespace berth::bench

#endif  // BERTH_TESTS_BENCH_WORKLOADS_JSON_FIELDS_H_
