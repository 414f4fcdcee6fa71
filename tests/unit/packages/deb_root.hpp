// A root of dpkg and apt of its own, which this machine's knows nothing of, and packages for it.
#pragma once

#include "crypto/digest.hpp"
#include "packages/deb.hpp"
#include "packages/platform.hpp"
#include "unit/packages/machine.hpp"

namespace llmgw::packages {

struct Deb {
    std::string name;
    std::string version = "1.0-1";
    std::string fields = {};    // more lines of the control file: "Depends: foo\n"
    std::string conffile = {};  // the text of /etc/NAME.conf
    std::string postinst = {};  // a shell script's lines; dpkg is its parent
    std::string architecture = "all";
    std::size_t bytes = 0;  // more content
};

inline std::string build_deb(const std::string& directory, const Deb& deb) {
    const std::string tree = directory + "/tree";
    std::filesystem::remove_all(tree);
    write(tree + "/DEBIAN/control",
          "Package: " + deb.name + "\nVersion: " + deb.version + "\nArchitecture: " + deb.architecture +
              "\nMaintainer: nobody <n@example.org>\n" + deb.fields + "Description: for a test\n");
    write(tree + "/usr/share/" + deb.name + "/version", deb.version + "\n");
    if (deb.bytes > 0) {
        std::string noise;  // of a kind that doesn't compress
        unsigned state = 1;
        while (noise.size() < deb.bytes)
            noise += static_cast<char>((state = state * 1664525U + 1013904223U) >> 24U);
        write(tree + "/usr/share/" + deb.name + "/content", noise);
    }
    if (!deb.conffile.empty()) {
        write(tree + "/etc/" + deb.name + ".conf", deb.conffile);
        write(tree + "/DEBIAN/conffiles", "/etc/" + deb.name + ".conf\n");
    }
    if (!deb.postinst.empty()) write(tree + "/DEBIAN/postinst", "#!/bin/sh\n" + deb.postinst, 0755);
    const std::string file = directory + "/" + deb.name + "_" + deb.version + "_" + deb.architecture + ".deb";
    must_run({"/usr/bin/dpkg-deb", "--build", "--root-owner-group", tree, file});
    std::filesystem::remove_all(tree);
    return file;
}

class DebRoot : public ::testing::Test {
  protected:
    void SetUp() override {
        NEEDS_ROOT();
        NEEDS_PROGRAMS("/usr/bin/apt-get", "/usr/bin/dpkg-deb", "/bin/busybox");
        // apt reads as a user of its own.
        std::filesystem::permissions(place_.path(), std::filesystem::perms(0755));
        for (const char* directory : {"/var/lib/dpkg/info", "/var/lib/dpkg/updates", "/var/lib/dpkg/triggers",
                                      "/var/lib/apt/lists/partial", "/var/cache/apt/archives/partial",
                                      "/var/log/apt", "/etc/apt/sources.list.d", "/etc/apt/preferences.d",
                                      "/etc/apt/keyrings", "/bin", "/tmp", "/usr", "/etc/apt/apt.conf.d"}) {
            std::filesystem::create_directories(root_ + directory);
        }
        write(root_ + "/var/lib/dpkg/status", "");
        write(root_ + "/etc/apt/sources.list", "");
        // Nothing here must outlive a power failure.
        write(root_ + "/etc/apt/apt.conf", "Dir::Etc::parts \"" + root_ + "/etc/apt/apt.conf.d\";\n" +
                                               "Dpkg::Options {\"--force-unsafe-io\";};\n");
        // dpkg runs the packages' scripts in the root.
        std::filesystem::copy_file("/bin/busybox", root_ + "/bin/busybox");
        std::filesystem::create_symlink("busybox", root_ + "/bin/sh");
        std::filesystem::create_directories(packages_);
    }

    std::string deb(const Deb& deb) { return build_deb(packages_, deb); }

    // A repository of what `deb` built, and a source for it.
    void offer(const std::vector<std::string>& files) {
        const std::string place = place_.file("repository");
        std::filesystem::remove_all(place);
        std::string index;
        for (const std::string& file : files) {
            const std::string name = std::filesystem::path(file).filename();
            std::filesystem::create_directories(place);
            std::filesystem::copy_file(file, place + "/" + name);
            index += must_run({"/usr/bin/dpkg-deb", "--field", file}) + "Filename: ./" + name +
                     "\nSize: " + std::to_string(std::filesystem::file_size(file)) +
                     "\nSHA256: " + crypto::sha256_hex(read(file)).value() + "\n\n";
        }
        write(place + "/Packages", index);
        write(root_ + "/etc/apt/sources.list", "deb [trusted=yes] file:" + place + " ./\n");
    }

    DebManager manager(std::chrono::seconds patience = std::chrono::seconds(60)) {
        return DebManager(runner_, {root_, patience}, std::string(dpkg_name(this_machine().architecture)));
    }
    static Platform this_machine() { return platform_of_this_machine().value(); }

    std::string version_of(const std::string& name) {
        const Result<Installed> installed = manager().installed();
        const auto found = installed.value().versions.find(name);
        return found == installed.value().versions.end() ? "" : found->second;
    }
    std::string database() { return read(root_ + "/var/lib/dpkg/status") + listing(root_ + "/usr"); }

    test::TemporaryDirectory place_;
    const std::string root_ = place_.file("root");
    const std::string packages_ = place_.file("packages");
    ChildRunner runner_;
    Watched watched_;
    const std::stop_token never_;
};

}  // namespace llmgw::packages
