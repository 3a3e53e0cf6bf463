//go:build !linux

package ledgertest

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// baseAttr is empty: only Linux can end a child with its parent.
func baseAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// memoryDir is "": there is no folder in memory to rely on.
func memoryDir() string { return "" }

// childrenOf asks pgrep, which macOS and the BSDs have.
func childrenOf(parent int) (pids []int) {
	out, err := exec.Command("pgrep", "-P", strconv.Itoa(parent)).Output()
	if err != nil {
		return nil // no child
	}
	for _, field := range strings.Fields(string(out)) {
		if pid, err := strconv.Atoi(field); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// running is false after a moment that is long enough for a signal to arrive: there is no cheap way to ask.
func running(int) bool { time.Sleep(10 * time.Millisecond); return false }

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func killedWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
