"""The algorithms: each finds the first k pairs of every sequence of a source, by one or more dispatches, and fills a sink."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from .dispatch import MEETING, WINDOW, Box, Builder, Final, Pairs, Sink, Source, is_rows
from .tuning import KTH_BYTES, Algorithm, choose_algorithm, columns_at_once, power_of_two_above, power_of_two_below

__all__ = ["Algorithms"]


class Algorithms(Builder):
    """The methods by the names of ``Algorithm``: each appends the dispatches that it needs. ``run`` chooses one."""

    def run(self, source: Source, sequences: int, k: int, sink: Sink) -> None:
        """The first k of every sequence of the source, in order, to the sink."""
        algorithm, self.forced = self.forced, None
        if self.selection.last_index and algorithm not in (None, Algorithm.REDUCE):
            raise ValueError(f"{algorithm} takes the first of equal items, not the last")
        if algorithm is None:
            in_order = isinstance(source, Box)
            one_axis = isinstance(source, Box) and len(source.selection.axes) == 1
            columns = one_axis and self.is_columns(source)
            loads = self.covering(source)[1] if isinstance(source, Box) else source.length
            algorithm = choose_algorithm(source.length, sequences, k, columns, in_order, loads, self.tuning, one_axis=one_axis)
        self.algorithms.append(algorithm)
        getattr(self, algorithm.value)(source, sequences, k, sink)

    def is_columns(self, source: Source) -> bool:
        """Do neighbouring sequences lie side by side in memory?"""
        if not isinstance(source, Box) or is_rows(source) or not source.selection.batch:
            return False
        return source.selection.batch[-1].input_stride == 1

    def spread(self, invocations: int, workgroups: int) -> int:
        """The size of workgroups that need not be large, where there should be so many."""
        return min(self.tuning.workgroup, max(self.tuning.lanes, power_of_two_below(invocations // workgroups)))

    # -- k = 1 --

    def reduce(self, source: Source, sequences: int, k: int, sink: Sink) -> None:
        """A tree, or subgroups. Parts of sequences too few to fill the machine meet in this dispatch, or in a second."""
        if k != 1:
            raise ValueError(f"reduce finds the first pair only, not k={k}")
        t = self.tuning
        if self.is_columns(source):
            assert isinstance(source, Box)
            self.reduce_columns(source, sequences, sink)
            return
        loads = self.loads(source)
        workgroup, at_once = t.reduce_workgroup, t.few_loads
        if sequences <= t.workgroups // 4:
            # Such a workgroup has a processor to itself.
            workgroup, at_once = t.reduce_large, 2 * t.few_loads
            if loads <= at_once * t.few_workgroup:
                workgroup = min(workgroup, t.few_workgroup)
        split, meets = 1, False
        if isinstance(source, Pairs) and source.length <= 4096:
            team = min(workgroup, power_of_two_above(source.length))
        elif t.barrier_free:
            # A second dispatch takes as long as many loads.
            team = 1
            split = max(1, min(t.workgroups * workgroup // 4 // sequences, loads // (16 * t.loads_each)))
            workgroup = self.spread(sequences * split, t.workgroups // 4)
        else:
            # Short sequences: an invocation for every few loads, while the machine has room, else for twice as many. Neighbours
            # read a line of memory together.
            room = power_of_two_below(t.short_invocations // sequences)
            fewest = max(4, power_of_two_above(-(-loads // (2 * t.reduce_loads))))
            team = min(workgroup, power_of_two_above(loads // t.reduce_loads), max(room, fewest))
            if loads > at_once * (t.few_workgroup if sequences <= t.workgroups // 64 else workgroup):
                cut = min(workgroup, t.few_workgroup)
                most = (MEETING // 4 // sequences - 2) // (self.selection.format.key_words + 2)
                parts = min(t.workgroups * t.workgroup // (4 * sequences * cut), loads // (cut * t.loads_each), most)
                if parts * cut > workgroup:
                    split, team, meets = parts, cut, True
        found = self.new_pairs(sequences, split) if split > 1 and not meets else None
        held = self.held(source, team) if isinstance(source, Box) and split == 1 else {"LOADS": 0}
        if not 0 < held["LOADS"] <= at_once:
            held = {"LOADS": 0, "WHOLE": 0, "SKEWED": 0}
        if held["LOADS"]:
            workgroup = max(team, min(workgroup, t.reduce_workgroup))
        elif meets or (self.limits.subgroups and team >= 32):
            workgroup = team  # whose subgroups hardly wait for each other
        self.emit(
            "reduce",
            -(-sequences * split * team // workgroup),
            source,
            found or sink,
            constants={
                "TEAM": team,
                "WORKGROUP": workgroup,
                "CHUNKS": int(t.barrier_free),
                "EACH": t.loads_each,
                "UNROLL": max(1, min(t.unroll, -(-loads // (team * split)))),
            }
            | held,
            in_order=isinstance(source, Box),
            meets=meets,
            split=split,
        )
        if found:
            self.reduce(found, sequences, 1, sink)

    def reduce_columns(self, source: Box, sequences: int, sink: Sink, subsets: int = 0, seconds: tuple[int, int] = (0, 0)) -> None:
        """Down adjacent sequences; ``subsets`` > 0 makes that many delegates of each, and to ``seconds`` their second keys."""
        t = self.tuning
        words, per_load = self.column_load(source, 0 if subsets else sequences)
        columns = source.selection.batch[-1].size
        groups = sequences // columns * -(-columns // per_load)
        # Bytes of a pair in workgroup memory, where three words take the room of four; and with a second key.
        key_words = self.selection.format.key_words
        stored = 8 * key_words
        kept = stored + (4 * key_words if subsets else 0)
        team = 1
        workgroup = t.reduce_large
        spans = 1
        parts = None
        tree = True
        turned = False
        if subsets:
            workgroup = t.workgroup
            # Where subsets are too few to fill the machine, a team's rows share one.
            shared = power_of_two_above(t.short_invocations // 2 // (subsets * groups))
            tree = shared > 1 and not t.barrier_free
            most = 1 if t.barrier_free else min(32, workgroup)
            if tree:
                team = min(most, max(shared, power_of_two_above(workgroup // groups)))
            # Else so many rows that no invocation is idle and neighbours write side by side.
            while not tree and team < most and subsets % (2 * team) == 0 and (team < 8 or workgroup // team > groups):
                team *= 2
            split = subsets if tree else subsets // team
            # More than are at work at once would take longer than several delegates of each invocation.
            if not t.barrier_free:
                work = -(-groups // (workgroup // team)) * split
                spans = next(n for n in range(1, split + 1) if split % n == 0 and (work // n <= t.workgroups // 4 or n == split))
                split //= spans
        else:
            wanted = t.workgroups * t.workgroup // 4
            cuts = max(1, min(max(wanted // groups, source.length // t.columns_rows), source.length // t.loads_each))
            if not t.barrier_free:
                # As many rows at once, while each brings so many bytes, or all that lies side by side.
                line = min(groups, max(1, t.columns_line // (per_load * self.selection.format.bytes)))
                team = min(power_of_two_below(cuts), power_of_two_below(workgroup // line))
            split = max(1, cuts // team)
            if not t.barrier_free and source.length <= 4 * team * t.columns_unroll:
                split = 1  # a few rounds more take less than a second dispatch
            room = min(32 << 10, self.limits.max_compute_workgroup_storage_size)
            turned = team == t.columns_own == 1 < per_load and source.length <= t.columns_turned
            turned = turned and t.few_workgroup * per_load * stored <= room
            if turned:
                workgroup = t.few_workgroup
            elif team > 1:
                # Hardly any idle invocations, but no kernel of its own for every number of columns.
                across = -(-groups // -(-groups * team // workgroup))
                step = max(1, power_of_two_below(across) // 4)
                workgroup = -(-across // step) * step * team
            parts = self.new_pairs(sequences, split, side_by_side=True) if split > 1 else None
        own = min(t.columns_own, max(1, groups // t.lanes)) if team == 1 else 1
        blocks = -(-groups // (workgroup // team * own))
        rows = -(-source.length // (team * split * spans))  # of an invocation
        unroll = max(1, t.columns_unroll // own)
        ragged = not subsets and source.length % (team * split * unroll) > 0
        if ragged and rows <= 4 * unroll:
            unroll = -(-rows // -(-rows // unroll))  # rounds as equal as can be
            ragged = source.length % (team * split * unroll) > 0
        # Never more than the least workgroup memory that there is, so that several workgroups find room.
        together = min(per_load, team if tree else workgroup, power_of_two_below((16 << 10) // (workgroup * kept)))
        self.emit(
            "reduce_columns",
            blocks * split,
            source,
            parts or sink,
            scratch={6: seconds} if subsets else None,
            constants={
                "WORKGROUP": workgroup,
                "TEAM": team,
                "TREE": int(tree),
                "DELEGATES": int(subsets > 0),
                "SPANS": spans,
                "OWN": own,
                "LANES": min(t.lanes, workgroup) if own > 1 else 1,
                "TOGETHER": together,
                "PER_LOAD": per_load,
                "UNROLL": unroll,
                "TAIL": t.again if subsets else 0,
                "RAGGED": int(ragged),
                "INPUT_WORDS": words,
                "LOADS_WHOLE": int(per_load * self.selection.format.bytes == 4 * words),
                "TURNED": int(turned),
            },
            in_order=True,
            split=split,
        )
        if parts:
            self.reduce(parts, sequences, 1, sink)

    def column_load(self, source: Box, sequences: int = 0) -> tuple[int, int]:
        """Words of a load down columns, and the adjacent sequences that it serves: as many as every row of the box can be cut in,
        to four words. For the best of each of so few ``sequences`` that this would leave invocations idle, fewer.
        """
        s = source.selection
        size = s.format.bytes
        strides = [d.input_stride for d in s.batch[:-1]] + [a.stride for a in s.axes]
        columns = s.batch[-1].size
        load = 1, 1
        for words in (1, 2, 4) if self.vectors else (1,):
            items = 4 * words // size
            if not items or any(n % items for n in (source.offset, *strides)):
                continue
            if sequences and words > 1 and items > self.tuning.columns_items:
                break
            loads = sequences // columns * -(-columns // items) * source.length
            if sequences and words > max(1, size // 4) and loads < self.tuning.columns_loads * self.tuning.short_invocations:
                break
            load = words, items
        return load

    def column_groups(self, source: Box, sequences: int) -> int:
        """Loads that bring one position of every sequence."""
        columns = source.selection.batch[-1].size
        return sequences // columns * -(-columns // self.column_load(source)[1])

    def loads(self, source: Source) -> int:
        if isinstance(source, Box) and is_rows(source):
            return -(-source.length // self.load_shape()[1])
        return source.length

    # -- small k --

    def select(
        self,
        source: Source,
        sequences: int,
        k: int,
        sink: Sink,
        delegates: Pairs | None = None,
        seconds: tuple[int, int] = (0, 0),
    ) -> None:
        """Delegates in a workgroup. A long sequence of few is cut in parts, whose firsts are selected from again.

        ``delegates``: those of the source's strided subsets, where an earlier dispatch has found them; ``seconds``: the second keys
        of those subsets.
        """
        t = self.tuning
        if k > t.large_workgroup:
            raise ValueError(f"select takes k up to {t.large_workgroup}, not {k}")
        loads = self.loads(source)
        per_load = self.load_shape()[1] if isinstance(source, Box) and is_rows(source) else 1
        groups = min(t.large_workgroup, max(32, power_of_two_above(int(t.groups_a_rank * k))))
        each = t.loads_each if loads >= 1024 else max(1, t.loads_each // 4)
        team = max(groups, min(t.large_workgroup, power_of_two_below(loads // each)))
        # Few sequences that lie side by side share workgroups, so that loads coalesce.
        alternate = not delegates and self.is_columns(source) and columns_at_once(source.length, sequences, k, t)
        if alternate:
            team = max(groups, min(team, t.large_workgroup // t.select_columns))
        if isinstance(source, Pairs) and source.item_step > 1:
            # So do pairs, whose teams are as small as can be.
            team = groups
        split = 1
        if delegates:
            each = t.select_delegates * (1 if sequences * delegates.length <= 4 * t.delegates else 2)
            team = min(t.large_workgroup, max(32, groups, power_of_two_above(-(-delegates.length // each))))
            groups = min(groups, team)
        elif team == t.large_workgroup or t.barrier_free:
            most = max(1, t.workgroups * t.workgroup // 4 // (sequences * team))
            split = max(1, min(most, loads // (team * 2 * each), loads // (4 * k)))
        workgroup = min(t.large_workgroup, t.select_columns * team) if alternate else max(team, t.workgroup)
        teams = workgroup // team
        pair = 8 * self.selection.format.key_words
        runs = t.select_spans if loads >= team * split * t.select_spans * 4 else 1
        own = -(-delegates.length // team) if delegates else runs
        room = self.limits.max_compute_workgroup_storage_size - 512 - workgroup * (pair + 4 + 4 * own)
        capacity = power_of_two_above(max(2 * k, 4 * k * min(per_load, 4), 64))
        while capacity * teams * pair > room and capacity > k:
            capacity //= 2
        if capacity <= k:
            raise ValueError(f"select takes fewer than {k} in this adapter's workgroup memory")
        parts = self.new_pairs(sequences, split * k) if split > 1 else None
        self.emit(
            "select",
            -(-sequences * split // teams),
            source,
            parts or sink,
            delegates=delegates,
            scratch={6: seconds} if delegates else None,
            constants={
                "DELEGATED": int(delegates is not None),
                "OWN": own,
                "AGAIN": t.again,
                "ALTERNATE": int(alternate),
                "UNROLL": max(1, min(t.columns_unroll, power_of_two_below(loads // team))) if alternate else t.unroll,
                "WORKGROUP": workgroup,
                "TEAM": team,
                "GROUPS": groups,
                "CAPACITY": capacity,
                "AHEAD": max(1, min(8, groups * groups // team)),
            },
            in_order=isinstance(source, Box),
            split=split,
            k=k,
            subsets=delegates.length if delegates else 0,
            members=-(-source.length // delegates.length) if delegates else 0,
        )
        if parts:
            self.run(parts, sequences, k, sink)

    def networks(self, source: Source, sequences: int, k: int, sink: Sink) -> None:
        """Whole sequences in registers, of one invocation, or of as many as they need or the machine has room for."""
        t = self.tuning
        if not isinstance(source, Box) or self.selection.format.key_words > 1 or not 1 < k < 32:
            raise ValueError(f"networks takes k from 2 to 31 of the input's elements of up to 4 bytes, not k={k}")
        if not k < source.length <= 4096:
            raise ValueError(f"networks takes k={k} of sequences of k + 1 to 4096 items, not {source.length}")
        per_load, _, _ = self.covering(source)
        fetch = max(1, 4 // per_load)
        most = min(32, t.workgroup)
        team = 1
        held = self.held(source, team, fetch)
        while team < most and (
            held["LOADS"] * per_load > t.networks_items or self.has_room(sequences * team, held["LOADS"] // fetch)
        ):
            team *= 2
            held = self.held(source, team, fetch)
        loads = held["LOADS"]
        if loads * per_load > t.networks_items:
            raise ValueError(f"networks takes up to {most * t.networks_items} items, not {source.length}")
        steps = k.bit_length()
        workgroup = max(team, t.short_workgroup)
        self.emit(
            "select_networks",
            -(-sequences * team // workgroup),
            source,
            sink,
            constants={
                "WORKGROUP": workgroup,
                "TEAM": team,
                "K": k,
                "KEEP": k + 1,
                "STEPS": steps,
                "HALF": 1 << (steps - 1),
                "PAD": (1 << steps) - k - 1,
                "GROUPS": -(-k // team),
                "FOURS": loads * per_load // 4,
                "FETCH": fetch,
                "AGAIN": fetch * per_load // 4,
                "PLACE_BITS": (loads * team * per_load).bit_length(),
            }
            | held,
            in_order=True,
            k=k,
        )

    def covering(self, source: Box) -> tuple[int, int, bool]:
        """Items of a load, the most loads that cover a sequence, and whether sequences may begin inside loads."""
        per_load = self.load_shape()[1] if is_rows(source) else 1
        first = source.offset % (WINDOW // self.selection.format.bytes)
        skewed = any(n % per_load for n in (first, *(d.input_stride for d in source.selection.batch)))
        return per_load, -(-(source.length + (per_load - 1 if skewed else 0)) // per_load), skewed

    def held(self, source: Box, team: int, at_a_time: int = 1) -> dict[str, int]:
        """The constants of ``shaders/lib/held.wgsl`` for a team of so many invocations; LOADS is a multiple of ``at_a_time``."""
        per_load, covering, skewed = self.covering(source)
        loads = -(-covering // (team * at_a_time)) * at_a_time
        return {"LOADS": loads, "WHOLE": source.length // (team * per_load), "SKEWED": int(skewed)}

    def has_room(self, invocations: int, loads: int) -> bool:
        """Do twice as many invocations with half as many loads find room on the machine, and enough work?"""
        return invocations < self.tuning.short_invocations and loads >= 8

    def select_rows(self, source: Source, sequences: int, k: int, sink: Sink) -> None:
        """A team of invocations a sequence, which is enough to find a threshold."""
        t = self.tuning
        if not isinstance(source, Box) or len(source.selection.axes) != 1:
            raise ValueError("select_rows needs the input's elements along one axis")
        per_load, covering, _ = self.covering(source)
        most = min(t.workgroup, power_of_two_below(source.length // per_load))  # each has a load of its own
        team = max(4, power_of_two_above(k + k // 2))
        # Finding a threshold takes an invocation as long as its team is large.
        while team < most and (
            covering > max(t.select_rows_loads, min(team, 32)) * team
            or (team < 32 and self.has_room(sequences * team, covering // team))
        ):
            team *= 2
        if team > most or covering > 32 * team:
            raise ValueError(
                f"select_rows takes k={k} of 1 to 32 loads for each of {team} invocations, up to {t.workgroup}, "
                f"not of {source.length} items"
            )
        workgroup = max(team, t.short_workgroup if sequences * team < t.short_invocations else t.workgroup)
        self.emit(
            "select_rows",
            -(-sequences * team // workgroup),
            source,
            sink,
            constants={
                "WORKGROUP": workgroup,
                "TEAM": team,
                "CAPACITY": 4 * team if self.selection.format.key_words == 1 else 2 * team,
            }
            | self.held(source, team),
            in_order=True,
            k=k,
        )

    def lists(self, source: Source, sequences: int, k: int, sink: Sink) -> None:
        """Sorted lists in registers; as many invocations a sequence as fill the machine."""
        t = self.tuning
        if not isinstance(source, Box) or k > t.lists_k:
            raise ValueError(f"lists takes k up to {t.lists_k} of the input's elements, not k={k}")
        if len(source.selection.axes) != 1:
            raise ValueError("lists needs the input's elements along one axis")  # as a group is found again by an item's index
        loads = self.loads(source)
        team = 1
        if not t.barrier_free:
            team = min(32, power_of_two_below(t.workgroups * 64 // sequences), power_of_two_below(loads // 4))
        # A group of loads is looked at again where its best is kept, so groups must be many; and SwiftShader compiles the code for
        # groups of 32 items for minutes, and takes gigabytes.
        per_load = self.load_shape()[1] if is_rows(source) else 1
        unroll = max(1, min(t.unroll, 16 // per_load, power_of_two_below(loads // (4 * k * team))))
        workgroup = self.spread(sequences, t.workgroups)
        pair = 8 * self.selection.format.key_words
        while team > 1 and workgroup * k * pair > self.limits.max_compute_workgroup_storage_size:
            workgroup //= 2
        self.emit(
            "select_lists",
            -(-sequences * team // workgroup),
            source,
            sink,
            constants={
                "WORKGROUP": workgroup,
                "TEAM": min(team, workgroup),
                "K": k,
                "UNROLL": unroll,
                "GROUP": unroll * per_load,
                "AHEAD": 2 if unroll == 1 and not t.barrier_free else 1,
            },
            in_order=True,
            k=k,
        )

    def select_kth(self, source: Source, sequences: int, k: int, sink: Sink) -> None:
        """A workgroup a sequence, which is read once and a little; the k-th of its subsets' bests by histograms."""
        t = self.tuning
        if not isinstance(source, Box):
            raise ValueError("select_kth needs the input's elements")
        if k > t.kth_k:
            raise ValueError(f"select_kth takes k up to {t.kth_k} here, not k={k}")
        per_load, covering, _ = self.covering(source)
        team = max(t.kth_fewest, min(power_of_two_above(int(t.kth_a_rank * k)), power_of_two_above(covering // 4)))
        if sequences * team <= t.short_invocations // 8:
            team = max(team, min(t.workgroup, power_of_two_above(2 * k)))  # one for each pair of the list
        fill = min(power_of_two_above(t.short_invocations // sequences), power_of_two_above(covering // t.kth_fill))
        workgroup = min(t.kth_workgroup, max(team, fill))
        longest = 2 * power_of_two_above(max(k, 16))  # no kernel of its own for every k
        chosen = power_of_two_above(k) * 17 // 16
        pair = 8 * self.selection.format.key_words

        def digit(workgroup: int) -> int:
            return max(t.kth_digit, workgroup.bit_length() - 1)

        def room(workgroup: int) -> int:
            counters = (4 << digit(workgroup)) + 8 * workgroup
            return (self.limits.max_compute_workgroup_storage_size - 256 - counters - 4 * chosen) // pair

        while workgroup > t.kth_fewest and room(workgroup) < longest:
            workgroup //= 2
        # In sorted data, whole loads; but where workgroups share a processor, smaller ones.
        whole = min(4, per_load) * chosen if sequences * workgroup <= t.short_invocations else 0
        if longest > 32 * workgroup:
            raise ValueError(f"select_kth takes k up to {16 * workgroup} by {workgroup} invocations, not k={k}")
        capacity = max(longest, min(room(workgroup), whole, 32 * workgroup))
        # Where half of the subsets would be read again, twice as many.
        own = min(t.kth_subsets * (2 if 4 * k > t.kth_subsets * workgroup else 1), -(-covering // workgroup))
        subsets = own * workgroup
        fewest = min(self.loads(source), subsets)  # that have loads of a sequence that begins with one
        if k > fewest:
            raise ValueError(f"select_kth takes k up to {fewest} of {source.length} items here, not k={k}")
        members = -(-covering // subsets)
        # Second keys cost every load something, and spare reading most of the chosen subsets again.
        seconds = members > 2 and subsets <= t.kth_seconds * k
        self.emit(
            "select_kth",
            sequences,
            source,
            sink,
            constants={
                "WORKGROUP": workgroup,
                "OWN": own,
                "LANES": min(t.lanes, workgroup),
                "SECONDS": int(seconds),
                "EACH": max(own, -(-capacity // workgroup)),
                "PLACES": capacity,
                "LONGEST": longest,
                "ROOM": chosen,
                "AGAIN": min(t.again, -(-(k * power_of_two_above(members)) // workgroup)),
                "KTH_DIGIT": digit(workgroup),
            },
            in_order=True,
            k=k,
            rank_count=k // 16,
            subsets=subsets,
            members=members,
        )

    def delegates(self, source: Source, sequences: int, k: int, sink: Sink) -> None:
        """One strided subset an invocation, whose best is its delegate; then only the subsets of the first delegates again."""
        if not isinstance(source, Box) or len(source.selection.axes) != 1:
            raise ValueError("delegates needs the input's elements along one axis")
        if self.is_columns(source):
            self.delegates_of_columns(source, sequences, k, sink)
        else:
            self.delegates_of_rows(source, sequences, k, sink)

    def delegates_of_columns(self, source: Box, sequences: int, k: int, sink: Sink) -> None:
        """Down adjacent sequences; a team of invocations then looks at each sequence's delegates."""
        loads = self.loads(source)
        t = self.tuning
        form = self.selection.format
        # A subset is read again where two of the first k lie in it: of s subsets, some k^2 / 2 s. And s delegates are written and
        # read. Both together are least where s is as this cube root.
        wanted = int(t.delegate_reach * math.cbrt(loads * k * k))
        # As many as fill the machine, while a small team can look at them.
        wanted = max(wanted, min(t.delegate_fewest, t.short_invocations // 2 // self.column_groups(source, sequences)))
        # Scratch of about 2% of the input, where that leaves enough: to read much again takes long.
        lean = source.length * form.bytes // (50 * 4 * (2 * form.key_words + 1))
        subsets = min(wanted, max(lean, 8 * k))
        subsets = max(2 * k, min(subsets, loads // t.columns_unroll))
        step = max(8, power_of_two_below(subsets) // 4)
        subsets = min(max(step, subsets // step * step), t.delegate_columns, loads)
        if subsets < k:
            raise ValueError(f"delegates needs at least k={k} positions of at most {subsets} to choose from")
        delegates = self.new_pairs(sequences, subsets, side_by_side=t.barrier_free)
        seconds = self.arena.take(sequences * subsets * 4 * form.key_words)
        self.reduce_columns(source, sequences, delegates, subsets, seconds)
        self.select(source, sequences, k, sink, delegates, seconds)

    def delegates_of_rows(self, source: Box, sequences: int, k: int, sink: Sink) -> None:
        """The delegates' own bests, class by class, give a threshold; what does not come after it is listed and ranked.

        With g groups of delegates about g ln(g / (g - k)) pairs do not come after the k-th of the groups' bests: few more than k,
        where g is large.
        """
        t = self.tuning
        per_load, covering, _ = self.covering(source)
        loads = self.loads(source)
        # Invocations that look for a threshold together, with up to 16 groups each.
        wide = min(t.kth_workgroup, max(t.kth_least, power_of_two_above(k) // 2))
        # In sorted data the k loads with the first delegates all lie before the threshold.
        capacity = min(max(2 * wide, power_of_two_above(max(2, per_load) * k)), 16 * wide)
        # Scratch of about 2% of the input, where that leaves enough of them to fill the machine.
        form = self.selection.format
        words = form.key_words * (2 if t.delegate_seconds else 1) + 1
        lean = max(t.delegates_lean, source.length * form.bytes // (50 * 4 * words) - capacity)
        subsets = max(t.delegates // sequences, t.delegates_a_rank * k)
        subsets = power_of_two_below(max(1, min(subsets, loads // t.delegate_loads, lean)))
        subsets = min(max(subsets, power_of_two_above(4 * k)), power_of_two_below(loads))
        own = min(t.delegate_own, max(1, subsets // 64))
        if own > 1:
            subsets = min(subsets, 64 * wide)  # and no classes, several in a group
        # Few delegates are spread over the machine in small workgroups.
        workgroup = min(t.delegate_workgroup, subsets // own, max(64, power_of_two_above(sequences * subsets // 128)))
        workgroups = subsets // (own * workgroup)
        groups = min(max(wide, power_of_two_above(8 * k)), 16 * wide)
        classes = 0
        while own == 1 and subsets > 16 * wide and (not classes or workgroups * classes < max(4 * wide, groups)):
            classes = 2 * classes or 8
        while classes and workgroups * classes > 16 * wide:
            subsets, workgroups = subsets // 2, workgroups // 2
        bests_each = workgroups * classes if classes else subsets
        fan = power_of_two_below(math.isqrt(workgroup // max(1, classes))) if classes else workgroup
        groups = min(bests_each, groups)
        if k > min(groups, capacity) // 2:
            raise ValueError(f"delegates takes k up to {min(groups, capacity) // 2} of {loads} loads here, not k={k}")
        delegates = self.new_pairs(sequences, subsets)
        bests = self.new_pairs(sequences, bests_each) if classes else delegates
        # Where many subsets would be read again, only those of which two loads ask for that.
        pays = own > 1 and subsets <= t.delegate_seconds * k
        seconds = self.arena.take(sequences * subsets * 4 * form.key_words) if pays else None
        # A list of candidates a sequence, then the sequences' thresholds.
        lists = self.new_pairs(1, sequences * (capacity + 1))
        candidates = replace(lists, step=capacity, length=capacity)
        counts = self.arena.take(sequences * 4)
        members = -(-covering // subsets)
        self.emit(
            "delegates",
            sequences * workgroups,
            source,
            delegates,
            scratch={8: counts} | ({6: bests.keys, 7: bests.indices} if classes else {}) | ({6: seconds} if seconds else {}),
            constants={
                "WORKGROUP": workgroup,
                "OWN": own,
                "LANES": min(8, workgroup),
                "SECONDS": int(pays),
                "CLASSES": classes,
                "FAN": fan,
                "WIDE": workgroup // (max(1, classes) * fan),
                # On a GPU the extremes would take the registers of loads under way.
                "EXTREMES": int(t.barrier_free and self.has_extremes(source)),
                # A long run of loads has time for more of them at once.
                "UNROLL": t.unroll * (2 if loads // subsets >= 64 else 1),
            },
            in_order=True,
            subsets=subsets,
        )
        # Every workgroup finds the threshold, so no more of them than are at work at once; but what they choose must have room.
        room = self.limits.max_compute_workgroup_storage_size - KTH_BYTES - 8 * wide
        blocks = max(1, min(subsets // 64, t.gather_workgroups // sequences), -(-subsets // (wide * (room // (4 * wide)))))
        each = -(-subsets // (wide * blocks))
        collected = min(1024, (room - 4 * wide * each) // (8 * form.key_words)) if capacity >= t.gather_collects else 0
        again = {2: delegates.keys, 3: delegates.indices, 6: counts}
        self.emit(
            "gather",
            sequences * blocks,
            source,
            candidates,
            scratch=again | ({7: bests.keys, 8: bests.indices} if classes else {}) | ({7: seconds} if seconds else {}),
            constants={
                "WORKGROUP": wide,
                "BLOCKS": blocks,
                "OWN": each,
                "ROOM": wide * each,
                "AGAIN": t.again,
                "SECONDS": int(pays),
                "BESTS": bests_each if classes else 0,
                "EACH": max(1, groups // wide),
                "MERGED": max(1, bests_each // max(groups, wide)),
                "CAPACITY": capacity,
                "COLLECTED": collected if collected >= 256 else 0,
            },
            k=k,
            members=members,
            subsets=subsets,
            # A little after the k-th will do, where the list has room for whole loads.
            rank_count=max(0, min(k // 16, capacity // per_load - k)),
        )
        # One dispatch does the rest where ranking even a full list takes no longer than trimming it.
        ranks = capacity <= 4096 and sequences * capacity**2 <= t.rank_work and not t.barrier_free
        ranked = capacity if ranks else min(capacity, max(2 * k, min(2 * per_load * k, 2048), 256))
        # A CPU pays for every dispatch; and counters, scans and a list have to fit into its workgroup's memory.
        memory = KTH_BYTES + 12 * wide + 8 * form.key_words * ranked
        sorts = t.barrier_free and memory <= self.limits.max_compute_workgroup_storage_size
        items = 16 if ranks else 0
        lengths = None if ranks or sorts else self.arena.take(sequences * 4)
        self.emit(
            "trim",
            sequences * (capacity // items if ranks else 1),
            source,
            None if lengths else sink,
            scratch=again | {7: candidates.keys, 8: candidates.indices} | ({4: lengths} if lengths else {}),
            constants={
                "WORKGROUP": wide,
                "ITEMS": items,
                "SORTS": int(sorts),
                "LONGEST": ranked,
                "PLACES": ranked,
                "CAPACITY": capacity,
                "EACH": capacity // wide,
                "STEP": min(wide, power_of_two_below((capacity - k) // per_load)),
            },
            k=k,
            members=members,
            subsets=subsets,
            rank_count=ranked,
        )
        if not lengths:
            return
        candidates = replace(candidates, length=ranked)
        if ranked <= t.rank_length or ranked > t.sort_capacity:
            self.rank(candidates, sequences, k, sink, lengths)
        else:
            self.sort_rows(candidates, sequences, k, sink, lengths)

    # -- sorting --

    def sort_rows(self, source: Source, sequences: int, k: int, sink: Sink, counts: tuple[int, int] | None = None) -> None:
        """Whole sequences in workgroup memory, eight items an invocation, or 16 where there are too few of those.

        ``counts``: where each sequence's own length is.
        """
        t = self.tuning
        capacity = max(16, power_of_two_above(source.length))
        if capacity > t.sort_capacity:
            raise ValueError(f"sort_rows takes sequences of up to {t.sort_capacity}, not {source.length}")
        each = 8 if capacity // 8 <= min(512, self.limits.max_compute_invocations_per_workgroup) else 16
        team = capacity // each
        key_words = self.selection.format.key_words
        room = self.limits.max_compute_workgroup_storage_size
        padded = capacity + capacity // each
        split = int(padded * 8 * key_words > room)
        pair = 4 if split else 8 * key_words
        most = min(t.short_workgroup, self.spread(sequences * team, t.workgroups))
        teams = max(1, min(most // team, room // (padded * pair)))
        self.emit(
            "sort_rows",
            -(-sequences // teams),
            source,
            sink,
            scratch={8: counts} if counts else None,
            constants={
                "COUNTED": int(counts is not None),
                "WORKGROUP": teams * team,
                "CAPACITY": capacity,
                "SIZE": capacity.bit_length() - 1,
                "EACH": each,
                "HALF": each // 2,
                "BITS": each.bit_length() - 1,
                "SPLIT": split,
                "WORDS": key_words + 1,
            },
            k=k,
        )

    def sort_rows_radix(self, source: Source, sequences: int, k: int, sink: Sink) -> None:
        """Whole sequences of elements in workgroup memory, by as many passes as the key has digits."""
        t = self.tuning
        if not isinstance(source, Box) or self.selection.last_index:
            raise ValueError("sort_rows_radix needs the input's elements, of which the first one wins a tie")
        each = t.radix_row_each
        # Fewer and wider passes pay where each of them is long.
        digit = min(5, t.radix_row_digit + int(source.length > 4096))
        pairs = 1 << (digit - 1)
        if source.length > each * self.limits.max_compute_invocations_per_workgroup:
            each = 16
        team = max(32, power_of_two_above(-(-source.length // each)))
        if team >= 128 and team * 3 // 4 * each >= source.length:
            team = team * 3 // 4
        # An invocation's counters or words, whichever are more, and its sum among 16.
        room = 4 * max(each + 1, pairs) * team + 4 * team + 8 * (team // 16)
        most = self.limits.max_compute_workgroup_storage_size - 32
        if room > most or team > self.limits.max_compute_invocations_per_workgroup:
            raise ValueError(f"a sequence of {source.length} does not fit sort_rows_radix in this adapter's workgroup memory")
        teams = max(1, min(t.radix_row_workgroup // team, most // room))
        bits = self.key_bits()
        index_bits = (team * each - 1).bit_length()
        # Words hold so many of the key's bits that passes are fewest, and of those the most.
        passes = {
            part: sum(-(-min(part, bits - low) // digit) for low in range(0, bits, part))
            for part in range(1, min(bits, 32 - index_bits) + 1)
        }
        part = min(passes, key=lambda part: (passes[part], -part))
        parts = -(-bits // part)
        per_load = self.load_shape()[1] if is_rows(source) else 1
        self.emit(
            "sort_rows_radix",
            -(-sequences // teams),
            source,
            sink,
            constants={
                "WORKGROUP": teams * team,
                "TEAM": team,
                "EACH": each,
                "DIGIT": digit,
                "PAIRS": pairs,
                "INDEX_BITS": index_bits,
                "PART": part,
                "PARTS": parts,
                "LOADS": max(1, each // per_load),
                "FETCH": int(parts > 1 and (isinstance(sink, Pairs) or self.selection.has_values)),
            },
            k=k,
        )

    def radix_select(self, source: Source, sequences: int, k: int, sink: Sink) -> None:
        """The first k in any order by histograms, then those in order.

        Of a long row only a sample is put into histograms: all that does not come after a pair of the sample that is a little later
        than the k-th should be is listed. Where that turns out to be too few or too many, the whole row is done after all.
        """
        t = self.tuning
        sample = self.sample(source, sequences) if k >= t.sample_k and k * source.length >= t.sample_work else None
        if sample is None:
            found = self.new_pairs(sequences, k)
            self.find(source, sequences, k, found)
            self.sort_pairs(found, sequences, k, sink)
            return
        # Five standard deviations of how many of the first k the sample has, for a threshold late enough; as many again for room.
        expected = k * sample.length / source.length
        rank = min(sample.length, math.ceil(expected + 5 * math.sqrt(expected) + 8))
        room = math.ceil((rank + 5 * math.sqrt(rank)) * source.length / sample.length)
        candidates = self.new_pairs(sequences, max(k, min(room, source.length)))
        counts = self.arena.take(2 * sequences * 4)
        self.find(source, sequences, rank, candidates, sample, counts)
        self.find(source, sequences, k, candidates, None, counts)
        self.radix_sort(candidates, sequences, k, sink, counts)

    def sample(self, source: Source, sequences: int) -> Box | None:
        """Runs of eight elements from all over a long contiguous row."""
        if not isinstance(source, Box) or not is_rows(source) or source.length < self.tuning.sample_length or sequences > 1:
            return None
        run, every = 8, 256
        (axis,) = source.selection.axes
        runs = source.length // (run * every)
        axes = (replace(axis, size=runs, stride=run * every), replace(axis, size=run, stride=1))
        return Box(replace(source.selection, axes=axes), (0, 0), (runs, run), (run * every, 1), source.offset, source.first_index)

    def find(
        self,
        source: Source,
        sequences: int,
        k: int,
        found: Pairs,
        sample: Box | None = None,
        counts: tuple[int, int] | None = None,
    ) -> None:
        """The first k pairs of every sequence, in any order: the k-th by histograms, digit by digit, then all up to it.

        ``sample``: the k-th pair of this in place of the source's own. ``counts``: where to leave how many were found; without a
        sample, what a find with one has left there, so that nothing is done where it went well.
        """
        t = self.tuning
        bins = 2048 if self.limits.max_compute_workgroup_storage_size >= 16384 else 1024
        digits = list(_digits(self.key_bits(), self.selection.length, bins.bit_length() - 1, self.selection.format.key_words))
        levels = len(digits)
        fallback = int(counts is not None and sample is None)
        start = self.arena.used
        histogram = self.arena.take(levels * sequences * bins * 4)
        listed = counts or self.arena.take(sequences * 4)
        self.clear((start, self.arena.used - start))
        if counts and not fallback:
            self.clear(counts)
        progress = self.arena.take((levels + 1) * sequences * 16)
        before = (0, 0, 0)
        for level, digit in enumerate([*digits, None]):
            word, shift, bits = digit or (0, 0, 0)
            read = sample if sample and digit else source
            split = max(1, min(t.workgroups // sequences, self.loads(read) // (t.workgroup * 4)))
            self.emit(
                "select_digit" if digit else "select_keep",
                sequences * split,
                read,
                None if digit else found,
                scratch={6: histogram, 7: progress, 8: listed},
                constants={
                    "BINS": bins,
                    "EACH_BINS": bins // t.workgroup,
                    "COLLECTED": 1024 if self.limits.max_compute_workgroup_storage_size >= 32768 else 512,
                    "LANES": t.lanes if t.barrier_free else 0,
                    "FALLBACK": fallback,
                },
                split=split,
                k=k,
                level=level,
                digit_word=word,
                digit_shift=shift,
                digit_bits=bits,
                before_word=before[0],
                before_shift=before[1],
                rank_count=found.length,
            )
            before = (word, shift, bits)

    def clear(self, region: tuple[int, int]) -> None:
        start, size = region
        most = self.limits.max_storage_buffer_binding_size // WINDOW * WINDOW
        for part in range(start, start + size, most):
            words = min(most, start + size - part) // 4
            self.emit("clear", -(-words // self.tuning.workgroup), None, None, scratch={6: (part, 4 * words)}, length=words)

    def rank(self, source: Source, sequences: int, k: int, sink: Sink, counts: tuple[int, int] | None = None) -> None:
        """By counting; the work grows with the square of the length. ``counts``: where each sequence's own length is."""
        if not isinstance(source, Pairs):
            raise ValueError("rank takes pairs only")
        items = 16
        blocks = -(-source.length // items)
        workgroup = min(self.tuning.large_workgroup, max(self.tuning.workgroup, power_of_two_above(source.length)))
        self.emit(
            "rank",
            sequences * blocks,
            source,
            sink,
            scratch={8: counts} if counts else None,
            constants={"ITEMS": items, "WORKGROUP": workgroup, "COUNTED": int(counts is not None)},
            k=k,
        )

    def sort_pairs(self, pairs: Pairs, sequences: int, k: int, sink: Sink) -> None:
        """Pairs in any order -> their first k in order."""
        t = self.tuning
        # Against many dispatches of a radix sort, not one of sort_rows, counting may take longer.
        work = t.rank_work * (1 if pairs.length <= t.sort_capacity else 4)
        few = sequences * 4 <= t.workgroups and sequences * pairs.length**2 <= work
        if few and pairs.length <= t.rank_length:
            self.rank(pairs, sequences, k, sink)
        elif pairs.length <= t.sort_capacity:
            self.sort_rows(pairs, sequences, k, sink)
        else:
            self.radix_sort(pairs, sequences, k, sink)

    def key_bits(self) -> int:
        return 8 * self.selection.format.bytes

    def radix_sort(self, source: Source, sequences: int, k: int, sink: Sink, counts: tuple[int, int] | None = None) -> None:
        """All in order by their digits, of which the first k are kept."""
        self.sort_segments([source], sequences, k, sink, counts)

    def sort_segments(
        self, segments: Sequence[Source], sequences: int, k: int, sink: Sink, lengths: tuple[int, int] | None = None
    ) -> None:
        """A stable radix sort, least significant digit first, of sequences that lie in one or more segments.

        Elements come in index order, so that only keys need sorting; pairs come in any. Where a single sequence is longer than a
        binding, every step runs once for each window of what it reads and, to scatter, each window of what it writes. ``lengths``:
        where the number of pairs of each sequence is, when that is known on the device only.
        """
        t = self.tuning
        n = sum(segment.length for segment in segments)
        key_words = self.selection.format.key_words
        digits = list(_digits(self.key_bits(), self.selection.length, 8, key_words))[::-1]
        if isinstance(segments[0], Box):
            digits = [d for d in digits if d[0] < key_words]
        ballots = self.limits.subgroups and t.workgroup >= 256 and not t.barrier_free  # an invocation for each digit
        most = t.tile if ballots else power_of_two_below(t.tile)
        tile = min(most, max(t.workgroup, power_of_two_below(n * sequences // t.tiles)))
        if t.barrier_free:  # an invocation a tile; its 256 counters must be worth it
            tile = min(max(t.tile, power_of_two_above(-(-n * sequences // (16 * t.workgroups)))), power_of_two_above(n))
        workgroup = 16 if t.barrier_free else t.workgroup
        tiles_each = workgroup if t.barrier_free else 1  # a workgroup
        # Groups so few that each tile sums them up by itself, at one look, or where sequences are few at several; an invocation
        # counts no more than 32 items for that. Else as many as fill the machine, and a dispatch that sums them up.
        most_groups = t.sort_groups * max(1, 4 // sequences)
        group = power_of_two_above(-(-n // (tile * t.sort_groups)))
        group = min(group, t.sort_group, power_of_two_below(32 * workgroup // tile))
        if n > most_groups * group * tile:
            group = min(t.sort_group, power_of_two_below(n * sequences // (tile * t.tiles)))

        def groups_of(lengths: Iterable[int]) -> list[int]:
            return [-(-length // (tile * group)) for length in lengths]

        # Segments, and the windows of later passes, each end in a group of their own.
        later = [length for _, length in self.cuts(n, sequences)]
        room = max(sum(groups_of(segment.length for segment in segments)), sum(groups_of(later)))
        sums = self.arena.take(sequences * 256 * (room + 1) * 4)
        scratch = {7: sums} | ({6: self.arena.take(sequences * 256 * room * group * 4)} if group > 1 else {})
        buffers = self.sort_buffers(segments, sequences, n, len(digits) - 1, sink if k == n else None)
        for number, (word, shift, bits) in enumerate(digits):
            last = number == len(digits) - 1
            target = sink if last else buffers[(len(digits) - number) % 2]
            kept = k if last else n
            counted = {8: lengths} if lengths and number == 0 else {}
            own_groups = groups_of(segment.length for segment in segments)
            own_tiles = [-(-segment.length // tile) for segment in segments]
            first_tiles = [group * sum(own_groups[:i]) for i in range(len(own_groups))]
            groups = sum(own_groups)
            scanned = t.barrier_free or groups > most_groups
            shared = {"BINS": 256, "ALONE": int(t.barrier_free)}
            constants = shared | {
                "TILE": tile,
                "GROUP": group,
                "SCANNED": int(scanned),
                "LOOK": t.sort_groups,
                "WORKGROUP": workgroup,
                "EACH": -(-tile // workgroup),
                "SUBGROUPS": int(ballots),
                "DIGIT_WORD": word,
                "COUNTED": int(bool(counted)),
            }
            if isinstance(segments[0], Box) and not t.barrier_free:
                # Items are looked at one by one: a vector would bring more than are asked for.
                constants |= {"SOURCE_ROWS": 0, "SOURCE_ELEMENTS": 1, "PER_LOAD": 1, "LOAD_WORDS": 1, "INPUT_WORDS": 1}
            for segment, start, tiles, workgroups in zip(segments, first_tiles, own_tiles, own_groups, strict=True):
                self.emit(
                    "sort_count",
                    -(-sequences * workgroups // tiles_each),
                    segment,
                    None,
                    scratch=scratch | counted,
                    constants=constants | {"AT_ONCE": min(group, max(1, power_of_two_below(16 * workgroup // tile)))},
                    k=k,
                    split=groups,
                    digit_shift=shift,
                    digit_bits=bits,
                    tile_base=start,
                    members=tiles,
                )
            if scanned:
                # Eight neighbours are what memory is read by.
                lines, runs, items = (64, 1, 1) if t.barrier_free else (8, t.workgroup // 8, 8)
                self.emit(
                    "sort_scan",
                    -(-sequences * 256 // lines),
                    None,
                    None,
                    scratch={7: sums},
                    constants=shared | {"WORKGROUP": lines * runs, "LINES": lines, "RUNS": runs, "EACH": items},
                    split=groups,
                )
            for segment, start, tiles in zip(segments, first_tiles, own_tiles, strict=True):
                for piece, first, length in self.windows(target, kept, sequences):
                    self.emit(
                        "sort_scatter",
                        -(-sequences * tiles // tiles_each),
                        segment,
                        piece,
                        scratch=scratch | counted,
                        constants=constants,
                        k=k,
                        split=groups,
                        digit_shift=shift,
                        digit_bits=bits,
                        tile_base=start,
                        members=tiles,
                        rank_base=first,
                        rank_count=length,
                    )
            segments = [piece for piece, _, _ in self.windows(target, kept, sequences) if isinstance(piece, Pairs)]

    def pairs_a_binding(self) -> int:
        """The most pairs whose keys one binding holds, in whole windows."""
        limit = self.limits.max_storage_buffer_binding_size
        return max(WINDOW, limit // (4 * self.selection.format.key_words) // WINDOW * WINDOW)

    def windows(self, sink: Sink, n: int, sequences: int) -> list[tuple[Sink, int, int]]:
        """A sink for n items a sequence in pieces that fit a binding: (piece, first rank, ranks)."""
        if not isinstance(sink, Pairs):
            return [(sink, 0, n)]
        cuts = self.cuts(n, sequences)
        if len(cuts) == 1:
            return [(sink, 0, n)]
        key_words = self.selection.format.key_words
        return [(sink.window(first, length, key_words), first, length) for first, length in cuts]

    def cuts(self, n: int, sequences: int) -> list[tuple[int, int]]:
        """Where pairs, n a sequence, are cut in pieces that fit a binding: (first, length). Several sequences are one piece."""
        most = self.pairs_a_binding()
        if sequences * n <= most:
            return [(0, n)]
        return [(first, min(most, n - first)) for first in range(0, n, most)]

    def sort_buffers(self, sources: Sequence[Source], sequences: int, n: int, passes: int, sink: Sink | None) -> list[Pairs]:
        """The two buffers that the passes before the last go between; the last one reads the first.

        One may be the source itself, once the first pass has read it; or the second may lie in outputs that are one run of enough
        bytes each: they are written again at the end.
        """
        if not passes:
            return []
        first = self.new_pairs(sequences, n, windows=True)
        if passes == 1:
            return [first, first]
        source, fits = sources[0], sequences * n <= self.pairs_a_binding()
        if fits and isinstance(source, Pairs) and source == replace(source, base=0, step=n, length=n, item_step=1):
            return [first, source] if passes % 2 else [source, first]  # the first pass writes the new one
        in_values = in_indices = False
        if isinstance(sink, Final):
            s = sink.box.selection
            one_run = sequences * n - 1  # from the first element to the last
            values_span = (n - 1) * s.value_step + sum((d.size - 1) * d.value_stride for d in s.batch)
            indices_span = (n - 1) * s.index_step + sum((d.size - 1) * d.index_stride for d in s.batch)
            in_values = s.has_values and s.format.bytes >= 4 and not s.value_offset and values_span == one_run
            in_indices = s.has_indices and not s.index_offset and indices_span == one_run
        sizes = first.keys[1], first.indices[1]
        windows = sequences == 1
        second = replace(
            first,
            keys=(0, sizes[0]) if in_values else self.arena.take(sizes[0], windows=windows),
            indices=(0, sizes[1]) if in_indices else self.arena.take(sizes[1], windows=windows),
            keys_in="values" if in_values else "scratch",
            indices_in="indices" if in_indices else "scratch",
        )
        return [first, second]


def _digits(key_bits: int, length: int, digit: int, key_words: int) -> Iterator[tuple[int, int, int]]:
    """(word, lowest bit, bits) of each digit of a pair, most significant first; keys sit at the top of their words."""
    for word in range(key_words):
        bits = min(32, key_bits - 32 * word)
        yield from _word_digits(word, 32 - bits, bits, digit)
    yield from _word_digits(key_words, 0, max(1, (length - 1).bit_length()), digit)


def _word_digits(word: int, lowest: int, bits: int, digit: int) -> Iterator[tuple[int, int, int]]:
    high = lowest + bits
    while high > lowest:
        take = min(digit, high - lowest)
        high -= take
        yield word, high, take
