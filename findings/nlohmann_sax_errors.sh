#!/usr/bin/env bash
# nlohmann_json 3.11.2: the SAX parser is no scanner of JSON errors.
#
# Expected: sax_parse() accepts every JSON text of RFC 8259, and parse_error() receives the place
# and the kind of the first error.
# Seen: the parser stops at a number beyond a double ("1e999") and at half a surrogate pair
# ("\ud800"), both of which the grammar of RFC 8259 allows; it does not find an error behind them.
# The position is that after the token ("[tru]" gives 5, for a token that begins at 1). The token is
# given with control characters replaced ("<U+000A>"), so that its length does not lead back to its
# beginning. Only the text of the exception names the expected token.
#
# Needs: apt-get, g++. Exits with 1 if the behaviour has changed.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && apt-get download -qq nlohmann-json3-dev=3.11.2-2)
dpkg-deb -x "$work"/nlohmann-json3-dev_*.deb "$work/root"
cat > "$work/sax.cc" <<'CODE'
#include <iostream>
#include <nlohmann/json.hpp>

using Json = nlohmann::json;

struct Handler : nlohmann::json_sax<Json> {
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    std::cout << "position " << position << ", token " << token << ", error " << error.id << '\n';
    return false;
  }
};

int main() {
  for (const char* text : {"[1e999]", "[\"\\ud800\"]", "[tru]", "[\"a\nb\"]"}) {
    Handler handler;
    if (Json::sax_parse(std::string(text), &handler)) std::cout << "accepted\n";
  }
}
CODE
g++ -std=c++20 -isystem "$work/root/usr/include" "$work/sax.cc" -o "$work/sax"
"$work/sax" | tee "$work/found.txt"
diff - "$work/found.txt" <<'EXPECTED' || { echo "the behaviour has changed" >&2; exit 1; }
position 6, token 1e999, error 406
position 9, token "\ud800", error 101
position 5, token [tru], error 101
position 4, token "a<U+000A>, error 101
EXPECTED
echo "as described"
