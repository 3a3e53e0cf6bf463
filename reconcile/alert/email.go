package alert

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/mail"
	"net/netip"
	"net/smtp"
	"net/textproto"
	"strings"
	"time"
)

// Email is a mailbox, reached through a mail server that speaks TLS: from the start on port 465, by STARTTLS on any other. Only a server on
// this machine may do without.
type Email struct {
	Server         string // HOST:PORT
	User, Password string // "": no login
	From           *mail.Address
	To             []*mail.Address
	TLS            *tls.Config // nil: the system's roots
}

const (
	emailTime = 30 * time.Second
	emailMax  = 256 << 10 // bytes of text
	lineWidth = 76
)

// Alert implements Sink.
func (s *Email) Alert(ctx context.Context, a Alert) error {
	host, port, err := net.SplitHostPort(s.Server)
	if err != nil {
		return fmt.Errorf("mail server %s: HOST:PORT expected", s.Server)
	}
	ctx, cancel := context.WithTimeout(ctx, emailTime)
	defer cancel()
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.Server)
	if err != nil {
		return fmt.Errorf("mail server: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() }) // whatever waits for it fails at once
	defer stop()
	conn := raw
	if port == "465" {
		conn = tls.Client(raw, s.tlsFor(host))
	}
	client, err := smtp.NewClient(conn, host)
	if err != nil {
		_ = conn.Close() // it has failed already
		return fmt.Errorf("mail server: %w", err)
	}
	defer client.Close()
	if err := s.send(client, host, port == "465", a); err != nil {
		return fmt.Errorf("mail server: %w", err)
	}
	return nil
}

func (s *Email) tlsFor(host string) *tls.Config {
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.TLS != nil {
		conf = s.TLS.Clone()
	}
	conf.ServerName = host
	return conf
}

func (s *Email) send(c *smtp.Client, host string, secure bool, a Alert) error {
	if starts, _ := c.Extension("STARTTLS"); starts && !secure {
		if err := c.StartTLS(s.tlsFor(host)); err != nil {
			return fmt.Errorf("STARTTLS: %w", err)
		}
	} else if !secure && !loopback(host) {
		return errors.New("it offers no STARTTLS: what is said would be read on the way; use port 465 or another server")
	}
	if s.User != "" {
		if err := c.Auth(smtp.PlainAuth("", s.User, s.Password, host)); err != nil {
			return errors.New("it does not take the login: correct user and password")
		}
	}
	if err := c.Mail(s.From.Address); err != nil {
		return err
	}
	refused, err := s.recipients(c)
	if err != nil {
		return err
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(s.message(a)); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	_ = c.Quit() // it has taken the message
	if len(refused) > 0 {
		return &PartlyError{errors.Join(refused...)}
	}
	return nil
}

// recipients names them to the server. One that it refuses for good keeps the mail from no other; one that it cannot take just now does,
// for nothing has been sent yet and all of it is tried again.
func (s *Email) recipients(c *smtp.Client) (refused []error, err error) {
	for _, to := range s.To {
		err := c.Rcpt(to.Address)
		var said *textproto.Error
		switch {
		case err == nil:
		case errors.As(err, &said) && said.Code/100 == 5:
			refused = append(refused, fmt.Errorf("it refuses %s: %w", to.Address, err))
		default:
			return nil, err
		}
	}
	if len(refused) == len(s.To) {
		return nil, errors.Join(refused...)
	}
	return refused, nil
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.IsLoopback()
}

// message is the mail. A title is a stranger's text in part, so nothing in it may end its header, and the text travels in base64.
func (s *Email) message(a Alert) []byte {
	to := make([]string, len(s.To))
	for i, address := range s.To {
		to[i] = address.String()
	}
	_, domain, _ := strings.Cut(s.From.Address, "@")
	var b strings.Builder
	for _, h := range [][2]string{
		{"From", s.From.String()}, {"To", strings.Join(to, ", ")}, {"Subject", mime.QEncoding.Encode("utf-8", cut(OneLine(a.Title), 200))},
		{"Date", a.At.UTC().Format(time.RFC1123Z)}, {"Message-ID", "<" + idText(a.ID) + "@" + domain + ">"}, {"Auto-Submitted", "auto-generated"},
		{"MIME-Version", "1.0"}, {"Content-Type", "text/plain; charset=utf-8"}, {"Content-Transfer-Encoding", "base64"},
	} {
		b.WriteString(h[0] + ": " + h[1] + "\r\n")
	}
	b.WriteString("\r\n")
	text := strings.ReplaceAll(a.Text(emailMax, asIs), "\n", "\r\n") + "\r\n"
	for encoded := base64.StdEncoding.EncodeToString([]byte(text)); encoded != ""; {
		n := min(lineWidth, len(encoded))
		b.WriteString(encoded[:n] + "\r\n")
		encoded = encoded[n:]
	}
	return []byte(b.String())
}

// idText is an id as it may stand in a Message-ID.
func idText(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '.'
	}, id)
}
