"""Only the pages have examples to run: not the configuration, nor what a build writes here."""

collect_ignore_glob = ["*.py", "_ext/*", "gallery/*", "reference/backreferences/*"]
