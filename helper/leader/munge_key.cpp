#include "leader/munge_key.hpp"

#include "core/base64.hpp"
#include "core/limits.hpp"
#include "posix/file.hpp"
#include "posix/secret.hpp"

namespace llmgw::leader {

Result<std::string> load_munge_key(const std::string& directory) {
    const std::string path = directory + "/munge-key";
    Result<std::string> text = read_secret(path);
    if (!text && text.error().code == Code::missing) {
        const Result<std::string> key = random_bytes(limits::munge_key_bytes);
        if (!key) return key.error();
        text = base64_of(key.value());
        const Result<void> kept = write_file_atomically(path, text.value() + "\n", 0600, Durability::durable);
        if (!kept) return kept.error();
    }
    if (!text) return text;
    const Result<std::string> key = from_base64(text.value());
    if (!key || key.value().size() < limits::munge_key_least_bytes ||
        key.value().size() > limits::munge_key_bytes) {
        return Error{Code::invalid,
                     path +
                         " is no munge key of 32 to 1024 bytes in base64: put the right one there; a new one "
                         "would be made without the file, and keep machines that have the old one apart"};
    }
    return text;
}

}  // namespace llmgw::leader
