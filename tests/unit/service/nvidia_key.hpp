// A throw-away key, in a GnuPG of its own.
#pragma once

#include "crypto/digest.hpp"
#include "crypto/openpgp.hpp"
#include "unit/packages/machine.hpp"

namespace llmgw::service {

class NvidiaKey {
  public:
    explicit NvidiaKey(const std::string& home) : home_(home) {
        std::filesystem::create_directories(home_);
        std::filesystem::permissions(home_, std::filesystem::perms(0700));
        gpg({"--quick-generate-key", "nobody <n@example.org>", "rsa2048", "sign", "never"});
        const std::string file = home_ + "/public.asc";
        gpg({"--armor", "--output", file, "--export"});
        text_ = packages::read(file);
    }
    ~NvidiaKey() { packages::must_run({"/usr/bin/gpgconf", "--homedir", home_, "--kill", "all"}); }
    NvidiaKey(const NvidiaKey&) = delete;
    NvidiaKey& operator=(const NvidiaKey&) = delete;

    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] std::string digest() const { return crypto::sha256_hex(text_).value(); }
    [[nodiscard]] std::string fingerprint() const { return crypto::primary_fingerprint(text_).value(); }

    // The same key with one more user id: other bytes, the same primary.
    [[nodiscard]] std::string renewed() const {
        gpg({"--quick-add-uid", fingerprint(), "another <a@example.org>"});
        const std::string file = home_ + "/renewed.asc";
        gpg({"--armor", "--output", file, "--export"});
        return packages::read(file);
    }

    void clear_sign(const std::string& from, const std::string& to) const {
        gpg({"--output", to, "--clear-sign", from});
    }
    void sign(const std::string& file) const {
        gpg({"--armor", "--output", file + ".asc", "--detach-sign", file});
    }

  private:
    void gpg(std::vector<std::string> words) const {
        std::vector<std::string> all{"/usr/bin/gpg", "--homedir",       home_,      "--batch",      "--yes",
                                     "--quiet",      "--pinentry-mode", "loopback", "--passphrase", ""};
        all.insert(all.end(), words.begin(), words.end());
        packages::must_run(all);
    }

    std::string home_;
    std::string text_;
};

}  // namespace llmgw::service
