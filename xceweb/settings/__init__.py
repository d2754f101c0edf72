"""Settings by purpose: ``base`` holds what is always true; ``local``, ``test`` and ``production`` only differ."""
