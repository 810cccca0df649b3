#include "host/process/replay/local_cluster.h"

#include <utility>

#include "host/process/assemble/cluster_files.h"

namespace berth::host {

LocalCluster::LocalCluster(Interner& interner, const DecodeOptions& decode, const Clock& clock,
                           bool follows_stream)
    : decoder_(interner, decode),
      cluster_({.clock = clock,
                .max_events = 0,
                .serve = [this](const ApiRequest& request) { return api_.Serve(request); }}),
      api_(cluster_, decoder_) {
  if (follows_stream) stream_.emplace(cluster_);
}

Status LocalCluster::Add(AnyObject object) {
  Status status = cluster_.Load(object);
  if (!status.ok()) return status;
  if (stream_.has_value()) stream_->NoteLoaded(object);
  Deliver();
  return status;
}

Status LocalCluster::AddManifest(std::string_view name, std::string text) {
  const auto note = [this](const AnyObject& object) {
    if (stream_.has_value()) stream_->NoteLoaded(object);
  };
  Status status = LoadManifest(std::move(text), name, decoder_, cluster_, note);
  Deliver();
  return status;
}

Status LocalCluster::AddFile(const std::string& path, std::istream& in) {
  Result<std::string> text = ReadInput(path, in);
  if (!text.ok()) return std::move(text).status();
  return AddManifest(InputName(path), std::move(text).value());
}

}  // namespace berth::host
