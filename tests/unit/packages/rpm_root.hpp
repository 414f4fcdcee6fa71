// A root of rpm and dnf of its own, which this machine's knows nothing of, packages for it, and a repository.
#pragma once

#include "packages/platform.hpp"
#include "packages/rpm.hpp"
#include "unit/packages/machine.hpp"

namespace llmgw::packages {

struct Rpm {
    std::string name;
    std::string version = "1.0";
    std::string needs = {};
    std::string source = {};  // the source package's name, where it is another
    std::string release = "1";
    bool program = false;  // brings /usr/bin/NAME, which says its version
};

class RpmRoot : public ::testing::Test {
  protected:
    void SetUp() override {
        NEEDS_ROOT();
        NEEDS_PROGRAMS("/usr/bin/rpmbuild", "/usr/bin/createrepo_c");
        if (!find_dnf()) GTEST_SKIP() << find_dnf().error().message;
        std::filesystem::create_directories(repository_);
        for (const char* directory :
             {"/usr/share", "/etc/dnf/plugins", "/etc/dnf/modules.d", "/etc/pki/rpm-gpg"}) {
            std::filesystem::create_directories(root_ + directory);
        }
        write(root_ + "/etc/yum.repos.d/site.repo",
              "[site]\nname=site\nbaseurl=file://" + repository_ + "\nenabled=1\ngpgcheck=0\n");
        // The plugin may be on this machine; it isn't in the root unless a test says so.
        write(root_ + "/etc/dnf/plugins/versionlock.conf", "[main]\nenabled = 0\n");
        offer({});
    }

    std::string rpm(const Rpm& rpm) {
        const std::string source = rpm.source.empty() ? rpm.name : rpm.source;
        const bool other = source != rpm.name;
        const std::string spec = place_.file(source + ".spec");
        const std::string needs = rpm.needs.empty() ? "" : "Requires: " + rpm.needs + "\n";
        write(spec, "Name: " + source + "\nVersion: " + rpm.version + "\nRelease: " + rpm.release +
                        "\nSummary: for a test\nLicense: none\nBuildArch: noarch\nAutoReqProv: no\n" + (other ? "" : needs) +
                        "%description\nfor a test\n" +
                        (other ? "%package -n " + rpm.name + "\nSummary: for a test\n" + needs +
                                     "%description -n " + rpm.name + "\nfor a test\n"
                               : "") +
                        "%install\nmkdir -p %{buildroot}/usr/share/" + rpm.name + " %{buildroot}/etc\necho " +
                        rpm.version + " >%{buildroot}/usr/share/" + rpm.name + "/version\necho setting " +
                        rpm.version + " >%{buildroot}/etc/" + rpm.name + ".conf\n" +
                        (rpm.program ? "mkdir -p %{buildroot}/usr/bin\nprintf '#!/bin/sh\\necho " +
                                           rpm.version + "\\n' >%{buildroot}/usr/bin/" + rpm.name +
                                           "\nchmod 755 %{buildroot}/usr/bin/" + rpm.name + "\n"
                                     : "") +
                        "%files" + (other ? " -n " + rpm.name : "") + "\n/usr/share/" + rpm.name +
                        (rpm.program ? "\n/usr/bin/" + rpm.name : "") + "\n%config(noreplace) /etc/" +
                        rpm.name + ".conf\n");
        const std::string built = place_.file("built");
        must_run({"/usr/bin/rpmbuild", "-bb", "--define", "_topdir " + place_.file("rpmbuild"), "--define",
                  "_rpmdir " + built, "--define", "_dbpath " + place_.file("rpmdb"), "--define",
                  "_build_id_links none", spec});
        return built + "/noarch/" + rpm.name + "-" + rpm.version + "-" + rpm.release + ".noarch.rpm";
    }

    void offer(const std::vector<std::string>& files) {
        for (const auto& old : std::filesystem::directory_iterator(repository_))
            std::filesystem::remove_all(old);
        for (const std::string& file : files) {
            std::filesystem::copy_file(
                file, repository_ + "/" + std::string(std::filesystem::path(file).filename()));
        }
        must_run({"/usr/bin/createrepo_c", "-q", repository_});
    }

    void with_versionlock_plugin() {
        if (find_dnf().value().five) return;  // has it built in, and would look for a library
        const std::string plugins = root_ + "/etc/dnf/plugins/";
        write(plugins + "versionlock.conf",
              "[main]\nenabled = 1\nlocklist = " + plugins + "versionlock.list\n");
        write(plugins + "versionlock.list", "");
    }

    RpmManager manager(std::chrono::seconds patience = std::chrono::seconds(60)) {
        return RpmManager(runner_, {root_, patience}, find_dnf().value(),
                          std::string(rpm_name(platform_of_this_machine().value().architecture)));
    }
    std::map<std::string, std::string> versions() { return manager().installed().value().versions; }
    std::string tree() { return listing(root_ + "/usr/share") + listing(root_ + "/etc"); }

    test::TemporaryDirectory place_;
    const std::string root_ = place_.file("root");
    const std::string repository_ = place_.file("repository");
    ChildRunner runner_;
    Watched watched_;
    const std::stop_token never_;
};

}  // namespace llmgw::packages
