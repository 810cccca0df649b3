// Where the build and the source tree have the files that tests load.
#ifndef BERTH_TESTS_HARNESS_PATHS_H_
#define BERTH_TESTS_HARNESS_PATHS_H_

#include <string>

namespace berth::host {

// Returns the library of puppets.c.
std::string PuppetLibrary();
// Returns the directory with the libraries of tests/harness/plugins.
std::string TestPluginDirectory();
// Returns the directory with the libraries of plugins/.
std::string DefaultPluginDirectory();
// Returns profiles/default.toml.
std::string DefaultProfileFile();

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_PATHS_H_
