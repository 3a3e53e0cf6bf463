package ledgertest

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// RedisServer is a throw-away redis-server, on a port and in a folder of its own.
type RedisServer struct {
	Address string // HOST:PORT, for a Proxy in front
	URL     string // redis://…, with the password when requirepass is set
	bin     string
	dir     string // what it writes, and its log
	conf    map[string]string
	server  *exec.Cmd
	done    chan struct{} // closed when the process has ended
}

// Redis starts a server and waits until it answers. It ends with the test; on Linux also when the test's process is killed. conf are
// settings of redis.conf, such as maxmemory or appendonly; without any it keeps nothing when it ends. Without a redis-server the test is
// left out, and with REQUIRE_REDIS=1 it fails; WITHOUT_SERVICES=1 leaves it out on request.
func Redis(t testing.TB, conf ...map[string]string) *RedisServer {
	t.Helper()
	r := &RedisServer{bin: needRedis(t), dir: t.TempDir(), conf: map[string]string{"save": "", "bind": "127.0.0.1", "daemonize": "no"}}
	for _, settings := range conf {
		for key, value := range settings {
			r.conf[key] = value
		}
	}
	t.Cleanup(r.Kill)
	var err error
	for range 5 { // the free port may be taken before the server has it
		if err = r.settle(); err == nil {
			return r
		}
		r.Kill()
	}
	t.Fatal(err)
	return nil
}

// settle starts the server on a free port.
func (r *RedisServer) settle() error {
	port, err := freePort()
	if err != nil {
		return err
	}
	r.conf["port"] = strconv.Itoa(port)
	r.Address = "127.0.0.1:" + r.conf["port"]
	r.URL = "redis://" + r.Address
	if password := r.conf["requirepass"]; password != "" {
		r.URL = "redis://:" + password + "@" + r.Address
	}
	return r.up()
}

// needRedis is the program, or the end of the test.
func needRedis(t testing.TB) string {
	t.Helper()
	required := os.Getenv("REQUIRE_REDIS") != ""
	if os.Getenv("WITHOUT_SERVICES") != "" {
		if required {
			t.Fatal("WITHOUT_SERVICES and REQUIRE_REDIS are both set: unset one")
		}
		t.Skip("WITHOUT_SERVICES is set: what needs redis-server is left out")
	}
	bin, err := findRedis()
	switch {
	case err == nil:
		return bin
	case required:
		t.Fatal(err)
	}
	t.Skip(err)
	return ""
}

// findRedis looks where REDIS_SERVER says, else in PATH and where installers put it.
func findRedis() (string, error) {
	if bin := os.Getenv("REDIS_SERVER"); bin != "" {
		if _, err := exec.LookPath(bin); err != nil {
			return "", fmt.Errorf("REDIS_SERVER: %w", err)
		}
		return bin, nil
	}
	for _, name := range []string{"redis-server", "/usr/bin/redis-server", "/usr/local/bin/redis-server", "/opt/homebrew/bin/redis-server", "valkey-server"} {
		if bin, err := exec.LookPath(name); err == nil {
			return bin, nil
		}
	}
	return "", errors.New("no redis-server found: type `make test`, which installs one; or set REDIS_SERVER to its path, or WITHOUT_SERVICES=1 to leave it out")
}

// Kill ends the server as a crash does: only what its settings have it write at once is there afterwards.
func (r *RedisServer) Kill() {
	if r.server != nil && r.server.Process != nil {
		_ = r.server.Process.Kill() // it may have ended by itself
		<-r.done
	}
}

// Restart kills the server if it runs, and starts it on the same port and folder.
func (r *RedisServer) Restart(t testing.TB) {
	t.Helper()
	r.Kill()
	if err := r.up(); err != nil {
		t.Fatal(err)
	}
}

// Pause stops the server in the middle of whatever it does; connections stay open and nothing answers, until Resume.
func (r *RedisServer) Pause(t testing.TB) { r.signal(t, syscall.SIGSTOP) }

// Resume lets a paused server go on.
func (r *RedisServer) Resume(t testing.TB) { r.signal(t, syscall.SIGCONT) }

func (r *RedisServer) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := r.server.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// Flush makes the server forget everything.
func (r *RedisServer) Flush(t testing.TB) { r.Do(t, "FLUSHALL") }

// Fill lets the server hold a megabyte, fills it, and has it refuse what comes then.
func (r *RedisServer) Fill(t testing.TB) {
	t.Helper()
	r.Do(t, "CONFIG", "SET", "maxmemory-policy", "noeviction")
	r.Do(t, "CONFIG", "SET", "maxmemory", "1mb")
	for i := range 10_000 {
		if _, err := r.command("SET", "ballast"+strconv.Itoa(i), strings.Repeat("x", 4096)); err != nil {
			if !strings.Contains(err.Error(), "OOM") {
				t.Fatal(err)
			}
			r.Do(t, "CONFIG", "SET", "maxmemory", "100kb") // below what an empty one needs: buffers that are freed make no room again
			return
		}
	}
	t.Fatal("redis-server does not fill up")
}

// Do sends one command, past every client and breaker, and returns the first line of the answer. An error of Redis ends the test.
func (r *RedisServer) Do(t testing.TB, args ...string) string {
	t.Helper()
	line, err := r.command(args...)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// command speaks Redis's own protocol, so that this package needs no client.
func (r *RedisServer) command(args ...string) (string, error) {
	conn, err := net.DialTimeout("tcp", r.Address, startTimeout)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(startTimeout)); err != nil {
		return "", err
	}
	answers := bufio.NewReader(conn)
	if password := r.conf["requirepass"]; password != "" {
		if _, err := ask(conn, answers, "AUTH", password); err != nil {
			return "", err
		}
	}
	return ask(conn, answers, args...)
}

func ask(conn net.Conn, answers *bufio.Reader, args ...string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, arg := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(arg), arg)
	}
	if _, err := conn.Write([]byte(b.String())); err != nil {
		return "", err
	}
	line, err := answers.ReadString('\n')
	line = strings.TrimRight(line, "\r\n")
	if err == nil && strings.HasPrefix(line, "-") {
		return "", fmt.Errorf("redis: %s: %s", args[0], line[1:])
	}
	return line, err
}

func (r *RedisServer) up() error {
	log, err := os.OpenFile(r.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the server has its own handle
	args := []string{"--dir", r.dir}
	for key, value := range r.conf {
		args = append(args, "--"+key, value)
	}
	r.server = exec.Command(r.bin, args...)
	r.server.Dir, r.server.Stdout, r.server.Stderr, r.server.SysProcAttr = r.dir, log, log, killedWithParent()
	r.done = make(chan struct{})
	if err := startAndWatch(r.server, r.done); err != nil {
		close(r.done)
		return err
	}
	return r.waitReady()
}

func (r *RedisServer) waitReady() error {
	for deadline := time.Now().Add(startTimeout); ; time.Sleep(5 * time.Millisecond) {
		_, err := r.command("PING")
		select {
		case <-r.done: // whoever answers on that port is another
			return fmt.Errorf("redis-server ended as soon as it was started; its log:\n%s", r.log())
		default:
		}
		switch {
		case err == nil:
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("redis-server did not answer within %v: %w; its log:\n%s", startTimeout, err, r.log())
		}
	}
}

func (r *RedisServer) logFile() string { return filepath.Join(r.dir, "log") }

func (r *RedisServer) log() string {
	text, err := os.ReadFile(r.logFile())
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-2000):])
}
