"""Writes: every public function names the actor and runs in one transaction."""
