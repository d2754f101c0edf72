"""How the console writes times: everywhere alike, sortable by eye, in UTC. Product pages do it by themselves."""
