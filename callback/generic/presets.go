package generic

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// presetFiles are configurations shipped with the program, one file for a provider. Its name is the provider's; nothing else has to
// be written for it.
//
//go:embed presets/*.json
var presetFiles embed.FS

const presetFolder = "presets"

// Presets are the names of the providers whose configuration is shipped, sorted.
func Presets() []string {
	files, err := presetFiles.ReadDir(presetFolder)
	if err != nil {
		panic(err) // the folder is part of the program
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".json"))
	}
	slices.Sort(names)
	return names
}

// NewPreset makes accounts of a shipped provider. The account's settings are laid over the shipped ones: objects key by key, all else
// is replaced, and null takes a key away. So secrets are all that most accounts need. Errors are those of New, and one that says
// which presets there are.
func NewPreset(name string) func(settings json.RawMessage, dir string) (*Provider, error) {
	return func(settings json.RawMessage, dir string) (*Provider, error) {
		if !slices.Contains(Presets(), name) {
			return nil, fmt.Errorf("there is no preset %q; there is %s", name, strings.Join(Presets(), ", "))
		}
		shipped, err := presetFiles.ReadFile(presetFolder + "/" + name + ".json")
		if err != nil {
			return nil, err
		}
		keys, err := readObject(shipped)
		if err != nil {
			return nil, fmt.Errorf("preset %s: %w", name, err)
		}
		if text := bytes.TrimSpace(settings); len(text) > 0 && !bytes.Equal(text, []byte("null")) {
			own, err := readObject(settings)
			if err != nil {
				return nil, err
			}
			overlay(keys, own)
		}
		keys["provider"] = name
		return build(keys, dir)
	}
}

// overlay is the merge of RFC 7396.
func overlay(under, over map[string]any) {
	for key, value := range over {
		inner, isObject := value.(map[string]any)
		below, both := under[key].(map[string]any)
		switch {
		case value == nil:
			delete(under, key)
		case isObject && both:
			overlay(below, inner)
		default:
			under[key] = value
		}
	}
}
