/* Boot arguments of trackers, for the files of mm. */
#pragma once
#include "mm/track.h"

extern uint64_t track_pab_entries; /* of the hardware's page access buffer */

extern const struct tracker_ops track_path;

/* track_record.c: what is delivered is recorded from now on; what is still in hand goes out. */
void track_record_start(void);
void track_record_end(void);
