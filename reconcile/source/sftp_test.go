package source_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"

	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
	"paybook/reconcile/source"
)

// sftpServer is a server on a free port of this machine, with a key of each kind given.
type sftpServer struct {
	address string
	conf    *ssh.ServerConfig
	mu      sync.Mutex
	tried   []string // passwords and keys that were shown to it
}

func newSFTPServer(t *testing.T, password string, login ssh.PublicKey, keys ...ssh.Signer) *sftpServer {
	t.Helper()
	s := &sftpServer{}
	s.conf = &ssh.ServerConfig{
		PasswordCallback: func(c ssh.ConnMetadata, given []byte) (*ssh.Permissions, error) {
			s.try(c.User() + ":" + string(given))
			if c.User() == "reports" && password != "" && string(given) == password {
				return nil, nil
			}
			return nil, errors.New("wrong")
		},
		PublicKeyCallback: func(c ssh.ConnMetadata, given ssh.PublicKey) (*ssh.Permissions, error) {
			s.try(c.User() + ":" + ssh.FingerprintSHA256(given))
			if login != nil && string(given.Marshal()) == string(login.Marshal()) {
				return nil, nil
			}
			return nil, errors.New("wrong")
		},
	}
	for _, k := range keys {
		s.conf.AddHostKey(k)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = ln.Addr().String()
	var serving sync.WaitGroup
	t.Cleanup(func() { ln.Close(); serving.Wait() })
	serving.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { s.serve(conn) })
		}
	})
	return s
}

func (s *sftpServer) try(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tried = append(s.tried, what)
}

func (s *sftpServer) shown() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.tried)
}

func (s *sftpServer) serve(raw net.Conn) {
	defer raw.Close()
	_, channels, requests, err := ssh.NewServerConn(raw, s.conf)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		channel, asked, err := offered.Accept()
		if err != nil {
			return
		}
		go func() {
			for r := range asked {
				_ = r.Reply(r.Type == "subsystem", nil)
			}
		}()
		server, err := sftp.NewServer(channel, sftp.ReadOnly())
		if err != nil {
			return
		}
		_ = server.Serve()
		_ = channel.Close()
	}
}

func signerOf(t *testing.T, key crypto.PrivateKey) ssh.Signer {
	t.Helper()
	s, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ed25519Key(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func pin(t *testing.T, text string) source.HostKey {
	t.Helper()
	k, err := source.ParseHostKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func fingerprintOf(t *testing.T, s ssh.Signer) source.HostKey {
	t.Helper()
	return pin(t, ssh.FingerprintSHA256(s.PublicKey()))
}

// outbox is a folder with files of two days, written long enough ago, and things that are no files.
func outbox(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"STL-20261129.01.csv": "one", "STL-20261129.02.csv": "two", "STL-20261128.01.csv": "old", "other.txt": "no"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, monday.Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "STL-20261129.folder.csv"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// The files of the day come over, by password and by key, from a server whose key is pinned in any of the ways there are.
func TestSFTP(t *testing.T) {
	edKey, login := signerOf(t, ed25519Key(t)), signerOf(t, ed25519Key(t))
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, stranger := signerOf(t, ec), signerOf(t, ed25519Key(t))
	server, dir := newSFTPServer(t, "s3cret", login.PublicKey(), edKey, ecKey), outbox(t)
	line := "[127.0.0.1]:22 " + string(ssh.MarshalAuthorizedKey(ecKey.PublicKey()))
	for name, keys := range map[string][]source.HostKey{
		"fingerprint": {fingerprintOf(t, edKey)}, "of its other key": {fingerprintOf(t, ecKey)}, "known_hosts": {pin(t, line)},
		"key": {pin(t, string(ssh.MarshalAuthorizedKey(edKey.PublicKey())))}, "while it changes": {fingerprintOf(t, stranger), fingerprintOf(t, ecKey)},
	} {
		t.Run(name, func(t *testing.T) {
			place := &source.SFTP{Address: server.address, User: "reports", Password: "s3cret", HostKeys: keys, Files: []string{dir + "/STL-{yyyymmdd}*.csv"}}
			if strings.Contains(name, "key") {
				place.Password, place.PrivateKey = "", login
			}
			if err := place.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			book := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"))
			a := archiveOf(t, book)
			for _, fresh := range []int{2, 0} {
				if _, n, err := a.Fetch(t.Context(), "shop", place, day(t, sunday), monday); err != nil || n != fresh {
					t.Fatalf("%d fresh, %v", n, err)
				}
			}
			files, err := a.Files(t.Context(), "shop", day(t, sunday), []string{place.String()})
			if got := contents(t, files); err != nil || !slices.Equal(got, []string{"STL-20261129.01.csv one", "STL-20261129.02.csv two"}) {
				t.Errorf("%q, %v", got, err)
			}
			_, _, err = a.Fetch(t.Context(), "shop", place, day(t, "2026-11-27"), monday)
			if !errors.As(err, new(*models.NotReady)) || !strings.Contains(err.Error(), "STL-20261127") {
				t.Errorf("a day without files: %v", err)
			}
		})
	}
}

// A server with another key is told neither password nor key, and the message says which key it has.
func TestSFTPWrongHostKey(t *testing.T) {
	its, login := signerOf(t, ed25519Key(t)), signerOf(t, ed25519Key(t))
	server := newSFTPServer(t, "s3cret", nil, its)
	for _, place := range []*source.SFTP{
		{Address: server.address, User: "reports", Password: "s3cret", HostKeys: []source.HostKey{fingerprintOf(t, login)}, Files: []string{"/{date}"}},
		{Address: server.address, User: "reports", PrivateKey: login, HostKeys: []source.HostKey{pin(t, string(ssh.MarshalAuthorizedKey(login.PublicKey())))}, Files: []string{"/{date}"}},
		{Address: server.address, User: "reports", Password: "s3cret", Files: []string{"/{date}"}},
	} {
		err := place.Check(t.Context())
		if err == nil || !strings.Contains(err.Error(), ssh.FingerprintSHA256(its.PublicKey())) || !strings.Contains(err.Error(), "not pinned") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v", err)
		}
	}
	if tried := server.shown(); len(tried) != 0 {
		t.Errorf("it was told %q", tried)
	}
}

func TestSFTPRefused(t *testing.T) {
	its := signerOf(t, ed25519Key(t))
	server := newSFTPServer(t, "s3cret", nil, its)
	place := &source.SFTP{Address: server.address, User: "reports", Password: "wrong-one", HostKeys: []source.HostKey{fingerprintOf(t, its)}, Files: []string{"/nosuch-folder/{date}"}}
	if err := place.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "does not let us in") || strings.Contains(err.Error(), "wrong-one") {
		t.Errorf("another password: %v", err)
	}
	place.Password = "s3cret"
	if err := place.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "/nosuch-folder") {
		t.Errorf("a folder that is not there: %v", err)
	}
	place.Address = "127.0.0.1:1"
	if err := place.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("nobody there: %v", err)
	}
}

