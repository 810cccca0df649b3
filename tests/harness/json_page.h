// The page host/cli/json_output.md: compares the fields that it names with the output of commands.
#ifndef BERTH_TESTS_HARNESS_JSON_PAGE_H_
#define BERTH_TESTS_HARNESS_JSON_PAGE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace berth::testing {

// One section of the page: the table below "## berth explain", for example. A row names a field by
// its path, such as `nodes.<node>.plugin` or `plugins[].points[].id`, and its type.
class JsonPage {
 public:
  // Reads the section. `text`: the page.
  JsonPage(std::string_view text, std::string_view section);
  // Reads the section of the page in this source tree.
  static JsonPage Open(std::string_view section);

  // Compares a document with the rows. Returns one line for each field that no row names, and for
  // each value that has another type than its row states.
  std::vector<std::string> Compare(const nlohmann::json& document);
  // Returns the paths of the rows for which no document of Compare() had a value.
  std::vector<std::string> Unseen() const;

 private:
  struct Row {
    std::string path;
    std::vector<std::string> steps;  // "plugins", "[]", "points", "[]", "id"
    std::string type;
    bool is_seen = false;
  };

  void AddRow(std::string_view line);
  // Returns the row with the path; null if there is none. A step <name> matches every key, but a
  // row with the key itself is preferred.
  Row* Find(const std::vector<std::string>& steps);
  void CompareValue(const nlohmann::json& value, std::vector<std::string>& steps,
                    std::vector<std::string>& findings);
  void CompareMembers(const nlohmann::json& value, std::vector<std::string>& steps,
                      std::vector<std::string>& findings);

  std::vector<Row> rows_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTS_HARNESS_JSON_PAGE_H_
