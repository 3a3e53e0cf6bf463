package cmd

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"paybook/ledger/shop"
)

func TestConfigAPIKeys(t *testing.T) {
	sum := sha256.Sum256([]byte("hashed-secret-of-the-shop"))
	dir := writeFiles(t, map[string]string{
		"secret.txt": "file-secret-of-the-shop\n",
		"app.yaml": `api_keys:
  - name: backend
    secrets:
      - ${SHOP_KEY}
      - file:secret.txt
      - sha256:` + hex.EncodeToString(sum[:]) + `
    rate: 0.5
    burst: 4
  - name: cart
    secrets: written-out-secret
    scopes: [tokens:write, stock:read]
    rate: 2.5
`})
	c, err := loadConfig(filepath.Join(dir, "app.yaml"), lookup(map[string]string{"SHOP_KEY": "env-secret-of-the-shop"}))
	if err != nil {
		t.Fatal(err)
	}
	want := []shop.Key{
		{Name: "backend", Secrets: []shop.Secret{shop.HashSecret("env-secret-of-the-shop"), shop.HashSecret("file-secret-of-the-shop"), shop.HashSecret("hashed-secret-of-the-shop")},
			Scopes: shop.Scopes(), Rate: 0.5, Burst: 4},
		{Name: "cart", Secrets: []shop.Secret{shop.HashSecret("written-out-secret")}, Scopes: []shop.Scope{shop.TokensWrite, shop.StockRead}, Rate: 2.5, Burst: 3},
	}
	if fmt.Sprintf("%+x", c.APIKeys) != fmt.Sprintf("%+x", want) {
		t.Errorf("%+v, want %+v", c.APIKeys, want)
	}
	if text := fmt.Sprintf("%v %s", c.APIKeys, c.APIKeys[0].Secrets[0]); strings.Contains(text, "shop") || !strings.Contains(text, "sha256:…") {
		t.Errorf("printed: %s", text)
	}
}

func TestConfigAPIKeysRefused(t *testing.T) {
	const key = "api_keys:\n  - name: a\n    secrets:\n      - CANARY-secret-of-the-shop\n"
	for name, c := range map[string]struct {
		yaml string
		line int
		want string
	}{
		"no list":            {"api_keys:\n  name: a\n", 2, "a list expected"},
		"an empty list":      {"api_keys: []\n", 1, "leave the key out"},
		"a scalar":           {"api_keys: CANARY-secret-of-the-shop\n", 1, "a list expected"},
		"an unknown key":     {key + "    role: admin\n", 5, "api_keys[0].role: unknown key"},
		"no name":            {"api_keys:\n  - secrets: [CANARY-secret-of-the-shop]\n", 2, "api_keys[0].name"},
		"a bad name":         {"api_keys:\n  - name: A B\n    secrets: [CANARY-secret-of-the-shop]\n", 2, "api_keys[0].name"},
		"no secrets":         {"api_keys:\n  - name: a\n", 2, "api_keys[0].secrets: missing"},
		"empty secrets":      {"api_keys:\n  - name: a\n    secrets: []\n", 3, "api_keys[0].secrets: missing"},
		"a short secret":     {key + "      - CANARY-short12\n", 5, "secrets[1]: at least 16 characters"},
		"an empty secret":    {key + "      - ''\n", 5, "secrets[1]: at least 16 characters"},
		"a blank in it":      {key + "      - CANARY secret of the shop\n", 5, "without blanks"},
		"an unset variable":  {key + "      - ${NOT_SET}\n", 5, "NOT_SET is not set"},
		"an empty variable":  {key + "      - ${EMPTY}\n", 5, "at least 16"},
		"no such file":       {key + "      - file:nosuch.txt\n", 5, "nosuch.txt"},
		"a short hash":       {key + "      - sha256:CANARY0123\n", 5, "64 hexadecimal"},
		"the hash of empty":  {key + "      - sha256:" + hashOf("") + "\n", 5, "the hash of nothing"},
		"a hash in capitals": {key + "      - SHA256:CANARY0123\n", 5, "64 hexadecimal"},
		"nothing in it":      {"api_keys:\n", 1, "leave the key out"},
		"the same twice":     {key + "      - CANARY-secret-of-the-shop\n", 5, "the same as api_keys[0].secrets[0]"},
		"the same of others": {key + "  - name: b\n    secrets: [other-secret-of-the-shop, CANARY-secret-of-the-shop]\n", 6, "the same as api_keys[0].secrets[0]"},
		"the same as a hash": {key + "      - sha256:" + hashOf("CANARY-secret-of-the-shop") + "\n", 5, "the same as api_keys[0].secrets[0]"},
		"one name twice":     {key + "  - name: a\n    secrets: [other-secret-of-the-shop]\n", 5, "another key too, line 2"},
		"an unknown scope":   {key + "    scopes:\n      - orders:read\n      - orders:delete\n", 7, `unknown scope "orders:delete"; there is: orders:read`},
		"no scopes":          {key + "    scopes: []\n", 5, "could do nothing"},
		"a rate of nothing":  {key + "    rate: 0\n", 5, "requests a second"},
		"a negative rate":    {key + "    rate: -1\n", 5, "requests a second"},
		"a rate of words":    {key + "    rate: NaN\n", 5, "requests a second"},
		"no rate":            {key + "    rate: 10/s\n", 5, "requests a second"},
		"a burst alone":      {key + "    burst: 5\n", 5, "means nothing without rate"},
		"a burst of nothing": {key + "    rate: 5\n    burst: 0\n", 6, "a whole number from 1"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := writeFiles(t, map[string]string{"app.yaml": c.yaml})
			_, err := loadConfig(filepath.Join(dir, "app.yaml"), lookup(map[string]string{"EMPTY": ""}))
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("app.yaml:%d: ", c.line)) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "CANARY") {
				t.Errorf("%v; want line %d, %q, and no secret", err, c.line, c.want)
			}
		})
	}
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
