"""What a person asks of something at hand: is it fixed, since when, does my model clone, what works here."""
