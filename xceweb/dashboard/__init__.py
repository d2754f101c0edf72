"""Pages for everybody who has a role in a group: overview, sessions with their why, queues, nodes, decisions."""
