package ledgertest

import (
	"bufio"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// natsServer is in /usr/sbin where Debian installs it.
var natsServer = program{"nats-server", "NATS_SERVER", "REQUIRE_NATS",
	[]string{"nats-server", "/usr/sbin/nats-server", "/usr/local/sbin/nats-server", "/opt/homebrew/bin/nats-server", "/usr/local/bin/nats-server"}}

// NATS is a throw-away nats-server with JetStream, on a port and a store folder of its own.
type NATS struct {
	URL string // nats://127.0.0.1:PORT
	service
}

// StartNATS starts a server and waits until JetStream answers. It ends with the test; on Linux also when the test's process is killed.
// args are further arguments of nats-server, such as --user and --pass. Without a nats-server the test is left out, and with
// REQUIRE_NATS=1 it fails; WITHOUT_SERVICES=1 leaves it out on request.
func StartNATS(t testing.TB, args ...string) *NATS {
	t.Helper()
	n := &NATS{service: service{program: natsServer}}
	n.ready = n.greets
	n.args = func(s *service) []string {
		return append([]string{"-a", "127.0.0.1", "-p", strconv.Itoa(s.port), "-js", "-sd", filepath.Join(s.dir, "store")}, args...)
	}
	n.begin(t)
	n.URL = "nats://" + n.Address()
	return n
}

// greets waits for a greeting with JetStream on: the server opens its port only when the store has been read.
func (n *NATS) greets() error {
	conn, err := net.DialTimeout("tcp", n.Address(), time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && (!strings.HasPrefix(line, "INFO ") || !strings.Contains(line, `"jetstream":true`)) {
		err = fmt.Errorf("greeted with %q", line)
	}
	return err
}
