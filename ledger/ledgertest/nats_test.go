package ledgertest

import (
	"strings"
	"testing"
)

// A server that is killed, restarted, paused and gone answers, answers, keeps silent and is gone.
func TestNATS(t *testing.T) {
	n := StartNATS(t)
	n.Kill()
	if n.greets() == nil {
		t.Error("a killed server answers")
	}
	n.Restart(t)
	if n.greets() != nil {
		t.Error("a restarted server does not answer")
	}
	n.Pause(t)
	if alive := running(n.server.Process.Pid); alive {
		waitFor(func() bool { return !running(n.server.Process.Pid) })
	}
	n.Resume(t)
	if n.greets() != nil {
		t.Error("a resumed server does not answer")
	}
}

// A missing server says what to type.
func TestFindNATS(t *testing.T) {
	t.Setenv("NATS_SERVER", "/no/such/nats-server")
	if _, err := natsServer.find(); err == nil || !strings.HasPrefix(err.Error(), "NATS_SERVER: ") {
		t.Errorf("got %v", err)
	}
}
