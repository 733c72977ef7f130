# What larger Perl programs do: text, tables, packed bytes, closures, objects, big numbers, files.
use strict;
use warnings;
use List::Util qw(sum max reduce shuffle);
use Digest::SHA qw(sha256_hex);
use Math::BigInt;
use POSIX qw(floor strftime);
use Time::Local qw(timegm);
use Data::Dumper;

$Data::Dumper::Sortkeys = 1;
my $seed = 12345;
sub draw { $seed = ($seed * 1103515245 + 12345) % 2**31; return +($seed >> 8) % shift }

my @words = map { join '', map { chr(97 + draw(26)) } 1 .. 2 + draw(6) } 1 .. 3000;
my %count;
$count{$_}++ for @words;
my @most = (sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count)[0 .. 9];
print "$_ $count{$_}\n" for @most;
my $text = join ' ', @words;
my $vowels = () = $text =~ /[aeiou]{2,}/g;
(my $changed = $text) =~ s/(\w)(\w+)\1/uc($1) . reverse($2) . length($2)/ge;
print "$vowels ", sha256_hex($changed), "\n";

package Heap {
    sub new { my ($class, $less) = @_; return bless { less => $less, items => [] }, $class }
    sub put {
        my ($self, $item) = @_;
        my ($items, $i) = ($self->{items}, scalar @{ $self->{items} });
        push @$items, $item;
        while ($i && $self->{less}->($items->[$i], $items->[($i - 1) >> 1])) {
            @$items[$i, ($i - 1) >> 1] = @$items[($i - 1) >> 1, $i];
            $i = ($i - 1) >> 1;
        }
    }
    sub take {
        my $items = $_[0]{items};
        my ($first, $last, $i) = ($items->[0], pop @$items, 0);
        return $first unless @$items;
        $items->[0] = $last;
        while ((my $child = 2 * $i + 1) < @$items) {
            $child++ if $child + 1 < @$items && $_[0]{less}->($items->[$child + 1], $items->[$child]);
            last unless $_[0]{less}->($items->[$child], $items->[$i]);
            @$items[$i, $child] = @$items[$child, $i];
            $i = $child;
        }
        return $first;
    }
}

package main;
my $heap = Heap->new(sub { $_[0] < $_[1] });
$heap->put(draw(100000)) for 1 .. 2000;
print join(',', (map { $heap->take } 1 .. 12)), "\n";

my $bytes = pack 'n/a* V d> w C*', 'name', 0xdeadbeef, 3.25, 300, 1 .. 9;
print unpack('H*', $bytes), ' ', join('|', unpack 'n/a* V d> w C*', $bytes), "\n";
print Math::BigInt->new(2)->bpow(521)->bsub(1), ' ', Math::BigInt->new(80)->bfac, "\n";
printf "%.15g %e %05d %s %b\n", exp(1), 1 / 3, floor(-2.5), 'x' x 5, 1023;
print strftime('%Y-%m-%d %H:%M:%S', gmtime timegm(1, 2, 3, 29, 1, 2024)), "\n";
print Dumper({ list => [1, [2, 3]], text => "a\tb", none => undef });

my $name = "/tmp/twins.$$";
open my $out, '>:utf8', $name or die "$name: $!";
print $out "line $_ \x{e9}\x{20ac}\n" for 1 .. 500;
close $out;
open my $in, '<:utf8', $name or die "$name: $!";
my ($lines, $characters) = (0, 0);
while (<$in>) { chomp; $lines++; $characters += length }
close $in;
print "$lines $characters ", -s $name, "\n";
rename $name, "$name.old" or die;
print join(' ', map { s/\.\d+//r } glob '/tmp/twins.*'), "\n";
unlink "$name.old";
open $in, '<', $name or print "gone: $!\n";
local $SIG{ALRM} = sub { die "alarm\n" };
eval { alarm 1; 1 while 1 };
print "caught $@";
local $SIG{__WARN__} = sub { print "warned: ", $_[0] =~ s/ at .*//sr, "\n" };
my $sum = 'ab' + (reduce { $a * $b % 1000003 } 1 .. 50);
print "$sum\n";
exit 4;
