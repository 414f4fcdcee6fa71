// Every limit of the suite, each with its reason. Tested at the limit and one past it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace llmgw::limits {

// State files that plugins read inside Slurm's daemons: far more than either file ever has, little enough to
// read under slurmctld's locks.
inline constexpr std::size_t state_file_bytes = 64 * 1024;
// A message for users is one line in a terminal; slurmctld keeps it in memory per refused job.
inline constexpr std::size_t message_bytes = 1024;
// What is read of a batch script in slurmctld: directives and first commands come early, and the time under
// its locks must not grow with what a user sends.
inline constexpr std::size_t script_scan_bytes = 128 * 1024;
// Entries looked at in a job's environment: Slurm itself caps what it forwards in bytes, not in entries.
inline constexpr std::size_t environment_entries = 65536;
// Names of machines, clusters and partitions (DNS labels have the same limit).
inline constexpr std::size_t name_bytes = 63;
// A login: what useradd and utmp allow.
inline constexpr std::size_t login_bytes = 32;
// A path of the shared file system: the longest that NFS's mount protocol carries (MNTPATHLEN, RFC 1813).
inline constexpr std::size_t shared_path_bytes = 1024;
// The host of an NFS source: a DNS name has at most 253, a bracketed address with its zone fewer.
inline constexpr std::size_t nfs_host_bytes = 253;
// Somebody else's text inside a message: a whole name of the longest kind, and most paths.
inline constexpr std::size_t shown_bytes = 100;
// A settings document: 1,000 nodes by name are about 70 KB.
inline constexpr std::size_t settings_bytes = 1024 * 1024;
// The ledger of what was done to a machine: some files of a few KB each, with what was in their place.
inline constexpr std::size_t ledger_bytes = 4 * 1024 * 1024;
// Nesting of a JSON document: settings have three levels.
inline constexpr std::size_t json_depth = 16;
// Machines the leader keeps reports of.
inline constexpr std::size_t machines = 20000;
// One report: two pages of text, with everything in it that may be.
inline constexpr std::size_t report_bytes = 32 * 1024;
// An answer of the leader: 20,000 reports at up to 1 KB.
inline constexpr std::size_t answer_bytes = 32 * 1024 * 1024;
// Output kept of a program that the helper runs; the rest is dropped.
inline constexpr std::size_t program_output_bytes = 64 * 1024;
// How long a program that only reports its version may take.
inline constexpr std::chrono::seconds program_deadline{10};
// One line of a task's output: more than a compiler's longest message. A longer one comes in pieces.
inline constexpr std::size_t task_line_bytes = 4096;
// How often a task's output is looked at: its file can't be waited for, and people watch progress.
inline constexpr std::chrono::milliseconds task_look_every{100};
// Between SIGTERM and SIGKILL for a task past its deadline, and for what it left running: time for dpkg to
// put its status in order.
inline constexpr std::chrono::seconds task_stop{10};
// How long systemd may take for one answer: it reloads, and re-executes itself while it is upgraded.
inline constexpr std::chrono::seconds systemd_answer{60};
// How often systemd is asked whether a unit still runs when it said nothing: signals can be lost.
inline constexpr std::chrono::seconds systemd_look_every{2};
// What is quoted of a failed program's output: its reason, and a little around it.
inline constexpr std::size_t last_words_bytes = 400;
// pyxis: its source's archive has 200 KB, its library 100 KB.
inline constexpr std::size_t source_archive_bytes = 16 * 1024 * 1024;
inline constexpr std::size_t built_library_bytes = 16 * 1024 * 1024;
// Unpacking it: a second, on a busy machine a few.
inline constexpr std::chrono::seconds unpack_deadline{120};
// What its build may take, for each process and in all: a C compiler at -O2 takes some 100 MB.
inline constexpr std::size_t build_memory_bytes = std::size_t{2} * 1024 * 1024 * 1024;
// The program in the proof's container has 10 KB, with debugging information 30.
inline constexpr std::size_t proof_program_bytes = 1024 * 1024;
// A machine sends its report at least this often, and is called silent after three times that.
inline constexpr std::chrono::seconds report_every{30};
inline constexpr std::chrono::seconds report_silent_after{90};
// The longest a long poll may be held open.
inline constexpr std::chrono::seconds long_poll{60};
// plugstack.conf: includes in includes, and lines in all.
inline constexpr std::size_t plugstack_depth = 8;
inline constexpr std::size_t plugstack_lines = 4096;

