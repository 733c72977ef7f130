# git: commits, branches and a merge, a clone, packs, and a check of everything.
set -eu
cd "$1"
rm -rf a b
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
export GIT_AUTHOR_DATE='2026-01-01 00:00:00 +0000' GIT_COMMITTER_DATE='2026-01-01 00:00:00 +0000'
git init -q -b main a
cd a
for i in 1 2 3 4 5 6 7 8; do
	mkdir -p d$i
	seq $((i * 1000)) >d$i/file
	git add .
	git commit -q -m "commit $i"
done
git checkout -q -b other HEAD~3
seq 77 >other
git add other
git commit -q -m other
git checkout -q main
git merge -q -m merge other
git log --oneline | wc -l
git gc -q
git fsck --full
cd ..
git clone -q a b
cd b
git log -1 --format=%H
git rev-list --count --all
git status --short
diff -r -x .git . ../a && echo clone=same
