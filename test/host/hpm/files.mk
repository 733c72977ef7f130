test_dump_SRC := hpm/dump.c
test_hpm_watch_SRC := hpm/watch.c
test_fit_SRC := hpm/events/fit.c
test_hpm_context_SRC := $(EVENTS_SRC_aarch64)
test_hpm_group_SRC := hpm/events/group.c $(call double,group_oracle.c)
test_hpm_shares_SRC := hpm/policy/shares.c $(test_hpm_group_SRC)
test_neyman_SRC := hpm/policy/shares.c hpm/events/group.c
test_hpm_group_cause_SRC := hpm/events/group.c
test_perf_record_SRC := $(PERF_SRC)
test_perf_attr_SRC := $(PERF_SRC) $(EVENTS_SRC_aarch64)
test_hpm_plan_SRC := $(EVENTS_SRC_aarch64) $(call double,planned.c)
test_hpm_plan_random_SRC := $(test_hpm_plan_SRC)
test_mux_SRC := $(call double,mux_config.c mux_work.c)
test_mux_plans_SRC := $(test_mux_SRC)
test_mux_sums_SRC := $(test_mux_SRC)
test_mux_turns_SRC := $(call double,mux_config.c)
test_page_log_SRC := hpm/path/ring.c
test_hpm_path_none_SRC := $(PATH_TESTED) $(call double,path_kernel.c said.c)
test_hpm_path_SRC := $(test_hpm_path_none_SRC) $(call double,path_threads.c)

test_hpm_lives_SRC := $(HPM_LIVES)
$(foreach t,count exact frequency sampling session_refused,$(eval test_hpm_$(t)_SRC := $(HPM_TESTED_MODEL)))
$(foreach t,session session_births session_turns,\
	$(eval test_hpm_$(t)_SRC := $(HPM_TESTED_MODEL) $(call double,hpm_session_truth.c)))
test_hpm_profile_SRC := $(HPM_TESTED_MODEL) $(call double,hpm_profiles.c)
test_hpm_profile_refused_SRC := $(test_hpm_profile_SRC)
test_hpm_access_SRC := $(test_hpm_profile_SRC)

# Drivers of PMUs, above doubles of their registers.
HPM_TESTED_DRIVER := $(HPM_TESTED) hpm/pmu/rate.c $(call double,hpm_driver.c hpm_driver_tests.c)
HPM_DUE := $(call double,hpm_due.c hpm_due_user.c)
HPM_TESTED_AMD := \
	$(HPM_TESTED_DRIVER) $(EVENTS_SRC_x86_64) $(addprefix hpm/pmu/x86/,amd.c amd_ibs.c) \
	$(call double,amd_double.c amd_kinds.c)
test_hpm_amd_SRC := $(HPM_TESTED_AMD)
test_hpm_amd_due_SRC := $(HPM_TESTED_AMD) $(HPM_DUE)
test_hpm_amd_ibs_SRC := $(HPM_TESTED_AMD) $(call double,access_users.c)
HPM_TESTED_INTEL := \
	$(HPM_TESTED_DRIVER) $(EVENTS_SRC_x86_64) \
	$(addprefix hpm/pmu/x86/,intel.c intel_ability.c intel_fixed.c intel_models.c intel_pebs.c) \
	$(call double,intel_double.c intel_kinds.c)
$(foreach t,intel intel_count intel_fixed,$(eval test_hpm_$(t)_SRC := $(HPM_TESTED_INTEL)))
test_hpm_intel_records_SRC := $(HPM_TESTED_INTEL) $(call double,intel_records.c access_users.c)
test_hpm_intel_buffer_SRC := $(test_hpm_intel_records_SRC)
test_hpm_intel_due_SRC := $(HPM_TESTED_INTEL) $(HPM_DUE)
SPE_DECODED := $(addprefix hpm/pmu/arm/,spe_packets.c spe_sources.c)
HPM_TESTED_ARMV8 := \
	$(HPM_TESTED_DRIVER) $(EVENTS_SRC_aarch64) $(addprefix hpm/pmu/arm/,armv8.c armv8_spe.c) \
	$(SPE_DECODED) $(call double,armv8_double.c armv8_kinds.c spe_double.c)
test_hpm_armv8_SRC := $(HPM_TESTED_ARMV8)
test_hpm_armv8_due_SRC := $(HPM_TESTED_ARMV8) $(HPM_DUE)
test_hpm_spe_SRC := $(HPM_TESTED_ARMV8) $(call double,spe_kinds.c access_users.c)
test_hpm_spe_buffer_SRC := $(test_hpm_spe_SRC)
test_hpm_spe_interval_SRC := $(test_hpm_spe_SRC)
test_frequency_x86_SRC := $(addprefix hpm/pmu/x86/,frequency.c intel_models.c) $(EVENTS_SRC_x86_64)
test_frequency_amu_SRC := hpm/pmu/arm/amu.c
test_spe_packets_SRC := $(SPE_DECODED)

$(foreach t,criteria event_request events_libpfm4 metric,$(eval test_$(t)_SRC := $(EVENTS_SRC_x86_64)))
$(foreach t,event_nest events_arm,$(eval test_$(t)_SRC := $(EVENTS_SRC_aarch64)))
test_events_libpfm4_LIBS := -lpfm
test_eh_frame_LIBS := -ldw -lelf
test_events_without_SRC := $(filter hpm/%,$(EVENTS_SRC_x86_64)) $(EVENTS)/without/x86_64.c
test_events_x86_SRC := $(EVENTS_SRC_x86_64) test/machine/pmu_masks.c
