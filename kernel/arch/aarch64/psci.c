/* PSCI by the SMC Calling Convention (Arm DEN 0022, chapter 5; DEN 0028, 3). */
#include "psci.h"

enum {
    PSCI_VERSION = (int)0x84000000,
    PSCI_CPU_ON = (int)0xc4000003,
    PSCI_SYSTEM_OFF = (int)0x84000008,
};

static const char *const errors[] = {
    "success",       "not supported",    "invalid parameters", "denied",   "already on",
    "being started", "internal failure", "not present",        "disabled", "invalid address",
};
enum { NOT_SUPPORTED = -1 };

static enum psci_conduit conduit;

/* Both conventions preserve x18 to x30; the older one does not preserve x4 to x17. */
#define CALL(instruction)                                                                     \
    __asm__ volatile(instruction " #0"                                                        \
                     : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)                                 \
                     :                                                                        \
                     : "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", \
                       "x15", "x16", "x17", "memory")

static int32_t call(int function, uint64_t a, uint64_t b, uint64_t c)
{
    register uint64_t x0 __asm__("x0") = (uint32_t)function;
    register uint64_t x1 __asm__("x1") = a;
    register uint64_t x2 __asm__("x2") = b;
    register uint64_t x3 __asm__("x3") = c;

    switch (conduit) {
    case PSCI_HVC:
        CALL("hvc");
        return (int32_t)x0;
    case PSCI_SMC:
        CALL("smc");
        return (int32_t)x0;
    default:
        return NOT_SUPPORTED;
    }
}

void psci_init(enum psci_conduit c)
{
    conduit = c;
}

uint32_t psci_version(void)
{
    int32_t version = call(PSCI_VERSION, 0, 0, 0);

    return version < 0 ? 0 : (uint32_t)version;
}

int psci_cpu_on(uint64_t hwid, paddr_t entry, uint64_t context)
{
    return call(PSCI_CPU_ON, hwid, entry, context);
}

const char *psci_error(int code)
{
    return code <= 0 && (size_t)-code < ARRAY_SIZE(errors) ? errors[-code] : "unknown error";
}

void psci_system_off(void)
{
    call(PSCI_SYSTEM_OFF, 0, 0, 0);
}
