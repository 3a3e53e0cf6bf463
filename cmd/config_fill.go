package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// secretMax bounds a file that file:PATH names: a secret is short, and a device file would never end.
const secretMax = 64 << 10

// text is a scalar with its references filled in. path is how messages call it; no message holds the value.
func (r *reader) text(node *yaml.Node, path string) string {
	if node.Kind != yaml.ScalarNode {
		r.fail(node, "%s: a single value expected", path)
		return ""
	}
	name, isFile := strings.CutPrefix(node.Value, "file:")
	text, err := r.expand(name)
	if err == nil && isFile {
		text, err = r.readSecret(r.path(text))
	}
	if err != nil {
		r.fail(node, "%s: %v", path, err)
		return ""
	}
	return text
}

// reference is ${NAME}, or $${ which stands for ${ itself, or a ${ that is neither.
var reference = regexp.MustCompile(`\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{`)

// expand puts in the environment. What it puts in is not looked at again.
func (r *reader) expand(text string) (string, error) {
	var err error
	out := reference.ReplaceAllStringFunc(text, func(ref string) string {
		switch ref {
		case "$${":
			return "${"
		case "${":
			err = fmt.Errorf("${ without a variable's name and a }; write $${ for the characters themselves")
			return ""
		}
		name := strings.TrimSuffix(strings.TrimPrefix(ref, "${"), "}")
		value, set := r.lookUp(name)
		if !set {
			err = fmt.Errorf("environment variable %s is not set", name)
		}
		return value
	})
	return out, err
}

// readSecret reads a file that holds nothing but a secret. Editors end a file with a newline, secrets do not.
func (r *reader) readSecret(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, secretMax+1))
	if err != nil {
		return "", err
	}
	r.used(path, "secret")
	text := strings.TrimRight(string(raw), "\r\n")
	switch {
	case strings.TrimSpace(text) == "":
		return "", fmt.Errorf("%s: the file is empty", path)
	case len(raw) > secretMax:
		return "", fmt.Errorf("%s: larger than %d bytes, that is no secret", path, secretMax)
	}
	return text, nil
}

// json turns an account's settings into what its provider decodes, references filled in.
func (r *reader) json(node *yaml.Node) json.RawMessage {
	value := r.value(node, "settings", 0)
	raw, err := json.Marshal(value)
	if err != nil {
		r.fail(node, "settings: %v", err)
	}
	return raw
}

func (r *reader) value(node *yaml.Node, path string, depth int) any {
	if depth > depthMax {
		r.fail(node, "%s: nested too deeply", path)
		return nil
	}
	switch node.Kind {
	case yaml.MappingNode:
		return r.mapping(node, path, depth)
	case yaml.SequenceNode:
		list := []any{}
		for i, item := range node.Content {
			list = append(list, r.value(item, fmt.Sprintf("%s[%d]", path, i), depth+1))
		}
		return list
	case yaml.AliasNode:
		r.fail(node, "%s: write the value out; *%s is not followed", path, node.Value)
		return nil
	}
	return r.scalar(node, path)
}

func (r *reader) mapping(node *yaml.Node, path string, depth int) map[string]any {
	out := map[string]any{}
	for i := 0; i < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if _, twice := out[key.Value]; twice {
			r.fail(key, "%s.%s: here a second time", path, key.Value)
		}
		if depth == 0 && key.Value == "comment" { // for people: a ${ in it means nothing
			out[key.Value] = nil
			continue
		}
		out[key.Value] = r.value(value, path+"."+key.Value, depth+1)
	}
	return out
}

// scalar keeps a number's digits as they were written: an amount or an id must not pass through a float.
func (r *reader) scalar(node *yaml.Node, path string) any {
	switch node.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var v bool
		if err := node.Decode(&v); err != nil {
			r.fail(node, "%s: true or false expected", path)
		}
		return v
	case "!!int", "!!float":
		if !json.Valid([]byte(node.Value)) {
			r.fail(node, "%s: write the number in plain digits, or in quotes if it is text", path)
			return nil
		}
		return json.Number(node.Value)
	}
	return r.text(node, path)
}
