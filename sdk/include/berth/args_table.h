// ArgsTable: generates the Markdown table of a plugin's arguments for its README.
#ifndef BERTH_ARGS_TABLE_H_
#define BERTH_ARGS_TABLE_H_

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <berth/args.h>
#include <berth/internal/args_decode.h>
#include <berth/internal/args_schema.h>
#include <berth/internal/json.h>

namespace berth {
namespace internal {

template <class T, class N>
std::string TableValue(const T& value, const N& names) {
  const auto write = [&](JsonWriter& out) { WriteValue(out, value, names); };
  std::string text(JsonSize(write), '\0');
  JsonWriter out(text.data());
  write(out);
  return "`" + text + "`";
}

template <class T, class Rows>
void TableRows(const Rows& rows, const std::string& prefix, const T& initial, std::string& out);

template <class Row, class M>
void TableRow(const Row& row, const std::string& prefix, const M& initial, std::string& out) {
  const std::string key = prefix + std::string(row.key);
  std::string expected = "any";
  if constexpr (!std::same_as<M, Value>) expected = ExpectedText<M>(row.limits, row.names);
  std::string shown = "-";
  if (row.limits.required) {
    shown = "required";
  } else if constexpr (!StructArg<M> && !std::same_as<M, Value>) {
    shown = TableValue(initial, row.names);
  }
  std::string element;
  if constexpr (kIsVector<M>) {
    element = " of " + ExpectedText<typename M::value_type>(row.limits, row.names);
  }
  out += "| `" + key + "` | " + expected + element + " | " + shown + " | " + std::string(row.help) +
         " |\n";
  if constexpr (StructArg<M>) {
    TableRows(M::kArgs, key + ".", initial, out);
  } else if constexpr (kIsVector<M>) {
    using Element = typename M::value_type;
    if constexpr (StructArg<Element>) TableRows(Element::kArgs, key + "[].", Element{}, out);
  }
}

template <class T, class Rows>
void TableRows(const Rows& rows, const std::string& prefix, const T& initial, std::string& out) {
  rows.ForEach([&](const auto& row) { TableRow(row, prefix, initial.*row.member, out); });
}

}  // namespace internal

// Returns the table, or an empty string for a plugin without arguments.
template <class P>
std::string ArgsTable() {
  std::string rows;
  internal::TableRows(internal::RowsOf<P>(), "", typename P::Args{}, rows);
  if (rows.empty()) return rows;
  return "| Key | Expected | Default | Meaning |\n|---|---|---|---|\n" + rows;
}

}  // namespace berth

#endif  // BERTH_ARGS_TABLE_H_
