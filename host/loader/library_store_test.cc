#include "host/loader/library_store.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

std::string HexOf(std::string_view text) { return Sha256Hex(std::as_bytes(std::span(text))); }

// FIPS 180-4 examples, as published by NIST.
TEST(Sha256Hex, MatchesPublishedDigests) {
  EXPECT_EQ(HexOf(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(HexOf("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(HexOf("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(HexOf(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

}  // namespace
}  // namespace berth::host
