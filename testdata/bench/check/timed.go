package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

func wait(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		last := answers(ctx, url)
		if last == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s did not answer 200 within a minute: %w", url, last)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func answers(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

// tooLarge is the exit code of a command that took more memory than it may.
const tooLarge = 9

// timed leaves with the command's own exit code, or with tooLarge; most is in MiB, 0: whatever it takes.
func timed(most int64, name string, command []string) (int, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	start := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 2, err
	}
	took, cpu := time.Since(start), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
	fmt.Fprintf(os.Stderr, "%-34s %7.1f s  %6.1f s CPU  %5d MiB peak\n", name, took.Seconds(), cpu.Seconds(), peakMiB(cmd.ProcessState))
	if peak := peakMiB(cmd.ProcessState); most > 0 && peak > most {
		return tooLarge, fmt.Errorf("%s: took %d MiB, and may take %d", name, peak, most)
	}
	return cmd.ProcessState.ExitCode(), nil
}

// peakMiB is the largest resident memory; Linux counts it in KiB, macOS in bytes.
func peakMiB(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	peak := int64(usage.Maxrss) //nolint:unconvert // it has 32 bits on a 32-bit system
	if runtime.GOOS == "darwin" {
		return peak >> 20
	}
	return peak >> 10
}
