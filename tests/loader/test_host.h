// Fixture of the loader's tests: the variants of a plugin library, a directory in which tests
// modify copies of them, and a host that offers one service.
#ifndef BERTH_TESTS_LOADER_TEST_HOST_H_
#define BERTH_TESTS_LOADER_TEST_HOST_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <berth/abi.h>

#include "host/loader/library_store.h"
#include "tests/harness/temporary_folder.h"

namespace berth::host {

// A host with the service berth.log/1 and no other.
const berth_host& TestHost();

// Returns the type of the column, or 0 if there is no such column. The only column is alloc.cpu.
uint32_t TestColumnType(std::string_view name);

class LoaderTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Copies the library of the variant `name` ("good") to directory(), with mode 0755, and returns
  // the path of the copy.
  std::string Variant(const std::string& name) const { return CopyOf(name, "lib" + name + ".so"); }
  std::string CopyOf(const std::string& variant, const std::string& file_name) const;

  // Overwrites the file's bytes at `offset`.
  static void Patch(const std::string& path, uint64_t offset, std::string_view bytes);

  // Returns which functions of the libraries ran since the last call: "constructor", "init",
  // "create", ...
  std::vector<std::string> TakeTrace() const;

  const std::string& directory() const { return folder_.path(); }
  std::string At(const std::string& name) const { return folder_.At(name); }
  LibraryStore& store() { return *store_; }
  // Destroys the store and its private copies.
  void EndStore() { store_.reset(); }
  void StartStore(std::unique_ptr<PrivateCopies> copies, std::function<int64_t()> steady_ns = {});

 private:
  const TemporaryFolder folder_;
  std::unique_ptr<LibraryStore> store_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_LOADER_TEST_HOST_H_
