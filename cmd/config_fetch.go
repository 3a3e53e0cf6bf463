package cmd

import (
	"net"
	"net/netip"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/crypto/ssh"

	"paybook/reconcile"
	"paybook/reconcile/source"
)

// fetchKeys are the keys of one place, by what it is.
var fetchKeys = map[string][]string{
	"sftp": {"from", "max", "address", "user", "password", "key", "passphrase", "host_key", "files"},
	"s3":   {"from", "max", "endpoint", "region", "bucket", "path_style", "access_key", "secret_key", "session_token", "files"},
	"api":  {"from", "max"},
}

// readFetch reads where an account's statements are fetched from: one place, or a list of places that each have a part.
func readFetch(s *section, a *Account) {
	if !s.has("fetch") {
		return
	}
	nodes, path := []*yaml.Node{s.keys["fetch"]}, s.path+"fetch"
	if nodes[0].Kind == yaml.ScalarNode { // fetch: api
		nodes[0] = asPlace(nodes[0])
	}
	if nodes[0].Kind == yaml.SequenceNode {
		nodes = nodes[0].Content
		if len(nodes) == 0 {
			s.fail("fetch", "empty: leave the key out, or name a place")
		}
	}
	for _, node := range nodes {
		from := "api"
		if kind := child(node, "from"); kind != nil {
			from = kind.Value
		}
		if fetchKeys[from] == nil {
			s.fail("fetch", "from: %q: sftp, s3 or api expected", from)
			return
		}
		place := s.r.section(node, path+".", fetchKeys[from]...)
		if !place.has("from") {
			place.fail("from", "missing: sftp, s3 or api")
		}
		a.FetchMax = max(a.FetchMax, place.size("max", source.BytesMax, 1<<10, 1<<40))
		var r source.Remote
		switch from {
		case "sftp":
			r = readSFTP(place, a)
		case "s3":
			r = readS3(place, a)
		default:
			r = readAPI(place, a)
		}
		if s.r.err() != nil {
			return
		}
		if slices.ContainsFunc(a.Remotes, func(other source.Remote) bool { return other.String() == r.String() }) {
			place.fail("from", "%s stands here twice; give it several patterns instead", r)
		}
		a.Remotes = append(a.Remotes, r)
	}
}

// asPlace is a place that is given by its kind alone.
func asPlace(kind *yaml.Node) *yaml.Node {
	key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "from", Line: kind.Line}
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: kind.Line, Content: []*yaml.Node{key, kind}}
}

func readAPI(s *section, a *Account) source.Remote {
	fetcher, ok := a.Provider.(reconcile.Fetcher)
	if !ok {
		s.fail("from", "%s has no download API that is known here; use sftp, s3, or statements", a.ProviderName)
		return nil
	}
	var hosts []string
	if p, ok := a.Provider.(interface{ Hosts() []string }); ok {
		hosts = p.Hosts()
	}
	return source.API(a.ProviderName, fetcher, outbound(hosts), hosts)
}

func readSFTP(s *section, a *Account) source.Remote {
	c := &source.SFTP{Address: s.text("address", ""), User: s.text("user", ""), Password: secretText(s, "password")}
	if host, port, err := net.SplitHostPort(c.Address); err != nil && c.Address != "" && !strings.Contains(c.Address, ":") {
		c.Address = net.JoinHostPort(c.Address, "22")
	} else if err != nil || host == "" || port == "" {
		s.fail("address", "HOST:PORT such as reports.example.com:22 expected")
	}
	if c.User == "" {
		s.fail("user", "missing: the login at the server")
	}
	readKey(s, c)
	for i, text := range s.list("host_key") {
		key, err := source.ParseHostKey(text)
		if err != nil {
			s.failItem("host_key", i, "%v", err)
		}
		c.HostKeys = append(c.HostKeys, key)
	}
	if len(c.HostKeys) == 0 {
		s.fail("host_key", "missing: have the provider tell it, and compare with `ssh-keyscan HOST | ssh-keygen -lf -`; without it anybody in between could be the server")
	}
	c.Files = readRemoteFiles(s, a)
	for i, p := range c.Files {
		if !path.IsAbs(p) {
			s.failItem("files", i, "%q: a path that begins with / expected", p)
		}
	}
	return c
}