// HTTP. A request's line and headers: ours have some 300 bytes, tokens included; it is what each open
// connection costs.
inline constexpr std::size_t http_head_bytes = 16 * 1024;
// An answer's headers, all of them together, and the longest URL that is sent.
inline constexpr std::size_t http_answer_head_bytes = 64 * 1024;
inline constexpr std::size_t http_url_bytes = 8 * 1024;
// How much of a refused body is read and dropped, so that the client gets to see the refusal.
inline constexpr std::size_t http_dropped_bytes = 256 * 1024;
// Open connections: of each machine a long poll for settings and one for its lease, and the odd report
// beside them.
inline constexpr unsigned http_connections = 65536;
// Threads that answer; those who wait for news hold none.
inline constexpr unsigned http_threads = 4;
// A client that sends or takes nothing for this long is let go, and no request may take longer to arrive.
inline constexpr std::chrono::seconds http_idle{30};
// How long a stopping server lets its last answers leave.
inline constexpr std::chrono::seconds http_farewell{3};
// Entries of what a report says about versions, and bytes of a version or boot id.
inline constexpr std::size_t report_versions = 32;
inline constexpr std::size_t report_word_bytes = 128;

// An OpenPGP public key: NVIDIA's has 3 KB, one with many signatures some tens.
inline constexpr std::size_t openpgp_key_bytes = 256 * 1024;
// A pinned file: NVIDIA's packages and sources have under 1 MB. It bounds what a server can make us write.
inline constexpr std::size_t download_bytes = std::size_t{512} * 1024 * 1024;
// What a download leaves free on its file system: logs and package databases must still be written.
inline constexpr std::size_t download_margin_bytes = 64 * 1024 * 1024;
// Files that are fetched at the same time: more only compete for the same line.
inline constexpr std::size_t downloads_at_once = 4;
// Redirects in a row: a release's download has one or two.
inline constexpr int redirects = 5;
// The longest Retry-After that is waited for; beyond it the server's wish is told instead.
inline constexpr std::chrono::seconds retry_after{300};
// The name of a pinned file: what file systems take (255), less what is put behind it in the cache.
inline constexpr std::size_t file_name_bytes = 200;

// How often a held lock of the package manager is looked at: people watch, and a look costs some
// microseconds.
inline constexpr std::chrono::milliseconds package_lock_look_every{500};
// What is read of a package manager's list of all packages: some 60 bytes each, 4,000 on a large machine.
inline constexpr std::size_t package_list_bytes = 16 * 1024 * 1024;
// How long a question to the package manager's database may take: seconds on a slow disk.
inline constexpr std::chrono::seconds package_query_deadline{120};
// A file that names package repositories: distributions' own have some KB.
inline constexpr std::size_t package_source_bytes = 1024 * 1024;

