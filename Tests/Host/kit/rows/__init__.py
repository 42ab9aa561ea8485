"""The table: all rows, by subject."""

from . import advertisements, attributes, centrals, channels, controllers, exchange, security, values

ROWS = [
    *advertisements.ROWS,
    *exchange.ROWS,
    *attributes.ROWS,
    *values.ROWS,
    *security.ROWS,
    *channels.ROWS,
    *centrals.ROWS,
    *controllers.ROWS,
]
