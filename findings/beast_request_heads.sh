#!/usr/bin/env bash
# Boost.Beast 1.81: three answers of http::request_parser that a server has to complete.
#
# 1. Expected: the parser rejects a complete head whose request line is too short. Seen: it asks for
#    more ("need more"), because the line ends before the eight characters of a version. A server
#    that reads on answers nothing until its time-out.
# 2. Expected: the error for a Content-Length beyond 64 bits tells that the body is too large (413).
#    Seen: bad_content_length, the same as for a value that is no number (400).
# 3. Expected: message::keep_alive() and parser::keep_alive() agree. Seen: with two headers
#    Connection, that of the message reads only the first, that of the parser reads both.
#
# Needs: apt-get, g++. Exits with 1 if the behaviour has changed.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq libboost1.81-dev=1.81.0-5+deb12u1
dpkg-deb -x libboost1.81-dev_*.deb root
cat > heads.cc <<'CODE'
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

#include <iostream>
#include <string>

namespace http = boost::beast::http;

std::string Parse(const std::string& lines) {
  http::request_parser<http::empty_body> parser;
  parser.skip(true);
  boost::system::error_code error;
  parser.put(boost::asio::buffer(lines + "\r\n\r\n"), error);
  if (error) return error.message();
  return std::string("accepted, keep-alive of the message ") +
         (parser.get().keep_alive() ? "yes" : "no") + ", of the parser " +
         (parser.keep_alive() ? "yes" : "no");
}

int main() {
  const std::string get = "GET / HTTP/1.1\r\nHost: a";
  std::cout << "no version: " << Parse("GET / X") << '\n'
            << "a length beyond 64 bits: "
            << Parse(get + "\r\nContent-Length: 99999999999999999999") << '\n'
            << "a length that is no number: " << Parse(get + "\r\nContent-Length: many") << '\n'
            << "two headers Connection: " << Parse(get + "\r\nConnection: x\r\nConnection: close")
            << '\n';
}
CODE
g++ -std=c++20 -isystem root/usr/include heads.cc -o heads
./heads | tee found.txt
diff - found.txt <<'EXPECTED' || { echo "the behaviour has changed" >&2; exit 1; }
no version: need more
a length beyond 64 bits: bad Content-Length
a length that is no number: bad Content-Length
two headers Connection: accepted, keep-alive of the message yes, of the parser no
EXPECTED
echo "as described"
