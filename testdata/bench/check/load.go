package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// loadResult is what is needed of callbackload's output.
type loadResult struct {
	AcksPerS     float64            `json:"acks_per_s"`
	Refused      int64              `json:"refused"`
	IOErrors     int64              `json:"io_errors"`
	Distinct     int64              `json:"distinct_acked_total"`
	Codes        map[string]int64   `json:"codes"`
	Latency      map[string]float64 `json:"latency_ms"`
	Cores        map[string]float64 `json:"cpu_cores"`
	NextOrdinal  int64              `json:"next_ordinal"`
	LastErrorMsg string             `json:"last_error"`
}

func readLoad(file string) (loadResult, error) {
	var l loadResult
	b, err := os.ReadFile(file)
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(b, &l); err != nil {
		return l, fmt.Errorf("%s: %w", file, err)
	}
	return l, nil
}

// next prints the highest next ordinal of the loads so far, 0 without any.
func next(files []string) error {
	var highest int64
	for _, file := range files {
		l, err := readLoad(file)
		if errors.Is(err, os.ErrNotExist) {
			continue // the shell's pattern that matched nothing
		}
		if err != nil {
			return err
		}
		highest = max(highest, l.NextOrdinal)
	}
	fmt.Println(highest)
	return nil
}

// round sets a load beside the textbook transaction before and after it.
func round(folder, name string) error {
	l, err := readLoad(filepath.Join(folder, name+"-load.json"))
	if err != nil {
		return err
	}
	before, err := readPgbench(filepath.Join(folder, name+"-before.txt"))
	if err != nil {
		return err
	}
	after, err := readPgbench(filepath.Join(folder, name+"-after.txt"))
	if err != nil {
		return err
	}
	textbook := (before.tps + after.tps) / 2
	fmt.Printf("%-8s %7.0f acks/s  %7.0f textbook tps (%.0f, %.0f)  ratio %5.2f  p50 %6.2f ms  p99 %6.2f ms (textbook mean %.2f ms)  cores: app %.2f postgres %.2f loadgen %.2f other %.2f\n",
		name, l.AcksPerS, textbook, before.tps, after.tps, l.AcksPerS/textbook, l.Latency["p50"], l.Latency["p99"],
		(before.latency+after.latency)/2, l.Cores["app"], l.Cores["postgres"], l.Cores["loadgen"], l.Cores["other"])
	if l.Refused > 0 || l.IOErrors > 0 {
		return fmt.Errorf("%w: %d refused, %d without an answer; codes %v %s", errWrong, l.Refused, l.IOErrors, l.Codes, l.LastErrorMsg)
	}
	return nil
}

// pgbenchResult: transactions a second, and their mean latency in milliseconds.
type pgbenchResult struct{ tps, latency float64 }

var (
	tpsLine     = regexp.MustCompile(`(?m)^tps = ([0-9.]+)`)
	latencyLine = regexp.MustCompile(`(?m)^latency average = ([0-9.]+) ms`)
)

func readPgbench(file string) (r pgbenchResult, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return r, err
	}
	for _, field := range []struct {
		line *regexp.Regexp
		to   *float64
	}{{tpsLine, &r.tps}, {latencyLine, &r.latency}} {
		m := field.line.FindSubmatch(b)
		if m == nil {
			return r, fmt.Errorf("%s: no line %s", file, field.line)
		}
		if *field.to, err = strconv.ParseFloat(string(m[1]), 64); err != nil {
			return r, fmt.Errorf("%s: %w", file, err)
		}
	}
	return r, nil
}

// stored compares the rows in the database with the acknowledgements of all loads.
func stored(folder, count string) error {
	rows, err := strconv.ParseInt(count, 10, 64)
	if err != nil {
		return fmt.Errorf("count of stored transactions: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*-load.json"))
	if err != nil {
		return err
	}
	var acked int64
	for _, file := range files {
		l, err := readLoad(file)
		if err != nil {
			return err
		}
		acked += l.Distinct
	}
	if acked != rows || acked == 0 {
		return fmt.Errorf("%w: %d distinct transactions were acknowledged, %d are stored", errWrong, acked, rows)
	}
	fmt.Printf("stored   %d transactions, exactly those that were acknowledged\n", rows)
	return nil
}
