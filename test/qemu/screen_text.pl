#!/usr/bin/perl
# Reads the text off a picture of the display: what is exactly a character of the font, white on black, is that character, the
# rest is '#'.  A line of text for each row; blanks at its end and empty rows at the end are left out.
#   test/qemu/screen_text.pl PICTURE.ppm FONT.psf.gz
use strict;
use warnings;

sub slurp {
	my ($mode, @name) = @_;
	open(my $f, $mode, @name) or die "$name[-1]: $!\n";
	binmode $f;
	local $/;
	return scalar <$f>;
}

# A PC screen font of version 1; each character's glyph by the font's own table.
my $psf = slurp('-|', 'gzip', '-dc', $ARGV[1]);
my ($magic, $mode, $height) = unpack 'vCC', $psf;
die "$ARGV[1]: no PC screen font of version 1 with a table\n" unless $magic == 0x0436 && $mode & 2;
my $glyphs = $mode & 1 ? 512 : 256;
my $glyph = 0;
my (%char, $sequence);
for my $c (unpack 'v*', substr $psf, 4 + $glyphs * $height) {
	if ($c == 0xffff) { $glyph++; $sequence = 0 }
	elsif ($c == 0xfffe) { $sequence = 1 }
	elsif (!$sequence && $c >= 32 && $c < 127) {
		my $bits = unpack 'B*', substr $psf, 4 + $glyph * $height, $height;
		$char{$bits} = chr $c;
	}
}
die "$ARGV[1]: characters are missing\n" unless keys %char == 95;

my $ppm = slurp('<', $ARGV[0]);
$ppm =~ s/^P6\s+(\d+)\s+(\d+)\s+255\s//s or die "$ARGV[0]: no picture\n";
my ($width, $lines) = ($1, $2);
die "$ARGV[0]: cut short\n" unless length $ppm == $width * $lines * 3;

# One character a pixel: 0 black, 1 a grey that is bright, x anything else.
my @rows;
for my $y (0 .. $lines - 1) {
	my $row = '';
	for (unpack '(a3)*', substr $ppm, $y * $width * 3, $width * 3) {
		my ($r, $g, $b) = unpack 'CCC';
		$row .= $r + $g + $b == 0 ? 0 : $r == $g && $g == $b && $r >= 128 ? 1 : 'x';
	}
	push @rows, $row;
}

my @text;
for my $row (0 .. int($lines / $height) - 1) {
	my $line = '';
	for my $column (0 .. int($width / 8) - 1) {
		my $bits = join '', map { substr $rows[$row * $height + $_], $column * 8, 8 } 0 .. $height - 1;
		$line .= $char{$bits} // '#';
	}
	$line =~ s/ +$//;
	push @text, $line;
}
pop @text while @text && $text[-1] eq '';
print map { "$_\n" } @text;
