#!/usr/bin/env python3
"""Tries, harmlessly, to leave the sandbox: what a shell cannot try.

Prints "blocked NAME" or "ESCAPED NAME" an attempt; the exit code is the number
of escapes.
"""

import os
import pathlib
import socket
import sys

SKILL = pathlib.Path(os.environ.get("SKILL_DIR") or pathlib.Path(__file__).resolve().parent.parent)


def through_own_link():
    """Reads the outside file through a link made in the workspace."""
    link = pathlib.Path("escape-link.txt")
    link.symlink_to((SKILL / ".." / ".." / "outside.txt").absolute())
    try:
        link.read_bytes()
    finally:
        link.unlink()


def hard_link():
    """Makes a hard link to the outside file."""
    os.link(SKILL / ".." / ".." / "outside.txt", "escape-hard-link.txt")
    os.unlink("escape-hard-link.txt")


def signal_parent():
    """Asks whether a signal to the parent would be allowed."""
    if os.getppid() in (0, 1):
        raise PermissionError("there is no parent to be seen")
    os.kill(os.getppid(), 0)


def open_socket(family, kind):
    socket.socket(family, kind).close()


def udp():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.sendto(b"x", ("127.0.0.1", 9))


def unix_socket():
    with socket.socket(socket.AF_UNIX) as s:
        s.connect("/var/run/docker.sock")


ATTEMPTS = [
    ("read-through-own-link", through_own_link),
    ("hard-link-outside", hard_link),
    ("signal-parent", signal_parent),
    ("udp-loopback", udp),
    ("unix-socket", unix_socket),
    ("raw-socket", lambda: open_socket(socket.AF_INET, socket.SOCK_RAW)),
    ("change-root", lambda: os.chroot("/")),
    ("become-root", lambda: os.setuid(0) if os.getuid() else (_ for _ in ()).throw(PermissionError)),
]


def main():
    escapes = 0
    for name, attempt in ATTEMPTS:
        try:
            attempt()
        except (OSError, AttributeError):
            print(f"blocked {name}")
        else:
            print(f"ESCAPED {name}")
            escapes += 1
    return escapes


if __name__ == "__main__":
    sys.exit(main())
