"""Print the mutation score of the comparison, and the surviving mutants. CI runs it nightly."""

from __future__ import annotations

import argparse
import os

from tests.mutants.score import KILLED, results_of, score, table
from tests.mutants.trials import mutants_of


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=450, help="the number of mutants (450)")
    parser.add_argument("--seed", type=int, default=0, help="the seed that chooses them (0)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="the number of processes")
    parser.add_argument("--only", metavar="MODEL:OPERATOR:N", help="print the differences of one mutant")
    options = parser.parse_args()
    os.environ |= {"PYTHONWARNINGS": "ignore", "TF_CPP_MIN_LOG_LEVEL": "3"}
    if options.only:
        show(options.only, options.seed)
        return
    results = []
    for result in score(options.count, options.seed, options.processes):
        results.append(result)
        if result.outcome != KILLED:
            print(result, flush=True)
    print(table(results))


def show(name: str, seed: int) -> None:
    """Print the differences of one mutant."""
    model, operator, number = name.split(":")
    mutant = mutants_of(model, seed)[operator][int(number)]
    for result in results_of(mutant):
        print(result, *result.lines, sep="\n    ")


if __name__ == "__main__":
    main()
