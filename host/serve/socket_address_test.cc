#include "host/serve/socket_address.h"

#include <gtest/gtest.h>

namespace berth::host {
namespace {

TEST(SocketAddressTest, ParsesAddresses) {
  struct Case {
    const char* text;
    const char* written;
    bool is_loopback;
  };
  const Case cases[] = {
      {"127.0.0.1:10251", "127.0.0.1:10251", true},
      {"127.9.9.9:0", "127.9.9.9:0", true},
      {"128.0.0.1:65535", "128.0.0.1:65535", false},
      {"0.0.0.0:1", "0.0.0.0:1", false},
      {"[::1]:10251", "[::1]:10251", true},
      {"[::2]:1", "[::2]:1", false},
      {"[::ffff:127.0.0.1]:1", "[::ffff:127.0.0.1]:1", true},
      {"[::ffff:10.0.0.1]:1", "[::ffff:10.0.0.1]:1", false},
      {":10251", "[::]:10251", false},
  };
  for (const Case& c : cases) {
    const auto address = ParseSocketAddress(c.text);
    ASSERT_TRUE(address.ok()) << c.text;
    EXPECT_EQ(ToText(*address), c.written) << c.text;
    EXPECT_EQ(IsLoopback(*address), c.is_loopback) << c.text;
  }
}

TEST(SocketAddressTest, RefusesOtherTexts) {
  for (const char* text : {"", "10251", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
                           "127.0.0.1:-1", "127.0.0.1: 1", "localhost:1", "::1:1", "[::1]",
                           "[::1:1", "[127.0.0.1]:1", "127.0.0.1:0x1", "[::1%lo]:1"}) {
    const Status status = ParseSocketAddress(text).status();
    EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument) << text;
  }
  EXPECT_EQ(ParseSocketAddress("localhost:1").status().message(),
            "expected an IP address and a port, such as 127.0.0.1:10251, [::1]:10251, or :10251 "
            "for all addresses, found \"localhost:1\"");
}

}  // namespace
}  // namespace berth::host
