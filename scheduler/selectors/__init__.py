"""Reads: every public function takes the viewer, or says "internal" in its name."""
