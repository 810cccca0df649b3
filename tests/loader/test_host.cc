#include "tests/loader/test_host.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "host/base/status_sink.h"

namespace berth::host {
namespace {

berth_code GetService(const berth_host*, const char* id, const void** service) noexcept {
  static constexpr uint32_t kLevel = BERTH_LOG_OFF;
  static constexpr berth_log kLog = {
      sizeof(berth_log), 0, &kLevel,
      [](const berth_host*, uint32_t, berth_str, const berth_str_pair*, uint64_t) noexcept {}};
  if (std::strcmp(id, BERTH_SERVICE_LOG) != 0) return BERTH_NOT_FOUND;
  *service = &kLog;
  return BERTH_SUCCESS;
}

}  // namespace

const berth_host& TestHost() {
  static constexpr std::string_view kName = "berth";
  static const berth_host host = {sizeof(berth_host),
                                  BERTH_ABI_MAJOR,
                                  BERTH_ABI_MINOR,
                                  nullptr,
                                  AsStr(kName),
                                  AsStr("0"),
                                  GetService,
                                  [](const berth_host*, berth_str) noexcept {},
                                  {1, 2}};
  return host;
}

uint32_t TestColumnType(std::string_view name) { return name == "alloc.cpu" ? BERTH_TYPE_I64 : 0; }

void LoaderTest::SetUp() {
  ASSERT_EQ(::setenv("BERTH_TEST_TRACE", At("trace").c_str(), 1), 0);
  LoadResult<std::unique_ptr<PrivateCopies>> copies = CopyToDirectory(directory());
  ASSERT_TRUE(copies.ok()) << copies.error().ToString();
  StartStore(*std::move(copies));
}

void LoaderTest::TearDown() {
  store_.reset();
  ASSERT_EQ(::unsetenv("BERTH_TEST_TRACE"), 0);
}

void LoaderTest::StartStore(std::unique_ptr<PrivateCopies> copies,
                            std::function<int64_t()> steady_ns) {
  store_ = std::make_unique<LibraryStore>(std::move(copies), std::move(steady_ns));
}

std::string LoaderTest::CopyOf(const std::string& variant, const std::string& file_name) const {
  const std::string from = std::string(BERTH_LOADER_VARIANTS "/lib") + variant + ".so";
  const std::string to = At(file_name);
  std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
  ::chmod(to.c_str(), 0755);
  return to;
}

void LoaderTest::Patch(const std::string& path, uint64_t offset, std::string_view bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(offset));
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  ASSERT_TRUE(file.good());
}

std::vector<std::string> LoaderTest::TakeTrace() const {
  std::vector<std::string> lines;
  std::ifstream file(At("trace"));
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  file.close();
  std::filesystem::remove(At("trace"));
  return lines;
}

}  // namespace berth::host
