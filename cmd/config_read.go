package cmd

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// reader reads one file of the configuration. The first thing that is wrong is kept, with file, line and key, and the readers
// then return fallbacks: so the reading is a plain list of keys. What several files share is shared by pointer.
type reader struct {
	name  string // as written by the user; "" when there is no file
	dir   string // what paths in it are relative to
	env   func(string) (string, bool)
	first *error
	files *[]configFile
	asked map[string]bool // variables of the environment that mean something
}

func newReader(name string, env func(string) (string, bool)) *reader {
	return &reader{name: name, dir: filepath.Dir(name), env: env, first: new(error), files: new([]configFile), asked: map[string]bool{}}
}

// beside is a reader of a further file, named in this one.
func (r *reader) beside(name string) *reader {
	return &reader{name: name, dir: filepath.Dir(name), env: r.env, first: r.first, files: r.files, asked: r.asked}
}

func (r *reader) err() error { return *r.first }

// lookUp is a variable of the environment, which is then known to mean something.
func (r *reader) lookUp(name string) (string, bool) {
	r.asked[name] = true
	return r.env(name)
}

func (r *reader) used(path, kind string) { *r.files = append(*r.files, configFile{path, kind}) }

// path resolves a path written in this file.
func (r *reader) path(text string) string {
	if filepath.IsAbs(text) {
		return text
	}
	return filepath.Join(r.dir, text)
}

func (r *reader) fail(node *yaml.Node, format string, args ...any) {
	if *r.first != nil {
		return
	}
	*r.first = fmt.Errorf("%s:%d: %s", r.name, node.Line, fmt.Sprintf(format, args...))
}

// section is one mapping of the file.
type section struct {
	r           *reader
	path        string // "" at the top, else with a dot at its end
	node        *yaml.Node
	keys        map[string]*yaml.Node
	environment bool // its keys may be overridden by APP_…
}

// section opens a mapping. Keys it does not know, and keys that are there twice, are refused before any value is looked at: a
// misspelt key is then named itself, and not the one that seems to be missing.
func (r *reader) section(node *yaml.Node, path string, known ...string) *section {
	s := &section{r: r, path: path, node: node, keys: map[string]*yaml.Node{}}
	if node == nil || node.Tag == "!!null" {
		return s
	}
	if node.Kind != yaml.MappingNode {
		r.fail(node, "%skeys and values expected (%s)", label(path), strings.Join(known, ", "))
		return s
	}
	for i := 0; i < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if !slices.Contains(known, key.Value) {
			r.fail(key, "%s%s: unknown key; the keys here are %s", path, key.Value, strings.Join(known, ", "))
		}
		if before, twice := s.keys[key.Value]; twice {
			r.fail(key, "%s%s: here a second time, first in line %d", path, key.Value, before.Line)
		}
		s.keys[key.Value] = value
	}
	return s
}

// label is a path as the beginning of a message about the whole section.
func label(path string) string {
	if path == "" {
		return ""
	}
	return strings.TrimSuffix(path, ".") + ": "
}

// fail reports a key. A value of the environment is named instead of a line.
func (s *section) fail(key, format string, args ...any) {
	text := s.path + key + ": " + fmt.Sprintf(format, args...)
	if _, set := s.override(key); set {
		if *s.r.first == nil {
			*s.r.first = fmt.Errorf("environment %s: %s", s.envName(key), text)
		}
		return
	}
	node := s.keys[key]
	if node == nil {
		node = s.node
	}
	if node == nil { // nothing there, and that is what is wrong
		node = &yaml.Node{Line: 1}
	}
	s.r.fail(node, "%s", text)
}

// failItem reports one value of a list, in its own line.
func (s *section) failItem(key string, i int, format string, args ...any) {
	text := fmt.Sprintf("[%d]: ", i) + fmt.Sprintf(format, args...)
	if node := s.keys[key]; node != nil && node.Kind == yaml.SequenceNode && i < len(node.Content) {
		s.r.fail(node.Content[i], "%s%s%s", s.path, key, text)
		return
	}
	s.fail(key, "%s", text)
}

func (s *section) envName(key string) string {
	return "APP_" + strings.ToUpper(strings.ReplaceAll(s.path+key, ".", "_"))
}

// override is the value of APP_… for a key. An empty variable counts as not set: that is how composing tools write it.
func (s *section) override(key string) (string, bool) {
	if !s.environment {
		return "", false
	}
	value, _ := s.r.lookUp(s.envName(key))
	return value, value != ""
}

func (s *section) has(key string) bool { return s.keys[key] != nil && s.keys[key].Tag != "!!null" }

// text is a single value with ${NAME} and file:PATH filled in.
func (s *section) text(key, fallback string) string {
	if value, set := s.override(key); set {
		return value
	}
	if !s.has(key) {
		return fallback
	}
	return s.r.text(s.keys[key], s.path+key)
}

func (s *section) word(key, fallback string, allowed ...string) string {
	text := s.text(key, fallback)
	if !slices.Contains(allowed, text) {
		s.fail(key, "%q: %s expected", text, strings.Join(allowed, " or "))
		return fallback
	}
	return text
}

// list is a list of values; a single one may stand without its list. In the environment commas separate them.
func (s *section) list(key string) []string {
	if value, set := s.override(key); set {
		out := strings.Split(value, ",")
		for i := range out {
			out[i] = strings.TrimSpace(out[i])
		}
		return out
	}
	if !s.has(key) {
		return nil
	}
	node := s.keys[key]
	if node.Kind != yaml.SequenceNode {
		return []string{s.text(key, "")}
	}
	var out []string
	for i, item := range node.Content {
		out = append(out, s.r.text(item, fmt.Sprintf("%s%s[%d]", s.path, key, i)))
	}
	return out
}

// duration has its unit with it, such as 10s, 30m, 48h.
func (s *section) duration(key string, fallback, min, max time.Duration) time.Duration {
	text := s.text(key, "")
	if text == "" {
		return fallback
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < min || d > max {
		s.fail(key, "%q: a time with its unit such as 10s, 30m or 48h expected, from %v to %v", text, min, max)
		return fallback
	}
	return d
}

func (s *section) whole(key string, fallback, min, max int) int {
	text := s.text(key, "")
	if text == "" {
		return fallback
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < min || n > max {
		s.fail(key, "%q: a whole number from %d to %d expected", text, min, max)
		return fallback
	}
	return n
}

// size is a number of bytes, with KiB, MiB or GiB behind it if wanted.
func (s *section) size(key string, fallback, min, max int64) int64 {
	text := s.text(key, "")
	if text == "" {
		return fallback
	}
	number, unit := text, int64(1)
	for i, suffix := range []string{"KiB", "MiB", "GiB"} {
		if n, ok := strings.CutSuffix(text, suffix); ok {
			number, unit = strings.TrimSpace(n), 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit || n*unit < min || n*unit > max {
		s.fail(key, "%q: a number of bytes from %d to %d expected, such as 2MiB", text, min, max)
		return fallback
	}
	return n * unit
}

func (s *section) address(key, fallback string) string {
	text := s.text(key, fallback)
	if text == "" {
		return text
	}
	if err := checkAddress(text); err != nil {
		s.fail(key, "%v", err)
	}
	return text
}

// object is the mapping under a key; empty when the key is absent.
func (s *section) object(key string, known ...string) *section {
	o := s.r.section(s.keys[key], s.path+key+".", known...)
	o.environment = s.environment
	for _, name := range known {
		if s.environment {
			s.r.asked[o.envName(name)] = true
		}
	}
	return o
}
