#include <iostream>

#include "ctl/context.hpp"

int main(int argc, char** argv) {
    llmgw::ctl::Context context{std::cin, std::cout, std::cerr};
    return llmgw::ctl::run(argc, argv, context);
}
