// A web server for tests that serves one directory on loopback, and does to each answer what a file says:
// nothing, or
//   cut N      ends the connection after N bytes of the body, of the whole or of a part
//   flip       sends the right number of bytes, but wrong ones
//   truncate   says half the size and sends that
//   stall      sends half of it and nothing more
//   missing    404
// It takes parts (Range) and has an ETag. Linked statically, so that it runs on any machine.
//   faulty-mirror PORT DIRECTORY FAULT_FILE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace {

std::string read_all(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string unescaped(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && i + 2 < text.size()) {
            out += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
            i += 2;
        } else {
            out += text[i];
        }
    }
    return out;
}

void send_all(int peer, const std::string& text) {
    for (std::size_t sent = 0; sent < text.size();) {
        const ssize_t wrote = ::send(peer, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
        if (wrote <= 0) std::_Exit(0);
        sent += static_cast<std::size_t>(wrote);
    }
}

// In a process of its own.
void answer(int peer, const std::string& directory, const std::string& fault_file) {
    std::string request;
    char piece[4096];
    while (request.find("\r\n\r\n") == std::string::npos) {
        const ssize_t got = ::recv(peer, piece, sizeof piece, 0);
        if (got <= 0) return;
        request.append(piece, static_cast<std::size_t>(got));
    }
    std::string method, path;
    std::istringstream(request) >> method >> path;
    std::string fault;
    std::size_t bytes = 0;
    std::istringstream(read_all(fault_file)) >> fault >> bytes;
    const std::string name = unescaped(path.substr(path.rfind('/') + 1));
    std::string body = read_all(directory + "/" + name);
    if (body.empty() || fault == "missing") {
        return send_all(peer, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    }
    const std::size_t whole = body.size();
    std::size_t from = 0;
    if (const std::size_t range = request.find("Range: bytes="); range != std::string::npos) {
        from = std::strtoul(request.c_str() + range + 13, nullptr, 10);
    }
    if (from >= whole) {
        return send_all(
            peer, "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    }
    if (fault == "flip") {
        for (char& byte : body) byte = static_cast<char>(byte ^ 1);
    }
    body.erase(0, from);
    if (fault == "truncate") body.resize(body.size() / 2);
    std::string head = from == 0 ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 206 Partial Content\r\n";
    if (from != 0) {
        head += "Content-Range: bytes " + std::to_string(from) + "-" + std::to_string(whole - 1) + "/" +
                std::to_string(whole) + "\r\n";
    }
    head += "Content-Length: " + std::to_string(body.size()) + "\r\nETag: \"" + name + "\"\r\n";
    send_all(peer, head + "Accept-Ranges: bytes\r\nConnection: close\r\n\r\n");
    if (fault == "cut" && bytes < body.size()) body.resize(bytes);
    if (fault == "stall") body.resize(body.size() / 2);
    send_all(peer, body);
    if (fault == "stall") ::recv(peer, piece, sizeof piece, 0);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: faulty-mirror PORT DIRECTORY FAULT_FILE\n");
        return 2;
    }
    std::signal(SIGCHLD, SIG_IGN);
    const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;
    ::setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(argv[1])));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(server, 64) != 0) {
        std::perror("faulty-mirror");
        return 1;
    }
    for (;;) {
        const int peer = ::accept(server, nullptr, nullptr);
        if (peer < 0) continue;
        if (::fork() == 0) {
            answer(peer, argv[2], argv[3]);
            ::_exit(0);
        }
        ::close(peer);
    }
}
