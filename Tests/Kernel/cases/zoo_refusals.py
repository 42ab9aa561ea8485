"""Group 7: advertising that is refused once, for no reason, is tried again before its program is told."""

from .zoo_personalities import central_reads, refusing

refusing.case("a central connects and reads")(central_reads)
