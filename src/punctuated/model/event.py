"""Events of a staged join (PJ-13): what its monitor tells, and to what its work may be tied."""

from enum import Enum


class Event(Enum):
    """What can happen to a staged join. Several events at once are reported in this order."""

    PUNCTUATIONS_ARRIVED = "punctuations arrived"  # some have taken effect since the last look
    PURGE_THRESHOLD_REACHED = "purge threshold reached"  # as many as a lazy purge waits for
    STATE_FULL = "state full"  # there are as many tuples in memory as there may be
    STREAM_EMPTY = "stream empty"  # no stream brings anything for a while
    DISK_JOIN_ACTIVATED = "disk join activated"  # too many tuples in memory wait for nothing but a disk join
    PROPAGATION_REQUESTED = "propagation requested"  # somebody asks for punctuations (pull)
    PROPAGATION_TIME_EXPIRED = "propagation time expired"  # it is time again to say them (push)
    PROPAGATION_COUNT_REACHED = "propagation count reached"  # or enough have come for that (push)
