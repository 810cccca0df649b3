// Removes secrets from texts that a user, a program or a server has written, for messages.
#ifndef BERTH_HOST_BASE_MASK_H_
#define BERTH_HOST_BASE_MASK_H_

#include <string>
#include <string_view>

namespace berth::host {

// Returns the URL with "..." in place of user and password, and of everything after "?" or "#", so
// that a parameter such as access_token is hidden however it is written. The text need not be a
// valid URL: a password may contain characters that a URL does not permit, so that everything up to
// the last "@" is hidden. "https://joe:pw@host/a?token=b" becomes "https://...@host/a?...".
std::string MaskUrl(std::string_view url);

// Returns the text, such as the standard error of a program, with "..." in place of
//   - what MaskUrl() hides in each URL that has a scheme;
//   - the value of each name that contains token, secret, passw, api-key or credential, as in
//     token=abc, "accessToken": "abc" and --token abc;
//   - what follows Authorization, and what follows Bearer and Basic if it looks encoded: at least
//     eight bytes with a digit, an upper-case letter after the first byte, or "=" at the end;
//   - JSON Web Tokens.
// Words of a sentence stay: "cannot get a token: connection refused" is not changed.
std::string MaskSecrets(std::string_view text);

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_MASK_H_
