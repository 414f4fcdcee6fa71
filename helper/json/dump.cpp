#include "json/dump.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

#include "core/utf8.hpp"

namespace llmgw::json {

namespace {

class Writer {
  public:
    Writer(Layout layout, Order order) : layout_(layout), order_(order) {}

    void value(const Value& value, std::size_t level);
    std::string finish();

  private:
    void text(std::string_view text);
    void character(std::string_view text, const Character& character);
    void real(double number);
    void array(const Value::Array& entries, std::size_t level);
    void object(const Value::Object& members, std::size_t level);
    void line(std::size_t level);

    Layout layout_;
    Order order_;
    std::string out_;
};

void Writer::value(const Value& value, std::size_t level) {
    switch (value.kind()) {
        case Value::Kind::null:
            out_ += "null";
            return;
        case Value::Kind::boolean:
            out_ += *value.boolean() ? "true" : "false";
            return;
        case Value::Kind::integer:
            out_ += std::to_string(*value.integer());
            return;
        case Value::Kind::real:
            return real(*value.real());
        case Value::Kind::text:
            return text(*value.text());
        case Value::Kind::array:
            return array(*value.array(), level);
        case Value::Kind::object:
            return object(*value.object(), level);
    }
}

// The shortest digits that read back as the same number, whatever the locale; never looking like an integer.
void Writer::real(double number) {
    if (!std::isfinite(number)) {
        out_ += "null";
        return;
    }
    std::array<char, 32> digits{};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    const std::string_view written(digits.data(), static_cast<std::size_t>(end - digits.data()));
    out_ += written;
    if (written.find_first_of(".e") == std::string_view::npos) out_ += ".0";
}

void Writer::text(std::string_view text) {
    out_ += '"';
    while (!text.empty()) {
        const Character next = first_character(text);
        character(text.substr(0, next.bytes), next);
        text.remove_prefix(next.bytes);
    }
    out_ += '"';
}

void Writer::character(std::string_view bytes, const Character& character) {
    constexpr std::string_view hex = "0123456789abcdef";
    if (!character.valid) {
        out_ += "\xEF\xBF\xBD";
    } else if (character.code == '"' || character.code == '\\') {
        out_.append("\\").append(bytes);
    } else if (character.code == '\n') {
        out_ += "\\n";
    } else if (character.code == '\t') {
        out_ += "\\t";
    } else if (character.code < 0x20 || character.code == 0x7F) {
        out_ += "\\u00";
        out_ += hex[character.code >> 4U];
        out_ += hex[character.code & 0xFU];
    } else {
        out_ += bytes;
    }
}

void Writer::array(const Value::Array& entries, std::size_t level) {
    if (entries.empty()) {
        out_ += "[]";
        return;
    }
    out_ += '[';
    for (std::size_t index = 0; index < entries.size(); ++index) {
        if (index > 0) out_ += ',';
        line(level + 1);
        value(entries[index], level + 1);
    }
    line(level);
    out_ += ']';
}

void Writer::object(const Value::Object& members, std::size_t level) {
    if (members.empty()) {
        out_ += "{}";
        return;
    }
    std::vector<const Value::Member*> ordered;
    ordered.reserve(members.size());
    for (const Value::Member& member : members) ordered.push_back(&member);
    if (order_ == Order::sorted) {
        std::sort(ordered.begin(), ordered.end(),
                  [](const auto* left, const auto* right) { return left->first < right->first; });
    }
    out_ += '{';
    for (std::size_t index = 0; index < ordered.size(); ++index) {
        if (index > 0) out_ += ',';
        line(level + 1);
        text(ordered[index]->first);
        out_ += layout_ == Layout::compact ? ":" : ": ";
        value(ordered[index]->second, level + 1);
    }
    line(level);
    out_ += '}';
}

void Writer::line(std::size_t level) {
    if (layout_ == Layout::compact) return;
    out_ += '\n';
    out_.append(2 * level, ' ');
}

std::string Writer::finish() {
    if (layout_ == Layout::indented) out_ += '\n';
    return std::move(out_);
}

}  // namespace

std::string dump(const Value& value, Layout layout, Order order) {
    Writer writer(layout, order);
    writer.value(value, 0);
    return writer.finish();
}

}  // namespace llmgw::json
