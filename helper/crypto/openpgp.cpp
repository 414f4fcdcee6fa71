#include "crypto/openpgp.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/limits.hpp"
#include "crypto/digest.hpp"

namespace llmgw::crypto {
namespace {

constexpr std::string_view armor_begin = "-----BEGIN PGP PUBLIC KEY BLOCK-----";
constexpr std::string_view armor_end = "-----END PGP PUBLIC KEY BLOCK-----";

Error wrong(const std::string& why) {
    return {Code::invalid, "not one whole OpenPGP public key: " + why};
}

constexpr unsigned byte_at(std::string_view bytes, std::size_t at) {
    return static_cast<unsigned char>(bytes[at]);
}

// Takes the next line off `text`, without its end and the blanks before that.
std::string_view take_line(std::string_view& text) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    while (line.ends_with('\r') || line.ends_with(' ') || line.ends_with('\t')) line.remove_suffix(1);
    return line;
}

std::optional<unsigned> base64_digit(char c) {
    if (c >= 'A' && c <= 'Z') return static_cast<unsigned>(c - 'A');
    if (c >= 'a' && c <= 'z') return static_cast<unsigned>(c - 'a') + 26;
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0') + 52;
    if (c == '+') return 62U;
    if (c == '/') return 63U;
    return std::nullopt;
}

// Canonical base64 only: whole groups, padding at the end, no bits left over.
std::optional<std::string> base64_decoded(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    std::string bytes;
    for (std::size_t at = 0; at < text.size(); at += 4) {
        const bool last = at + 4 == text.size();
        std::size_t padding = 0;
        if (last && text.ends_with("==")) {
            padding = 2;
        } else if (last && text.ends_with('=')) {
            padding = 1;
        }
        std::uint32_t group = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            const auto digit = i >= 4 - padding ? 0U : base64_digit(text[at + i]);
            if (!digit) return std::nullopt;
            group = group << 6U | *digit;
        }
        if ((group & ((1U << (8 * padding)) - 1)) != 0) return std::nullopt;
        for (std::size_t i = 0; i < 3 - padding; ++i)
            bytes += static_cast<char>(group >> (16 - 8 * i) & 0xFFU);
    }
    return bytes;
}

// RFC 4880, 6.1.
std::string crc24(std::string_view bytes) {
    std::uint32_t crc = 0xB704CE;
    for (const char c : bytes) {
        crc ^= static_cast<std::uint32_t>(static_cast<unsigned char>(c)) << 16U;
        for (int bit = 0; bit < 8; ++bit) {
            crc <<= 1U;
            if ((crc & 0x1000000U) != 0) crc ^= 0x1864CFBU;
        }
    }
    return {static_cast<char>(crc >> 16U & 0xFFU), static_cast<char>(crc >> 8U & 0xFFU),
            static_cast<char>(crc & 0xFFU)};
}

struct Packet {
    unsigned tag = 0;
    std::string_view body;
};

// How long a packet's body is, and how many bytes say so (RFC 4880, 4.2). Nothing for lengths that only
// streams have, and for those that are cut off.
struct Length {
    std::size_t bytes = 0;
    std::size_t value = 0;
};

std::optional<Length> big_endian(std::string_view rest, std::size_t skip, std::size_t bytes) {
    if (rest.size() < skip + bytes) return std::nullopt;
    std::size_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value = value << 8U | byte_at(rest, skip + i);
    return Length{skip + bytes, value};
}

std::optional<Length> new_length(std::string_view rest) {
    if (rest.empty()) return std::nullopt;
    const unsigned first = byte_at(rest, 0);
    if (first < 192) return Length{1, first};
    if (first == 255) return big_endian(rest, 1, 4);
    if (first >= 224 || rest.size() < 2) return std::nullopt;
    return Length{2, ((first - 192U) << 8U) + byte_at(rest, 1) + 192U};
}

Result<Packet> take_packet(std::string_view& rest) {
    const unsigned head = byte_at(rest, 0);
    if ((head & 0x80U) == 0) return wrong("it has bytes that are no OpenPGP packet");
    const bool new_format = (head & 0x40U) != 0;
    const unsigned kind = head & 3U;
    const std::string_view behind = rest.substr(1);
    std::optional<Length> length;
    if (new_format) {
        length = new_length(behind);
    } else if (kind != 3) {
        length = big_endian(behind, 0, std::size_t{1} << kind);
    }
    if (!length || length->value > behind.size() - length->bytes) return wrong("it is cut off");
    const Packet packet{new_format ? head & 0x3FU : head >> 2U & 0xFU,
                        behind.substr(length->bytes, length->value)};
    rest = behind.substr(length->bytes + length->value);
    return packet;
}

