package cmd

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A variable that looks like ours and sets nothing is named by the doctor and at the start, without its value.
func TestIgnoredVariablesAreNamed(t *testing.T) {
	dir := writeFiles(t, map[string]string{"app.yaml": okAccount("a") + "log: {level: \"${APP_MY_LEVEL}\"}\n"})
	env := map[string]string{
		"APP_CONFIG": filepath.Join(dir, "app.yaml"), "APP_DATABASE": "sqlite:" + filepath.Join(dir, "app.db"), "APP_MY_LEVEL": "info",
		"APP_LISTEN": "127.0.0.1:0", "APP_QUEUE_STREAM": "OTHER", "APP_LIMITS_BODY": "2MiB", "APP_ORDERS_TOKEN_LIFE": "3m", "APP_EMPTY": "",
		"APP_ORDERS_TOKENLIFE": "CANARY", "APP_API_KEYS": "CANARY", "APP_ACCOUNTS_NAME": "CANARY", "APP_NOPE": "CANARY", "OTHER_APP_NOPE": "x",
	}
	_, out := findings(t, time.Now(), env)
	for _, want := range []string{
		"warning configuration: environment APP_ORDERS_TOKENLIFE is ignored: no setting has this name; did you mean APP_ORDERS_TOKEN_LIFE?",
		"warning configuration: environment APP_API_KEYS is ignored: api_keys are in the configuration file only",
		"warning configuration: environment APP_ACCOUNTS_NAME is ignored: accounts are in the configuration file only",
		"warning configuration: environment APP_NOPE is ignored: no setting has this name; it is APP_ and the key in capitals",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Count(out, "is ignored") != 4 || strings.Contains(out, "CANARY") {
		t.Errorf("four warnings without values expected:\n%s", out)
	}
	s := serve(t, map[string]string{"APP_ORDERS_TOKENLIFE": "CANARY"})
	if said := s.said("\nwarning: environment APP_ORDERS_TOKENLIFE "); !strings.HasPrefix(said, "is ignored") {
		t.Errorf("the start says %q", said)
	}
}
