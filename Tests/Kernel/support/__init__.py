"""The base of the cases: the daemon under test, its clients, and the other ends of the air."""
