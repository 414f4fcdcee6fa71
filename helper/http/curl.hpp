// The handle types for libcurl's resources.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <string>

namespace llmgw::http {

template <auto Free>
struct Freed {
    template <class T>
    void operator()(T* resource) const noexcept {
        Free(resource);
    }
};

using Easy = std::unique_ptr<CURL, Freed<curl_easy_cleanup>>;
using Multi = std::unique_ptr<CURLM, Freed<curl_multi_cleanup>>;

class HeaderList {
  public:
    HeaderList() = default;
    ~HeaderList() { curl_slist_free_all(list_); }
    HeaderList(const HeaderList&) = delete;
    HeaderList& operator=(const HeaderList&) = delete;

    [[nodiscard]] bool add(const std::string& line) {
        curl_slist* const longer = curl_slist_append(list_, line.c_str());
        if (longer != nullptr) list_ = longer;
        return longer != nullptr;
    }
    [[nodiscard]] curl_slist* get() const noexcept { return list_; }

  private:
    curl_slist* list_ = nullptr;
};

// An easy handle is one of a multi handle's for as long as this lives.
class Membership {
  public:
    Membership(CURLM* multi, CURL* easy)
        : multi_(multi), easy_(easy), added_(curl_multi_add_handle(multi, easy)) {}
    ~Membership() {
        if (added_ == CURLM_OK) curl_multi_remove_handle(multi_, easy_);
    }
    Membership(const Membership&) = delete;
    Membership& operator=(const Membership&) = delete;

    [[nodiscard]] CURLMcode added() const noexcept { return added_; }

  private:
    CURLM* multi_;
    CURL* easy_;
    CURLMcode added_;
};

}  // namespace llmgw::http
