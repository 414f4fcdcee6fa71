#include <unistd.h>

#include <iostream>

#include "ctl/context.hpp"

int main(int argc, char** argv) {
    llmgw::ctl::Context context{std::cin, std::cout, std::cerr};
    context.terminal = ::isatty(STDOUT_FILENO) == 1;
    return llmgw::ctl::run(argc, argv, context);
}