// What must be free where containers, and layers while an image is put together, are kept: a small image.
// With less, the first one would fail half-way. And for a container's few files in /run.
inline constexpr std::uint64_t container_space_bytes = 1024ULL * 1024 * 1024;
inline constexpr std::uint64_t container_space_inodes = 20000;
inline constexpr std::uint64_t runtime_space_bytes = 16ULL * 1024 * 1024;
inline constexpr std::uint64_t runtime_space_inodes = 256;
// enroot.conf and its drop-ins: the one of the package has 3 KB. And of the program, in which is looked for
// whether it reads drop-ins.
inline constexpr std::size_t enroot_config_bytes = 256 * 1024;
inline constexpr std::size_t enroot_program_bytes = 16 * 1024 * 1024;
// A file that an edit of ours changes: a plugstack.conf has some lines, a passwd of 20,000 users 2.5 MB.
inline constexpr std::size_t edited_file_bytes = 8 * 1024 * 1024;
// A line of plugstack.conf: Slurm cuts longer ones in two (22.05 plugstack.c and 26.05 spank.c, fgets with
// 4096).
inline constexpr std::size_t plugstack_line_bytes = 4094;

// Logins (pam_llmgw_adopt). Extern steps looked at in one login: more jobs than a node has CPUs.
inline constexpr std::size_t extern_steps = 4096;
// A node's name in a socket's: a DNS name.
inline constexpr std::size_t node_name_bytes = 253;
// How long one slurmstepd may take for an answer: it is on this machine and answers in a millisecond, but the
// machine may be busy. And how long all of them together: sshd gives a login two minutes (LoginGraceTime).
inline constexpr std::chrono::seconds stepd_answer{5};
inline constexpr std::chrono::seconds stepd_answers{30};
// Reasons that are kept of jobs that took no login; the first is told. And what a worker says in all: a
// number for each step and these.
inline constexpr std::size_t login_failures = 8;
inline constexpr std::size_t login_answer_bytes = 64 * 1024;
// How long a login waits for a step that slurmd has not made yet, unless told otherwise, and at most.
inline constexpr std::chrono::seconds step_wait{5};
inline constexpr std::chrono::seconds most_step_wait{60};
inline constexpr std::chrono::milliseconds step_look_every{100};
// The loader's cache: 45 KB on a small machine, some bytes for each library.
inline constexpr std::size_t loader_cache_bytes = 8 * 1024 * 1024;
// Files of PAM's that include each other.
inline constexpr std::size_t pam_include_depth = 8;
// A slurm.conf with its includes, read at each login of a user: 5,000 nodes by name have some 500 KB.
inline constexpr std::size_t slurm_conf_bytes = 4 * 1024 * 1024;
inline constexpr std::size_t slurm_conf_depth = 4;
// /proc/PID/cgroup: at most a line of some 300 bytes for each of a dozen hierarchies.
inline constexpr std::size_t cgroup_file_bytes = 64 * 1024;
// /proc/self/mountinfo of a node with many containers.
inline constexpr std::size_t mountinfo_bytes = 4 * 1024 * 1024;
// Processes of a job whose environment is looked at for its GPUs, and how much of one.
inline constexpr std::size_t job_processes = 64;
inline constexpr std::size_t job_environment_bytes = 1024 * 1024;
// Processes, and cgroups, of a job that are looked at for its containers: some microseconds each, while sshd
// waits. What of a process is read for it has some 1,500 bytes (/proc/PID/status).
inline constexpr std::size_t container_processes = 4096;
inline constexpr std::size_t container_cgroups = 4096;
inline constexpr std::size_t process_file_bytes = 64 * 1024;
// A list of GPUs: 16 of them by UUID have 700 bytes.
inline constexpr std::size_t job_variable_bytes = 4096;
// Accounts, active or not: as many as machines. Their document: some 400 bytes each with one key.
inline constexpr std::size_t accounts = 20000;
inline constexpr std::size_t accounts_bytes = 16 * 1024 * 1024;
// An e-mail address (RFC 5321, a path without its brackets), an account's keys, and one key: RSA with 16,384
// bits has 2.8 KB and a comment.
inline constexpr std::size_t email_bytes = 254;
inline constexpr std::size_t ssh_keys = 64;
inline constexpr std::size_t ssh_key_bytes = 8 * 1024;
// Numbers of users in a report, as ranges: they are one or a few where numbers are given in turn.
inline constexpr std::size_t report_users_bytes = 8 * 1024;
// RUN/users: every number of 20,000 accounts by itself, twice.
inline constexpr std::size_t users_file_bytes = 1024 * 1024;
// How long it may take until an unmounted, mounted or stale shared path is known for what it is: a server
// that is there answers at once.
inline constexpr std::chrono::seconds shared_answer{10};
// What making homes may take: some files each, over NFS, for all accounts.
inline constexpr std::chrono::seconds homes_deadline{600};
// Ending what a locked user still runs: a process that the kernel holds (a dead NFS server) can't be ended.
inline constexpr std::chrono::seconds end_sessions{10};
// What a machine can say of its hardware: CPUs of all kinds (Slurm counts them in 16 bits), GPUs, and MB of
// memory (4 TB are common, 64 TB exist).
inline constexpr std::uint32_t hardware_count = 65535;
inline constexpr std::size_t hardware_gpus = 64;
inline constexpr std::uint64_t hardware_memory_mb = 1024ULL * 1024 * 1024;
// Clocks that differ by this are worth saying: answers are some seconds old by whole seconds, and munge minds
// from 300 s on.
inline constexpr std::chrono::seconds clock_differs{30};
// slurmctld's answer to one that it believes comes in milliseconds; Slurm's own tries at one that is away
// take 10 s.
inline constexpr std::chrono::seconds slurm_contact{4};
// munge's key: 32 to 1024 bytes (munged(8)); ours has the most.
inline constexpr std::size_t munge_key_bytes = 1024;
inline constexpr std::size_t munge_key_least_bytes = 32;
// slurmctld with a new configuration, until it serves or says why not. Names that no DNS knows cost it
// seconds.
inline constexpr std::chrono::seconds config_trial{60};
// scontrol reconfigure with nodes that don't answer.
inline constexpr std::chrono::seconds reconfigure{120};
// What slurmctld says of all nodes: 600 bytes each.
inline constexpr std::size_t slurm_nodes_bytes = 4 * 1024 * 1024;

