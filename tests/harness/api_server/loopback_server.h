// A server on a loopback socket, with TLS, for the tests of HttpTransport.
#ifndef BERTH_TESTS_HARNESS_API_SERVER_LOOPBACK_SERVER_H_
#define BERTH_TESTS_HARNESS_API_SERVER_LOOPBACK_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace berth::host {

// Certificates that a test makes: a CA, a server for 127.0.0.1 and localhost, and a client. One set
// is made per process; P-256 keys, so that it takes milliseconds.
struct TestCertificates {
  std::string ca_pem;
  std::string other_ca_pem;  // Has signed none of them.
  std::string server_pem, server_key_pem;
  std::string wrong_name_pem, wrong_name_key_pem;  // A server certificate for another name.
  std::string expired_pem, expired_key_pem;
  std::string client_pem, client_key_pem;
};
const TestCertificates& Certificates();

// Accepts connections on threads of its own and lets the test act on bytes, not on HTTP: what a
// broken server, proxy or network can do must be possible.
class LoopbackServer {
 public:
  // One connection. The functions block, and return false when the peer has closed it.
  class Peer {
   public:
    virtual ~Peer() = default;
    // Reads up to the empty line after the headers, and the body that Content-Length announces.
    virtual bool ReadRequest(std::string& request) = 0;
    virtual bool Write(std::string_view bytes) = 0;
    // Writes one byte after the other with a pause.
    virtual bool Trickle(std::string_view bytes, int64_t pause_ns) = 0;
    virtual bool WaitForClose() = 0;
    virtual void Reset() = 0;                          // Ends the connection with RST.
    virtual std::string ClientCommonName() const = 0;  // The CN of the client; "" for none.
  };
  struct Options {
    bool tls = true;
    std::string certificate_pem = {};  // Empty: the server certificate of Certificates().
    std::string key_pem = {};
    bool requests_client_certificate = false;
    std::string max_tls_version = {};  // "1.1" for a server that is too old.
  };
  // Called for each connection on a thread of its own.
  using Handler = std::function<void(Peer& peer, size_t connection)>;

  LoopbackServer(Options options, Handler handler);
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  uint16_t port() const;
  size_t connections() const;  // How many were accepted.
  // Stops to accept, and ends all connections; Start() accepts again on the same port.
  void Stop();
  void Start();

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_API_SERVER_LOOPBACK_SERVER_H_