enum Tag : unsigned {
    signature = 2,
    secret_key = 5,
    public_key = 6,
    secret_subkey = 7,
    marker = 10,
    trust = 12,
    user_id = 13,
    public_subkey = 14,
    user_attribute = 17,
    padding = 21,
};

bool belongs_to_a_key(unsigned tag) {
    return tag == signature || tag == marker || tag == trust || tag == user_id || tag == public_subkey ||
           tag == user_attribute || tag == padding;
}

// RFC 4880, 12.2.
Result<std::string> fingerprint_of(std::string_view body) {
    // Version, four bytes of time, the algorithm, and at least one number with its length.
    constexpr std::size_t least = 1 + 4 + 1 + 3;
    if (body.size() < least || body.size() > 0xFFFF) return wrong("its primary key has no key in it");
    if (byte_at(body, 0) != 4) {
        return wrong("its primary key is of version " + std::to_string(byte_at(body, 0)) +
                     ", and only version 4 is known here");
    }
    std::string text{'\x99', static_cast<char>(body.size() >> 8U), static_cast<char>(body.size() & 0xFFU)};
    text += body;
    return sha1_hex_upper(text);
}

}  // namespace

Result<std::string> dearmored(std::string_view text) {
    if (text.size() > limits::openpgp_key_bytes) {
        return Error{Code::too_large, "not an OpenPGP public key: more than " +
                                          std::to_string(limits::openpgp_key_bytes) + " bytes"};
    }
    std::string_view line;
    while (line.empty() && !text.empty()) line = take_line(text);
    if (line != armor_begin) return wrong("it doesn't begin with " + std::string(armor_begin));
    // Headers, such as "Version: ...", up to an empty line.
    do {
        if (text.empty()) return wrong("it is cut off");
        line = take_line(text);
        if (!line.empty() && line.find(": ") == std::string_view::npos && !line.ends_with(':'))
            return wrong("an empty line is missing above its data");
    } while (!line.empty());
    std::string data;
    std::string checksum;
    for (;;) {
        if (text.empty()) return wrong("it is cut off");
        line = take_line(text);
        if (line == armor_end) break;
        if (!checksum.empty()) return wrong("something comes after its checksum");
        if (line.starts_with('=') && line.size() == 5) {
            checksum = line.substr(1);
        } else {
            data += line;
        }
    }
    if (text.find_first_not_of(" \t\r\n") != std::string_view::npos) return wrong("something comes after it");
    const std::optional<std::string> bytes = base64_decoded(data);
    if (!bytes || bytes->empty()) return wrong("a line of it is no base64");
    if (!checksum.empty() && base64_decoded(checksum) != crc24(*bytes))
        return wrong("its checksum doesn't fit: was it cut or changed on its way?");
    return *bytes;
}

Result<std::string> primary_fingerprint(std::string_view armored_or_binary) {
    if (armored_or_binary.size() > limits::openpgp_key_bytes) {
        return Error{Code::too_large, "not an OpenPGP public key: more than " +
                                          std::to_string(limits::openpgp_key_bytes) + " bytes"};
    }
    if (armored_or_binary.empty()) return wrong("it is empty");
    std::string bytes(armored_or_binary);
    if ((byte_at(armored_or_binary, 0) & 0x80U) == 0) {
        Result<std::string> plain = dearmored(armored_or_binary);
        if (!plain) return plain.error();
        bytes = std::move(plain).value();
    }
    std::string_view rest = bytes;
    std::optional<std::string_view> primary;
    while (!rest.empty()) {
        const Result<Packet> packet = take_packet(rest);
        if (!packet) return packet.error();
        const unsigned tag = packet.value().tag;
        if (tag == secret_key || tag == secret_subkey) return wrong("it has a secret key in it");
        if (tag == public_key && primary) return wrong("it has more than one primary key");
        if (tag == public_key) {
            primary = packet.value().body;
        } else if (!primary || !belongs_to_a_key(tag)) {
            return wrong("it has an OpenPGP packet (tag " + std::to_string(tag) +
                         ") that is none of a key's");
        }
    }
    return fingerprint_of(*primary);
}

}  // namespace llmgw::crypto
