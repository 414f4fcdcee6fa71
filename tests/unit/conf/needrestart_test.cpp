// conf/needrestart.conf, evaluated as needrestart does it: by perl, after its own defaults.
#include "unit/packages/machine.hpp"

namespace {

using llmgw::packages::must_run;

// needrestart asks each pattern in turn and takes the first that fits; what none fits is restarted.
constexpr const char* program = R"(
our %nrconf = (override_rc => {qr(^gdm) => 0});
my $file = shift;
eval do { local (@ARGV, $/) = $file; <> };
die "Error parsing $file: $@" if ($@);
foreach my $rc (@ARGV) {
    my $restart = 1;
    foreach my $re (keys %{$nrconf{override_rc}}) {
        next unless ($rc =~ /$re/);
        $restart = $nrconf{override_rc}->{$re};
        last;
    }
    print "$rc $restart\n";
}
)";

TEST(Needrestart, LeavesSlurmAndWhatItStandsOn) {
    const std::string file = std::string(LLMGW_SOURCE_DIR) + "/conf/needrestart.conf";
    EXPECT_EQ(must_run({"/usr/bin/perl", "-w", "-e", program, file, "slurmd.service", "slurmd@n1.service",
                        "slurmctld.service", "munge.service", "dbus.service", "dbus-broker.service",
                        "llmgw-slurm-helper.service", "llmgw-slurm-leader.service"}),
              "slurmd.service 0\nslurmd@n1.service 0\nslurmctld.service 0\nmunge.service 0\ndbus.service 0\n"
              "dbus-broker.service 0\nllmgw-slurm-helper.service 0\nllmgw-slurm-leader.service 0\n");
    EXPECT_EQ(must_run({"/usr/bin/perl", "-w", "-e", program, file, "ssh.service", "slurmdx.service"}),
              "ssh.service 1\nslurmdx.service 1\n");
}

}  // namespace
