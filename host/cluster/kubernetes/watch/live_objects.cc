#include "host/cluster/kubernetes/watch/live_objects.h"

#include <algorithm>
#include <future>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "host/base/assert.h"
#include "host/base/kind_name.h"
#include "host/cluster/client.h"
#include "host/cluster/kubernetes/access/discovery.h"
#include "host/cluster/kubernetes/watch/object_reader.h"

namespace berth::host {
namespace {

constexpr size_t kProgressStep = 500;

bool IsEssential(std::string_view kind) { return kind == kPodKind || kind == kNodeKind; }

void SortObjects(std::vector<AnyObject>& objects) {
  std::ranges::sort(objects, {}, [](const AnyObject& object) {
    return std::pair(Base(object).ns(), Base(object).name());
  });
}

class KindLister final : public LiveReader, private PagedList::Owner {
 public:
  KindLister(Interner& interner, const DecodeOptions& decode, Transport& transport,
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

  ~KindLister() override { *alive_ = false; }

  void Start(Done done) override {
    BERTH_ASSERT(done_ == nullptr && done != nullptr);
    done_ = std::move(done);
    Step();
  }

 private:
  AnyObject OnItem(AnyObject object) override {
    if (++count_ % kProgressStep == 0 && request_.progress) {
      request_.progress(resource_->kind, count_);
    }
    return object;
  }

  void OnRead(const AnyObject& object, const Status& problems) override {
    if (problems.ok()) return;
    Warn(Base(object).Key(), std::string(problems.message()).append(" (counts as absent)"));
  }

  std::optional<AnyObject> OnUndecodable(const ObjectMark& mark, const Status& status) override {
    Warn(mark.Key(), status.message());
    return std::nullopt;
  }

  void OnRestart() override {
    count_ = 0;
    result_.warnings.resize(warnings_before_);
  }

  void Warn(std::string_view key, std::string_view message) {
    std::string text = resource_->kind;
    if (!key.empty()) text.append(" ").append(key);
    result_.warnings.push_back(text.append(": ").append(message));
  }

  void OnListEnd(PagedList::Outcome outcome) override {
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

  // Goes on with the next question or list.
  void Step() {
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

  // Asks about the versions of a declared kind until one is served. Returns false if a question is
  // under way; otherwise sets resource_, or leaves it empty.
  bool FindResource(const std::string& declared) {
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

  void OnAnswer(const std::string& group_version, const HttpResponse& response) {
    Result<std::vector<Resource>> resources = ResourcesIn(response);
    if (!resources.ok())
      return Finish(resources.status().Annotate(GroupVersionPath(group_version)));
    served_.emplace(group_version, *std::move(resources));
    Step();
  }

  void BeginList() {
    warnings_before_ = result_.warnings.size();
    count_ = 0;
    PagedList::Options options = request_.list;
    options.path = resource_->CollectionPath();
    options.kind = resource_->kind;
    if (resource_->kind == kPodKind) options.field_selector = kActivePods;
    PagedList::Owner& owner = *this;
    pages_ = std::make_unique<PagedList>(transport_, reader_, owner, std::move(options));
    pages_->Start();
  }

  void Finish(Status status) {
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

  std::string NeededBy(std::string_view kind) const {
    return request_.needed_by ? request_.needed_by(kind) : std::string();
  }

  Transport& transport_;
  Executor& executor_;
  const LiveRequest request_;
  ObjectReader reader_;
  std::vector<std::string> declared_;  // Pods and nodes first; each once.
  size_t next_ = 0;                    // The next element of declared_.
  std::map<std::string, std::vector<Resource>, std::less<>> served_;  // By group and version.
  std::optional<Resource> resource_;  // The resource of the kind that is being listed.
  size_t count_ = 0;                  // The objects of this kind so far.
  size_t warnings_before_ = 0;        // Without those of the present list.
  std::unique_ptr<PagedList> pages_;
  LiveObjects result_;
  Done done_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // For callbacks of requests.
};

}  // namespace

std::unique_ptr<LiveReader> LiveReader::Create(Interner& interner, const DecodeOptions& decode,
                                               Transport& transport, Executor& executor,
                                               LiveRequest request) {
  return std::make_unique<KindLister>(interner, decode, transport, executor, std::move(request));
}

Result<LiveObjects> ReadLiveObjects(Interner& interner, const DecodeOptions& decode,
                                    Transport& transport, Executor& executor, LiveRequest request) {
  BERTH_ASSERT(!executor.IsCurrent());
  const std::unique_ptr<LiveReader> reader =
      LiveReader::Create(interner, decode, transport, executor, std::move(request));
  // The executor's thread may still use the promise when this thread has its value.
  const auto promise = std::make_shared<std::promise<Result<LiveObjects>>>();
  std::future<Result<LiveObjects>> result = promise->get_future();
  executor.Post([&reader, promise] {
    reader->Start(
        [promise](Result<LiveObjects> objects) { promise->set_value(std::move(objects)); });
  });
  return result.get();
}

}  // namespace berth::host
