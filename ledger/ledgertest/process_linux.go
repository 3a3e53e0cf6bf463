package ledgertest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// baseAttr makes the server end with the test binary, even with one that was killed.
func baseAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT} }

// memoryDir is a folder in memory with a gigabyte free, or "": a container often has one of 64 MB, too small for a server, or
// one that only root may write.
func memoryDir() string {
	const dir, enough, mayWrite = "/dev/shm", 1 << 30, 2
	if syscall.Access(dir, mayWrite) != nil {
		return ""
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < enough {
		return ""
	}
	return dir
}

func childrenOf(parent int) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if _, its := stat(pid); err == nil && its == parent {
			pids = append(pids, pid)
		}
	}
	return pids
}

// running is false for a process that is stopped or gone.
func running(pid int) bool { state, _ := stat(pid); return state != "T" && alive(pid) }

// alive is false for a zombie too: it holds nothing any more, and in a container perhaps nobody collects it.
func alive(pid int) bool { state, _ := stat(pid); return state != "" && state != "Z" }

// stat reads /proc/PID/stat, which is "PID (NAME) STATE PPID …"; the name may hold brackets and blanks itself. The state of a
// process that is gone is "".
func stat(pid int) (state string, parent int) {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", 0
	}
	fields := strings.Fields(string(line[bytes.LastIndexByte(line, ')')+1:]))
	if len(fields) < 2 {
		return "", 0
	}
	parent, _ = strconv.Atoi(fields[1]) // the kernel writes a number
	return fields[0], parent
}

// killedWithParent is baseAttr for a server that may be paused when the test binary is killed: only SIGKILL ends a stopped process.
func killedWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
