# Behind keys.awk: prints the values of COLUMN in the rows ROW of the tables behind lines TABLE.
BEGIN {
	tables = split(ENVIRON["TABLE"], table, " ")
	rows = split(ENVIRON["ROW"], row, " ")
	column = ENVIRON["COLUMN"]
}

# Splits the line where there are two blanks or more. A value is one word: its blanks become "_", a
# "%" at its end goes, and so do commas between thousands. A column's second name is NAME_2.
function split_cells(cell, n, i) {
	gsub(/^ +| +$/, "")
	n = split($0, cell, /  +/)
	for (i = 1; i <= n; i++) {
		sub(/ %$/, "", cell[i])
		if (cell[i] ~ /^[0-9]+(,[0-9][0-9][0-9])+(\.[0-9]+)?$/)
			gsub(/,/, "", cell[i])
		gsub(/ /, "_", cell[i])
	}
	return n
}

# A line with a subject, or one that is not indented, ends a table.
!/^ / || $1 ~ /:$/ {
	head = read_line(has) == table[1] && has_all(has, table, 2, tables)
	inside = 0
	next
}
head {
	names = split_cells(name)
	split("", seen)
	for (i = 1; i <= names; i++)
		if (++seen[name[i]] > 1)
			name[i] = name[i] "_" seen[name[i]]
	head = 0
	inside = 1
	next
}
inside {
	n = split_cells(value)
	split("", cell)
	for (i = 1; i <= n && i <= names; i++)
		cell[name[i]] = value[i]
	if ((column in cell) && has_all(cell, row, 1, rows))
		print cell[column]
}
