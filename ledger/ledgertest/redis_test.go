package ledgertest

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// TestRedis: the server keeps what it was told to keep, forgets the rest, and answers or not as told.
func TestRedis(t *testing.T) {
	r := Redis(t, map[string]string{"requirepass": "s3cret", "appendonly": "yes", "appendfsync": "always"})
	r.Do(t, "SET", "a", "1")
	r.Restart(t)
	if got := r.Do(t, "EXISTS", "a"); got != ":1" {
		t.Errorf("after a crash of a server that writes at once: %q", got)
	}
	r.Flush(t)
	if got := r.Do(t, "EXISTS", "a"); got != ":0" {
		t.Errorf("after a flush: %q", got)
	}
	r.Pause(t)
	answered := make(chan string, 1)
	go func() { line, _ := r.command("PING"); answered <- line }()
	select {
	case line := <-answered:
		t.Errorf("a paused server said %q", line)
	case <-time.After(50 * time.Millisecond):
	}
	r.Resume(t)
	if line := <-answered; line != "+PONG" {
		t.Errorf("resumed: %q", line)
	}
	r.Kill()
	if line, err := r.command("PING"); err == nil {
		t.Errorf("a killed server said %q", line)
	}
	full := Redis(t)
	full.Fill(t)
	if line, err := full.command("SET", "a", "1"); err == nil {
		t.Errorf("a full server took a key: %q", line)
	}
	forgetful := Redis(t)
	forgetful.Do(t, "SET", "a", "1")
	forgetful.Restart(t)
	if got := forgetful.Do(t, "EXISTS", "a"); got != ":0" {
		t.Errorf("after a crash of a server that writes nothing: %q", got)
	}
}

// TestRedisDiesWithUs: a test binary that is killed leaves no server behind, not even a paused one.
func TestRedisDiesWithUs(t *testing.T) {
	redisServer.need(t)
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends a child with its parent")
	}
	child := exec.Command(os.Args[0], "-test.run=^TestRedisHelper$")
	child.Env = append(os.Environ(), "LEDGERTEST_REDIS_HELPER=1", "TMPDIR="+t.TempDir())
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 16)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(line[:n]))
	if err != nil || !alive(pid) {
		t.Fatalf("no server: %q, %v", line[:n], err)
	}
	_ = child.Process.Kill()
	_ = child.Wait()
	waitFor(func() bool { return !alive(pid) })
	if alive(pid) {
		t.Errorf("redis-server %d outlived its test", pid)
	}
}

// TestRedisHelper is the binary that is killed.
func TestRedisHelper(t *testing.T) {
	if os.Getenv("LEDGERTEST_REDIS_HELPER") == "" {
		t.Skip("only for TestRedisDiesWithUs")
	}
	r := Redis(t)
	r.Pause(t)
	if _, err := os.Stdout.WriteString(strconv.Itoa(r.server.Process.Pid)); err != nil {
		t.Fatal(err)
	}
	select {}
}
