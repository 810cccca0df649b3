#include "host/cluster/kubernetes/watch/live_objects.h"

#include <algorithm>
#include <future>
#include <iterator>
#include <utility>

#include "host/base/assert.h"
#include "host/base/kind_name.h"
#include "host/cluster/client.h"
#include "host/cluster/kubernetes/http/api_error.h"
#include "host/cluster/kubernetes/watch/stream_end.h"

namespace berth::host {
namespace {

constexpr size_t kProgressStep = 500;

bool IsEssential(std::string_view kind) { return kind == kPodKind || kind == kNodeKind; }

void SortObjects(std::vector<AnyObject>& objects) {
  std::ranges::sort(objects, {}, [](const AnyObject& object) {
    return std::pair(Base(object).ns(), Base(object).name());
  });
}

}  // namespace

LiveReader::LiveReader(Interner& interner, const DecodeOptions& decode, Transport& transport,
                       Executor& executor, LiveRequest request)
    : transport_(transport),
      executor_(executor),
      request_(std::move(request)),
      reader_(interner, decode),
      declared_{std::string(kPodKind), std::string(kNodeKind)} {
  for (const std::string& kind : request_.kinds) {
    if (std::ranges::find(declared_, kind) == declared_.end()) declared_.push_back(kind);
  }
}

LiveReader::~LiveReader() { *alive_ = false; }

void LiveReader::Start(Done done) {
  BERTH_ASSERT(done_ == nullptr && done != nullptr);
  done_ = std::move(done);
  Step();
}

void LiveReader::Step() {
  while (next_ < declared_.size()) {
    const std::string& declared = declared_[next_];
    resource_.reset();
    if (!FindResource(declared)) return;
    ++next_;
    if (resource_) return BeginList();
    std::string text = declared + " is not served by the server";
    const std::string needed_by = NeededBy(declared);
    if (!needed_by.empty()) text.append("; it is needed by ").append(needed_by);
    if (IsEssential(declared)) return Finish(Status::NotFound(std::move(text)));
    result_.warnings.push_back(std::move(text));
  }
  Finish({});
}

bool LiveReader::FindResource(const std::string& declared) {
  for (const std::string& kind : KindsOf(declared)) {
    const std::string group_version(GroupVersionOf(kind));
    const auto served = served_.find(group_version);
    if (served == served_.end()) {
      transport_.Send({.verb = "GET", .target = GroupVersionPath(group_version)},
                      [this, alive = alive_, group_version](const HttpResponse& response) {
                        if (*alive) OnAnswer(group_version, response);
                      });
      return false;
    }
    const auto at = std::ranges::find(served->second, kind, &Resource::kind);
    if (at == served->second.end()) continue;
    resource_ = *at;
    return true;
  }
  return true;
}

void LiveReader::OnAnswer(const std::string& group_version, const HttpResponse& response) {
  std::vector<Resource> resources;
  const bool is_not_served = response.status.ok() && response.head.http_status == 404;
  if (!is_not_served) {
    Status status = response.status.ok() ? StatusOf(response) : response.status;
    if (!status.ok()) return Finish(status.Annotate(GroupVersionPath(group_version)));
    Result<std::vector<Resource>> list = ReadResourceList(response.body);
    if (!list.ok()) return Finish(list.status().Annotate(GroupVersionPath(group_version)));
    resources = std::move(list).value();
  }
  served_.emplace(group_version, std::move(resources));
  Step();
}

void LiveReader::BeginList() {
  count_ = 0;
  PagedList::Options options = request_.list;
  options.path = resource_->CollectionPath();
  options.kind = resource_->kind;
  if (resource_->kind == kPodKind) options.field_selector = kActivePods;
  PagedList::Owner& owner = *this;
  pages_ = std::make_unique<PagedList>(transport_, reader_, owner, std::move(options));
  pages_->Start();
}

AnyObject LiveReader::OnItem(AnyObject object) {
  if (++count_ % kProgressStep == 0 && request_.progress) {
    request_.progress(resource_->kind, count_);
  }
  return object;
}

std::optional<AnyObject> LiveReader::OnUndecodable(const ObjectMark& mark, const Status& status) {
  const std::string key = mark.Key();
  std::string text = resource_->kind;
  if (!key.empty()) text.append(" ").append(key);
  result_.warnings.push_back(text.append(": ").append(status.message()));
  return std::nullopt;
}

void LiveReader::OnListEnd(PagedList::Outcome outcome) {
  pages_.reset();
  const std::string& kind = resource_->kind;
  if (outcome.status.ok()) {
    SortObjects(outcome.objects);
    if (request_.progress) request_.progress(kind, outcome.objects.size());
    std::ranges::move(outcome.objects, std::back_inserter(result_.objects));
    return Step();
  }
  if (outcome.response.status.ok() && outcome.response.head.http_status == 403) {
    std::string text =
        MissingRuleText(*resource_, "list", NeededBy(kind), outcome.status.message());
    if (IsEssential(kind)) return Finish(Status::PermissionDenied(std::move(text)));
    result_.warnings.push_back(std::move(text));
    return Step();
  }
  Finish(std::move(outcome.status).Annotate("list " + kind));
}

void LiveReader::Finish(Status status) {
  // The caller may destroy everything within `done`, so that it is the last call.
  executor_.Post([this, alive = alive_, status = std::move(status)] {
    if (!*alive) return;
    const Done done = std::exchange(done_, nullptr);
    if (status.ok()) {
      done(std::move(result_));
    } else {
      done(status);
    }
  });
}

std::string LiveReader::NeededBy(std::string_view kind) const {
  return request_.needed_by ? request_.needed_by(kind) : std::string();
}

Result<LiveObjects> ReadLiveObjects(Interner& interner, const DecodeOptions& decode,
                                    Transport& transport, Executor& executor, LiveRequest request) {
  BERTH_ASSERT(!executor.IsCurrent());
  LiveReader reader(interner, decode, transport, executor, std::move(request));
  // The executor's thread may still use the promise when this thread has its value.
  const auto promise = std::make_shared<std::promise<Result<LiveObjects>>>();
  std::future<Result<LiveObjects>> result = promise->get_future();
  executor.Post([&reader, promise] {
    reader.Start(
        [promise](Result<LiveObjects> objects) { promise->set_value(std::move(objects)); });
  });
  return result.get();
}

}  // namespace berth::host
