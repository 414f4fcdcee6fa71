// A machine in a temporary directory: its plugstack, a pyxis and an enroot that only say what they are.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "built_paths.hpp"
#include "service/machine_facts.hpp"
#include "unit/temporary.hpp"

namespace llmgw::test {

class Machine {
  public:
    Machine() {
        // What is inspected is inspected as nobody.
        ::chmod(directory_.path().c_str(), 0755);
        for (const char* name : {"conf", "bin", "lib"}) std::filesystem::create_directory(at(name));
        paths.machine = "n1";
        paths.plugstack = at("conf/plugstack.conf");
        paths.slurm_conf_dir = at("conf");
        paths.enroot = at("bin/enroot");
        paths.slurm_library = "/nonexistent/libslurmfull.so";
        paths.inspector = LLMGW_HELPER_PROGRAM;
        paths.pyxis = at("lib/spank_pyxis.so");
        paths.enroot_conf_dir = at("enroot");
        paths.proof = at("proven");
    }

    [[nodiscard]] std::string at(const std::string& name) const { return directory_.file(name); }
    [[nodiscard]] std::string pyxis() const { return at("lib/spank_pyxis.so"); }

    // Renamed over the old one, as package managers do it.
    void put(const std::string& name, const std::string& text, mode_t mode = 0644) const {
        std::ofstream(at(name + ".new")) << text;
        ::chmod(at(name + ".new").c_str(), mode);
        std::filesystem::rename(at(name + ".new"), at(name));
    }
    void put_enroot(const std::string& version) const {
        put("bin/enroot", "#!/bin/sh\n[ \"$1\" = version ] && echo " + version + "\n", 0755);
    }
    void put_pyxis(const std::string& kind) const {
        std::filesystem::copy_file(FAKE_PLUGINS "/" + kind + "/spank_pyxis.so", pyxis() + ".new");
        std::filesystem::rename(pyxis() + ".new", pyxis());
    }
    void put_plugstack() const {
        put("conf/plugstack.conf",
            "optional /x/spank_llmgw.so\noptional " + pyxis() + "\noptional /x/spank_llmgw.so verify\n");
    }
    // As if a container had just been started.
    void prove() const { EXPECT_TRUE(service::keep_proof(paths).ok()); }
    void put_everything() const {
        put_enroot("4.2.1");
        put_pyxis("good");
        put_plugstack();
        prove();
    }
    static bool has_slurm() { return ::access("/usr/sbin/slurmd", X_OK) == 0; }

    service::MachinePaths paths;

  private:
    TemporaryDirectory directory_;
};

}  // namespace llmgw::test
