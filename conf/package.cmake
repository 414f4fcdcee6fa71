# The Debian package: `cpack` in the build directory. It fits the Slurm series (major.minor) whose headers it was built
# with, which is a part of its version and the range of its dependency: Debian's slurmctld, slurmd and slurm-client all
# need exactly their own slurm-wlm-basic-plugins, so that one package stands for each kind of machine.
find_path(SLURM_INCLUDE_DIR slurm/slurm_version.h REQUIRED)
file(STRINGS ${SLURM_INCLUDE_DIR}/slurm/slurm_version.h line REGEX "define SLURM_VERSION_NUMBER")
string(REGEX REPLACE ".*(0x[0-9a-fA-F]+).*" "\\1" number "${line}")
math(EXPR slurm_major "(${number} >> 16) & 0xff")
math(EXPR slurm_minor "(${number} >> 8) & 0xff")
foreach(part slurm_major slurm_minor)
    if(${part} LESS 10)
        set(${part} "0${${part}}")
    endif()
endforeach()
set(slurm_series ${slurm_major}.${slurm_minor})
math(EXPR next "${slurm_minor} + 1")
if(next LESS 10)
    set(next "0${next}")
endif()
set(slurm_next ${slurm_major}.${next})

find_program(DPKG dpkg)
if(NOT DPKG)
    return()
endif()
# Slurm looks for plugins in the library directory of this prefix only.
if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    message(STATUS "no Debian package from this build: that needs -DCMAKE_INSTALL_PREFIX=/usr")
    return()
endif()
execute_process(COMMAND ${DPKG} --print-architecture OUTPUT_VARIABLE architecture OUTPUT_STRIP_TRAILING_WHITESPACE)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME llmgw-slurm)
set(CPACK_PACKAGE_VENDOR "llmgw")
set(CPACK_PACKAGE_CONTACT "llmgw-slurm maintainers <maintainers@users.noreply.a-seed-ad1da7f4.example>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/package)
set(CPACK_DEBIAN_PACKAGE_VERSION "${PROJECT_VERSION}+slurm${slurm_series}")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE ${architecture})
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The range ends at the next minor number, and `~` sorts before everything: 22.06~rc1 is out as well.
string(JOIN ", " CPACK_DEBIAN_PACKAGE_DEPENDS
    "slurm-wlm-basic-plugins (>= ${slurm_series})" "slurm-wlm-basic-plugins (<< ${slurm_next}~)"
    systemd libpam-runtime "default-dbus-system-bus | dbus-system-bus")
# What pyxis is built with; without it the helper installs it when it has to build.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gcc, libc6-dev | libc-dev, make, libslurm-dev")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "GPU nodes shared between llmgw and Slurm, jobs in containers")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Guard (SPANK plugin), gate (job_submit plugin), helper, leader and command of
llmgw-slurm, for Slurm ${slurm_series}. A job that asked for a container runs in one
or not at all; container jobs are refused at submission until every machine
of the cluster is ready, and plain jobs never notice.

Installing this package changes nothing in Slurm's configuration. The helper
starts, and does to the machine what its leader's settings say. The leader
(llmgw-slurm-leader.service) is for one machine of a cluster, and starts when
it is enabled there.")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "")
set(debian ${CMAKE_CURRENT_BINARY_DIR}/debian)
foreach(script postinst prerm postrm)
    configure_file(debian/${script} ${debian}/${script} COPYONLY)
    list(APPEND CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${debian}/${script})
endforeach()

# Read by needrestart where that is installed. Below another prefix nothing would read it.
install(CODE "if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
    file(INSTALL DESTINATION /etc/needrestart/conf.d TYPE FILE RENAME llmgw-slurm.conf FILES \"${CMAKE_CURRENT_SOURCE_DIR}/needrestart.conf\")
endif()")
file(WRITE ${debian}/conffiles "/etc/needrestart/conf.d/llmgw-slurm.conf\n")
list(APPEND CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${debian}/conffiles)

# The settings' and the bus's descriptions, which the man pages refer to.
set(doc ${CMAKE_INSTALL_DATADIR}/doc/llmgw-slurm)
configure_file(debian/changelog.in ${debian}/changelog @ONLY)
execute_process(COMMAND ${GZIP} -9nkf ${debian}/changelog)
install(FILES ${debian}/changelog.gz debian/copyright DESTINATION ${doc})
file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/*.md)
install(FILES debian/lintian-overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME llmgw-slurm)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${pages} ${CMAKE_SOURCE_DIR}/docs/contract.openapi.yaml DESTINATION ${doc})
include(CPack)
