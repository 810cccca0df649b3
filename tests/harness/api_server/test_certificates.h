// Certificates for tests, made with OpenSSL.
#ifndef BERTH_TESTS_HARNESS_API_SERVER_TEST_CERTIFICATES_H_
#define BERTH_TESTS_HARNESS_API_SERVER_TEST_CERTIFICATES_H_

#include <string>

namespace berth::host {

// A CA, servers and a client, all as PEM. The keys are P-256, so that a set takes milliseconds.
struct TestCertificates {
  std::string ca_pem;
  std::string other_ca_pem;  // Has signed none of the others.
  std::string server_pem;    // For 127.0.0.1, localhost and kubernetes.
  std::string server_key_pem;
  std::string wrong_name_pem;  // A server certificate for other.example.com.
  std::string wrong_name_key_pem;
  std::string expired_pem;  // A server certificate for 127.0.0.1, until 2020-01-01T00:00:00Z.
  std::string expired_key_pem;
  std::string client_pem;  // The common name is "client".
  std::string client_key_pem;
  std::string encrypted_key_pem;  // The key of the client, with the password "password".
};

// Returns the set of this process, which the first call makes.
// Threading: any.
const TestCertificates& Certificates();

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_API_SERVER_TEST_CERTIFICATES_H_
