package ledgertest

import (
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Proxy stands between a client and a server on loopback and can cut the wire at a chosen moment.
type Proxy struct {
	Addr     string // where clients connect
	target   string
	listener net.Listener
	left     atomic.Int64 // client packets still let through before the cut; negative: no limit
	swallow  atomic.Bool  // at the cut: pass the packet on, but not the answer to it
	mu       sync.Mutex
	conns    map[net.Conn]bool
}

// NewProxy listens on a free loopback port and passes everything to target (HOST:PORT).
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: l.Addr().String(), target: target, listener: l, conns: map[net.Conn]bool{}}
	p.left.Store(-1)
	t.Cleanup(func() { l.Close(); p.cutAll() })
	go p.accept()
	return p
}

// Behind is the URL, which goes through the proxy, past it.
func (p *Proxy) Behind(url string) string { return strings.Replace(url, p.Addr, p.target, 1) }

// CutAfter cuts every connection when the client has sent n more packets. With swallow the last packet still reaches the server and
// only the answer is lost: the case in which nobody knows whether a commit happened.
func (p *Proxy) CutAfter(n int64, swallow bool) {
	p.swallow.Store(swallow)
	p.left.Store(n)
}

// Heal lets everything through again. It returns whether a cut had happened.
func (p *Proxy) Heal() (cut bool) { return p.left.Swap(-1) == 0 }

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			client.Close()
			continue
		}
		p.mu.Lock()
		p.conns[client], p.conns[server] = true, true
		p.mu.Unlock()
		go p.toServer(client, server)
		go func() { _, _ = io.Copy(client, server); p.drop(client, server) }()
	}
}

func (p *Proxy) toServer(client, server net.Conn) {
	defer p.drop(client, server)
	buf := make([]byte, 1<<20)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		if p.spend() {
			if p.swallow.Load() {
				client.Close() // the answer finds nobody
				_, _ = server.Write(buf[:n])
			}
			p.cutAll()
			return
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// spend counts a packet down and says whether it is the one at which to cut; from then on every packet is.
func (p *Proxy) spend() bool {
	for {
		left := p.left.Load()
		switch {
		case left < 0:
			return false
		case left == 0:
			return true
		case p.left.CompareAndSwap(left, left-1):
			return left == 1
		}
	}
}

func (p *Proxy) drop(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		c.Close()
		delete(p.conns, c)
	}
}

func (p *Proxy) cutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		if !p.swallow.Load() || c.RemoteAddr().String() != p.target {
			c.Close()
		}
	}
}