// readKey reads the private key that we log in with. No message holds anything of it.
func readKey(s *section, c *source.SFTP) {
	pem, phrase := secretText(s, "key"), secretText(s, "passphrase")
	switch {
	case pem == "" && c.Password == "":
		s.fail("password", "missing: password, or key with file:PATH of a private key")
	case pem != "" && c.Password != "":
		s.fail("key", "password and key exclude each other")
	case pem == "" && phrase != "":
		s.fail("passphrase", "means nothing without key")
	}
	if pem == "" {
		return
	}
	var err error
	if phrase != "" {
		c.PrivateKey, err = ssh.ParsePrivateKeyWithPassphrase([]byte(pem), []byte(phrase))
	} else {
		c.PrivateKey, err = ssh.ParsePrivateKey([]byte(pem))
	}
	if err != nil {
		s.fail("key", "no private key in OpenSSH's or PEM form, or another passphrase; write file:PATH for a file")
	}
}

var (
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	// virtualHosts are storages that want the bucket in the host's name.
	virtualHosts = []string{".amazonaws.com", ".aliyuncs.com", ".myqcloud.com", ".amazonaws.com.cn"}
)

func readS3(s *section, a *Account) source.Remote {
	c := &source.S3{Region: s.text("region", ""), Bucket: s.text("bucket", ""), AccessKey: secretText(s, "access_key"), SecretKey: secretText(s, "secret_key"), Token: secretText(s, "session_token")}
	endpoint := s.text("endpoint", "")
	scheme, host, ok := strings.Cut(endpoint, "://")
	if !ok {
		scheme, host = "https", endpoint
	}
	c.Endpoint, c.Insecure = strings.TrimSuffix(host, "/"), scheme == "http"
	switch {
	case c.Endpoint == "" || strings.ContainsAny(c.Endpoint, "/@?#") || scheme != "https" && scheme != "http":
		s.fail("endpoint", "an address such as https://s3.eu-central-1.amazonaws.com expected")
	case c.Insecure && !isNear(hostOnly(c.Endpoint)):
		s.fail("endpoint", "https expected: http is for localhost and for addresses of a private network")
	}
	if !bucketName.MatchString(c.Bucket) {
		s.fail("bucket", "%q: a bucket's name expected", c.Bucket)
	}
	if c.AccessKey == "" || c.SecretKey == "" {
		s.fail("access_key", "access_key and secret_key are needed, such as file:s3-secret")
	}
	style := "true"
	if slices.ContainsFunc(virtualHosts, func(end string) bool { return strings.HasSuffix(hostOnly(c.Endpoint), end) }) {
		style = "false"
	}
	c.PathStyle = s.word("path_style", style, "true", "false") == "true"
	c.Files = readRemoteFiles(s, a)
	c.Transport = outbound(c.Hosts()).Transport
	return c
}

// hostOnly is a host without its port.
func hostOnly(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	if addr, err := netip.ParseAddr(strings.Trim(address, "[]")); err == nil {
		return addr.String()
	}
	return address
}

// readRemoteFiles reads the patterns of a place. Each must name the day, as on our own disk.
func readRemoteFiles(s *section, a *Account) []string {
	patterns := s.list("files")
	if len(patterns) == 0 {
		s.fail("files", "missing: a pattern such as /outgoing/*{date}*.csv")
	}
	batches := settlesInBatches(a)
	for i, p := range patterns {
		switch err := checkPattern(p); {
		case strings.TrimSpace(p) == "":
			s.failItem("files", i, "empty")
		case err != nil:
			s.failItem("files", i, "%q: %v", p, err)
		case !batches && !placeholder.MatchString(p):
			s.failItem("files", i, "%q: names no day; put %s where the date stands", p, knownPlaceholders)
		}
	}
	return patterns
}

func settlesInBatches(a *Account) bool {
	p, ok := a.Provider.(reconcile.BatchSettler)
	return ok && p.SettlesInBatches()
}

// secretText is a value that no message shows. One that is there must say something.
func secretText(s *section, key string) string {
	text := s.text(key, "")
	if s.has(key) && strings.TrimSpace(text) == "" {
		s.fail(key, "empty: leave the key out if there is none")
	}
	return text
}

// archiveDir is where statement files are kept: as configured, else beside the database's file, else beside the configuration.
func (a *app) archiveDir(c *Config) (string, error) {
	if c.Archive != "" {
		return c.Archive, nil
	}
	dsn, err := a.databaseURL()
	if err != nil {
		return "", err
	}
	beside := c.File
	if file, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
		beside = file
	}
	return filepath.Join(filepath.Dir(beside), "archive"), nil
}
