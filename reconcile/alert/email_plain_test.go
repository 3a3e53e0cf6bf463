package alert

import (
	"bufio"
	"net"
	"net/mail"
	"net/smtp"
	"strings"
	"testing"
)

// TestPlainMailServer: a server elsewhere that does not encrypt is told neither the password nor the mail.
func TestPlainMailServer(t *testing.T) {
	ours, theirs := net.Pipe()
	told := make(chan []string, 1)
	go func() {
		var said []string
		in := bufio.NewScanner(theirs)
		_, _ = theirs.Write([]byte("220 here\r\n"))
		for in.Scan() {
			said = append(said, in.Text())
			_, _ = theirs.Write([]byte("250-here\r\n250 AUTH PLAIN\r\n"))
		}
		told <- said
	}()
	const host = "mail.example.com"
	client, err := smtp.NewClient(ours, host)
	if err != nil {
		t.Fatal(err)
	}
	box := &Email{Server: host + ":587", User: "paybook", Password: "pass-word", From: &mail.Address{Address: "a@example.com"}, To: []*mail.Address{{Address: "b@example.com"}}}
	if err := box.send(client, host, false, Alert{Title: "t"}); err == nil || !strings.Contains(err.Error(), "offers no STARTTLS") {
		t.Errorf("it was sent: %v", err)
	}
	client.Close()
	for _, line := range <-told {
		if !strings.HasPrefix(line, "EHLO") {
			t.Errorf("it was told %q", line)
		}
	}
}
