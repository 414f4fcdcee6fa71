// The only place that includes PAM's headers.
#pragma once

extern "C" {
#include <security/pam_appl.h>
#include <security/pam_ext.h>
#include <security/pam_modules.h>
#include <security/pam_modutil.h>
}
