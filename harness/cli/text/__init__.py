"""What a person reads of each answer, as lines: no output here, and no decision."""
