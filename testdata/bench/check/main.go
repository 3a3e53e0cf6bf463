// Command check is the arithmetic of the benchmark (see run beside it): it waits for the server, times a command, reads what
// pgbench and callbackload have printed, and compares what was found with what must be found.
//
//	check wait URL               until it answers 200, at most a minute
//	check time NAME COMMAND…     run it, say its wall time, CPU and peak memory on standard error; leaves with its exit code
//	check within MIB NAME COMMAND…  the same, and leaves with 9 when its peak memory was above that
//	check next FILE…             the ordinal that the next load starts at
//	check round FOLDER NAME      one line: acknowledgements a second against the textbook transaction
//	check stored FOLDER COUNT    as many transactions stored as were acknowledged, over all loads of the folder
//	check gaps EXPECTED REPORT   the report's gaps are exactly those of expected-gaps.csv
//
// It leaves with 1 when something is not as it must be, and with 2 when it could not tell.
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
)

// errWrong marks what could be told and is not as it must be.
var errWrong = errors.New("not as it must be")

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
	}
	os.Exit(code)
}

func run(args []string) (int, error) {
	if len(args) < 2 {
		return 2, errors.New("usage: check wait|time|within|next|round|stored|gaps ARGUMENTS…")
	}
	var err error
	switch verb, rest := args[0], args[1:]; {
	case verb == "wait" && len(rest) == 1:
		err = wait(rest[0])
	case verb == "time" && len(rest) > 1:
		return timed(0, rest[0], rest[1:])
	case verb == "within" && len(rest) > 2:
		most, err := strconv.ParseInt(rest[0], 10, 64)
		if err != nil || most <= 0 {
			return 2, fmt.Errorf("within: %q is no number of MiB", rest[0])
		}
		return timed(most, rest[1], rest[2:])
	case verb == "next":
		err = next(rest)
	case verb == "round" && len(rest) == 2:
		err = round(rest[0], rest[1])
	case verb == "stored" && len(rest) == 2:
		err = stored(rest[0], rest[1])
	case verb == "gaps" && len(rest) == 2:
		err = gaps(rest[0], rest[1])
	default:
		err = fmt.Errorf("%s: unknown, or another number of arguments", verb)
	}
	switch {
	case err == nil:
		return 0, nil
	case errors.Is(err, errWrong):
		return 1, err
	default:
		return 2, err
	}
}
