"""Clumsy and hostile peers as data: a row is a situation, what the peer or the controller does in it, and what bled
must do.

    Row("Exchange MTU is answered twice", "02 > 03f700 03f700", "mtu 247; read 2A19 = 64", "bluez#2486")

`row` has the grammar, `rows` the table, `peer` and `controller` play the other side, `player` has bled's steps, and
`table` runs rows and prints how each ended. Tests/Host/kit_test.py runs them with bled's own host, and
Tests/Kernel/cases/clumsy_peers.py on the kernel.
"""
