#!/bin/sh
# Prints watchd's page as one file: index.html with the files that its lines "@include NAME" name.
#   tools/page.sh DIR UPLOT    NAME is a file of DIR, or of UPLOT; one that is missing is left out
set -eu
dir=$1 uplot=$2
while IFS= read -r line; do
	case $line in
	'@include '*)
		name=${line#@include }
		if [ -f "$dir/$name" ]; then cat "$dir/$name"; elif [ -f "$uplot/$name" ]; then cat "$uplot/$name"; fi
		;;
	*) printf '%s\n' "$line" ;;
	esac
done <"$dir/index.html"
