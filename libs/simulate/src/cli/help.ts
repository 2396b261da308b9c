/** What `--help` prints. */
export const HELP = `Usage: ratelease-simulate [options] [log …]

Replays access logs against rate limits: what would have been granted, queued, refused.
Reads standard input where no log is named or its name is "-"; gzip is recognised.

Policies (at least one; several are compared side by side)
  -p, --policy TEXT        [name=]algorithm:numbers[,option=value…], for example
                             perIp=fixedWindow:100/1m,key=ip
                             slidingWindow:100/1m,segments=6,key=user/ip
                             tokenBucket:10/1s,burst=20,queue=5,key=ip+path
                             concurrency:8,queue=20
                           "A and B": both have to grant
      --policies FILE      a JSON file with options objects by name; an array is a chain
  key=   ip, address, user, method, path, a field of the log, "shared" (the default),
         user/ip (the first there is), ip+path (together)
  path=/reports*|/exports* and method=POST|PUT: only these requests

Choosing a limit
      --suggest SHARE      finds the limit under which at most that share of the requests would have
                           been refused, as 0.1%, or of the keys, as '1% of keys'; with one less it
                           would have been more. A ? stands for it in each policy:
                             perIp=fixedWindow:?/1m,key=ip    tokenBucket:1/1s,burst=?,key=user

Reading
      --format F           auto (default), common (also combined), json
      --time-field NAME    of JSON lines; the same with ip, user, method, path, duration
      --duration-unit U    s, ms, us or ns: of the last number of a line (%T is s, %D is us,
                           nginx's $request_time is s) or of the duration field
      --time-is W          start (default) or end: what the time of a line is (nginx: end)
      --reorder TIME       sorts lines that are late by so much (default 60s)
      --no-spread          leaves lines of one whole second in one instant

Assuming
      --duration TIME      how long the work takes where the log doesn't say it
      --max-wait TIME      clients give up waiting after so long

Showing
      --json               the report as JSON
      --chart FILE         also a chart, as .svg or .html
      --top N              keys that were refused most (default 10)
      --fail-above SHARE   exit code 3 if a policy refuses more than that share, as 1%
  -h, --help
  -v, --version

Times are written 250ms, 10s, 5m, 1h, 1d.
Exit codes: 0 done, 1 the log can't be read, 2 wrong usage, 3 see --fail-above, or no limit found.
`;
