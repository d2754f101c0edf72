"""The demo: a small cluster with people and rules, programs that really compute, a gentle stream of sessions."""
