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

// childrenOf reads /proc/PID/stat, which is "PID (NAME) STATE PPID …"; the name may hold brackets and blanks itself.
func childrenOf(parent int) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended meanwhile
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
