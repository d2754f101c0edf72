"""The demo: a small cluster with people and rules, programs that compute, a gentle stream of sessions."""
