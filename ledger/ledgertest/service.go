package ledgertest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// program is a server that the machine may or may not have.
type program struct {
	name    string   // redis-server
	path    string   // the environment variable that says where it is
	require string   // the one that makes a missing one a failure
	places  []string // PATH first, then where installers put it
}

// need is where the program is, or the end of the test: left out, or failed where it is required.
func (p program) need(t testing.TB) string {
	t.Helper()
	required := os.Getenv(p.require) != ""
	if os.Getenv("WITHOUT_SERVICES") != "" {
		if required {
			t.Fatalf("WITHOUT_SERVICES and %s are both set: unset one", p.require)
		}
		t.Skipf("WITHOUT_SERVICES is set: what needs %s is left out", p.name)
	}
	bin, err := p.find()
	switch {
	case err == nil:
		return bin
	case required:
		t.Fatal(err)
	}
	t.Skip(err)
	return ""
}

func (p program) find() (string, error) {
	if bin := os.Getenv(p.path); bin != "" {
		if _, err := exec.LookPath(bin); err != nil {
			return "", fmt.Errorf("%s: %w", p.path, err)
		}
		return bin, nil
	}
	for _, name := range p.places {
		if bin, err := exec.LookPath(name); err == nil {
			return bin, nil
		}
	}
	return "", fmt.Errorf("no %s found: type `make test`, which installs one; or set %s to its path, or WITHOUT_SERVICES=1 to leave it out", p.name, p.path)
}

// service is a running program, on a port and in a folder of its own.
type service struct {
	program
	bin    string
	dir    string // what it writes, and its log
	port   int
	server *exec.Cmd
	done   chan struct{}             // closed when the process has ended
	args   func(s *service) []string // of the program, once dir and port are known
	ready  func() error              // nil when it answers as it should
}

// begin starts the service on a free port. It ends with the test; on Linux also when the test's process is killed.
func (s *service) begin(t testing.TB) {
	t.Helper()
	s.bin, s.dir = s.need(t), t.TempDir()
	t.Cleanup(s.Kill)
	var err error
	for range 5 { // the free port may be taken before the server has it
		if s.port, err = freePort(); err != nil {
			continue
		}
		if err = s.up(); err == nil {
			return
		}
		s.Kill()
	}
	t.Fatal(err)
}

// Address is HOST:PORT, for a Proxy in front.
func (s *service) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// Kill ends the server as a crash does: nothing is written on the way out, only what it had handed to the system before is there.
func (s *service) Kill() {
	if s.server != nil && s.server.Process != nil {
		_ = s.server.Process.Kill() // it may have ended by itself
		<-s.done
	}
}

// Restart kills the server if it runs, and starts it on the same port and folder.
func (s *service) Restart(t testing.TB) {
	t.Helper()
	s.Kill()
	if err := s.up(); err != nil {
		t.Fatal(err)
	}
}

// Pause stops the server in the middle of whatever it does; connections stay open and nothing answers, until Resume.
func (s *service) Pause(t testing.TB) { s.signal(t, syscall.SIGSTOP) }

// Resume lets a paused server go on.
func (s *service) Resume(t testing.TB) { s.signal(t, syscall.SIGCONT) }

func (s *service) signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	if err := s.server.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

func (s *service) up() error {
	logName := filepath.Join(s.dir, "log")
	log, err := os.OpenFile(logName, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the server has its own handle
	s.server = exec.Command(s.bin, s.args(s)...)
	s.server.Dir, s.server.Stdout, s.server.Stderr, s.server.SysProcAttr = s.dir, log, log, killedWithParent()
	s.done = make(chan struct{})
	if err := startAndWatch(s.server, s.done); err != nil {
		close(s.done)
		return err
	}
	return s.wait(logName)
}

func (s *service) wait(logName string) error {
	for deadline := time.Now().Add(startTimeout); ; time.Sleep(5 * time.Millisecond) {
		err := s.ready()
		select {
		case <-s.done: // whoever answers on that port is another
			return fmt.Errorf("%s ended as soon as it was started; its log:\n%s", s.name, tail(logName))
		default:
		}
		switch {
		case err == nil:
			return nil
		case time.Now().After(deadline):
			return errors.Join(fmt.Errorf("%s did not answer within %v; its log:\n%s", s.name, startTimeout, tail(logName)), err)
		}
	}
}

func tail(name string) string {
	b, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-2000):])
}
