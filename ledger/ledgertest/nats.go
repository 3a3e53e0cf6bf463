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

// NATS is a throw-away nats-server with JetStream, on a port and a store folder of its own.
type NATS struct {
	URL    string // nats://127.0.0.1:PORT
	bin    string
	dir    string // holds the store and the log
	port   int
	args   []string
	server *exec.Cmd
	done   chan struct{} // closed when the process has ended
}

// StartNATS starts a server and waits until JetStream answers. It ends with the test; on Linux also when the test's process is killed.
// args are further arguments of nats-server, such as --user and --pass. Without a nats-server the test is left out, and with
// REQUIRE_NATS=1 it fails; WITHOUT_SERVICES=1 leaves it out on request.
func StartNATS(t testing.TB, args ...string) *NATS {
	t.Helper()
	n := &NATS{bin: needNATS(t), dir: t.TempDir(), args: args}
	t.Cleanup(n.Kill)
	var err error
	for range 5 { // the free port may be taken before the server has it
		if n.port, err = freePort(); err != nil {
			continue
		}
		n.URL = fmt.Sprintf("nats://127.0.0.1:%d", n.port)
		if err = n.up(); err == nil {
			return n
		}
		n.Kill()
	}
	t.Fatal(err)
	return nil
}

// needNATS is the program, or the end of the test.
func needNATS(t testing.TB) string {
	t.Helper()
	required := os.Getenv("REQUIRE_NATS") != ""
	if os.Getenv("WITHOUT_SERVICES") != "" {
		if required {
			t.Fatal("WITHOUT_SERVICES and REQUIRE_NATS are both set: unset one")
		}
		t.Skip("WITHOUT_SERVICES is set: what needs nats-server is left out")
	}
	bin, err := findNATS()
	switch {
	case err == nil:
		return bin
	case required:
		t.Fatal(err)
	}
	t.Skip(err)
	return ""
}

// findNATS looks where NATS_SERVER says, else in PATH and where installers put it; Debian's is in /usr/sbin.
func findNATS() (string, error) {
	if bin := os.Getenv("NATS_SERVER"); bin != "" {
		if _, err := exec.LookPath(bin); err != nil {
			return "", fmt.Errorf("NATS_SERVER: %w", err)
		}
		return bin, nil
	}
	for _, name := range []string{"nats-server", "/usr/sbin/nats-server", "/usr/local/sbin/nats-server", "/opt/homebrew/bin/nats-server", "/usr/local/bin/nats-server"} {
		if bin, err := exec.LookPath(name); err == nil {
			return bin, nil
		}
	}
	return "", errors.New("no nats-server found: type `make test`, which installs one; or set NATS_SERVER to its path, or WITHOUT_SERVICES=1 to leave it out")
}

// Kill ends the server as a crash does: nothing is written on the way out, only what it had handed to the system before is there.
func (n *NATS) Kill() {
	if n.server != nil && n.server.Process != nil {
		_ = n.server.Process.Kill() // it may have ended by itself
		<-n.done
	}
}

// Restart kills the server if it runs, and starts it on the same port and store.
func (n *NATS) Restart(t testing.TB) {
	t.Helper()
	n.Kill()
	if err := n.up(); err != nil {
		t.Fatal(err)
	}
}

// Pause stops the server in the middle of whatever it does; connections stay open and nothing answers, until Resume.
func (n *NATS) Pause(t testing.TB) { n.signal(t, syscall.SIGSTOP) }

// Resume lets a paused server go on.
func (n *NATS) Resume(t testing.TB) { n.signal(t, syscall.SIGCONT) }

func (n *NATS) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := n.server.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// Address is HOST:PORT, for a Proxy in front.
func (n *NATS) Address() string { return strings.TrimPrefix(n.URL, "nats://") }

func (n *NATS) up() error {
	logName := filepath.Join(n.dir, "log")
	log, err := os.OpenFile(logName, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the server has its own handle
	args := append([]string{"-a", "127.0.0.1", "-p", strconv.Itoa(n.port), "-js", "-sd", filepath.Join(n.dir, "store")}, n.args...)
	n.server = exec.Command(n.bin, args...)
	n.server.Dir, n.server.Stdout, n.server.Stderr, n.server.SysProcAttr = n.dir, log, log, killedWithParent()
	n.done = make(chan struct{})
	if err := startAndWatch(n.server, n.done); err != nil {
		close(n.done)
		return err
	}
	for deadline := time.Now().Add(startTimeout); ; time.Sleep(10 * time.Millisecond) {
		select {
		case <-n.done:
			return fmt.Errorf("nats-server ended as soon as it was started; its log:\n%s", tail(logName))
		default:
		}
		if n.answers() {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("nats-server did not answer within %v; its log:\n%s", startTimeout, tail(logName))
		}
	}
}

// answers is true when the server greets with JetStream on: it opens its port only when the store has been read.
func (n *NATS) answers() bool {
	conn, err := net.DialTimeout("tcp", n.Address(), time.Second)
	if err != nil {
		return false
	}
	defer conn.Close()
	if err := conn.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return false
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	return err == nil && strings.HasPrefix(line, "INFO ") && strings.Contains(line, `"jetstream":true`)
}

func tail(name string) string {
	b, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-2000):])
}
