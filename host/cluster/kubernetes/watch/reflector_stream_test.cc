// How a reflector treats the connection of its watch.
#include <string>

#include "host/cluster/client.h"
#include "tests/harness/reflector_fixture.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// ---- A rotated certificate ----------------------------------------------------------------------

TEST_F(ReflectorTest, RotatedCertificateMovesTheWatchWithoutAList) {
  StartWatching();
  transport_.Bytes(0, Line("MODIFIED", "n1", 11));
  Seen();
  reflector_->RenewConnection();
  EXPECT_THAT(Open(), ElementsAre(kFirst)) << "nothing has rotated";
  transport_.RotateCertificate();
  reflector_->RenewConnection();
  EXPECT_THAT(Open(), ElementsAre(WatchFrom("11")));
  transport_.Head(0);
  reflector_->RenewConnection();
  transport_.Bytes(0, Line("MODIFIED", "n1", 12));
  EXPECT_THAT(Seen(), ElementsAre("~n1@12(11)", "|"));
  EXPECT_EQ(reflector_->counts().lists, 1u);
}

TEST_F(ReflectorTest, RotatedCertificateInterruptsNeitherListNorADelay) {
  Start();
  reflector_->RenewConnection();
  transport_.Answer(0, 200, ResourcesText());
  transport_.RotateCertificate();
  reflector_->RenewConnection();
  EXPECT_THAT(Open(), ElementsAre(kFirst));
  transport_.Head(0);
  transport_.Bytes(0, Line("ADDED", "n1", 5));
  reflector_->RenewConnection();
  transport_.Bytes(0, Bookmark(10, true));
  EXPECT_THAT(Seen(), ElementsAre("+n1@5", "synced", "|"));
  // Afterwards it is a watch.
  reflector_->RenewConnection();
  EXPECT_THAT(Open(), ElementsAre(WatchFrom("10")));
  transport_.Answer(0, 500, StatusText(500, "InternalError"));
  EXPECT_EQ(reflector_->state(), Reflector::State::kWaiting);
  reflector_->RenewConnection();
  EXPECT_THAT(Open(), IsEmpty());
}

// ---- A pause ------------------------------------------------------------------------------------

TEST_F(ReflectorTest, PausesItsWatchAndTheOnesThatFollow) {
  StartWatching();
  reflector_->SetPaused(true);
  EXPECT_TRUE(transport_.IsPaused(0));
  // The server gives up.
  Advance(2 * kSecond);
  transport_.End(0);
  EXPECT_THAT(Open(), ElementsAre(WatchFrom("10")));
  EXPECT_TRUE(transport_.IsPaused(0));
  reflector_->SetPaused(false);
  EXPECT_FALSE(transport_.IsPaused(0));
}

TEST_F(ReflectorTest, CollectsInitialEventsDuringAPause) {
  Start();
  reflector_->SetPaused(true);
  transport_.Answer(0, 200, ResourcesText());
  EXPECT_FALSE(transport_.IsPaused(0));
  transport_.Head(0);
  transport_.Bytes(0, Line("ADDED", "n1", 5) + Bookmark(10, true));
  EXPECT_THAT(Seen(), ElementsAre("+n1@5", "synced", "|"));
  EXPECT_TRUE(transport_.IsPaused(0));
}

}  // namespace
}  // namespace berth::host
