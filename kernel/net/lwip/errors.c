/* Errors of lwIP as those of the kernel; see address.h. Linked once for each instance. */
#include "kernel/net/lwip/address.h"
#include "lwip/err.h"

int net_error(int of_lwip)
{
    static const int16_t errors[] = {
        [-ERR_OK] = 0,
        [-ERR_MEM] = -ENOBUFS,
        [-ERR_BUF] = -ENOBUFS,
        [-ERR_TIMEOUT] = -ETIMEDOUT,
        [-ERR_RTE] = -ENETUNREACH,
        [-ERR_INPROGRESS] = -EINPROGRESS,
        [-ERR_VAL] = -EINVAL,
        [-ERR_WOULDBLOCK] = -EAGAIN,
        [-ERR_USE] = -EADDRINUSE,
        [-ERR_ALREADY] = -EALREADY,
        [-ERR_ISCONN] = -EISCONN,
        [-ERR_CONN] = -ENOTCONN,
        [-ERR_IF] = -ENETDOWN,
        [-ERR_ABRT] = -ECONNABORTED,
        [-ERR_RST] = -ECONNRESET,
        [-ERR_CLSD] = -ENOTCONN,
        [-ERR_ARG] = -EINVAL,
    };

    return of_lwip <= 0 && -of_lwip < (int)ARRAY_SIZE(errors) ? errors[-of_lwip] : -EIO;
}
