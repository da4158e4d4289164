/*
 * rqps_burn: an executor hook that wastes a known time of the CPU in functions that are known, so that what
 * `rqps explain` tells can be compared with the truth (scripts/bars/explain).
 *
 * rqps_burn.nanoseconds is burned in rqps_burn() for each statement that runs, rqps_burn.each_nanoseconds in each of
 * rqps_burn_01() to rqps_burn_10(). Time is read from the CPU's own counter inside of these functions, so nothing that
 * they call shares in it.
 */
#include "postgres.h"

#include <time.h>

#include "executor/executor.h"
#include "fmgr.h"
#include "utils/guc.h"

PG_MODULE_MAGIC;

#define CALIBRATION_NS 20000000

void _PG_init(void);

static int nanoseconds = 0;
static int each_nanoseconds = 0;
static double ticks_per_ns = 1.0;
static ExecutorRun_hook_type run_before_us = NULL;

static inline uint64
ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64		now;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
	return now;
#else
#error "no counter of time that can be read without a call"
#endif
}

static inline void
burn(int ns)
{
	uint64		start = ticks();
	uint64		due = (uint64) (ns * ticks_per_ns);

	while (ticks() - start < due)
		;
}

#define BURNER(name) \
	void name(int ns); \
	__attribute__((noinline, noclone)) void name(int ns) { burn(ns); }

BURNER(rqps_burn)
BURNER(rqps_burn_01)
BURNER(rqps_burn_02)
BURNER(rqps_burn_03)
BURNER(rqps_burn_04)
BURNER(rqps_burn_05)
BURNER(rqps_burn_06)
BURNER(rqps_burn_07)
BURNER(rqps_burn_08)
BURNER(rqps_burn_09)
BURNER(rqps_burn_10)

static void
rqps_burn_hook(QueryDesc *query, ScanDirection direction, uint64 count, bool execute_once)
{
	if (nanoseconds > 0)
		rqps_burn(nanoseconds);
	if (each_nanoseconds > 0)
	{
		rqps_burn_01(each_nanoseconds);
		rqps_burn_02(each_nanoseconds);
		rqps_burn_03(each_nanoseconds);
		rqps_burn_04(each_nanoseconds);
		rqps_burn_05(each_nanoseconds);
		rqps_burn_06(each_nanoseconds);
		rqps_burn_07(each_nanoseconds);
		rqps_burn_08(each_nanoseconds);
		rqps_burn_09(each_nanoseconds);
		rqps_burn_10(each_nanoseconds);
	}
	if (run_before_us)
		run_before_us(query, direction, count, execute_once);
	else
		standard_ExecutorRun(query, direction, count, execute_once);
}

static uint64
clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64) now.tv_sec * 1000000000 + now.tv_nsec;
}

static void
calibrate(void)
{
	uint64		start_ns = clock_ns();
	uint64		start = ticks();
	uint64		ns;

	do
		ns = clock_ns() - start_ns;
	while (ns < CALIBRATION_NS);
	ticks_per_ns = (double) (ticks() - start) / ns;
}

void
_PG_init(void)
{
	calibrate();
	DefineCustomIntVariable("rqps_burn.nanoseconds", "Burned in rqps_burn for each statement.", NULL, &nanoseconds, 0, 0,
							1000000000, PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("rqps_burn.each_nanoseconds", "Burned in each of rqps_burn_01 to _10.", NULL,
							&each_nanoseconds, 0, 0, 1000000000, PGC_SUSET, 0, NULL, NULL, NULL);
	run_before_us = ExecutorRun_hook;
	ExecutorRun_hook = rqps_burn_hook;
}
