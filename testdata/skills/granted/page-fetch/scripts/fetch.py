#!/usr/bin/env python3
"""Saves web pages in the workspace."""

import os
import pathlib
import re
import sys
import urllib.error
import urllib.request


def fetch(url: str, number: int) -> str:
    with urllib.request.urlopen(url, timeout=10) as answer:
        page = answer.read(1 << 20).decode("utf-8", "replace")
    pathlib.Path(os.environ["WORKSPACE"], f"page-{number}.html").write_text(page)
    title = re.search(r"<title>(.*?)</title>", page, re.DOTALL)
    return title.group(1).strip() if title else "(no title)"


def main() -> int:
    failed = 0
    for number, url in enumerate(sys.argv[1:], 1):
        try:
            print(f"{url}: {fetch(url, number)}")
        except (urllib.error.URLError, ValueError, OSError) as error:
            print(f"{url}: {error}", file=sys.stderr)
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
