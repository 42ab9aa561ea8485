"""The eight groups of cases."""
