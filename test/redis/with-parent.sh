#!/bin/sh
# Runs a server that ends with whoever started it, however that one ended: its standard input closes then.
#
#   with-parent.sh COMMAND [ARGUMENT...]    the first line of output is "pid" and the server's process id
"$@" </dev/null &
server=$!
echo "pid $server"
cat >/dev/null
kill -KILL "$server" 2>/dev/null
wait "$server" 2>/dev/null
exit 0
