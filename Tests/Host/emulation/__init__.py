"""The air of a scenario of the simulated adapter (docs/simulator.md), played by Bumble: for the tests in Swift that run
on bled's own host with BLED_OWN_HOST=1."""
