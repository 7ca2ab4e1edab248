"""The memory libraries of PRefine's baselines (appendix C) behind one small protocol, driven through one dspy.LM."""
