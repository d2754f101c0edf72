"""The live stream over websockets."""
