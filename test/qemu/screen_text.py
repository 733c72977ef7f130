#!/usr/bin/env python3
"""Reads the text off a picture of the display: what is exactly a character of the font, white on black, is that character, the
rest is '#'.  A line of text for each row; blanks at its end and empty rows at the end are left out.

    test/qemu/screen_text.py PICTURE.ppm FONT.psf.gz
"""
import gzip
import re
import struct
import sys

DARK, BRIGHT, OTHER = 0, 1, 2
COLUMNS = 8  # pixels of a character's width


def font_of(path):
    """The height of a PC screen font of version 1, and its characters by their rows of pixels, from the font's own table."""
    psf = gzip.open(path).read()
    magic, mode, height = struct.unpack_from("<HBB", psf)
    if magic != 0x0436 or not mode & 2:
        sys.exit(f"{path}: no PC screen font of version 1 with a table")
    glyphs = 512 if mode & 1 else 256
    table = psf[4 + glyphs * height:]
    glyph, sequence, char = 0, False, {}
    for (c,) in struct.iter_unpack("<H", table[:len(table) & ~1]):
        if c == 0xFFFF:
            glyph, sequence = glyph + 1, False
        elif c == 0xFFFE:
            sequence = True
        elif not sequence and 32 <= c < 127:
            rows = psf[4 + glyph * height:4 + (glyph + 1) * height]
            char[bytes(row >> 7 - x & 1 for row in rows for x in range(COLUMNS))] = chr(c)
    if len(set(char.values())) != 95:
        sys.exit(f"{path}: characters are missing")
    return height, char


def pixels_of(path):
    """Width and height of a picture, and a byte for each of its pixels: DARK, BRIGHT, a bright grey, or OTHER."""
    with open(path, "rb") as file:
        ppm = file.read()
    head = re.match(rb"P6\s+(\d+)\s+(\d+)\s+255\s", ppm)
    if not head:
        sys.exit(f"{path}: no picture")
    width, height = int(head[1]), int(head[2])
    body = ppm[head.end():]
    if len(body) != width * height * 3:
        sys.exit(f"{path}: cut short")
    red, green, blue = body[0::3], body[1::3], body[2::3]
    pixels = bytearray(red.translate(bytes(DARK if i == 0 else BRIGHT if i >= 128 else OTHER for i in range(256))))
    if red != green or red != blue:
        for at, (r, g, b) in enumerate(zip(red, green, blue)):
            if r != g or r != b:
                pixels[at] = OTHER
    return width, height, bytes(pixels)


def main():
    high, char = font_of(sys.argv[2])
    width, height, pixels = pixels_of(sys.argv[1])
    text = []
    for top in range(0, height - high + 1, high):
        rows = [pixels[(top + y) * width:(top + y + 1) * width] for y in range(high)]
        line = (b"".join(row[x:x + COLUMNS] for row in rows) for x in range(0, width - COLUMNS + 1, COLUMNS))
        text.append("".join(char.get(cell, "#") for cell in line).rstrip(" "))
    while text and not text[-1]:
        text.pop()
    print("".join(f"{line}\n" for line in text), end="")


main()