// Leases. An id is made by the helper; a generation must survive readers of JSON that have doubles only.
inline constexpr std::size_t lease_id_bytes = 64;
inline constexpr std::uint64_t lease_generation = (std::uint64_t{1} << 53U) - 1;
// What is sent and answered about one lease: an id, some numbers and a line for people.
inline constexpr std::size_t lease_bytes = 8 * 1024;
// The commands of a site that drain a node (leader.json): how long each may take, and how many run at once.
// Draining waits for requests that are being answered; it is killed and run again after this.
inline constexpr std::chrono::seconds drain_deadline{600};
inline constexpr std::chrono::seconds replicas_deadline{30};
inline constexpr std::chrono::seconds release_deadline{60};
inline constexpr std::size_t site_commands_at_once = 32;
inline constexpr std::size_t site_command_arguments = 64;
inline constexpr std::size_t site_argument_bytes = 4096;
inline constexpr std::size_t site_file_bytes = 64 * 1024;
// Between two tries of one, and two looks at how many replicas are left: growing from the first to the last.
inline constexpr std::chrono::milliseconds first_lease_pause{200};
inline constexpr std::chrono::milliseconds longest_lease_pause{5000};
// What a node says in its report about what lending waits for: the first jobs of a node that is being
// emptied, or the processes that hold its GPUs.
inline constexpr std::size_t lending_waiting = 16;
inline constexpr std::size_t lending_waiting_bytes = 256;

// Lending. How long one question to slurmctld may take: it answers in milliseconds, is busy for seconds, or
// is down, and then libslurm itself tries for some.
inline constexpr std::chrono::seconds slurm_answer{10};
// Record changes and effects in a row: from llmgw's to Slurm's and back are some ten. More is a loop, which
// waits.
inline constexpr int lending_steps = 40;
// How long the guard holds a job's start back while the helper sends the job away: a drain and a requeue.
inline constexpr std::chrono::seconds fence_wait{30};

}  // namespace llmgw::limits
