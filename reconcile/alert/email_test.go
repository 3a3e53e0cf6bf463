package alert_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io"
	"math/big"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"paybook/reconcile/alert"
)

// mailServer takes mail, with STARTTLS where it has a certificate.
type mailServer struct {
	address string
	cert    *tls.Certificate
	mu      sync.Mutex
	said    []string // commands, in the order they came
	data    string
	secure  bool // the mail came encrypted
}

func newMailServer(t *testing.T, cert *tls.Certificate) *mailServer {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &mailServer{address: ln.Addr().String(), cert: cert}
	var serving sync.WaitGroup
	t.Cleanup(func() { ln.Close(); serving.Wait() })
	serving.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			s.serve(conn)
		}
	})
	return s
}

func (s *mailServer) serve(conn net.Conn) {
	defer func() { conn.Close() }()
	secure := false
	say := func(line string) { _, _ = io.WriteString(conn, line+"\r\n") }
	in := bufio.NewReader(conn)
	say("220 here")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSpace(line)
		s.mu.Lock()
		s.said = append(s.said, line)
		s.mu.Unlock()
		switch verb, _, _ := strings.Cut(line, " "); {
		case verb == "EHLO" && s.cert != nil && !secure:
			say("250-here\r\n250 STARTTLS")
		case verb == "EHLO":
			say("250-here\r\n250 AUTH PLAIN")
		case verb == "STARTTLS":
			say("220 go")
			conn, secure = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{*s.cert}}), true
			in = bufio.NewReader(conn)
		case verb == "AUTH" && !strings.Contains(line, base64.StdEncoding.EncodeToString([]byte("\x00paybook\x00pass-word"))):
			say("535 no")
		case verb == "AUTH":
			say("235 yes")
		case strings.Contains(line, "RCPT TO:<nobody"):
			say("550 5.1.1 no such user")
		case strings.Contains(line, "RCPT TO:<later"):
			say("451 4.7.1 come again")
		case verb == "DATA":
			say("354 go")
			var text strings.Builder
			for {
				l, err := in.ReadString('\n')
				if err != nil || l == ".\r\n" {
					break
				}
				text.WriteString(l)
			}
			s.mu.Lock()
			s.data, s.secure = text.String(), secure
			s.mu.Unlock()
			say("250 taken")
		case verb == "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

// certFor makes a certificate of its own for this machine, and the roots that trust it.
func certFor(t *testing.T) (*tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	return &tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, roots
}

func mailbox(server string) *alert.Email {
	return &alert.Email{Server: server, User: "paybook", Password: "pass-word", From: &mail.Address{Name: "Paybook", Address: "paybook@example.com"},
		To: []*mail.Address{{Name: "财务", Address: "finance@example.com"}, {Address: "ops@example.com"}}}
}

// A mail comes encrypted, its text is whole, and nothing that strangers wrote becomes a header.
func TestEmail(t *testing.T) {
	cert, roots := certFor(t)
	server := newMailServer(t, cert)
	box := mailbox(server.address)
	box.TLS = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	if err := box.Alert(t.Context(), hostile); err != nil {
		t.Fatal(err)
	}
	m, err := mail.ReadMessage(strings.NewReader(server.data))
	if err != nil || !server.secure {
		t.Fatalf("%v, encrypted %v", err, server.secure)
	}
	to, err := m.Header.AddressList("To")
	if err != nil || len(to) != 2 || to[0].Name != "财务" || m.Header.Get("Bcc") != "" || strings.Contains(m.Header.Get("Subject"), "\n") || m.Header.Get("Message-Id") != "<run-1-ops@example.com>" {
		t.Errorf("%v, %v", m.Header, err)
	}
	if date, err := m.Header.Date(); err != nil || !date.Equal(noon) {
		t.Errorf("%v, %v", date, err)
	}
	text, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, m.Body))
	if err != nil || !strings.Contains(string(text), "zwei 账") || strings.ContainsAny(string(text), "\x1b\u202e") {
		t.Errorf("%q, %v", text, err)
	}
	if all := strings.Join(server.said, "\n"); !strings.Contains(all, "RCPT TO:<finance@example.com>") || !strings.Contains(all, "RCPT TO:<ops@example.com>") || strings.Contains(all, "all@example.com") {
		t.Errorf("%q", all)
	}
}

// A server that cannot prove who it is is told no password; neither is one elsewhere that does not encrypt.
func TestEmailRefused(t *testing.T) {
	cert, _ := certFor(t)
	server := newMailServer(t, cert)
	if err := mailbox(server.address).Alert(t.Context(), hostile); err == nil || !strings.Contains(err.Error(), "STARTTLS") {
		t.Errorf("a stranger's certificate: %v", err)
	}
	plain := newMailServer(t, nil)
	box := mailbox(plain.address)
	box.Password = "another"
	if err := box.Alert(t.Context(), hostile); err == nil || !strings.Contains(err.Error(), "login") || strings.Contains(err.Error(), "another") {
		t.Errorf("another password: %v", err)
	}
	for _, said := range server.said {
		if strings.HasPrefix(said, "AUTH") || strings.HasPrefix(said, "MAIL") {
			t.Errorf("it was told %q", said)
		}
	}
	if err := mailbox("127.0.0.1:1").Alert(t.Context(), hostile); err == nil {
		t.Error("nobody there, and no error")
	}
}

// An address that the server refuses keeps the mail from no other. When all are refused, or one is to be tried again, nothing is sent.
func TestEmailRecipients(t *testing.T) {
	nobody, other, later, finance := &mail.Address{Address: "nobody@example.com"}, &mail.Address{Address: "nobody2@example.com"}, &mail.Address{Address: "later@example.com"}, &mail.Address{Address: "finance@example.com"}
	for name, c := range map[string]struct {
		to           []*mail.Address
		sent, partly bool
	}{
		"first":    {[]*mail.Address{nobody, finance}, true, true},
		"last":     {[]*mail.Address{finance, nobody, other}, true, true},
		"all":      {[]*mail.Address{nobody, other}, false, false},
		"only":     {[]*mail.Address{nobody}, false, false},
		"not now":  {[]*mail.Address{finance, later}, false, false},
		"of each":  {[]*mail.Address{nobody, finance, later}, false, false},
		"none bad": {[]*mail.Address{finance}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			server := newMailServer(t, nil)
			box := mailbox(server.address)
			box.To = c.to
			err := box.Alert(t.Context(), hostile)
			var partly *alert.PartlyError
			if sent := server.data != ""; sent != c.sent || errors.As(err, &partly) != c.partly || (err == nil) != (c.sent && !c.partly) {
				t.Errorf("sent %v, %v", sent, err)
			}
			if c.partly && (!strings.Contains(err.Error(), "nobody@example.com") || strings.Contains(err.Error(), "pass-word")) {
				t.Errorf("%v", err)
			}
		})
	}
}