// A server that says nothing, before the login or in the middle of it, is given up.
func TestSFTPServerHangs(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	its := signerOf(t, ed25519Key(t))
	place := &source.SFTP{Address: ln.Addr().String(), User: "reports", Password: "x", HostKeys: []source.HostKey{fingerprintOf(t, its)}, Files: []string{"/{date}"}, Connect: 100 * time.Millisecond}
	if err := place.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "no login within") {
		t.Errorf("%v", err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	place.Connect = time.Hour
	if err := place.Check(ctx); err == nil {
		t.Error("waits for ever")
	}
}

// A file that is still being written is not there yet.
func TestSFTPFileBeingWritten(t *testing.T) {
	its := signerOf(t, ed25519Key(t))
	server, dir := newSFTPServer(t, "s3cret", nil, its), outbox(t)
	place := &source.SFTP{Address: server.address, User: "reports", Password: "s3cret", HostKeys: []source.HostKey{fingerprintOf(t, its)}, Files: []string{dir + "/STL-{yyyymmdd}*.csv"}}
	path := filepath.Join(dir, "STL-20261129.01.csv")
	if err := os.Chtimes(path, time.Time{}, monday.Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	save := func(source.File) error { return nil }
	if err := place.Fetch(t.Context(), day(t, sunday), monday, save); !errors.As(err, new(*models.NotReady)) || !strings.Contains(err.Error(), "may be written to still") {
		t.Errorf("written a second ago: %v", err)
	}
	if err := os.Chtimes(path, time.Time{}, monday.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	book := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"))
	a := archiveOf(t, book)
	_, _, err := a.Fetch(t.Context(), "shop", &grows{place, path}, day(t, sunday), monday)
	if !errors.As(err, new(*models.NotReady)) || !strings.Contains(err.Error(), "being written") {
		t.Errorf("longer than listed: %v", err)
	}
	if got := tree(t, a.Dir); len(got) != 0 {
		t.Errorf("left behind %v", got)
	}
}

// grows is a place where a file gets longer between its listing and its download.
type grows struct {
	*source.SFTP
	path string
}

func (g *grows) Fetch(ctx context.Context, d reconcile.Day, now time.Time, save source.Save) error {
	return g.SFTP.Fetch(ctx, d, now, func(f source.File) error {
		if err := os.WriteFile(g.path, []byte("one and more"), 0o600); err != nil {
			return err
		}
		return save(f)
	})
}

func TestParseHostKey(t *testing.T) {
	good := signerOf(t, ed25519Key(t)).PublicKey()
	line := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(good)))
	for _, text := range []string{ssh.FingerprintSHA256(good), line, "reports.example.com,10.0.0.1 " + line, " " + line + " comment\n"} {
		if _, err := source.ParseHostKey(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	private, err := ssh.MarshalPrivateKey(ed25519Key(t), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "SHA256:short", "MD5:16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48", "ssh-ed25519", "@cert-authority * " + line, "@revoked * " + line, string(pem.EncodeToMemory(private))} {
		if _, err := source.ParseHostKey(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
