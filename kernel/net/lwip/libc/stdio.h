/* lwIP includes it, and uses nothing of it in the kernel. */
#pragma once
