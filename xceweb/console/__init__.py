"""Pages on which rules are set: a group's preemption switch and policy."""
