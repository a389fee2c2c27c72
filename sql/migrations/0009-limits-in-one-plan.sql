-- To plan the statements of a limit anew takes longer than to carry them out, and the plan is the same each time.

ALTER FUNCTION take_from_limits SET plan_cache_mode = force_generic_plan;
