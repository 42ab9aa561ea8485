"""What the cases stand on: the daemon under test, its clients, and the other ends of the air."""
