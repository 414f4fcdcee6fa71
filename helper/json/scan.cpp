#include "json/scan.hpp"

#include <map>

#include "core/shown.hpp"
#include "json/handle.hpp"

namespace llmgw::json {

namespace {

bool begins_character(char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

// One object or list that is open. In a list, `index` is the entry under way; in an object, `key` is.
struct Level {
    bool is_object = false;
    bool expects_key = false;
    std::size_t index = 0;
    std::string key;
    struct Seen {
        Place place;
        std::optional<std::size_t> repeated;  // which entry of Scan::repeated
    };
    std::map<std::string, Seen> seen;
};

class Scanner {
  public:
    Scanner(std::string_view text, std::size_t most_depth) : text_(text), most_depth_(most_depth) {}

    Scan run();

  private:
    bool open(bool is_object);
    void comma();
    void string();
    void key(std::string decoded, const Place& place);
    void step();
    [[nodiscard]] std::string path() const;

    std::string_view text_;
    std::size_t most_depth_;
    std::size_t at_ = 0;
    Place place_;
    std::vector<Level> levels_;
    Scan result_;
};

// What a key says once its escapes are decoded, by the reader whose opinion counts.
std::string decoded(std::string_view literal) {
    const std::string_view inner = literal.substr(1, literal.size() - 2);
    if (inner.find('\\') == std::string_view::npos) return std::string(inner);
    const Handle value(json_loadb(literal.data(), literal.size(), JSON_DECODE_ANY, nullptr));
    if (!value) return std::string(inner);  // not in a text that jansson has read, save without memory
    return {json_string_value(value.get()), json_string_length(value.get())};
}

Scan Scanner::run() {
    while (at_ < text_.size()) {
        switch (text_[at_]) {
            case '"':
                string();
                continue;
            case '{':
            case '[':
                if (!open(text_[at_] == '{')) return std::move(result_);
                break;
            case '}':
            case ']':
                if (!levels_.empty()) levels_.pop_back();
                break;
            case ',':
                comma();
                break;
            default:
                break;
        }
        step();
    }
    return std::move(result_);
}

void Scanner::step() {
    ++at_;
    if (text_[at_ - 1] == '\n') {
        place_ = {place_.line + 1, 1};
    } else if (at_ >= text_.size() || begins_character(text_[at_])) {
        ++place_.column;
    }
}

bool Scanner::open(bool is_object) {
    if (levels_.size() == most_depth_) {
        result_.too_deep = place_;
        return false;
    }
    Level level;
    level.is_object = is_object;
    level.expects_key = is_object;
    levels_.push_back(std::move(level));
    return true;
}

void Scanner::comma() {
    if (levels_.empty()) return;
    Level& level = levels_.back();
    ++level.index;
    level.expects_key = level.is_object;
}

void Scanner::string() {
    const std::size_t begin = at_;
    const Place place = place_;
    step();
    while (at_ < text_.size() && text_[at_] != '"') {
        if (text_[at_] == '\\') step();
        step();
    }
    step();
    if (levels_.empty() || !levels_.back().expects_key) return;
    levels_.back().expects_key = false;
    key(decoded(text_.substr(begin, at_ - begin)), place);
}

void Scanner::key(std::string decoded_key, const Place& place) {
    Level& level = levels_.back();
    level.key = std::move(decoded_key);
    const auto [known, is_new] = level.seen.try_emplace(level.key, Level::Seen{place, std::nullopt});
    if (is_new) return;
    Level::Seen& seen = known->second;
    if (!seen.repeated) {
        seen.repeated = result_.repeated.size();
        result_.repeated.push_back({path(), seen.place, place, 2});
        return;
    }
    Repeated& repeated = result_.repeated[*seen.repeated];
    repeated.last = place;
    ++repeated.times;
}

std::string Scanner::path() const {
    std::string path;
    for (const Level& level : levels_) {
        if (level.is_object) {
            if (!path.empty()) path += '.';
            path += printable(level.key);
        } else {
            path += '[' + std::to_string(level.index) + ']';
        }
    }
    return path;
}

}  // namespace

Place place_of(std::string_view text, std::size_t at) {
    Place place;
    for (std::size_t index = 0; index < at && index < text.size(); ++index) {
        if (text[index] == '\n') {
            place = {place.line + 1, 1};
        } else if (index + 1 >= text.size() || begins_character(text[index + 1])) {
            ++place.column;
        }
    }
    return place;
}

Scan scan(std::string_view text, std::size_t most_depth) {
    return Scanner(text, most_depth).run();
}

}  // namespace llmgw::json
