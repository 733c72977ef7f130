/* See kin.h. */
#include "kernel/proc/kin.h"

/* Linux's, on both instruction sets. */
#define CODE_EXITED    1 /* CLD_EXITED and so on */
#define CODE_KILLED    2
#define CODE_STOPPED   5
#define CODE_CONTINUED 6
#define CONTINUE       18     /* SIGCONT */
#define STATUS_GOES_ON 0xffff /* of WIFCONTINUED */
#define STATUS_STOPPED 0x7f   /* of WIFSTOPPED */
#define SIGNAL_FIRST   128    /* the status of an end by signal 0 */

static bool is_wanted(const struct kin_wait *want, const struct kin_child *child)
{
    if (child->waited || (want->which == KIN_PID && want->id != child->pid) ||
        (want->which == KIN_GROUP && want->id != child->group))
        return false;
    return want->all || want->clones == child->clone;
}

enum kin_news kin_look(const struct kin_wait *want, const struct kin_child *child)
{
    if (!is_wanted(want, child))
        return KIN_NOT_ITS;
    if (child->ended)
        return want->exited ? KIN_EXITED : KIN_NOT_ITS;
    if (want->stopped && child->stop)
        return KIN_STOPPED;
    return want->continued && child->goes_on ? KIN_CONTINUED : KIN_NONE;
}

uint32_t kin_wait_status(enum kin_news news, struct kin_end end, uint8_t signal)
{
    if (news == KIN_STOPPED)
        return (uint32_t)signal << 8 | STATUS_STOPPED;
    if (news == KIN_CONTINUED)
        return STATUS_GOES_ON;
    return end.by_signal ? (uint32_t)(end.status - SIGNAL_FIRST) : (uint32_t)end.status << 8;
}

int kin_code(enum kin_news news, struct kin_end end, uint8_t signal, int *status)
{
    if (news == KIN_STOPPED || news == KIN_CONTINUED) {
        *status = news == KIN_STOPPED ? signal : CONTINUE;
        return news == KIN_STOPPED ? CODE_STOPPED : CODE_CONTINUED;
    }
    *status = end.by_signal ? end.status - SIGNAL_FIRST : end.status;
    return end.by_signal ? CODE_KILLED : CODE_EXITED;
}

int kin_may_move(const struct kin_move *m)
{
    if (!m->self && !m->child)
        return -ESRCH;
    if (!m->self && !m->same_session)
        return -EPERM;
    if (!m->self && m->runs_another)
        return -EACCES;
    return m->leads_session || (!m->own_group && !m->group_in_session) ? -EPERM : 0;
}

bool kin_connects(uint32_t group, uint32_t session, uint32_t parent_group, uint32_t parent_session)
{
    return parent_session == session && parent_group != group;
}
