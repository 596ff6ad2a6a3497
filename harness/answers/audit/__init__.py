"""Is every argument still true? Each class of a package, made with one argument away from its default, and revived."""
