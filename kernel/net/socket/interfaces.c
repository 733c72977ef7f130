/* What ioctl of any socket tells of network interfaces, as Linux: see netdevice(7). */
#include "kernel/arch/arch.h"
#include "kernel/lib/text.h"
#include "kernel/net/lwip/interface.h"
#include "kernel/net/socket/socket.h"
#include <linux/in.h>
#include <linux/sockios.h>

#define QUEUE 1000 /* frames: the length that Linux tells */

/* struct ifreq. */
struct request {
    char name[16];
    union {
        struct sockaddr_in address;
        struct {
            uint16_t kind;
            uint8_t address[14];
        } hardware;
        int16_t flags;
        int32_t number;
        uint8_t room[24];
    };
};
_Static_assert(sizeof(struct request) == 40, "as Linux has it");

/* struct ifconf. */
struct list_request {
    int32_t bytes;
    uint32_t unused;
    uint64_t to;
};

enum { ARPHRD_ETHER = 1, ARPHRD_LOOPBACK = 772 }; /* kinds of hardware addresses */
enum { UP = 1, BROADCAST = 2, LOOPBACK = 8, RUNNING = 0x40, MULTICAST = 0x1000 };

static bool find_interface(const char *name, struct net_interface *out, unsigned *index)
{
    for (*index = 0; net_interface(*index, out); ++*index)
        if (text_same(out->name, name, text_length(name)))
            return true;
    return false;
}

static int put_address(struct request *r, const struct net_interface *i, uint32_t ip)
{
    r->address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = ip};
    return i->ip ? 0 : -EADDRNOTAVAIL;
}

static int put_hardware(struct request *r, const struct net_interface *i)
{
    memset(&r->hardware, 0, sizeof(r->hardware));
    r->hardware.kind = i->loopback ? ARPHRD_LOOPBACK : ARPHRD_ETHER;
    memcpy(r->hardware.address, i->mac, sizeof(i->mac));
    return 0;
}

/* Answers what is asked of an interface's addresses, of sockets of AF_INET. */
static int tell_address(uint32_t request, struct request *r, const struct net_interface *i)
{
    switch (request) {
    case SIOCGIFADDR:
    case SIOCGIFDSTADDR:
        return put_address(r, i, i->ip);
    case SIOCGIFBRDADDR:
        return put_address(r, i, i->loopback ? 0 : i->ip | ~i->mask);
    case SIOCGIFNETMASK:
        return put_address(r, i, i->mask);
    default:
        return -ENOTTY;
    }
}

/* Answers what is asked of an interface. */
static int tell(uint32_t request, struct request *r, const struct net_interface *i, unsigned index)
{
    switch (request) {
    case SIOCGIFFLAGS:
        r->flags = (int16_t)((i->up ? UP : 0) | (i->running ? RUNNING : 0) |
                             (i->loopback ? LOOPBACK : BROADCAST | MULTICAST));
        return 0;
    case SIOCGIFHWADDR:
        return put_hardware(r, i);
    case SIOCGIFMAP:
        memset(r->room, 0, sizeof(r->room));
        return 0;
    case SIOCGIFINDEX:
        r->number = (int32_t)index + 1;
        return 0;
    case SIOCGIFMTU:
        r->number = (int32_t)i->mtu;
        return 0;
    case SIOCGIFMETRIC:
        r->number = 0;
        return 0;
    case SIOCGIFTXQLEN:
        r->number = QUEUE;
        return 0;
    default:
        return -ENOTTY;
    }
}

static int tell_name(struct request *r)
{
    struct net_interface i;

    if (r->number < 1 || !net_interface((unsigned)r->number - 1, &i))
        return -ENODEV;
    memset(r->name, 0, sizeof(r->name));
    memcpy(r->name, i.name, text_length(i.name));
    return 0;
}

/* Lists interfaces that have an address, as many as there is room for; without a place for them,
 * the room that they need. */
static int64_t list_interfaces(vaddr_t arg)
{
    struct list_request l;
    struct net_interface i;
    int32_t bytes = 0;

    if (arch_copy_from_user(&l, arg, sizeof(l)))
        return -EFAULT;
    for (unsigned at = 0; net_interface(at, &i); at++) {
        struct request r = {0};
        if (!i.ip)
            continue;
        if (l.to && l.bytes - bytes < (int32_t)sizeof(r))
            break;
        memcpy(r.name, i.name, text_length(i.name));
        put_address(&r, &i, i.ip);
        if (l.to && arch_copy_to_user(l.to + (uint64_t)bytes, &r, sizeof(r)))
            return -EFAULT;
        bytes += (int32_t)sizeof(r);
    }
    return arch_copy_to_user(arg, &bytes, sizeof(bytes)) ? -EFAULT : 0;
}

int64_t socket_interface_ioctl(const struct socket *s, uint32_t request, vaddr_t arg)
{
    struct net_interface i;
    struct request r;
    unsigned index;
    int err;

    if (request == SIOCGIFCONF)
        return list_interfaces(arg);
    if (request < SIOCGIFNAME || request > SIOCGIFMAP)
        return -ENOTTY;
    if (arch_copy_from_user(&r, arg, sizeof(r)))
        return -EFAULT;
    r.name[sizeof(r.name) - 1] = '\0';
    if (request == SIOCGIFNAME) {
        err = tell_name(&r);
    } else {
        bool found = find_interface(r.name, &i, &index);
        err = found && s->family->domain == AF_INET ? tell_address(request, &r, &i) : -ENOTTY;
        if (err == -ENOTTY)
            err = found ? tell(request, &r, &i, index) : -ENODEV;
    }
    if (err)
        return err;
    return arch_copy_to_user(arg, &r, sizeof(r)) ? -EFAULT : 0;
}
