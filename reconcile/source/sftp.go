package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"

	"paybook/reconcile"
)

// SFTP is a server that statements are fetched from. Only this address is connected to, and only a server that has one of the host keys is
// told who we are.
type SFTP struct {
	Address    string        // HOST:PORT
	User       string        // the login
	Password   string        // this, or PrivateKey
	PrivateKey ssh.Signer    // nil: none
	HostKeys   []HostKey     // of which the server must have one
	Files      []string      // patterns of absolute paths (path.Match, with {date}, {yyyymmdd} and {yymmdd})
	Connect    time.Duration // 0: 20 s
}

const (
	sftpConnect = 20 * time.Second
	sftpQuiet   = 2 * time.Minute // for how long nothing may come
	sftpStill   = 5 * time.Second // a file that was written to so shortly ago may be written to still
)

// String implements Remote.
func (c *SFTP) String() string { return "sftp " + c.User + "@" + c.Address }

// Check implements Remote: the host key, the login, and that the folders can be listed.
func (c *SFTP) Check(ctx context.Context) error {
	return c.with(ctx, func(client *sftp.Client) error {
		for _, pattern := range c.Files {
			dir := path.Dir(fixed(pattern) + "x")
			if _, err := client.ReadDirContext(ctx, dir); err != nil {
				return fmt.Errorf("folder %s: %w", dir, err)
			}
		}
		return nil
	})
}

// Fetch implements Remote.
func (c *SFTP) Fetch(ctx context.Context, day reconcile.Day, now time.Time, save Save) error {
	patterns := fill(c.Files, day)
	return c.with(ctx, func(client *sftp.Client) error {
		var paths []string
		for _, p := range patterns {
			found, err := client.Glob(p)
			if err != nil {
				return fmt.Errorf("look for %s: %w", p, err)
			}
			paths = append(paths, found...)
		}
		slices.Sort(paths)
		shown := false
		for _, p := range slices.Compact(paths) {
			info, err := client.Stat(p)
			if err != nil {
				return fmt.Errorf("%s: %w", p, err)
			}
			if !info.Mode().IsRegular() {
				continue
			}
			if still := now.Sub(info.ModTime()); still.Abs() < sftpStill {
				return notReady("%s was written to %v ago, and may be written to still", p, still.Abs().Round(time.Second))
			}
			shown = true
			if err := save(sftpFile(client, p, info)); err != nil {
				return err
			}
		}
		if !shown {
			return notReady("no file %s", strings.Join(patterns, ", "))
		}
		return nil
	})
}

// sftpFile is one file. When it was longer or shorter at its end than it was listed with, somebody was still writing it.
func sftpFile(client *sftp.Client, p string, info fs.FileInfo) File {
	return File{
		Name: path.Base(p),
		Mark: strconv.FormatInt(info.Size(), 10) + " " + strconv.FormatInt(info.ModTime().Unix(), 10),
		Open: func() (io.ReadCloser, error) {
			f, err := client.Open(p)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p, err)
			}
			return &wholeFile{ReadCloser: f, name: p, want: info.Size()}, nil
		},
	}
}

// wholeFile checks at its end that all came that was announced.
type wholeFile struct {
	io.ReadCloser
	name    string
	n, want int64
}

func (f *wholeFile) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	f.n += int64(n)
	if errors.Is(err, io.EOF) && f.n != f.want || f.n > f.want {
		return n, notReady("%s has %d bytes and was listed with %d: it is being written", f.name, f.n, f.want)
	}
	return n, err
}

// with connects, does the work, and hangs up. Whatever ends ctx ends it too.
func (c *SFTP) with(ctx context.Context, do func(*sftp.Client) error) error {
	conn, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // what is waiting for it fails at once
	defer stop()
	client, err := sftp.NewClient(conn, sftp.UseConcurrentReads(true), sftp.MaxConcurrentRequestsPerFile(16))
	if err != nil {
		return fmt.Errorf("it speaks SSH, but no SFTP: %w", err)
	}
	defer client.Close()
	if err := do(client); err != nil {
		return errors.Join(ctx.Err(), err)
	}
	return nil
}

// connect logs in. A server has keys of several kinds and shows the one that it is asked for: so it is asked for each kind, until it shows
// one that is pinned.
func (c *SFTP) connect(ctx context.Context) (*ssh.Client, error) {
	var wrong *wrongHostKey
	var err error
	for _, kinds := range hostKeyKinds(c.HostKeys) {
		var client *ssh.Client
		client, err = c.dial(ctx, kinds)
		if err == nil {
			return client, nil
		}
		if !errors.As(err, &wrong) && !strings.Contains(err.Error(), "no common algorithm") {
			return nil, err
		}
	}
	if wrong != nil {
		return nil, wrong
	}
	return nil, err
}

func (c *SFTP) dial(ctx context.Context, kinds []string) (*ssh.Client, error) {
	limit := c.Connect
	if limit == 0 {
		limit = sftpConnect
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.Address)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() }) // a server that says nothing
	defer stop()
	conf := &ssh.ClientConfig{User: c.User, Auth: c.auth(), HostKeyAlgorithms: kinds, HostKeyCallback: pinned(c.HostKeys)}
	conn, channels, requests, err := ssh.NewClientConn(&quiet{raw}, c.Address, conf)
	if err != nil {
		_ = raw.Close() // it has failed already
		if ctx.Err() != nil {
			return nil, fmt.Errorf("no login within %v", limit)
		}
		return nil, loginError(err)
	}
	return ssh.NewClient(conn, channels, requests), nil
}

func (c *SFTP) auth() []ssh.AuthMethod {
	if c.PrivateKey != nil {
		return []ssh.AuthMethod{ssh.PublicKeys(c.PrivateKey)}
	}
	return []ssh.AuthMethod{ssh.Password(c.Password), ssh.KeyboardInteractive(c.answer)}
}

// answer types the password where a server asks for it as a question.
func (c *SFTP) answer(_, _ string, questions []string, _ []bool) ([]string, error) {
	answers := make([]string, len(questions))
	if len(questions) == 1 {
		answers[0] = c.Password
	}
	return answers, nil
}

// loginError says what to do about a login that failed.
func loginError(err error) error {
	if strings.Contains(err.Error(), "unable to authenticate") {
		return errors.New("the server does not let us in: correct fetch.user, fetch.password or fetch.key, or have the provider put our public key there")
	}
	return fmt.Errorf("login: %w", err)
}

// quiet ends a connection on which nothing comes for too long.
type quiet struct{ net.Conn }

func (q *quiet) Read(p []byte) (int, error) {
	if err := q.SetReadDeadline(time.Now().Add(sftpQuiet)); err != nil {
		return 0, err
	}
	return q.Conn.Read(p)
}

func (q *quiet) Write(p []byte) (int, error) {
	if err := q.SetWriteDeadline(time.Now().Add(sftpQuiet)); err != nil {
		return 0, err
	}
	return q.Conn.Write(p)
}
