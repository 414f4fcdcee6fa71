// The program that the proof's image consists of, as /bin/sh, which enroot starts whatever is to be run. It
// answers one line, in which service/proof.cpp finds that it ran in the container and not on the machine:
//     llmgw-proof TOKEN MARKER DEVICE INODE MOUNTS
// TOKEN is its last argument, MARKER what the image's /llmgw-proof says ("-": no such file), DEVICE and INODE
// are of its root directory, MOUNTS is how many mounts with "nvidia" in their names it has.
//
// Without a C library: nothing of the machine is in the image, and no static libc is needed to build it.

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "enroot is there for amd64 and arm64 only"
#endif

namespace {

using Word = long;

#if defined(__x86_64__)
enum Call : Word {
    call_read = 0,
    call_write = 1,
    call_close = 3,
    call_exit = 231,
    call_openat = 257,
    call_statx = 332
};

Word system_call(Word number, Word a, Word b, Word c, Word d = 0, Word e = 0) {
    Word result = 0;
    register Word r10 asm("r10") = d;
    register Word r8 asm("r8") = e;
    asm volatile("syscall"
                 : "=a"(result)
                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                 : "rcx", "r11", "memory");
    return result;
}

asm(".globl _start\n"
    "_start:\n"
    "    xor %ebp, %ebp\n"
    "    mov %rsp, %rdi\n"
    "    and $-16, %rsp\n"
    "    call llmgw_proof\n");
#else
enum Call : Word {
    call_openat = 56,
    call_close = 57,
    call_read = 63,
    call_write = 64,
    call_exit = 94,
    call_statx = 291
};

Word system_call(Word number, Word a, Word b, Word c, Word d = 0, Word e = 0) {
    register Word x8 asm("x8") = number;
    register Word x0 asm("x0") = a;
    register Word x1 asm("x1") = b;
    register Word x2 asm("x2") = c;
    register Word x3 asm("x3") = d;
    register Word x4 asm("x4") = e;
    asm volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
    return x0;
}

asm(".globl _start\n"
    "_start:\n"
    "    mov x29, xzr\n"
    "    mov x0, sp\n"
    "    bl llmgw_proof\n");
#endif

constexpr int at_current_directory = -100;

Word address(const void* pointer) {
    return reinterpret_cast<Word>(pointer);
}

struct Line {
    char text[512];
    unsigned length = 0;

    void add(char c) {
        // Room for the end of the line.
        if (length < sizeof text - 1) text[length++] = c;
    }
    void add(const char* word) {
        for (; *word != '\0'; ++word) add(*word);
    }
    void add(unsigned long number) {
        char digits[20];
        unsigned count = 0;
        do {
            digits[count++] = static_cast<char>('0' + number % 10);
            number /= 10;
        } while (number > 0);
        while (count > 0) add(digits[--count]);
    }
};

int open_file(const char* path) {
    return static_cast<int>(system_call(call_openat, at_current_directory, address(path), 0, 0));
}

void add_marker(Line& line) {
    const int file = open_file("/llmgw-proof");
    char content[64];
    const Word got = file < 0 ? 0 : system_call(call_read, file, address(content), sizeof content);
    if (got <= 0) return line.add('-');
    for (Word i = 0; i < got && content[i] > ' '; ++i) line.add(content[i]);
}

// Linux's struct statx, as far as it is looked at: the same on every architecture.
struct Status {
    unsigned mask, block_size;
    unsigned long attributes;
    unsigned links, uid, gid;
    unsigned short mode, unused;
    unsigned long inode;
    char sizes_and_times[0x80 - 0x28];
    unsigned special_major, special_minor, major, minor;
    char rest[0x100 - 0x90];
};
static_assert(sizeof(Status) == 0x100);

void add_root(Line& line) {
    constexpr Word everything = 0x7ff;
    Status status{};
    if (system_call(call_statx, at_current_directory, address("/"), 0, everything, address(&status)) < 0) {
        return line.add("- -");
    }
    line.add(static_cast<unsigned long>(status.major));
    line.add(':');
    line.add(static_cast<unsigned long>(status.minor));
    line.add(' ');
    line.add(status.inode);
}

bool begins_with(const char* text, const char* begin) {
    while (*begin != '\0' && *text == *begin) ++text, ++begin;
    return *begin == '\0';
}

bool is_nvidia_s(const char* path) {
    // Of the machine, in every container.
    if (begins_with(path, "/proc/") || begins_with(path, "/sys/") || begins_with(path, "/dev/")) return false;
    for (; *path != '\0'; ++path) {
        if (begins_with(path, "nvidia")) return true;
    }
    return false;
}

// The fifth word of each line is where it is mounted.
unsigned long count_mounts() {
    const int file = open_file("/proc/self/mountinfo");
    if (file < 0) return 0;
    constexpr unsigned place = 4;
    char buffer[4096];
    char path[512];
    unsigned length = 0;
    unsigned word = 0;
    unsigned long count = 0;
    for (;;) {
        const Word got = system_call(call_read, file, address(buffer), sizeof buffer);
        if (got <= 0) return count;
        for (Word i = 0; i < got; ++i) {
            const char c = buffer[i];
            if (c == ' ' || c == '\n') {
                path[length] = '\0';
                if (word == place && is_nvidia_s(path)) ++count;
                length = 0;
                word = c == '\n' ? 0 : word + 1;
            } else if (word == place && length < sizeof path - 1) {
                path[length++] = c;
            }
        }
    }
}

}  // namespace

// With no library there is nobody else to have these, which compilers call by themselves.
extern "C" {

void* memset(void* place, int byte, unsigned long size) {
    for (unsigned long i = 0; i < size; ++i) static_cast<volatile char*>(place)[i] = static_cast<char>(byte);
    return place;
}

[[noreturn]] void llmgw_proof(const Word* stack) {
    const Word count = stack[0];
    const auto* const* arguments = reinterpret_cast<const char* const*>(stack + 1);
    Line line;
    line.add("llmgw-proof ");
    line.add(count > 1 ? arguments[count - 1] : "-");
    line.add(' ');
    add_marker(line);
    line.add(' ');
    add_root(line);
    line.add(' ');
    line.add(count_mounts());
    line.text[line.length++] = '\n';
    const Word written = system_call(call_write, 1, address(line.text), line.length);
    for (;;) system_call(call_exit, written == static_cast<Word>(line.length) ? 0 : 1, 0, 0);
}
}
