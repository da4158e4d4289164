"""What runs one after the other would have seen: variance within and between runs, and the smallest change found.

In: runs of one build in pairs, each a list of its seconds' throughput. Out: the variance of a pair's log ratio at any
length of runs, and how many pairs find a change of a given size.
"""

import math
import statistics
from dataclasses import dataclass
from functools import lru_cache

# A run's seconds are cut into so many batches, and into twice as many.
BATCHES = 6
POWER, QUANTILE = 0.8, 0.975


def of_batches(logs, count):
    """The variance of the mean, from the means of batches: too small where neighbours are alike, by as much as a batch
    is short."""
    length = max(1, round(len(logs) / count))
    count = len(logs) // length
    means = [statistics.mean(logs[at * length : (at + 1) * length]) for at in range(count)]
    return statistics.variance(means) / count if count > 1 else 0.0


def variance_of_mean(seconds):
    """The variance of a run's mean log throughput. What batches miss is half as much where they are twice as long, and
    so is known (the lugsail estimator of Vats and Flegal 2022)."""
    logs = [math.log(value) for value in seconds]
    return 2 * of_batches(logs, BATCHES) - of_batches(logs, 2 * BATCHES)


@dataclass(frozen=True)
class Pair:
    """Two runs of the same build: the log ratio of their throughputs, and what its variance within the runs is."""

    log_ratio: float
    within: float

    @staticmethod
    def of(one, other):
        ratio = math.log(statistics.mean(other) / statistics.mean(one))
        return Pair(ratio, variance_of_mean(one) + variance_of_mean(other))


@dataclass(frozen=True)
class Spread:
    """Variances of a test's pairs: of the log ratio, and what is within runs of it."""

    whole: float
    within: float

    @staticmethod
    def of(pairs):
        whole = statistics.variance(pair.log_ratio for pair in pairs)
        return Spread(whole, statistics.mean(pair.within for pair in pairs))

    @staticmethod
    def drawn(pairs, draw):
        """What they may be as well: the whole as the variance of so few normal values may be (chi-square), the rest
        from pairs drawn again. The variance of eight pairs drawn again is too small, and so is its spread: intervals of
        that held the truth in 197 of 300 made-up measurements."""
        degrees = len(pairs) - 1
        found = Spread.of(pairs)
        within = statistics.mean(pair.within for pair in draw.choices(pairs, k=len(pairs)))
        return Spread(found.whole * degrees / (2 * draw.gammavariate(degrees / 2, 1)), within)


def share_within(tests, changes):
    """The share of a pair's variance that is within runs, so that longer runs average it out: of several tests
    together, since few pairs do not tell it of each. A test weighs as many pairs as it takes to see its change."""
    both = list(zip(tests, changes))
    within = sum(test.within / change**2 for test, change in both)
    whole = sum(test.whole / change**2 for test, change in both)
    return min(max(within / whole, 0.0), 1.0)


def at_length(variance, share, longer):
    """The variance of a pair whose runs are so many times as long, where this share of it is within runs."""
    return variance * (1 - share + share / longer)


def upper_tail(critical, degrees, shift):
    """P(T > critical) for T noncentral t, by the trapezoidal rule as crates/stats/src/noncentral_t.rs has it."""
    step = min(0.5 / math.sqrt(2 * degrees + critical**2 + shift**2), 0.14)
    total = tail = 0.0
    for direction in (1, -1):
        node = 0 if direction > 0 else 1
        while True:
            u = direction * node * step
            weight = math.exp(degrees * (u - 0.5 * math.expm1(2 * u)))
            total += weight
            tail += weight * 0.5 * math.erfc((critical * math.exp(u) - shift) / math.sqrt(2))
            if weight < 1e-17:
                break
            node += 1
    return tail / total


def bisect(below, low, high):
    """Where a condition that holds at `low` ceases to hold."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return low


@lru_cache(maxsize=None)
def critical(degrees):
    """How many standard errors half of a 95 % t interval has."""
    return bisect(lambda t: upper_tail(t, degrees, 0.0) > 1 - QUANTILE, 0.0, 100.0)


@lru_cache(maxsize=None)
def detectable(degrees):
    """The change, in standard errors, that the two-sided 5 % t test finds in four of five cases."""
    return bisect(lambda shift: upper_tail(critical(degrees), degrees, shift) < POWER, 0.0, 100.0)


def mde(variance, pairs):
    """The smallest change that so many pairs find, as a log ratio."""
    return math.sqrt(variance / pairs) * detectable(pairs - 1)


def pairs_for(variance, change):
    """How many pairs find a change of this size: two at least, and between whole numbers as it lies between them."""
    low, high = 1, 2
    while mde(variance, high) > change:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if mde(variance, middle) > change else (low, middle)
    if low == 1:
        return 2.0
    above, below = math.log(mde(variance, low)), math.log(mde(variance, high))
    return low + (above - math.log(change)) / (above - below)
