#include "tests/harness/paths.h"

namespace berth::host {

std::string PuppetLibrary() { return BERTH_PUPPETS; }
std::string TestPluginDirectory() { return BERTH_TEST_PLUGIN_DIR; }
std::string DefaultPluginDirectory() { return BERTH_PLUGIN_DIR; }
std::string DefaultProfileFile() { return BERTH_SOURCE_DIR "/profiles/default.toml"; }

}  // namespace berth::host
