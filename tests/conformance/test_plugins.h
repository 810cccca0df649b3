// Loads all plugins of the build.
#ifndef BERTH_TESTS_CONFORMANCE_TEST_PLUGINS_H_
#define BERTH_TESTS_CONFORMANCE_TEST_PLUGINS_H_

#include <string>

#include <gtest/gtest.h>

#include "host/loader/library_store.h"
#include "host/loader/plugin_catalog.h"

namespace berth::host {

class TestPlugins {
 public:
  TestPlugins() : store_(CopyToMemory()), catalog_(store_) {
    const auto found = catalog_.AddDirectory(BERTH_PLUGIN_DIR, Trusting());
    if (!found.ok()) ADD_FAILURE() << found.error().ToString();
    if (!found.ok()) return;
    for (const auto& library : *found) {
      if (!library.ok()) ADD_FAILURE() << library.error().ToString();
    }
  }

  void AddLibrary(const std::string& path) {
    const auto library = catalog_.AddLibrary(path, Trusting());
    if (!library.ok()) ADD_FAILURE() << library.error().ToString();
  }

  const PluginCatalog& catalog() const { return catalog_; }

 private:
  static LoadOptions Trusting() {
    LoadOptions options;
    options.trust.check_owner = false;
    return options;
  }

  LibraryStore store_;
  PluginCatalog catalog_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_CONFORMANCE_TEST_PLUGINS_H_
