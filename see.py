import sys; sys.path.insert(0,".")
from clonediff.harness.answers.check import check, minded
from clonediff.harness.answers.text import checked_text
import os
names=[f"{os.getcwd()}/breaks_one_thing:clone{n}" for n in range(10)]
for part in (names[:-1],names[-1:]):
    c=check("theirs.py:whole",part)
    for n,cs in c.clones.items(): print(n[-6:], " ## ".join(f"{x.sentence}: {x.happens}" for x in cs))
for s in ("sequential.keras","theirs.py:loses_more","theirs.py:subclassed", "theirs.py:unnamed"):
    c=check(s); print("\n".join(checked_text(c))); print(c.fails()); print([(x.known,x.root.expected,x.root.found) for x in c.alone])
