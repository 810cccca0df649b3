#include "host/cluster/kubernetes/watch/paged_list.h"

#include <utility>

#include "host/cluster/kubernetes/http/api_error.h"
#include "host/cluster/kubernetes/http/query_text.h"

namespace berth::host {

PagedList::PagedList(Transport& transport, ObjectReader& reader, Owner& owner, Options options)
    : transport_(transport), reader_(reader), owner_(owner), options_(std::move(options)) {}
PagedList::~PagedList() = default;

void PagedList::Start() { OpenPage(); }

void PagedList::OpenPage() {
  splitter_.emplace(options_.limits);
  HttpRequest request;
  request.verb = "GET";
  request.target = WithQuery(options_.path,
                             {{"continue", continue_token_},
                              {"fieldSelector", options_.field_selector},
                              {"limit", options_.page == 0 ? "" : std::to_string(options_.page)}});
  request.timeout_ns = options_.head_timeout_ns;
  stream_ = transport_.Open(std::move(request), *this);
  stream_->SetSilenceLimit(options_.silence_ns);
}

void PagedList::OnHead(const HttpHead& /*head*/) {}

void PagedList::OnBytes(std::string_view bytes) {
  Status status =
      splitter_->Append(bytes, [this](std::string_view item) { return TakeItem(item); });
  if (!status.ok()) End(std::move(status));
}

Status PagedList::TakeItem(std::string_view item) {
  Result<AnyObject> object = reader_.ReadItem(item, options_.kind);
  if (object.ok()) {
    objects_.push_back(owner_.OnItem(std::move(object).value()));
    return {};
  }
  std::optional<AnyObject> kept = owner_.OnUndecodable(reader_.ReadMark(item), object.status());
  if (kept) objects_.push_back(*std::move(kept));
  return {};
}

void PagedList::OnEnd(HttpResponse response) {
  if (!response.is_success()) {
    const bool is_expired = response.status.ok() &&
                            IsExpired(response.head.http_status, ReadServerStatus(response.body));
    if (is_expired && !continue_token_.empty()) {
      // Without pages the list needs no token, so that it cannot expire again.
      options_.page = 0;
      continue_token_.clear();
      resource_version_.clear();
      objects_.clear();
      return OpenPage();
    }
    Status status = response.status.ok() ? StatusOf(response) : response.status;
    return End(std::move(status), std::move(response));
  }
  Result<std::string> rest = splitter_->Finish();
  if (!rest.ok()) return End(std::move(rest).status());
  Result<ObjectReader::ListMeta> meta = ObjectReader::ReadListMeta(*rest);
  if (!meta.ok()) return End(std::move(meta).status());
  if (resource_version_.empty()) resource_version_ = std::move(meta->resource_version);
  if (meta->continue_token.empty()) return End({});
  if (meta->continue_token == continue_token_ && splitter_->items() == 0) {
    return End(Status::InvalidArgument("the list continues with the same token and has no items"));
  }
  continue_token_ = std::move(meta->continue_token);
  OpenPage();
}

void PagedList::End(Status status, HttpResponse response) {
  stream_.reset();
  Outcome outcome;
  outcome.status = std::move(status);
  outcome.response = std::move(response);
  if (outcome.status.ok()) outcome.objects = std::move(objects_);
  outcome.resource_version = std::move(resource_version_);
  owner_.OnListEnd(std::move(outcome));
}

}  // namespace berth::host
