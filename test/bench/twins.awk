# What larger awk programs do: fields, regular expressions, tables, sorting, numbers, files.
function draw(n) { seed = (seed * 16807) % 2147483647; return seed % n }
function sort_up(a, n,    i, j, v) {
	for (i = 2; i <= n; i++) {
		v = a[i]
		for (j = i - 1; j && a[j] > v; j--)
			a[j + 1] = a[j]
		a[j + 1] = v
	}
}
function hanoi(n, from, to, by) { if (n) { hanoi(n - 1, from, by, to); moves++; hanoi(n - 1, by, to, from) } }
function gcd(a, b) { return b ? gcd(b, a % b) : a }
BEGIN {
	seed = 42
	for (i = 1; i <= 600; i++)
		a[i] = draw(100000)
	sort_up(a, 600)
	for (i = 1; i <= 600; i += 60)
		printf "%d%s", a[i], i < 541 ? "," : "\n"
	hanoi(14, "a", "b", "c")
	print moves, gcd(1071 * 1023, 462 * 1023), length(sprintf("%300s", "x"))
	for (n = 2; n < 20000; n++)
		if (!(n in composite)) {
			primes++
			for (m = n * n; m < 20000; m += n)
				composite[m]
		}
	delete composite
	file = "/tmp/twins.out"
	for (i = 1; i <= 1000; i++)
		printf "%s;%d;%.3f\n", substr("abcdefghij", 1 + draw(10), 3), draw(50), draw(1000) / 7 > file
	close(file)
	FS = ";"
	while ((getline line < file) > 0) {
		split(line, part, ";")
		sum[part[1]] += part[2] * part[3]
		rows++
	}
	for (key in sum)
		total += sum[key]
	printf "%d rows, %d primes, %.4f, %.15g %s\n", rows, primes, total, exp(1), tolower("ÄBC")
	text = "the quick brown fox jumps over the lazy dog"
	n = gsub(/[aeiou]+/, "<&>", text)
	print n, text, match(text, /z[a-z]*/), RSTART, RLENGTH, index(text, "fox")
	printf "%c%5.2e|%-8s|%+d|%x\n", 65, 12345.678, "left", 7, 255
	print substr("hello", 0, 3), toupper("mixed"), 1e300 * 1e300, log(0), -7 % 3, 2 ^ 0.5
	print (getline line < "/no/such/file"), ENVIRON["HOME"]
}
{ fields += NF; last[$1] = NR; if (/^def/) defs++ }
END { print NR, fields, defs, FILENAME; exit 5 }
