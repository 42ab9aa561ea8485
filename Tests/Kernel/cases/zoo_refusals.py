"""Group 7: advertising that is refused once, for no reason, is tried again before its program is told."""

from support.main_things import central_reads

from .zoo_personalities import refusing

refusing.case("a central connects and reads")(central_reads)
