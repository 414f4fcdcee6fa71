// A place for a build, with programs of one's own in front of the machine's.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "service/slurm_headers.hpp"
#include "unit/temporary.hpp"

namespace llmgw::test {

class BuildPlace {
  public:
    BuildPlace() {
        // What builds is nobody.
        ::chmod(directory_.path().c_str(), 0755);
        std::filesystem::create_directory(file("bin"));
        tools.search_path = file("bin") + ":" + tools.search_path;
        tools.also = {file("opt/include")};
    }
    [[nodiscard]] std::string file(const std::string& name) const { return directory_.file(name); }
    // A shell script named as a program.
    void program(const std::string& name, const std::string& script) const {
        std::ofstream(file("bin/" + name)) << "#!/bin/sh\n" << script << "\n";
        std::filesystem::permissions(file("bin/" + name), std::filesystem::perms(0755));
    }
    // Slurm's headers with another version, in `directory`/slurm.
    void headers(const std::string& directory, const std::string& number) const {
        std::filesystem::create_directories(file(directory + "/slurm"));
        for (const char* name : {"spank.h", "slurm.h"}) {
            std::ofstream(file(directory + "/slurm/") + name) << "#include <slurm/slurm_version.h>\n";
        }
        version_header(directory, number);
    }
    void version_header(const std::string& directory, const std::string& number) const {
        std::filesystem::create_directories(file(directory + "/slurm"));
        std::ofstream(file(directory + "/slurm/slurm_version.h"))
            << "#define SLURM_VERSION_NUMBER " << number << "\n";
    }

    llmgw::service::BuildTools tools;

  private:
    TemporaryDirectory directory_;
};

}  // namespace llmgw::test
