"""Runs a program for which the kernel refuses further seccomp filters: without-seccomp.py PROGRAM ARGUMENT..."""

import ctypes
import os
import platform
import struct
import sys

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
SECCOMP, PRCTL = {"x86_64": (317, 157), "aarch64": (277, 167)}[platform.machine()]
LOAD, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
NUMBER, FIRST_ARGUMENT = 0, 16
REFUSE, ALLOW = 0x00050000 | 1, 0x7FFF0000

rules = [
    (LOAD, 0, 0, NUMBER),
    (IF_EQUAL, 3, 0, SECCOMP),
    (IF_EQUAL, 0, 3, PRCTL),
    (LOAD, 0, 0, FIRST_ARGUMENT),
    (IF_EQUAL, 0, 1, PR_SET_SECCOMP),
    (RETURN, 0, 0, REFUSE),
    (RETURN, 0, 0, ALLOW),
]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
program = struct.pack("HxxxxxxQ", len(rules), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0):
    sys.exit(os.strerror(ctypes.get_errno()))
os.execv(sys.argv[1], sys.argv[1:])
