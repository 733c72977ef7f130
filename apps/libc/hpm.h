/*
 * What a program may tell the monitoring and the scheduler about itself.  Neither call changes what the
 * program computes; a program that makes none of them is observed and placed all the same.
 */
#pragma once

/*
 * Names this moment of the run.  On the simulated multiprocessor the ground truth is written out under this
 * label, so that the part between two marks can be measured by itself.  label: a short word without blanks;
 * the applications here use "start" (all threads exist and are warm), "change" (threads have new partners),
 * "steady" (placement should have settled) and "end".  Any thread may call it.
 */
void hpm_mark(const char *label);

/*
 * States which sharing group the calling thread belongs to: threads with the same number work on the same
 * data.  May be called again when that changes.  Only hand placement acts on it; every other policy has to
 * find the groups by itself.  group: 0 or more.
 */
void hpm_group(int group);
