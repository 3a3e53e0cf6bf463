package main

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const ticksPerSecond = 100 // USER_HZ, the same on every Linux

// preciseSleep does not go through the runtime's timers.
func preciseSleep(d time.Duration) {
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil) // woken early: the next arrival is a little early
}

// cpuSeconds is the CPU time so far of each process named in list (name=pid, or name=pid+ with its children), of this program as
// "loadgen", and of everything else as "other": well above zero there means that the run was disturbed.
func cpuSeconds(list string) map[string]float64 {
	used := map[string]float64{}
	if list == "" {
		return used
	}
	procs := readProcs()
	for _, item := range strings.Split(list+",loadgen="+strconv.Itoa(os.Getpid()), ",") {
		name, text, _ := strings.Cut(item, "=")
		text, tree := strings.CutSuffix(text, "+")
		pid, _ := strconv.Atoi(text) // not a number: pid 0, which is nobody
		ticks := procs[pid].ticks
		for _, p := range procs {
			if tree && p.parent == pid {
				ticks += p.ticks
			}
		}
		used[name] += float64(ticks) / ticksPerSecond
	}
	other := machineSeconds()
	for _, s := range used {
		other -= s
	}
	used["other"] = other
	return used
}

type proc struct {
	parent int
	ticks  int64 // user and system
}

// readProcs reads /proc/PID/stat: "PID (NAME) STATE PPID … UTIME STIME …", fields 14 and 15 counted from 1.
func readProcs() map[int]proc {
	procs := map[int]proc{}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err != nil {
			continue // it has ended meanwhile
		}
		f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(f) < 13 {
			continue
		}
		parent, _ := strconv.Atoi(f[1])
		user, _ := strconv.ParseInt(f[11], 10, 64)
		system, _ := strconv.ParseInt(f[12], 10, 64)
		procs[pid] = proc{parent, user + system}
	}
	return procs
}

// machineSeconds is the busy time of all cores: every column of /proc/stat but idle and iowait.
func machineSeconds() float64 {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(stat), "\n")
	var ticks int64
	for i, text := range strings.Fields(line) {
		switch i {
		case 1, 2, 3, 6, 7, 8: // user nice system irq softirq steal
			n, _ := strconv.ParseInt(text, 10, 64)
			ticks += n
		}
	}
	return float64(ticks) / ticksPerSecond
}
