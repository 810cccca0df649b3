#include "tests/sdk/two_files/two_files.h"

BERTH_PLUGIN(acme::TwoFiles)
