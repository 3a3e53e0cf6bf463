package ledgertest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// Options of Start.
type Options struct {
	Durable bool              // keep fsync and its like on, on disk: for tests that crash the server
	TCP     bool              // listen on 127.0.0.1 too: for proxies
	Conf    map[string]string // further settings of postgresql.conf
}

// Cluster is a throw-away PostgreSQL server.
type Cluster struct {
	bin     string // folder of initdb and postgres
	dir     string // holds the data, the socket and the log
	port    int
	options Options
	attr    *syscall.SysProcAttr
	server  *exec.Cmd
	done    chan struct{} // closed when the server process has ended
}

const startTimeout = 60 * time.Second

// Start makes a server and waits until it answers. The caller ends it by Stop; if the test binary is killed, the server dies
// with it on Linux, and its folder stays behind.
func Start(o Options) (*Cluster, error) {
	bin, err := findBin()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(baseDir(o.Durable), "pgt")
	if err != nil {
		return nil, err
	}
	c := &Cluster{bin: bin, dir: dir, port: 5432, options: o}
	if err := c.init(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := c.Up(); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

// baseDir is short on purpose: the path of a unix socket may have about 100 bytes, and TMPDIR on macOS alone has 50. /tmp is in
// memory on many systems, /var/tmp is not.
func baseDir(durable bool) string {
	if dir := os.Getenv("PGTEST_DIR"); dir != "" {
		return dir
	}
	if durable {
		return "/var/tmp"
	}
	if dir := memoryDir(); dir != "" {
		return dir
	}
	return "/tmp"
}

func (c *Cluster) init() (err error) {
	if c.attr, err = childAttr(c.dir); err != nil {
		return err
	}
	if c.options.TCP { // without it the port is only a part of the socket's name
		if c.port, err = freePort(); err != nil {
			return err
		}
	}
	cmd := c.command("initdb", "-D", c.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

func (c *Cluster) command(name string, args ...string) *exec.Cmd {
	attr := *c.attr
	cmd := exec.Command(filepath.Join(c.bin, name), args...)
	cmd.Dir, cmd.SysProcAttr = c.dir, &attr
	cmd.Env = append(os.Environ(), "LC_ALL=C", "HOME="+c.dir)
	return cmd
}

// Up starts the server on its data folder, again after Kill9, and waits until it answers.
func (c *Cluster) Up() error {
	log, err := os.OpenFile(c.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the server has its own handle
	c.server = c.command("postgres", c.arguments()...)
	c.server.Stdout, c.server.Stderr = log, log
	c.done = make(chan struct{})
	if err := startAndWatch(c.server, c.done); err != nil {
		close(c.done)
		return err
	}
	return c.waitReady()
}

func (c *Cluster) arguments() []string {
	set := map[string]string{"listen_addresses": "", "max_connections": "200", "shared_buffers": "64MB"}
	if !c.options.Durable {
		set["fsync"], set["synchronous_commit"], set["full_page_writes"] = "off", "off", "off"
	}
	if c.options.TCP {
		set["listen_addresses"] = "127.0.0.1"
	}
	for key, value := range c.options.Conf {
		set[key] = value
	}
	args := []string{"-D", c.data(), "-p", strconv.Itoa(c.port), "-k", c.dir}
	for key, value := range set {
		args = append(args, "-c", key+"="+value)
	}
	return args
}

// startAndWatch closes done when the process has ended. The signal that ends a child with its parent (Linux) follows the
// thread that started it, so that thread is kept for as long as the child lives.
func startAndWatch(cmd *exec.Cmd, done chan struct{}) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in its log
			close(done)
		}
	}()
	return <-started
}

func (c *Cluster) waitReady() error {
	db, err := sql.Open("pgx", c.DSN("postgres"))
	if err != nil {
		return err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for db.PingContext(ctx) != nil {
		select {
		case <-c.done:
			return fmt.Errorf("postgres ended as soon as it was started; the end of its log:\n%s", c.logTail())
		case <-ctx.Done():
			return fmt.Errorf("postgres did not answer within %v; the end of its log:\n%s", startTimeout, c.logTail())
		case <-time.After(15 * time.Millisecond):
		}
	}
	return nil
}

// DSN is a database's URL over the unix socket.
func (c *Cluster) DSN(database string) string {
	return fmt.Sprintf("postgres://postgres@/%s?host=%s&port=%d&sslmode=disable", database, url.QueryEscape(c.dir), c.port)
}

// TCP is a database's URL over 127.0.0.1; it needs Options.TCP.
func (c *Cluster) TCP(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", c.port, database)
}

// Kill9 ends every process of the server at once, as a crash does: what was not on disk is lost, and the next Up has to
// recover. Each backend leads a session of its own, so killing the process group would leave them answering for a while. It
// returns when all are gone: a server does not start while one of the old still holds the shared memory.
func (c *Cluster) Kill9() {
	main := c.server.Process
	_ = main.Signal(syscall.SIGSTOP)
	waitFor(func() bool { return !running(main.Pid) }) // no new child from here on
	children := childrenOf(main.Pid)
	_ = main.Kill()
	for _, pid := range children {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	<-c.done
	waitFor(func() bool { return !slices.ContainsFunc(children, alive) })
}

func waitFor(condition func() bool) {
	for deadline := time.Now().Add(10 * time.Second); !condition() && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
}

// Stop ends the server, running or not, and removes its folder.
func (c *Cluster) Stop() {
	if c.server != nil && c.server.Process != nil {
		_ = c.server.Process.Signal(syscall.SIGQUIT) // at once: nothing of it is kept
		select {
		case <-c.done:
		case <-time.After(5 * time.Second):
			c.Kill9()
		}
	}
	if err := os.RemoveAll(c.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintln(os.Stderr, "ledgertest:", err)
	}
}

func (c *Cluster) logFile() string { return filepath.Join(c.dir, "log") }

func (c *Cluster) logTail() string {
	b, err := os.ReadFile(c.logFile())
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-2000):])
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
