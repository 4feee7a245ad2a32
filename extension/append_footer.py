# SPDX-License-Identifier: Apache-2.0
"""Turns a shared library into a DuckDB extension: appends the 534 bytes of metadata that DuckDB checks on LOAD.

usage: append_footer.py LIBRARY OUTPUT DUCKDB_VERSION EXTENSION_VERSION
"""

import os
import sys

PLATFORM = "linux_amd64"
ABI = "CPP"  # bound to exactly one DuckDB version, unlike the stable C interface
SIGNATURE_BYTES = 256  # zero: the extension is unsigned
FIELD_BYTES = 32


def footer(duckdb_version: str, extension_version: str) -> bytes:
    fields = ["4", PLATFORM, duckdb_version, extension_version, ABI, "", "", ""]
    packed = b"".join(field.encode().ljust(FIELD_BYTES, b"\0") for field in reversed(fields))
    content = packed + bytes(SIGNATURE_BYTES)
    # The head of a WebAssembly custom section: id, payload length and content length as LEB128, and the section's name.
    return b"\x00\x93\x04" + b"\x10duckdb_signature" + b"\x80\x04" + content


def main() -> None:
    library, output, duckdb_version, extension_version = sys.argv[1:]
    with open(library, "rb") as source:
        body = source.read()
    partial = output + ".part"  # a running DuckDB may have the old file mapped: replace it, never rewrite it
    with open(partial, "wb") as target:
        target.write(body + footer(duckdb_version, extension_version))
    os.chmod(partial, 0o644)
    os.replace(partial, output)


if __name__ == "__main__":
    main()
