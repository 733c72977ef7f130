/* The page-access trackers this kernel knows, in probe order. */
#include "hpm/path/path.h"

extern const struct path_ops path_model;

const struct path_ops *const path_backends[] = {&path_model, NULL};
