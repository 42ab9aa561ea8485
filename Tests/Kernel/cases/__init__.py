"""The six groups of cases."""
