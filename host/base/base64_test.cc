#include "host/base/base64.h"

#include <string>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

TEST(Base64, EncodesAndDecodes) {
  const struct {
    const char* bytes;
    const char* text;
  } cases[] = {// RFC 4648, section 10.
               {"", ""},
               {"f", "Zg=="},
               {"fo", "Zm8="},
               {"foo", "Zm9v"},
               {"foob", "Zm9vYg=="},
               {"fooba", "Zm9vYmE="},
               {"foobar", "Zm9vYmFy"},
               {"\xfb\xff\xfe", "+//+"}};
  for (const auto& c : cases) {
    EXPECT_EQ(EncodeBase64(c.bytes), c.text);
    EXPECT_EQ(DecodeBase64(c.text), c.bytes) << c.text;
  }
}

TEST(Base64, EncodesAndDecodesAllBytes) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  EXPECT_EQ(DecodeBase64(EncodeBase64(bytes)), bytes);
}

TEST(Base64, SkipsLineEnds) {
  EXPECT_EQ(DecodeBase64("Zm9v\r\nYg=\n=\n"), "foob");
  EXPECT_EQ(DecodeBase64("\n"), "");
}

TEST(Base64, RejectsOtherTexts) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "Z===", "====", "=",
                           "Zg==Zg==", "Zm8=Zg==", "Zm9v!", "Zm 9v", "Zm-_", "Zg=g", "Zm9v="}) {
    EXPECT_EQ(DecodeBase64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace berth::host
