package ledgertest

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

var redisServer = program{"redis-server", "REDIS_SERVER", "REQUIRE_REDIS",
	[]string{"redis-server", "/usr/bin/redis-server", "/usr/local/bin/redis-server", "/opt/homebrew/bin/redis-server", "valkey-server"}}

// RedisServer is a throw-away redis-server, on a port and in a folder of its own.
type RedisServer struct {
	URL  string // redis://…, with the password when requirepass is set
	conf map[string]string
	service
}

// Redis starts a server and waits until it answers. It ends with the test; on Linux also when the test's process is killed. conf are
// settings of redis.conf, such as maxmemory or appendonly; without any it keeps nothing when it ends. Without a redis-server the test is
// left out, and with REQUIRE_REDIS=1 it fails; WITHOUT_SERVICES=1 leaves it out on request.
func Redis(t testing.TB, conf ...map[string]string) *RedisServer {
	t.Helper()
	r := &RedisServer{service: service{program: redisServer}, conf: map[string]string{"save": "", "bind": "127.0.0.1", "daemonize": "no"}}
	for _, settings := range conf {
		for key, value := range settings {
			r.conf[key] = value
		}
	}
	r.ready = func() error { _, err := r.command("PING"); return err }
	r.args = func(s *service) []string {
		args := []string{"--dir", s.dir, "--port", strconv.Itoa(s.port)}
		for key, value := range r.conf {
			args = append(args, "--"+key, value)
		}
		return args
	}
	r.begin(t)
	r.URL = "redis://" + r.Address()
	if password := r.conf["requirepass"]; password != "" {
		r.URL = "redis://:" + password + "@" + r.Address()
	}
	return r
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
	conn, err := net.DialTimeout("tcp", r.Address(), startTimeout)
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
