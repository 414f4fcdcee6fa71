#include "packages/failure.hpp"

namespace llmgw::packages {

Error error_of(const Failure& failure, const std::string& what) {
    const std::string said = what + ": " + failure.reason;
    switch (failure.trouble) {
        case Trouble::locked:
            return {Code::timeout, said + "; try again when it is done"};
        case Trouble::index:
            return {Code::missing,
                    said + "; see that this machine's package sources have it and can be reached"};
        case Trouble::damaged:
            return {Code::invalid, said + "; the package file must be fetched again"};
        case Trouble::conflict:
            return {Code::conflict,
                    said + "; nothing was changed, and what is in the way is yours to decide about"};
        case Trouble::space:
            return {Code::internal, said + "; make room and try again"};
        case Trouble::network:
            return {Code::unavailable, said};
        case Trouble::other:
            break;
    }
    return {Code::internal, said};
}

}  // namespace llmgw::packages
