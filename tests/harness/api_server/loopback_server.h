// A server on a loopback socket, with TLS, for the tests of HttpTransport.
#ifndef BERTH_TESTS_HARNESS_API_SERVER_LOOPBACK_SERVER_H_
#define BERTH_TESTS_HARNESS_API_SERVER_LOOPBACK_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace berth::host {

// Accepts connections on threads of its own and lets the test act on bytes, not on HTTP, so
// that it can do everything that a broken server, proxy or network can do.
//
// Threading: any, except for Stop() and the destructor, which must not be called by a handler.
class LoopbackServer {
 public:
  // One connection. The functions block, and return false when the peer has closed it.
  // Threading: the thread of the connection.
  class Peer {
   public:
    virtual ~Peer() = default;
    // Reads up to the empty line after the headers, and the body that Content-Length announces.
    virtual bool ReadRequest(std::string& request) = 0;
    // Reads exactly `size` bytes.
    virtual bool ReadBytes(size_t size, std::string& bytes) = 0;
    virtual bool Write(std::string_view bytes) = 0;
    // Writes one byte after the other with a pause.
    virtual bool Trickle(std::string_view bytes, int64_t pause_ns) = 0;
    // Reads and drops bytes until the peer closes the connection.
    virtual void WaitForClose() = 0;
    // As WaitForClose(). Returns whether the peer ended the connection with RST.
    virtual bool WaitForReset() = 0;
    // Ends the connection with RST when the handler returns.
    virtual void Reset() = 0;
    // Ends the direction to the peer with FIN, without the end of TLS; reading goes on.
    virtual void CloseWriting() = 0;
    // Connects to 127.0.0.1:port and copies bytes in both directions until one side ends.
    virtual void Relay(uint16_t port) = 0;
    // Returns the common name of the client's certificate; "" if there is none.
    virtual std::string ClientCommonName() const = 0;
    // Returns whether the handshake resumed the session of an earlier connection.
    virtual bool IsResumed() const = 0;
    // Returns the name that the client sent as SNI; "" if it sent none.
    virtual std::string ServerName() const = 0;
  };
  struct Options {
    bool tls = true;
    std::string certificate_pem = {};  // Empty: the server certificate of Certificates().
    std::string key_pem = {};
    // A client without a certificate of the CA of Certificates() is refused.
    bool requires_client_certificate = false;
    int max_tls_version = 0;  // TLS1_1_VERSION of OpenSSL for a server that is too old; 0: newest.
  };
  // Called for each connection on a thread of its own, after the TLS handshake. At its end the
  // connection is closed. `connection` counts from 0.
  using Handler = std::function<void(Peer& peer, size_t connection)>;

  LoopbackServer(const Options& options, Handler handler);
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

// Returns an answer with a body in JSON and a Content-Length.
std::string HttpAnswer(int http_status, std::string_view body, std::string_view headers = "");

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_API_SERVER_LOOPBACK_SERVER_H_
