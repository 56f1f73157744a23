# Tells what is missing, in the sandbox itself. $python and $node are programs
# that look for modules.
#
# Reads names of programs, one a line, to an empty line, and prints those that
# are not there, and an empty line. Then it reads questions: a line for the program that looks for
# modules, and the interpreters, one a line, to an empty line, of which the first
# that is there runs the scripts that the question is about. What it prints are
# lines of a kind, a tab, and a name or an answer.
there() { command -v -- "$1" >/dev/null 2>&1; }

while IFS= read -r name && [ -n "$name" ]; do
  there "$name" || printf 'program\t%s\n' "$name"
done
echo
while IFS= read -r question; do
  runs=
  while IFS= read -r name && [ -n "$name" ]; do
    [ -z "$runs" ] && there "$name" && runs=$name
  done
  case ${runs##*/} in
  python*)
    printf 'python module\t'
    printf '%s' "$question" | "$runs" -I -c "$python"
    ;;
  node | nodejs | tsx)
    printf 'node package\t'
    there node && printf '%s' "$question" | node -e "$node"
    ;;
  esac
  echo
done
exit 0
